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

struct runs {
	struct conduct	*conduct;
	char *const	*argv;
	const struct launch_end *first;	/* how the first one ended */
	struct storage	files;
	unsigned	readers;
	uint64_t	most_ns;	/* for reading alone */
};

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
read_alone(struct runs *r, enum rate rate)
{
	struct result *result = r->conduct->result;
	double bytes = result->job.bytes_per_sample;
	struct interval_block block;
	struct storage_read got;

	storage_read(&r->files, r->readers, r->most_ns, &got);
	if (got.bytes <= 0 || bytes <= 0)
		return;
	block = (struct interval_block){
		.samples = 1, .time_s = got.s * bytes / got.bytes, .cpu_s = -1,
	};
	result->rate[rate] = interval_of_rate(&block, 1);
}

/* One that ends by itself, and otherwise than the first, may not have done the same. */
static void
check_end(struct conduct *c, const struct launch_end *first,
    const struct launch_end *end, const char *where)
{
	bool is_killed = WIFSIGNALED(end->status);

	if (c->has_ended || conduct_is_over(c) || end->status == first->status)
		return;
	result_confess(c->result, "its run with files %s memory ended otherwise "
	    "than the first, by %s %d", where, is_killed ? "signal" : "status",
	    is_killed ? WTERMSIG(end->status) : WEXITSTATUS(end->status));
}

/* false: there is nothing more to do. */
static bool
run_phase(struct runs *r, enum block_kind kind, enum rate rate,
    const char *where)
{
	struct conduct *c = r->conduct;
	struct launch_end end;

	c->run_is = kind;
	if (!conduct_again(c, r->argv, &end))
		return false;
	c->result->rate[rate] = c->rate;
	check_end(c, r->first, &end, where);
	return !conduct_is_over(c);
}

/* Files in memory: the program, then reading alone. */
static bool
measure_cached(struct runs *r)
{
	struct storage_read none;

	storage_read(&r->files, r->readers, r->most_ns, &none);
	if (!run_phase(r, BLOCK_CACHED, RATE_LOADER_CACHED, "in"))
		return false;
	read_alone(r, RATE_CACHE);
	return true;
}

/* Files out of it. */
static void
measure_cold(struct runs *r)
{
	storage_evict(&r->files);
	if (storage_resident(&r->files) > STAYED_MOST)
		result_confess(r->conduct->result, "files stayed in memory that "
		    "were to be read from storage");
	if (!run_phase(r, BLOCK_COLD, RATE_LOADER_COLD, "out of"))
		return;
	storage_evict(&r->files);
	read_alone(r, RATE_STORAGE);
}

/* As it is.  One that tells its steps by itself, which nobody knew before, is run
 * again for the files that it opens. */
static void
measure_actual(struct runs *r)
{
	struct conduct *c = r->conduct;
	struct launch_end end;

	if (!c->wants_opens && !conduct_is_over(c)) {
		c->wants_opens = true;
		(void)conduct_again(c, r->argv, &end);
	}
	c->result->rate[RATE_ACTUAL] = c->rate;
}

/* The files that it opened then are what is brought into memory, and out of it. */
static void
take_files(struct runs *r)
{
	struct conduct *c = r->conduct;
	double samples = (double)c->steps * c->step_samples;

	r->files = c->facts.opened;
	c->facts.opened = (struct storage){ 0 };	/* ours now */
	r->readers = count_readers(&c->facts);
	storage_sort(&r->files);
	c->result->job.bytes_per_sample = samples > 0 ?
	    (double)r->files.bytes / samples : 0;
	if (r->files.nr == 0)
		result_confess(c->result, "it opened no file that could be seen: "
		    "nothing but its speed was measured");
}

void
runs_measure(struct conduct *c, char *const argv[],
    const struct launch_end *first)
{
	struct runs r = { .conduct = c, .argv = argv, .first = first,
	    .most_ns = c->options->for_ns / PHASES / 2 };

	result_confess(c->result, "a program of which only steps are seen: what "
	    "its accelerator could take without data is not known");
	measure_actual(&r);
	take_files(&r);
	if (r.files.nr > 0 && !conduct_is_over(c) && measure_cached(&r))
		measure_cold(&r);
	storage_fini(&r.files);
}
