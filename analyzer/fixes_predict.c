/* SPDX-License-Identifier: Apache-2.0
 *
 * fixes_predict.c: what each fix would gain.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/fixes_predict.h"

#include <math.h>

#include "analyzer/interval.h"

#define NEARLY_ALL	0.98	/* of what more workers can give */
#define STORAGE_PART	0.95	/* of the speed from memory, to be aimed at */
#define WORKERS_TIMES	4u	/* as many as now, at most */
#define MANY		4096.0	/* cores or workers: a failed figure */
#define MEMORY_PART	0.9	/* of what is free, for a cache */
#define HALF_A_PAGE	2048.0	/* is lost for each item */
#define LARGE_PART	4.0	/* of a cache is too much for one item */

/* From one reading speed to that of more readers: no further than this. */
#define READERS_TIMES	2.0
#define SEPARABLE	0.1

void
predict_init(struct predict *p, const struct result *r)
{
	const struct figure *fetch = &r->share[SHARE_FETCH];

	*p = (struct predict){ .r = r, .actual = NAN, .loader_cached = NAN };
	model_of_result(&p->now, r);
	p->ranks = r->job.ranks > 1 ? (double)r->job.ranks : 1;
	if (r->rate[RATE_ACTUAL].is_known)
		p->actual = r->rate[RATE_ACTUAL].value / p->ranks;
	if (r->rate[RATE_LOADER_CACHED].is_known)
		p->loader_cached = r->rate[RATE_LOADER_CACHED].value / p->ranks;
	p->bytes_per_sample = r->job.bytes_per_sample;
	p->has_fetch_stall = fetch->is_known &&
	    fetch->value >= interval_half(fetch);
}

/* Of another job over the one that is, no further than the accelerator goes. */
static double
gain_of(const struct predict *p, const struct model_job *j)
{
	double gain = model_speed(j) / model_speed(&p->now) - 1;
	double most = model_ingest_rate(j) / p->actual - 1;

	return isnan(gain) || isnan(most) ? NAN : fmin(gain, most);
}

/*--- workers -------------------------------------------------------------*/

/* A worker's time for a sample, measured with the loader alone: with so many of
 * them, or the next fewer that were tried. */
static double
alone_time(const struct predict *p, unsigned workers)
{
	unsigned nearest = 0;
	double time = NAN;

	for (size_t i = 0; i < p->r->nr_alone; i++) {
		const struct result_alone *a = &p->r->alone[i];

		if (a->workers > workers || a->workers <= nearest ||
		    !a->samples_per_s.is_known)
			continue;
		nearest = a->workers;
		time = nearest * p->ranks / a->samples_per_s.value;
	}
	return time;
}

/* In the job, beside training, it takes longer than alone; with other numbers of
 * workers by as much. */
static double
prep_time(const struct predict *p, unsigned workers)
{
	unsigned w = p->now.workers > 0 ? p->now.workers : 1;
	double ratio = alone_time(p, workers) / alone_time(p, w);

	return isfinite(ratio) ? p->now.t_prep * ratio : p->now.t_prep;
}

/* Storage that answers late serves more readers as fast; one that gives so much
 * a second does not.  Both gave the same speed to readers that did nothing else,
 * but only the first keeps workers waiting as long when they prepare in between. */
static bool
is_late_storage(const struct predict *p)
{
	const struct model_job *j = &p->now;
	double readers = j->workers > 0 ? j->workers : 1;
	double each = readers / j->storage -
	    (isnan(j->cache) ? 0 : readers / j->cache);

	return j->t_prep >= SEPARABLE * each &&
	    j->t_fetch_miss > each - j->t_prep / 2;
}

static struct model_job
with_workers(const struct predict *p, unsigned workers)
{
	double readers = p->now.workers > 0 ? p->now.workers : 1;
	struct model_job j = p->now;

	j.workers = workers;
	j.t_prep = prep_time(p, workers);
	if (is_late_storage(p))
		j.storage *= fmin(READERS_TIMES, workers / readers);
	return j;
}

