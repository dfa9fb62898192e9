/* SPDX-License-Identifier: Apache-2.0
 *
 * planner.c: which block comes next, and how long it is.
 * Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/planner.h"

#include <math.h>

#include "analyzer/residency.h"

/* Of a profile that has the time for it; of a shorter one less, so that there are
 * several of each kind: one block says nothing of how sure it is. */
#define BLOCK_S		1.0	/* of one that a loader delivers */
#define COLD_S		2.0	/* a throttled disk is a gate of 100 ms */
#define REPLAY_S	0.6
#define WHOLE_S		40.0	/* three rounds of such blocks, and what is between */
#define PACE_LEAST	0.25
#define BUNCHES_LEAST	4u	/* the first does not count */
#define BUNCHES_MOST	256u
#define ALONE_BUNCHES	3u	/* of other numbers of workers */
#define STEPS		12u	/* what is replayed is a multiple of it: programs
				 * accumulate gradients over 2, 3, 4, 6 batches */
#define STEPS_MOST	1200u
#define SET_MOST	512u	/* batches */
#define AGAIN_MOST	3u	/* blocks of a kind whose files left memory */

/* What a round is made of: first what a verdict needs.  Numbers of workers other
 * than the job's own are tried one in each round. */
static const enum block_kind order[] = {
	BLOCK_REPLAY, BLOCK_ACTUAL, BLOCK_CACHED, BLOCK_REPLAY_BUSY,
	BLOCK_RAW_COLD, BLOCK_ALONE, BLOCK_COLD, BLOCK_RAW_CACHED, BLOCK_NONE,
};
#define ORDER	((uint32_t)(sizeof order / sizeof *order))

/*--- how long ------------------------------------------------------------*/

static uint64_t
bunch(const struct planner_job *j)
{
	return j->workers > 0 ? j->workers : 1;
}

static uint64_t
round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t
clamp(double n, uint64_t least, uint64_t most)
{
	if (!(n > (double)least))
		return least;
	return n < (double)most ? (uint64_t)ceil(n) : most;
}

/* How long blocks are, of what they would be in a long profile. */
static double
pace(const struct planner *p)
{
	double part = p->job.for_s / WHOLE_S;

	if (!(part > 0) || part > 1)
		return 1;
	return part > PACE_LEAST ? part : PACE_LEAST;
}

/* Seconds per batch in the last block of a kind; what the job takes, if there
 * was none. */
static double
batch_seconds(const struct planner *p, const struct measured_list *l,
    enum block_kind kind)
{
	for (size_t i = l->nr; i-- > 0;) {
		if (l->list[i].kind == kind && l->list[i].s_per_sample > 0)
			/* Of one rank, beside which the others work. */
			return l->list[i].s_per_sample * l->list[i].ranks *
			    (double)p->job.batch_size;
	}
	return p->job.batch_s;
}

/* Those that workers have in work when the last one that counts is given: they are
 * planned behind those that count, unless they are more.  A block without them
 * counts to its end (measure.h). */
static uint64_t
behind(const struct planner_job *j, uint64_t workers, uint64_t counted)
{
	uint64_t ahead = j->is_pipelined ? 0 : j->prefetch * workers;

	return ahead <= counted ? ahead : 0;
}

/* Whole bunches that take about so long, and those behind them. */
static uint32_t
bunches_for(const struct planner *p, double batch_s, double want_s)
{
	uint64_t width = bunch(&p->job);
	double n = batch_s > 0 ? pace(p) * want_s / (batch_s * (double)width) :
	    BUNCHES_LEAST;

	uint64_t counted = clamp(n + 1, BUNCHES_LEAST, BUNCHES_MOST) * width;

	return (uint32_t)(counted + behind(&p->job, p->job.workers, counted));
}

static uint32_t
steps_for(const struct planner *p)
{
	double n = p->job.step_s > 0 ? pace(p) * REPLAY_S / p->job.step_s :
	    STEPS_MOST;

	return (uint32_t)round_up(clamp(n, STEPS, STEPS_MOST), STEPS);
}

/* What an epoch has room for: a quarter of it, so that several blocks find a place,
 * or as much more as a block must have. */
static uint32_t
fit(const struct planner *p, uint32_t batches, uint64_t multiple, uint64_t least)
{
	uint64_t most = p->job.room / 4;

	if (p->job.room == 0 || batches <= most)
		return batches;
	if (most < least)
		most = least < p->job.room ? least : p->job.room;
	most = most / multiple * multiple;
	if (most == 0)
		most = p->job.room;	/* less than a bunch */
	return (uint32_t)(most < batches ? most : batches);
}

/* Of batches that workers make: whole bunches. */
static uint32_t
fit_bunches(const struct planner *p, uint32_t batches)
{
	uint64_t width = bunch(&p->job), counted = BUNCHES_LEAST * width;

	return fit(p, batches, width,
	    counted + behind(&p->job, p->job.workers, counted));
}

