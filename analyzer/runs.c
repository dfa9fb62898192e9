/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.c: a run for each phase.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/runs.h"

#include "analyzer/interval.h"
#include "analyzer/residency.h"
#include "analyzer/storage.h"
#include "base/clock.h"

#define PHASES		3u	/* that share the time */

/* Processes that opened files of the set: so many read at a time. */
static unsigned
count_readers(const struct facts *f)
{
	unsigned nr = 0;

	for (size_t i = 0; i < f->nr_processes; i++)
		nr += f->processes[i].opens > 0;
	return nr > 0 ? nr : 1;
}

static void
read_alone(struct result *r, const struct storage *files, unsigned readers,
    enum rate rate, double bytes_per_sample, uint64_t most_ns)
{
	struct interval_block block;
	struct storage_read got;

	storage_read(files, readers, most_ns, &got);
	if (got.bytes <= 0 || bytes_per_sample <= 0)
		return;
	block = (struct interval_block){
		.samples = 1,
		.time_s = got.s * bytes_per_sample / got.bytes,
		.cpu_s = -1,
	};
	r->rate[rate] = interval_of_rate(&block, 1);
}

static int
run_phase(struct conduct *c, char *const argv[], enum rate rate,
    struct ds_err *err)
{
	struct launch_end end;
	int rc;

	rc = conduct_once(c, argv, &end, err);
	if (rc == 0)
		c->result->rate[rate] = c->rate;
	return rc;
}

/* Files in memory: the program, then reading alone. */
static int
measure_cached(struct conduct *c, char *const argv[], const struct storage *files,
    unsigned readers, uint64_t most_ns, struct ds_err *err)
{
	struct storage_read none;
	int rc;

	storage_read(files, readers, most_ns, &none);
	rc = run_phase(c, argv, RATE_LOADER_CACHED, err);
	if (rc == 0 && !c->is_asked)
		read_alone(c->result, files, readers, RATE_CACHE,
		    c->result->job.bytes_per_sample, most_ns);
	return rc;
}

/* Files out of it. */
static int
measure_cold(struct conduct *c, char *const argv[], const struct storage *files,
    unsigned readers, uint64_t most_ns, struct ds_err *err)
{
	int rc;

	storage_evict(files);
	if (storage_resident(files) > STAYED_MOST)
		result_confess(c->result, "files stayed in memory that were to be "
		    "read from storage");
	rc = run_phase(c, argv, RATE_LOADER_COLD, err);
	storage_evict(files);
	if (rc == 0 && !c->is_asked)
		read_alone(c->result, files, readers, RATE_STORAGE,
		    c->result->job.bytes_per_sample, most_ns);
	return rc;
}

/* As it is.  One that tells its steps by itself, which nobody knew before, is run
 * again for the files that it opens. */
static int
measure_actual(struct conduct *c, char *const argv[], struct ds_err *err)
{
	struct launch_end end;
	int rc = 0;

	if (!c->wants_opens && !c->is_asked) {
		c->wants_opens = true;
		rc = conduct_once(c, argv, &end, err);
	}
	c->result->rate[RATE_ACTUAL] = c->rate;
	return rc;
}

int
runs_measure(struct conduct *c, char *const argv[], struct ds_err *err)
{
	uint64_t most_ns = c->options->for_ns / PHASES / 2;
	struct result *r = c->result;
	struct storage files;
	unsigned readers;
	double samples;
	int rc;

	rc = measure_actual(c, argv, err);
	files = c->facts.opened;
	c->facts.opened = (struct storage){ 0 };	/* ours now */
	readers = count_readers(&c->facts);
	samples = (double)c->steps * c->step_samples;
	storage_sort(&files);
	r->job.bytes_per_sample = samples > 0 ?
	    (double)files.bytes / samples : 0;
	result_confess(r, "a program of which only steps are seen: what its "
	    "accelerator could take without data is not known");
	if (files.nr == 0)
		result_confess(r, "it opened no file that could be seen: nothing "
		    "but its speed was measured");
	if (rc == 0 && files.nr > 0 && !c->is_asked)
		rc = measure_cached(c, argv, &files, readers, most_ns, err);
	if (rc == 0 && files.nr > 0 && !c->is_asked)
		rc = measure_cold(c, argv, &files, readers, most_ns, err);
	storage_fini(&files);
	return rc;
}
