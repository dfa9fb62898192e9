/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_model.c: tests of analyzer/model.c, against values in closed form.
 */

#include <config.h>

#include "analyzer/model.h"

#include <math.h>

#include "tests/harness/unit.h"

static void
assert_near(double got, double wanted)
{
	if (isnan(wanted) ? !isnan(got) : isinf(wanted) ? got != wanted :
	    !(fabs(got - wanted) <= 1e-9 + 1e-6 * fabs(wanted)))
		fail_msg("%.9g is not %.9g", got, wanted);
}

/* An accelerator of 1,000 samples a second over four workers of 10 ms on four
 * cores, all in memory: 400. */
static struct model_job
plain_job(void)
{
	return (struct model_job){
		.g = 0.001, .t_prep = 0.010, .t_prep_cpu = 0.010,
		.storage = 200, .cache = 20000, .x = 1, .workers = 4,
		.cores = 4,
	};
}

/*--- fetching ------------------------------------------------------------*/

static void
fetch_rate_is_mixed_by_time(void **state)
{
	static const struct {
		double	storage, cache, x, rate;
	} cases[] = {
		{ 100, 1000, 0, 100 },
		{ 100, 1000, 1, 1000 },
		{ 100, 1000, 0.5, 1 / 0.0055 },
		{ 100, INFINITY, 0.75, 400 },	/* S / (1 - x) */
		{ 100, INFINITY, 1, INFINITY },
		{ INFINITY, 1000, 0, INFINITY },
		{ 0, 1000, 0.5, 0 },
		{ 0, 1000, 1, 1000 },
		{ NAN, 1000, 1, 1000 },
		{ NAN, 1000, 0.5, NAN },
		{ 100, NAN, 0, 100 },
		{ 100, 1000, NAN, NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_near(model_fetch_rate(cases[i].storage, cases[i].cache,
		    cases[i].x), cases[i].rate);
}

/*--- serial workers ------------------------------------------------------*/

/* 5 ms of fetch and 5 ms of prep, both slept: one worker gives 100, four 400
 * where a pipelined loader gives 200 and 800 (93 and 317 were measured, with
 * what sleeps and queues take beside). */
static void
serial_workers_fetch_and_then_prepare(void **state)
{
	struct model_job j = {
		.g = 1e-5, .t_prep = 0.005, .t_prep_cpu = 1e-5,
		.t_fetch_miss = 0.005, .storage = 200, .cache = INFINITY,
		.workers = 1, .cores = 2,
	};

	(void)state;
	assert_near(model_speed(&j), 100);
	j.is_pipelined = true;
	assert_near(model_speed(&j), 200);
	j.workers = 4;
	j.storage = 800;
	assert_near(model_speed(&j), 800);
	j.is_pipelined = false;
	assert_near(model_speed(&j), 400);
}

static void
each_limit_of_serial_workers_is_one(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	assert_near(model_speed(&j), 400);
	j.workers = 2;				/* workers */
	assert_near(model_speed(&j), 200);
	j = plain_job();
	j.workers = 8;				/* processors */
	assert_near(model_speed(&j), 400);
	j.t_main_cpu = 0.006;			/* the main process on them, too */
	assert_near(model_speed(&j), 250);
	j = plain_job();
	j.x = 0.5;				/* storage: S / (1 - x) */
	j.t_fetch_miss = 0.001;
	j.storage = 150;
	assert_near(model_speed(&j), 300);
	j.storage = 1000;			/* then half a fetch */
	assert_near(model_speed(&j), 4 / 0.0105);
	j = plain_job();
	j.g = 0.004;				/* the accelerator */
	assert_near(model_speed(&j), 250);
	j.h = 0.001;				/* and the hand-over */
	assert_near(model_speed(&j), 200);
	assert_near(model_ingest_rate(&j), 200);
}

static void
without_workers_all_is_one_after_the_other(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	j.workers = 0;
	assert_near(model_speed(&j), 1 / 0.011);
	assert_near(model_prep_rate(&j), 100);
	j.x = 0;
	j.t_fetch_miss = 0.005;
	assert_near(model_speed(&j), 1 / 0.016);
	j.storage = 50;
	assert_near(model_speed(&j), 50);
}

static void
prep_is_by_workers_and_by_processors(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	assert_near(model_prep_rate(&j), 400);
	j.workers = 3;
	assert_near(model_prep_rate(&j), 300);
	j.workers = 8;
	assert_near(model_prep_rate(&j), 400);
	j.t_prep_cpu = 0.001;			/* it sleeps for the most part */
	assert_near(model_prep_rate(&j), 800);
	j.x = 0;				/* files in memory, always */
	j.t_fetch_miss = 1;
	assert_near(model_prep_rate(&j), 800);
}

/*--- pipelined loaders ---------------------------------------------------*/

static void
pipelined_speed_is_the_least_rate(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	j.is_pipelined = true;
	assert_near(model_speed(&j), 400);	/* P */
	j.x = 0.25;				/* F, C counts a little */
	assert_near(model_speed(&j), 1 / (0.25 / 20000 + 0.75 / 200));
	j.x = 1;
	j.cache = 300;
	assert_near(model_speed(&j), 300);
	j.g = 0.005;				/* G */
	assert_near(model_speed(&j), 200);
	j = plain_job();
	j.is_pipelined = true;
	j.workers = 0;				/* not counted: processors */
	assert_near(model_speed(&j), 400);
	assert_near(model_prep_rate(&j), 400);
	j.t_fetch_miss = 7;			/* is others' time */
	j.x = 0;
	assert_near(model_speed(&j), 200);
}

/*--- what is not known ---------------------------------------------------*/

static void
unknown_makes_unknown_where_it_matters(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	j.storage = j.t_fetch_miss = NAN;	/* all is in memory */
	assert_near(model_speed(&j), 400);
	j.x = 0.5;
	assert_near(model_speed(&j), NAN);
	j = plain_job();
	j.g = NAN;
	assert_near(model_speed(&j), NAN);
	assert_near(model_jobs_speed(&j, 2, true), NAN);
	assert_near(model_prep_rate(&j), 400);
	j = plain_job();
	j.t_prep = NAN;
	assert_near(model_speed(&j), NAN);
	assert_near(model_prep_rate(&j), NAN);
	j = plain_job();
	j.x = NAN;
	assert_near(model_speed(&j), NAN);
	j = plain_job();
	j.cores = NAN;
	assert_near(model_speed(&j), NAN);
}

static void
nothing_and_everything_are_speeds(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	j.storage = 0;
	j.x = 0.5;
	assert_near(model_speed(&j), 0);
	j = plain_job();
	j.cores = 0;
	assert_near(model_speed(&j), 0);
	j = plain_job();
	j.g = INFINITY;
	assert_near(model_speed(&j), 0);
	j = (struct model_job){ .x = 1, .workers = 1, .cores = INFINITY,
	    .storage = INFINITY, .cache = INFINITY };
	assert_near(model_speed(&j), INFINITY);
}

/*--- several jobs --------------------------------------------------------*/

/* max(g, Kp/n, Km/S) / max(g, p/n, m/S) */
static void
jobs_share_processors_and_storage(void **state)
{
	struct model_job j = {
		.g = 0.001, .t_prep = 0.016, .t_prep_cpu = 0.016,
		.storage = 1000, .cache = INFINITY, .x = 0.5, .workers = 64,
		.cores = 8,
	};

	(void)state;
	assert_near(model_jobs_speed(&j, 1, false), 500);
	assert_near(model_jobs_speed(&j, 1, true), 500);
	assert_near(model_jobs_speed(&j, 4, false), 125);
	assert_near(model_jobs_speed(&j, 4, true), 500);
	assert_near(model_jobs_speed(&j, 0, true), NAN);
	j.t_prep_cpu = 0.001;			/* storage: K m / S */
	assert_near(model_jobs_speed(&j, 4, false), 500);
	assert_near(model_jobs_speed(&j, 4, true), 1000);
	assert_near(model_jobs_speed(&j, 8, false), 250);
	j.is_pipelined = true;
	assert_near(model_jobs_speed(&j, 8, false), 250);
}

/* unshared min(G, H / k), shared min(G, H) */
static void
sharing_ends_at_the_accelerator(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	j.workers = 400;
	j.g = 1 / 300.0;			/* H is 400 */
	assert_near(model_jobs_speed(&j, 1, false), 300);
	assert_near(model_jobs_speed(&j, 2, false), 200);
	assert_near(model_jobs_speed(&j, 2, true), 300);
	assert_near(model_jobs_speed(&j, 8, true), 300);
}

/* K(p + r) / (p + Kr): a job's own reading of a batch is not shared. */
static void
own_work_is_not_shared(void **state)
{
	static const unsigned jobs[] = { 2, 4, 8 };
	struct model_job j = plain_job();
	double p = 0.010, r = 0.0005, k;

	(void)state;
	j.g = 0;
	j.workers = 1000;
	j.t_main_cpu = r;
	for (size_t i = 0; i < 3; i++) {
		k = jobs[i];
		assert_near(model_jobs_speed(&j, jobs[i], true) /
		    model_jobs_speed(&j, jobs[i], false),
		    k * (p + r) / (p + k * r));
	}
}

/* Where workers are the limit and not processors, those of others help. */
static void
workers_of_all_jobs_make_one_stream(void **state)
{
	struct model_job j = plain_job();

	(void)state;
	j.workers = 1;
	assert_near(model_jobs_speed(&j, 2, false), 100);
	assert_near(model_jobs_speed(&j, 2, true), 200);
	assert_near(model_jobs_speed(&j, 8, false), 50);
	assert_near(model_jobs_speed(&j, 8, true), 400);
	j.workers = 0;
	assert_near(model_jobs_speed(&j, 2, true), 1 / 0.006);
}

/*--- the best cache ------------------------------------------------------*/

static void
best_cache_of_pipelined_loaders(void **state)
{
	static const struct {
		double	storage, cache, ingest, x;	/* negative: none */
	} cases[] = {
		{ 100, 1000, 50, 0 },		/* R < S */
		{ 100, 1000, 100, 0 },		/* R = S */
		{ 100, 1000, 500, (0.01 - 0.002) / (0.01 - 0.001) },
		{ 100, 1000, 1000, 1 },		/* R = C */
		{ 100, 1000, 1001, -1 },	/* R > C */
		{ 100, INFINITY, 400, 0.75 },
		{ 100, INFINITY, INFINITY, 1 },
		{ 100, 100, 200, -1 },
		{ 100, 50, 200, -1 },
		{ 0, 1000, 500, 1 },
		{ 0, 100, 500, -1 },
		{ INFINITY, 1000, 500, 0 },
		{ NAN, 1000, 500, -1 },
		{ 100, NAN, 500, -1 },
		{ 100, 1000, NAN, -1 },
	};
	struct model_job j = {
		.workers = 1, .cores = INFINITY, .is_pipelined = true, .x = 0.3,
	};
	double x;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		j.storage = cases[i].storage;
		j.cache = cases[i].cache;
		j.g = 1 / cases[i].ingest;
		x = -1;
		assert_int_equal(model_best_cache(&j, &x), cases[i].x >= 0);
		assert_near(x, cases[i].x);
	}
}

/* At x* the speed is that of all in memory; below it it is not. */
static void
assert_is_best(struct model_job j, double x)
{
	double best;

	j.x = 1;
	best = model_speed(&j);
	j.x = x;
	assert_near(model_speed(&j), best);
	if (x > 0.01) {
		j.x = x - 0.01;
		assert_true(model_speed(&j) < best);
	}
}

static void
best_cache_of_serial_workers(void **state)
{
	struct model_job j = plain_job();
	double x = -1;

	(void)state;
	j.t_fetch_miss = 0.020;			/* workers are the limit */
	assert_true(model_best_cache(&j, &x));
	assert_near(x, 1);
	j.workers = 6;				/* the processors: 6 x 10 ms */
	assert_true(model_best_cache(&j, &x));
	assert_near(x, 1 - 0.005 / 0.020);
	assert_is_best(j, x);
	j.workers = 400;			/* storage: 1 - S / R */
	assert_true(model_best_cache(&j, &x));
	assert_near(x, 0.5);
	assert_is_best(j, x);
	j.g = 1 / 150.0;			/* it takes less than storage gives */
	assert_true(model_best_cache(&j, &x));
	assert_near(x, 0);
	j.workers = 0;
	assert_true(model_best_cache(&j, &x));
	assert_near(x, 1);
	j.t_fetch_miss = 0;
	j.storage = INFINITY;
	assert_true(model_best_cache(&j, &x));
	assert_near(x, 0);
	j.t_prep = NAN;
	assert_false(model_best_cache(&j, &x));
}

/*--- storage -------------------------------------------------------------*/

static void
storage_needed_gives_the_speed(void **state)
{
	struct model_job j = plain_job();
	double s;

	(void)state;
	j.x = 0.5;
	j.t_fetch_miss = 0.020;
	j.storage = 100;
	s = model_storage_needed(&j, 300);
	assert_near(s, 100 * 0.5 * 0.020 / (4 / 300.0 - 0.010));
	j.t_fetch_miss *= 100 / s;
	j.storage = s;
	assert_near(model_speed(&j), 300);
	assert_near(model_storage_needed(&j, 400), INFINITY);
	j.is_pipelined = true;
	j.cache = INFINITY;
	assert_near(model_storage_needed(&j, 400), 200);
	j.cache = 100;				/* memory alone is too slow */
	assert_near(model_storage_needed(&j, 400), INFINITY);
	j.x = 1;
	j.cache = 1000;
	assert_near(model_storage_needed(&j, 400), 0);
	assert_near(model_storage_needed(&j, NAN), NAN);
	j.x = NAN;
	assert_near(model_storage_needed(&j, 400), NAN);
}

/*--- shares --------------------------------------------------------------*/

static void
take_shares(double share[SHARES], double v, double g, double p, double h)
{
	for (int s = 0; s < SHARES; s++)
		share[s] = model_share((enum share)s, v, g, p, h);
}

static void
shares_are_as_measured_and_sum_to_one(void **state)
{
	static const struct {
		double	v, g, p, h;
		double	share[SHARES];	/* compute, prep, fetch, handover */
	} cases[] = {
		{ 100, 200, 125, 0.0005, { 0.5, 0.25, 0.2, 0.05 } },
		{ 100, 100, 100, 0, { 1, 0, 0, 0 } },
		{ 100, INFINITY, 100, 0, { 0, 1, 0, 0 } },
		{ 100, INFINITY, INFINITY, 0, { 0, 0, 1, 0 } },
		{ 100, 200, 100, 0.005, { 0.5, 0, 0, 0.5 } },
		{ 0, 200, 100, 0, { 0, 0, 1, 0 } },
	};
	double share[SHARES], sum;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		take_shares(share, cases[i].v, cases[i].g, cases[i].p,
		    cases[i].h);
		sum = 0;
		for (int s = 0; s < SHARES; s++) {
			assert_near(share[s], cases[i].share[s]);
			sum += share[s];
		}
		assert_near(sum, 1);
	}
	assert_near(model_share(SHARES, 1, 1, 1, 1), NAN);
	assert_near(model_share(SHARE_PREP, 100, NAN, 100, 0), NAN);
	assert_near(model_share(SHARE_FETCH, 100, NAN, 125, NAN), 0.2);
}

