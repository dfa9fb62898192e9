/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.c: a run for each phase.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/runs.h"

#include <sys/wait.h>

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

/* One that fails by itself has not done what the first did. */
static void
check_end(struct conduct *c, const struct launch_end *end, const char *where)
{
	if (c->has_ended || c->is_asked || end->status == 0)
		return;
	result_confess(c->result, "its run with files %s memory failed (%s %d)",
	    where, WIFSIGNALED(end->status) ? "signal" : "status",
	    WIFSIGNALED(end->status) ? WTERMSIG(end->status) :
	    WEXITSTATUS(end->status));
}

/* false: there is nothing more to do. */
static bool
run_phase(struct conduct *c, char *const argv[], enum rate rate,
    const char *where)
{
	struct launch_end end;

	if (!conduct_again(c, argv, &end))
		return false;
	c->result->rate[rate] = c->rate;
	check_end(c, &end, where);
	return !c->is_asked;
}

/* Files in memory: the program, then reading alone. */
static bool
measure_cached(struct conduct *c, char *const argv[], const struct storage *files,
    unsigned readers, uint64_t most_ns)
{
	struct storage_read none;

	storage_read(files, readers, most_ns, &none);
	if (!run_phase(c, argv, RATE_LOADER_CACHED, "in"))
		return false;
	read_alone(c->result, files, readers, RATE_CACHE,
	    c->result->job.bytes_per_sample, most_ns);
	return true;
}

/* Files out of it. */
static void
measure_cold(struct conduct *c, char *const argv[], const struct storage *files,
    unsigned readers, uint64_t most_ns)
{
	storage_evict(files);
	if (storage_resident(files) > STAYED_MOST)
		result_confess(c->result, "files stayed in memory that were to be "
		    "read from storage");
	if (!run_phase(c, argv, RATE_LOADER_COLD, "out of"))
		return;
	storage_evict(files);
	read_alone(c->result, files, readers, RATE_STORAGE,
	    c->result->job.bytes_per_sample, most_ns);
}

/* As it is.  One that tells its steps by itself, which nobody knew before, is run
 * again for the files that it opens. */
static void
measure_actual(struct conduct *c, char *const argv[])
{
	struct launch_end end;

	if (!c->wants_opens && !c->is_asked) {
		c->wants_opens = true;
		(void)conduct_again(c, argv, &end);
	}
	c->result->rate[RATE_ACTUAL] = c->rate;
}

void
runs_measure(struct conduct *c, char *const argv[])
{
	uint64_t most_ns = c->options->for_ns / PHASES / 2;
	struct result *r = c->result;
	struct storage files;
	unsigned readers;
	double samples;

	measure_actual(c, argv);
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
	if (files.nr > 0 && !c->is_asked &&
	    measure_cached(c, argv, &files, readers, most_ns))
		measure_cold(c, argv, &files, readers, most_ns);
	storage_fini(&files);
}
