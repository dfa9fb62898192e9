/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c: the laws of speed.  Runs in the command only.
 *
 * Sums and minima of times per sample, since those add; their inverse at the end.
 */

#include <config.h>

#include "analyzer/model.h"

#include <math.h>

#include "analyzer/interval.h"

/* A share of time below which it is of no matter. */
#define SHARE_SMALL	0.02

/* Unlike fmax() and fmin(), these do not lose what is not a number. */
static double
larger(double a, double b)
{
	return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

static double
clamp(double x)
{
	return isnan(x) || x < 0 ? 0 : x > 1 ? 1 : x;
}

/* part / rate, where nothing takes no time at any rate. */
static double
time_of(double part, double rate)
{
	return part == 0 ? 0 : part / rate;
}

/*--- one limit each, as time per sample ----------------------------------*/

static double
fetch_time(const struct model_job *j)
{
	double hit = j->x == 0 ? 0 : j->x * j->t_fetch_hit;
	double miss = j->x == 1 ? 0 : (1 - j->x) * j->t_fetch_miss;

	return hit + miss;
}

/* Of a worker.  A pipelined loader fetches by other threads. */
static double
worker_time(const struct model_job *j)
{
	return j->t_prep + (j->is_pipelined ? 0 : fetch_time(j));
}

/* Of storage; pipelined loaders wait for memory, too, where workers have that
 * in their own time. */
static double
reading_time(const struct model_job *j)
{
	double time = time_of(1 - j->x, j->storage);

	return j->is_pipelined ? time + time_of(j->x, j->cache) : time;
}

/* `streams` are made, for `jobs` that each run a main process. */
static double
cpu_time(const struct model_job *j, double streams, double jobs)
{
	return time_of(streams * j->t_prep_cpu + jobs * j->t_main_cpu,
	    j->cores);
}

static double
time_of_workers(const struct model_job *j, double jobs)
{
	if (j->workers == 0)
		return 0;
	return worker_time(j) / (jobs * j->workers);
}

/*--- speeds --------------------------------------------------------------*/

double
model_fetch_rate(double storage, double cache, double x)
{
	return 1 / (time_of(x, cache) + time_of(1 - x, storage));
}

double
model_ingest_rate(const struct model_job *j)
{
	return 1 / (j->g + j->h);
}

double
model_prep_rate(const struct model_job *j)
{
	struct model_job here = *j;

	here.x = 1;
	if (here.workers == 0 && !here.is_pipelined)
		here.workers = 1;		/* the main process */
	return 1 / larger(time_of_workers(&here, 1), cpu_time(&here, 1, 0));
}

/* `makers` jobs make each stream, of which there are `streams`. */
static double
speed(const struct model_job *j, double jobs, double makers, double streams)
{
	double time = j->g + j->h;

	if (j->workers == 0 && !j->is_pipelined)
		time += worker_time(j) / makers;
	time = larger(time, time_of_workers(j, makers));
	time = larger(time, cpu_time(j, streams, jobs));
	time = larger(time, streams * reading_time(j));
	return 1 / time;
}

double
model_speed(const struct model_job *j)
{
	return speed(j, 1, 1, 1);
}

double
model_jobs_speed(const struct model_job *j, unsigned jobs, bool is_coordinated)
{
	if (jobs == 0)
		return NAN;
	return is_coordinated ? speed(j, jobs, jobs, 1) :
	    speed(j, jobs, 1, jobs);
}

/*--- the cache, and storage -----------------------------------------------*/

/* R: the speed if reading were no limit, but for what workers do themselves. */
static double
speed_in_memory(const struct model_job *j)
{
	struct model_job here = *j;

	here.x = 1;
	here.cache = INFINITY;
	return model_speed(&here);
}

/* The time that a worker has for a sample, at a speed. */
static double
time_of_a_worker(const struct model_job *j, double time)
{
	return j->workers > 0 ? time * j->workers : time - j->g - j->h;
}

/* From a time of all misses to one of all hits, the part of hits at which it is
 * `wanted`.  Above 1: none. */
static double
part_for(double wanted, double miss, double hit)
{
	if (isnan(wanted) || isnan(miss) || isnan(hit))
		return NAN;
	if (miss <= wanted)
		return 0;
	if (hit >= miss)
		return INFINITY;
	if (isinf(miss))
		return hit <= wanted ? 1 : INFINITY;
	return (miss - wanted) / (miss - hit);
}

bool
model_best_cache(const struct model_job *j, double *x)
{
	const double rounding = 1e-9;
	double time = 1 / speed_in_memory(j), part;

	if (j->is_pipelined)
		part = part_for(time, 1 / j->storage, 1 / j->cache);
	else
		part = larger(part_for(time, 1 / j->storage, 0),
		    part_for(time_of_a_worker(j, time) * (1 + rounding),
		    j->t_prep + j->t_fetch_miss, j->t_prep + j->t_fetch_hit));
	if (!(part <= 1 + rounding))
		return false;
	*x = clamp(part);
	return true;
}

/* What rate does so much in so much time? */
static double
rate_for(double work, double time)
{
	if (isnan(work) || isnan(time))
		return NAN;
	if (work == 0)
		return 0;
	return time > 0 ? work / time : INFINITY;
}

double
model_storage_needed(const struct model_job *j, double speed_wanted)
{
	double time = 1 / speed_wanted, misses = 1 - j->x, own;

	if (j->is_pipelined)
		return rate_for(misses, time - time_of(j->x, j->cache));
	own = time_of_a_worker(j, time) - j->t_prep - j->x * j->t_fetch_hit;
	return larger(rate_for(misses, time),
	    rate_for(j->storage * misses * j->t_fetch_miss, own));
}

/*--- shares --------------------------------------------------------------*/

bool
model_is_resident(double x, double storage, double actual)
{
	if (x >= RESIDENT_ALL)
		return true;
	return x >= 0 && storage > 0 &&
	    (1 - x) * actual <= (1 - RESIDENT_ALL) * storage;
}

double
model_share(enum share s, double actual, double ingest, double loader_cached,
    double h)
{
	double compute = actual / ingest, cached = actual / loader_cached;

	switch (s) {
	case SHARE_COMPUTE:
		return compute;
	case SHARE_PREP:
		return cached - compute - actual * h;
	case SHARE_FETCH:
		return 1 - cached;
	case SHARE_HANDOVER:
		return actual * h;
	case SHARES:
		break;
	}
	return NAN;
}

void
model_settle_shares(double share[SHARES])
{
	double sum = 0;

	for (int i = 0; i < SHARES; i++) {
		if (share[i] < 0)
			share[i] = 0;
		sum += share[i];
	}
	for (int i = 0; i < SHARES; i++)
		share[i] = isfinite(sum) && sum > 0 ? share[i] / sum : NAN;
}

/*--- the job as it was measured ------------------------------------------*/

static double
rate_of(const struct result *r, enum rate which)
{
	double ranks = r->job.ranks > 1 ? (double)r->job.ranks : 1;

	return r->rate[which].is_known ? r->rate[which].value / ranks : NAN;
}

static double
known(double time)
{
	return time > 0 ? time : NAN;
}

/* Where what is in memory could not be told and there is no fetch stall, all may
 * as well be in it. */
static double
resident_of(const struct result *r)
{
	const struct figure *fetch = &r->share[SHARE_FETCH];

	if (r->job.resident >= 0)
		return clamp(r->job.resident);
	return fetch->is_known && (fetch->value < SHARE_SMALL ||
	    fetch->value < interval_half(fetch)) ? 1 : NAN;
}

void
model_of_result(struct model_job *j, const struct result *r)
{
	const struct result_job *job = &r->job;
	double ranks = job->ranks > 1 ? (double)job->ranks : 1;
	double g = rate_of(r, RATE_INGEST_BUSY), others;

	if (isnan(g))
		g = rate_of(r, RATE_INGEST);
	others = r->cpu_ms_per_sample.is_known ?
	    r->cpu_ms_per_sample.value / 1e3 - job->prep_cpu_s : 0;
	*j = (struct model_job){
		.g = 1 / g, .h = job->handover_s,
		.t_prep = known(job->prep_s),
		.t_prep_cpu = known(job->prep_cpu_s),
		.t_main_cpu = others > 0 ? others : 0,
		.t_fetch_miss = job->fetch_s,
		.storage = rate_of(r, RATE_STORAGE),
		.cache = rate_of(r, RATE_CACHE),
		.x = resident_of(r),
		.workers = (unsigned)job->workers,
		.cores = known(job->cores) / ranks,
		.is_pipelined = job->is_pipelined,
	};
}