static void
noise_is_settled(void **state)
{
	double share[SHARES];

	(void)state;
	take_shares(share, 102, 200, 100, 0.0005);	/* v above P' */
	assert_true(share[SHARE_FETCH] < 0);
	model_settle_shares(share);
	assert_near(share[SHARE_FETCH], 0);
	assert_near(share[SHARE_COMPUTE], 0.5);
	assert_near(share[SHARE_PREP], 0.45);
	assert_near(share[SHARE_HANDOVER], 0.05);
	take_shares(share, 103, 100, 102, 0);		/* all of them near G */
	model_settle_shares(share);
	assert_near(share[SHARE_COMPUTE], 1);
	assert_near(share[SHARE_PREP], 0);
	take_shares(share, 100, 0, 100, 0);
	model_settle_shares(share);
	assert_near(share[SHARE_COMPUTE], NAN);
	take_shares(share, 100, NAN, 100, 0);
	model_settle_shares(share);
	assert_near(share[SHARE_FETCH], NAN);
}

/*--- a result ------------------------------------------------------------*/

static void
set(struct result *r, enum rate which, double value)
{
	r->rate[which] = (struct figure){ true, value, value, value };
}

static void
a_result_is_a_job_of_one_rank(void **state)
{
	struct model_job j;
	struct result r;

	(void)state;
	result_init(&r);
	set(&r, RATE_INGEST, 1000);
	set(&r, RATE_STORAGE, 400);
	r.job = (struct result_job){ .ranks = 2, .workers = 3, .cores = 8,
	    .prep_s = 0.010, .prep_cpu_s = 0.008, .fetch_s = 0.005,
	    .handover_s = 0.0001, .resident = 0.25 };
	r.cpu_ms_per_sample = (struct figure){ true, 9, 9, 9 };
	model_of_result(&j, &r);
	assert_near(j.g, 0.002);
	assert_near(j.storage, 200);
	assert_near(j.cache, NAN);
	assert_near(j.cores, 4);
	assert_near(j.t_main_cpu, 0.001);
	assert_near(j.t_fetch_miss, 0.005);
	assert_near(j.x, 0.25);
	assert_int_equal(j.workers, 3);
	set(&r, RATE_INGEST_BUSY, 800);
	model_of_result(&j, &r);
	assert_near(j.g, 0.0025);
	result_fini(&r);
}

