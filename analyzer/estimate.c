/* SPDX-License-Identifier: Apache-2.0
 *
 * estimate.c: from the values of blocks to the figures of a result.
 * Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/chosen.h"
#include "analyzer/found.h"
#include "analyzer/interval.h"
#include "base/say.h"

/* Half the width: caches are colder behind a job's step than behind the short pause
 * after which handing over is timed, and that is 6 % more (tests/bench/truth). */
#define HANDOVER_LEAST	0.1

static const enum block_kind kind_of[RATES] = {
	[RATE_INGEST] = BLOCK_REPLAY,
	[RATE_INGEST_BUSY] = BLOCK_REPLAY_BUSY,
	[RATE_PREP] = BLOCK_ALONE,
	[RATE_STORAGE] = BLOCK_RAW_COLD,
	[RATE_CACHE] = BLOCK_RAW_CACHED,
	[RATE_LOADER_CACHED] = BLOCK_CACHED,
	[RATE_LOADER_COLD] = BLOCK_COLD,
	[RATE_ACTUAL] = BLOCK_ACTUAL,
};

/*--- blocks of one kind --------------------------------------------------*/

static struct interval_block *
reserve(size_t nr)
{
	struct interval_block *list = calloc(nr + 1, sizeof *list);

	if (list == NULL)
		say_no_memory();
	return list;
}

/* The mean over blocks of something that some have; not a number: none has. */
static double
mean_of(const struct measured_list *l, enum block_kind kind, unsigned workers,
    size_t offset)
{
	double sum = 0, value;
	struct chosen c;
	size_t nr = 0;

	chosen_init(&c, l, kind, workers);
	for (size_t i = 0; i < c.nr; i++) {
		value = *(const double *)((const char *)c.list[i] + offset);
		if (!(value > 0))
			continue;
		sum += value;
		nr++;
	}
	chosen_fini(&c);
	return nr > 0 ? sum / (double)nr : NAN;
}

#define MEAN(list, kind, workers, member) \
	mean_of((list), (kind), (workers), offsetof(struct measured, member))

/*--- rates ---------------------------------------------------------------*/

/* By another cause of doubt, which is independent of those that it has. */
static void
widen_by(struct figure *f, double half)
{
	double low = f->value - hypot(f->value - f->low, half);

	f->low = low > 0 ? low : f->low;
	f->high = f->value + hypot(f->high - f->value, half);
}

static struct found
find_found(const struct measured_list *l, const struct chosen *actual)
{
	struct found f;

	found_init(&f, actual->list, actual->nr,
	    MEAN(l, BLOCK_CACHED, 0, s_per_sample),
	    MEAN(l, BLOCK_COLD, 0, s_per_sample));
	return f;
}

static struct figure
rate_of(const struct measured_list *l, enum block_kind kind, unsigned workers)
{
	bool is_replay = kind == BLOCK_REPLAY || kind == BLOCK_REPLAY_BUSY;
	struct found found = { 0 };
	struct interval_block *list;
	const struct measured *m;
	struct chosen c;
	struct figure f;

	chosen_init(&c, l, kind, workers);
	if (kind == BLOCK_ACTUAL)
		found = find_found(l, &c);
	list = reserve(c.nr);
	for (size_t i = 0; i < c.nr; i++) {
		m = c.list[i];
		list[i] = (struct interval_block){
			.samples = m->samples > 0,
			.time_s = found_time(&found, m),
			.cpu_s = is_replay ? m->job_cpu_s :
			    m->cpu_s > 0 ? m->cpu_s : -1,
		};
	}
	f = interval_of_times(list, c.nr);
	if (f.is_known)
		widen_by(&f, found_half(&found));
	free(list);
	chosen_fini(&c);
	return interval_invert(&f);
}

/*--- the rest ------------------------------------------------------------*/

static void
widen_to(struct figure *f, double part)
{
	f->low = fmin(f->low, f->value * (1 - part));
	f->high = fmax(f->high, f->value * (1 + part));
}

static void
fill_handover(struct result *r, const struct measured_list *l)
{
	struct interval_block *list;
	struct chosen c;
	struct figure f;

	chosen_init_handover(&c, l);
	list = reserve(c.nr);
	for (size_t i = 0; i < c.nr; i++)
		list[i] = (struct interval_block){ .samples = 1,
		    .time_s = c.list[i]->handover_s, .cpu_s = -1 };
	f = interval_of_times(list, c.nr);
	widen_to(&f, HANDOVER_LEAST);
	/* Without workers nothing is handed over; nor by threads, if it could
	 * not be told. */
	r->handover_ms_per_batch = r->job.workers == 0 ||
	    (c.nr == 0 && r->job.is_pipelined) ? interval_exact(0) :
	    interval_scale(&f, 1e3);
	free(list);
	chosen_fini(&c);
}

/* Where the job runs as it is; it is more behind reads from storage. */
static void
fill_cpu(struct result *r, const struct measured_list *l)
{
	struct interval_block *list;
	struct chosen c;
	struct figure f;
	size_t nr = 0;

	chosen_init(&c, l, BLOCK_ACTUAL, 0);
	list = reserve(c.nr);
	for (size_t i = 0; i < c.nr; i++) {
		double s = c.list[i]->all_cpu_s;

		if (s > 0)
			list[nr++] = (struct interval_block){ .samples = 1,
			    .time_s = s, .cpu_s = s };
	}
	f = interval_of_times(list, nr);
	r->cpu_ms_per_sample = interval_scale(&f, 1e3);
	free(list);
	chosen_fini(&c);
}

