/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.c: a run for each phase.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/runs.h"

#include "analyzer/interval.h"
#include "analyzer/storage.h"
#include "base/clock.h"

#define PHASES	3u		/* that share the time */

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
		.samples = (uint64_t)(got.bytes / bytes_per_sample),
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

int
runs_measure(struct conduct *c, char *const argv[], struct ds_err *err)
{
	struct storage files = c->facts.opened;
	unsigned readers = count_readers(&c->facts);
	struct result *r = c->result;
	double samples = (double)c->steps * c->options->step_samples;
	uint64_t most_ns = c->options->for_ns / PHASES / 2;
	struct storage_read none;
	int rc;

	c->facts.opened = (struct storage){ 0 };	/* ours now */
	storage_sort(&files);
	r->rate[RATE_ACTUAL] = c->rate;
	r->job.bytes_per_sample = samples > 0 ?
	    (double)files.bytes / samples : 0;
	result_confess(r, "a program of which only steps are seen: what its "
	    "accelerator could take without data is not known");
	if (files.nr == 0)
		result_confess(r, "it opened no file that could be seen: nothing "
		    "but its speed was measured");
	storage_read(&files, readers, most_ns, &none);
	rc = files.nr > 0 ? run_phase(c, argv, RATE_LOADER_CACHED, err) : 0;
	if (rc == 0)
		read_alone(r, &files, readers, RATE_CACHE,
		    r->job.bytes_per_sample, most_ns);
	storage_evict(&files);
	if (rc == 0 && files.nr > 0 && storage_resident(&files) > 0.02)
		result_confess(r, "files stayed in memory that were to be read "
		    "from storage");
	if (rc == 0 && files.nr > 0)
		rc = run_phase(c, argv, RATE_LOADER_COLD, err);
	storage_evict(&files);
	if (rc == 0)
		read_alone(r, &files, readers, RATE_STORAGE,
		    r->job.bytes_per_sample, most_ns);
	storage_fini(&files);
	return rc;
}