static void
an_empty_result_is_not_known(void **state)
{
	struct model_job j;
	struct result r;

	(void)state;
	result_init(&r);
	model_of_result(&j, &r);
	assert_near(j.g, NAN);
	assert_near(j.t_prep, NAN);
	assert_near(j.t_prep_cpu, NAN);
	assert_near(j.t_main_cpu, 0);
	assert_near(j.cores, NAN);
	assert_near(j.x, NAN);
	assert_near(model_speed(&j), NAN);
	r.share[SHARE_FETCH] = (struct figure){ true, 0.01, 0, 0.02 };
	model_of_result(&j, &r);		/* no fetch stall: as if in memory */
	assert_near(j.x, 1);
	r.share[SHARE_FETCH].value = 0.03;
	model_of_result(&j, &r);
	assert_near(j.x, NAN);
	result_fini(&r);
}

static void
what_is_missing_from_memory_may_cost_nothing(void **state)
{
	(void)state;
	assert_true(model_is_resident(1, 0, 100));
	assert_true(model_is_resident(0.995, 0, 100));
	assert_false(model_is_resident(0.99, 0, 100));
	/* A tenth of 100 samples, of 2000 a second: 0.5 %. */
	assert_true(model_is_resident(0.9, 2001, 100));
	assert_false(model_is_resident(0.9, 1999, 100));
	assert_false(model_is_resident(-1, 1e9, 100));
}

UNIT_MAIN(
	UNIT(fetch_rate_is_mixed_by_time),
	UNIT(serial_workers_fetch_and_then_prepare),
	UNIT(each_limit_of_serial_workers_is_one),
	UNIT(without_workers_all_is_one_after_the_other),
	UNIT(prep_is_by_workers_and_by_processors),
	UNIT(pipelined_speed_is_the_least_rate),
	UNIT(unknown_makes_unknown_where_it_matters),
	UNIT(nothing_and_everything_are_speeds),
	UNIT(jobs_share_processors_and_storage),
	UNIT(sharing_ends_at_the_accelerator),
	UNIT(own_work_is_not_shared),
	UNIT(workers_of_all_jobs_make_one_stream),
	UNIT(best_cache_of_pipelined_loaders),
	UNIT(best_cache_of_serial_workers),
	UNIT(storage_needed_gives_the_speed),
	UNIT(shares_are_as_measured_and_sum_to_one),
	UNIT(noise_is_settled),
	UNIT(what_is_missing_from_memory_may_cost_nothing),
	UNIT(a_result_is_a_job_of_one_rank),
	UNIT(an_empty_result_is_not_known))