static bool
is_listed(const struct result *r, unsigned workers)
{
	for (size_t i = 0; i < r->nr_alone; i++) {
		if (r->alone[i].workers == workers)
			return true;
	}
	return false;
}

static void
fill_alone(struct result *r, const struct measured_list *l)
{
	struct figure f;
	unsigned workers;

	for (size_t i = 0; i < l->nr; i++) {
		workers = l->list[i].workers;
		if (l->list[i].kind != BLOCK_ALONE || is_listed(r, workers))
			continue;
		f = rate_of(l, BLOCK_ALONE, workers);
		result_add_alone(r, workers, &f,
		    1e3 * MEAN(l, BLOCK_ALONE, workers, all_cpu_s));
	}
}

static void
confess_disturbed(struct result *r, const struct measured_list *l,
    enum block_kind kind, unsigned workers)
{
	struct chosen c;

	chosen_init(&c, l, kind, workers);
	if (c.are_disturbed)
		result_confess(r, "something else was done in every block of "
		    "%s: it counts all the same", rate_names[kind ==
		    BLOCK_CACHED ? RATE_LOADER_CACHED : kind == BLOCK_COLD ?
		    RATE_LOADER_COLD : RATE_ACTUAL]);
	chosen_fini(&c);
}

void
estimate_rates(struct result *r, const struct measured_list *l,
    unsigned workers)
{
	for (unsigned i = 0; i < RATES; i++)
		r->rate[i] = rate_of(l, kind_of[i], workers);
	fill_handover(r, l);
	fill_cpu(r, l);
	fill_alone(r, l);
	confess_disturbed(r, l, BLOCK_ACTUAL, workers);
	confess_disturbed(r, l, BLOCK_CACHED, workers);
	confess_disturbed(r, l, BLOCK_COLD, workers);
}

/*--- what models need ----------------------------------------------------*/

static double
or_zero(double value)
{
	return isnan(value) ? 0 : value;
}

void
estimate_job(struct result *r, const struct measured_list *l)
{
	struct result_job *j = &r->job;
	unsigned own = (unsigned)j->workers;
	double cached = MEAN(l, BLOCK_CACHED, 0, worker_s);
	double cold = MEAN(l, BLOCK_COLD, 0, worker_s);
	double bytes = MEAN(l, BLOCK_RAW_COLD, 0, bytes);
	double samples = MEAN(l, BLOCK_RAW_COLD, 0, samples);

	j->prep_s = or_zero(isnan(MEAN(l, BLOCK_ALONE, own, worker_s)) ?
	    cached : MEAN(l, BLOCK_ALONE, own, worker_s));
	j->prep_cpu_s = or_zero(MEAN(l, BLOCK_CACHED, 0, cpu_s));
	j->fetch_s = cold > cached ? cold - cached : 0;
	j->bytes_per_sample = or_zero(bytes / samples);
	j->handover_s = r->handover_ms_per_batch.is_known &&
	    j->batch_size > 0 ? 1e-3 * r->handover_ms_per_batch.value /
	    (double)j->batch_size : 0;
	j->resident = found_resident(l);
}

/*--- workers -------------------------------------------------------------*/

/* Seconds for a sample of one worker in blocks of a kind, by their numbers. */
static double
worker_time(const struct facts *f, uint64_t worker, const bool *is_wanted)
{
	enum { BLOCK, WORKER, BEGIN, END, SAMPLES };
	double s = 0, samples = 0;
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_MADE || p->word[WORKER] != worker ||
		    p->word[BLOCK] >= SCHEDULE_BLOCKS ||
		    !is_wanted[p->word[BLOCK]] || p->word[END] < p->word[BEGIN])
			continue;
		s += 1e-9 * (double)(p->word[END] - p->word[BEGIN]);
		samples += (double)p->word[SAMPLES];
	}
	return samples > 0 ? s / samples : NAN;
}

static void
mark_blocks(const struct facts *f, enum block_kind kind, bool *is_wanted)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (f->list[i].kind == JOURNAL_BLOCK_END &&
		    f->list[i].word[0] < SCHEDULE_BLOCKS &&
		    f->list[i].word[1] == kind)
			is_wanted[f->list[i].word[0]] = true;
	}
}

void
estimate_workers(struct result *r, const struct facts *f)
{
	bool actual[SCHEDULE_BLOCKS] = { 0 }, cached[SCHEDULE_BLOCKS] = { 0 };
	unsigned nr = r->job.workers > 0 ? (unsigned)r->job.workers : 1;
	double all, prep;

	mark_blocks(f, BLOCK_ACTUAL, actual);
	mark_blocks(f, BLOCK_CACHED, cached);
	for (unsigned i = 0; i < nr; i++) {
		/* Counted from 1; 0 is the main process. */
		uint64_t worker = r->job.workers > 0 ? i + 1u : 0;

		all = worker_time(f, worker, actual);
		prep = worker_time(f, worker, cached);
		if (!isnan(all) && !isnan(prep))
			result_add_worker(r, 1e3 * fmax(all - prep, 0),
			    1e3 * prep);
	}
}

/*--- enough? -------------------------------------------------------------*/

bool
estimate_is_narrow(const struct measured_list *l, unsigned workers,
    double confidence)
{
	static const enum rate judged[] = {
		RATE_INGEST, RATE_LOADER_CACHED, RATE_ACTUAL, RATE_PREP,
		RATE_STORAGE,
	};
	struct figure f;

	for (unsigned i = 0; i < sizeof judged / sizeof *judged; i++) {
		f = rate_of(l, kind_of[judged[i]], workers);
		/* What cannot be measured will not be narrower. */
		if (f.is_known && !interval_is_narrow(&f, confidence))
			return false;
	}
	return true;
}
