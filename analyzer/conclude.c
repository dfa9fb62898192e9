/* SPDX-License-Identifier: Apache-2.0
 *
 * conclude.c: from what was measured of a job to a verdict.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/conclude.h"

#include <fcntl.h>

#include "analyzer/estimate.h"
#include "analyzer/fixes.h"
#include "analyzer/live.h"
#include "analyzer/summary.h"
#include "analyzer/verdict.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/io.h"
#include "base/meminfo.h"

#define MEMINFO_TEXT	8192u

static void
fill_steered(struct result *r, const struct conduct *c)
{
	const struct fact_loader *l = facts_training(&c->facts);

	r->job.batch_size = c->job.batch_size;
	r->job.workers = c->job.workers;
	r->job.prefetch = c->job.prefetch;
	r->job.is_iterable = c->job.is_iterable;
	r->job.has_no_files = !c->job.knows_files;
	r->job.ranks = facts_ranks(&c->facts);
	if (l != NULL) {
		r->job.samples = l->samples;
		r->job.is_pipelined = (l->flags & LOADER_PIPELINED) != 0;
	}
	estimate_rates(r, &c->measured, (unsigned)c->job.workers);
	estimate_job(r, &c->measured);
	estimate_workers(r, &c->facts);
	verdict_take_shares(r);
	summary_cuts(r, &c->measured);
	summary_stolen(r, &c->measured);
	summary_residency(r, &c->measured);
	summary_ranks(r, &c->facts);
	if (r->job.is_iterable)
		result_confess(r, "an iterable dataset has no samples that can "
		    "be asked for: blocks of the set begin it anew, and other "
		    "numbers of workers were not tried");
}

/* What no loader tells, a marker may. */
static void
fill_live(struct result *r, const struct conduct *c)
{
	if (!live_estimate(r, &c->facts))
		r->rate[RATE_ACTUAL] = c->rate;
}

/* Of what the machine has now, for a cache. */
static double
free_memory(void)
{
	char text[MEMINFO_TEXT];
	uint64_t bytes;

	if (io_read_text(AT_FDCWD, "/proc/meminfo", text, sizeof text) < 0 ||
	    meminfo_get(text, "MemAvailable", &bytes) < 0)
		return 0;
	return (double)bytes;
}

/* A device is at work, and the loader that trains does not pin its batches. */
static bool
can_pin(const struct facts *f)
{
	const struct fact_loader *l = facts_training(f);

	return l != NULL && (l->flags & LOADER_PINNED) == 0 &&
	    facts_has_device(f);
}

static void
find_fixes(struct result *r, const struct conduct *c)
{
	struct fixes_about about = {
		.free_bytes = free_memory(),
		.data = c->facts.data[0] != '\0' ? c->facts.data : NULL,
		.can_pin = can_pin(&c->facts),
	};

	fixes_find(r, &about);
}

static double
block_seconds(const struct measured_list *l)
{
	double s = 0;

	for (size_t i = 0; i < l->nr; i++)
		s += (double)(l->list[i].end_ns - l->list[i].begin_ns) /
		    (double)NS_PER_S + l->list[i].ready_s;
	return s;
}

void
conclude(struct result *r, struct conduct *c)
{
	r->starts = c->starts;
	r->startup_s = (double)c->startup_ns / (double)NS_PER_S;
	r->measured_s = block_seconds(&c->measured);
	r->job.cores = cpus_granted("/");
	if (r->mode == MODE_LIVE)
		fill_live(r, c);
	else if (r->mode == MODE_STEERED)
		fill_steered(r, c);
	else
		verdict_take_shares(r);
	summary_loaders(r, &c->facts);
	summary_missing(r, c->job.knows_files ||
	    r->mode != MODE_STEERED);
	verdict_decide(r);
	find_fixes(r, c);
	observe_put(&c->observe, r);
}