static uint32_t
fit_steps(const struct planner *p)
{
	uint32_t n = fit(p, steps_for(p), 1, STEPS);

	return n > STEPS ? n - n % STEPS : n;
}

static uint32_t
set_size(const struct planner *p)
{
	uint32_t n = bunches_for(p, p->job.batch_s, COLD_S);

	if (n > SET_MOST)
		n = (uint32_t)(SET_MOST / bunch(&p->job) * bunch(&p->job));
	return fit_bunches(p, n > 0 ? n : (uint32_t)bunch(&p->job));
}

/*--- which ---------------------------------------------------------------*/

static bool
needs_files(enum block_kind kind)
{
	return kind == BLOCK_RAW_COLD || kind == BLOCK_RAW_CACHED ||
	    kind == BLOCK_COLD;
}

static bool
is_possible(const struct planner *p, enum block_kind kind)
{
	if (needs_files(kind) && !p->job.knows_files)
		return false;
	if (kind == BLOCK_REPLAY_BUSY && p->job.workers == 0)
		return false;
	/* Reading from memory hardly changes: twice is enough. */
	return kind != BLOCK_RAW_CACHED || p->round < 2;
}

/* Other numbers of workers: 1, 2, 4, ... and all cores, each of them twice. */
static uint32_t
other_workers(const struct planner *p)
{
	uint32_t nth = p->round / 2, n = 1;

	if (p->job.is_iterable)
		return 0;
	for (;;) {
		if (n >= p->job.cores)
			n = (uint32_t)p->job.cores;
		if (n != p->job.workers && nth-- == 0)
			return n;
		if (n == p->job.cores)
			return 0;
		n *= 2;
	}
}

/* For so many workers to be at work for a while. */
static uint32_t
alone_batches(const struct planner *p, uint64_t workers)
{
	uint64_t least = ALONE_BUNCHES * workers, counted;

	counted = round_up(p->set / 2 + 1, workers > 0 ? workers : 1);
	counted = counted > least ? counted : least;
	return (uint32_t)(counted + behind(&p->job, workers, counted));
}

static bool
choose(const struct planner *p, const struct measured_list *l,
    enum block_kind kind, struct planned *out)
{
	*out = (struct planned){ .kind = kind };
	if (!is_possible(p, kind))
		return false;
	switch (kind) {
	case BLOCK_NONE:
		out->kind = BLOCK_ALONE;
		out->workers = other_workers(p);
		out->batches = alone_batches(p, out->workers);
		return out->workers > 0;
	case BLOCK_REPLAY:
	case BLOCK_REPLAY_BUSY:
		out->batches = fit_steps(p);
		return true;
	case BLOCK_RAW_COLD:
	case BLOCK_RAW_CACHED:
		out->batches = p->set;
		return true;
	case BLOCK_COLD:
		out->batches = fit_bunches(p, bunches_for(p,
		    batch_seconds(p, l, kind), COLD_S));
		if (out->batches > p->set)
			out->batches = p->set;
		return true;
	default:
		out->batches = bunches_for(p, batch_seconds(p, l, kind),
		    BLOCK_S);
		if (kind != BLOCK_ALONE)
			out->batches = fit_bunches(p, out->batches);
		return true;
	}
}

/* All that there are, and one of them is new. */
static bool
are_misplaced(const struct planner *p, const struct measured_list *l,
    enum block_kind kind)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct measured *m = &l->list[i];

		if (m->kind != kind ||
		    (kind == BLOCK_ALONE && m->workers != p->job.workers))
			continue;
		if (!residency_is_misplaced(m))
			return false;
		nr++;
	}
	return nr > p->again[kind];
}

static bool
repeat(struct planner *p, const struct measured_list *l, struct planned *out)
{
	static const enum block_kind kinds[] = { BLOCK_CACHED, BLOCK_ALONE };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (p->again[kinds[i]] < AGAIN_MOST &&
		    are_misplaced(p, l, kinds[i])) {
			p->again[kinds[i]]++;
			return choose(p, l, kinds[i], out);
		}
	}
	return false;
}

static void
step(struct planner *p)
{
	p->at++;
	if (p->at == ORDER) {
		p->at = 0;
		p->round++;
	}
}

void
planner_start(struct planner *p, const struct planner_job *job)
{
	p->job = *job;
	p->set = 0;
}

void
planner_next(struct planner *p, const struct measured_list *l,
    struct planned *out)
{
	if (p->set == 0) {
		p->set = set_size(p);
		*out = (struct planned){ .kind = BLOCK_SET, .batches = p->set };
		return;
	}
	if (repeat(p, l, out))
		return;
	while (!choose(p, l, order[p->at], out))
		step(p);
	step(p);
}