double
predict_workers(const struct predict *p, unsigned *workers)
{
	unsigned now = p->now.workers, most, w;
	struct model_job j;
	double best = 0;

	if (!(p->now.cores < MANY) || now >= MANY ||
	    (now == 0 && p->now.is_pipelined))
		return NAN;
	most = WORKERS_TIMES * (now > 0 ? now : 1);
	if (most < ceil(p->now.cores))
		most = (unsigned)ceil(p->now.cores);
	for (w = now + 1; w <= most; w++) {
		j = with_workers(p, w);
		best = fmax(best, model_speed(&j));
	}
	for (w = now + 1; w < most; w++) {
		j = with_workers(p, w);
		if (model_speed(&j) >= NEARLY_ALL * best)
			break;
	}
	*workers = w;
	j = with_workers(p, w);
	return gain_of(p, &j);
}

/*--- cores ---------------------------------------------------------------*/

/* A worker's time that no other process takes a processor from. */
static double
calm_prep_time(const struct predict *p)
{
	const struct model_job *j = &p->now;

	if (j->workers > j->cores)
		return fmin(prep_time(p, 1), j->t_prep * j->cores / j->workers);
	return prep_time(p, 1);
}

double
predict_cores(const struct predict *p, unsigned *cores, unsigned *workers)
{
	struct model_job j = p->now;
	double reach, need;

	j.t_prep = fmax(calm_prep_time(p), j.t_prep_cpu);
	j.cores = INFINITY;
	j.workers = (unsigned)MANY;
	reach = model_speed(&j);
	need = ceil(reach * (j.t_prep_cpu + j.t_main_cpu) - 1e-9);
	if (!(need > p->now.cores) || !(need <= MANY))
		return NAN;
	j.cores = need;
	if (!j.is_pipelined)
		need = ceil(reach * (j.t_prep + (j.x == 1 ? 0 :
		    (1 - j.x) * j.t_fetch_miss)) - 1e-9);
	j.workers = (unsigned)fmin(MANY, fmax(need, p->now.workers));
	*cores = (unsigned)j.cores;
	*workers = j.workers;
	return gain_of(p, &j);
}

/*--- memory and storage --------------------------------------------------*/

static double
speed_at(const struct predict *p, double x)
{
	struct model_job j = p->now;

	j.x = x;
	return model_speed(&j);
}

/* As measured with all files in memory, and by the model below that. */
static double
speed_cached(const struct predict *p, double x)
{
	if (x == 1)
		return p->loader_cached;
	return p->loader_cached * fmin(1, speed_at(p, x) / speed_at(p, 1));
}

double
predict_cache(const struct predict *p, double free_bytes, double *x,
    uint64_t *bytes)
{
	double each = p->bytes_per_sample + HALF_A_PAGE;
	double all = (double)p->r->job.samples * each;

	if (!p->has_fetch_stall || !(p->bytes_per_sample > 0) || !(all > 0) ||
	    !(free_bytes > 0))
		return NAN;
	if (!model_best_cache(&p->now, x))
		*x = 1;
	*x = fmin(*x, MEMORY_PART * free_bytes / all);
	*bytes = (uint64_t)ceil(*x * all);
	if (*x <= p->now.x || each > (double)*bytes / LARGE_PART)
		return NAN;
	return speed_cached(p, *x) / p->actual - 1;
}

double
predict_storage(const struct predict *p, double *rate)
{
	double needed;

	if (!p->has_fetch_stall)
		return NAN;
	needed = model_storage_needed(&p->now,
	    STORAGE_PART * speed_at(p, 1));
	if (!(needed > p->now.storage) || !isfinite(needed) ||
	    needed > p->now.cache)
		return NAN;
	*rate = needed * p->ranks;
	return STORAGE_PART * p->loader_cached / p->actual - 1;
}

/*--- other jobs, and the hand-over ---------------------------------------*/

double
predict_jobs(const struct predict *p, unsigned jobs)
{
	return model_jobs_speed(&p->now, jobs, true) /
	    model_jobs_speed(&p->now, jobs, false) - 1;
}

double
predict_no_handover(const struct predict *p)
{
	struct model_job j = p->now;

	j.h = 0;
	return gain_of(p, &j);
}
