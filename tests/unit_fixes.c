/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_fixes.c: tests of analyzer/fixes.c and fixes_predict.c.
 */

#include <config.h>

#include "analyzer/fixes.h"

#include <math.h>
#include <string.h>

#include "tests/harness/unit.h"

#define GIB	1073741824.0

static const struct fixes_about nothing = { 0 };

static struct figure
within(double value, double half)
{
	return (struct figure){ true, value, value - half, value + half };
}

static void
set(struct result *r, enum rate which, double value)
{
	r->rate[which] = within(value, 0.01 * value);
}

static void
decide(struct result *r, enum share bottleneck, double share)
{
	for (int s = 0; s < SHARES; s++)
		r->share[s] = within(0, 0.005);
	r->share[SHARE_COMPUTE] = within(1 - share, 0.005);
	r->share[bottleneck] = within(share, 0.005);
	r->has_verdict = true;
	r->bottleneck = bottleneck;
}

/* Two workers of 10 ms on eight cores; the accelerator takes 1,000. */
static void
make_prep(struct result *r)
{
	result_init(r);
	result_set_text(&r->command, "python train.py");
	set(r, RATE_ACTUAL, 200);
	set(r, RATE_INGEST, 1000);
	set(r, RATE_LOADER_CACHED, 200);
	decide(r, SHARE_PREP, 0.8);
	r->job = (struct result_job){ .workers = 2, .cores = 8, .batch_size = 32,
	    .samples = 100000, .bytes_per_sample = 1e5, .resident = 1,
	    .prep_s = 0.010, .prep_cpu_s = 0.010 };
}

/* A disk of 200 and workers enough; from memory it would be 800.  10 GB. */
static void
make_fetch(struct result *r)
{
	make_prep(r);
	set(r, RATE_ACTUAL, 200);
	set(r, RATE_LOADER_CACHED, 800);
	set(r, RATE_STORAGE, 200);
	set(r, RATE_CACHE, 50000);
	decide(r, SHARE_FETCH, 0.75);
	r->job.workers = 8;
	r->job.resident = 0;
	r->job.fetch_s = 0.030;
}

static const struct result_fix *
find(const struct result *r, const char *part)
{
	for (size_t i = 0; i < r->nr_fixes; i++)
		if (strstr(r->fixes[i].what, part) != NULL)
			return &r->fixes[i];
	return NULL;
}

static void
assert_fix(const struct result *r, const char *what, double gain,
    const char *command)
{
	const struct result_fix *f = find(r, what);

	if (f == NULL)
		fail_msg("there is no \"%s\"", what);
	else if (fabs(f->gain - gain) > 0.005)
		fail_msg("%s: %g is not %g", f->what, f->gain, gain);
	else
		assert_string_equal(f->command, command);
}

static void
assert_in_order(const struct result *r)
{
	for (size_t i = 1; i < r->nr_fixes; i++)
		assert_true(r->fixes[i - 1].gain >= r->fixes[i].gain);
	for (size_t i = 0; i < r->nr_fixes; i++)
		assert_true(r->fixes[i].gain >= 0.02);
}

/*--- none ----------------------------------------------------------------*/

static void
no_stall_needs_no_fix(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	decide(&r, SHARE_COMPUTE, 0.01);
	fixes_find(&r, &nothing);
	assert_int_equal(r.nr_fixes, 0);
	result_fini(&r);
}

static void
nothing_known_nothing_told(void **state)
{
	struct result r;

	(void)state;
	result_init(&r);
	fixes_find(&r, &(struct fixes_about){ 64 * GIB, "/data", true });
	assert_int_equal(r.nr_fixes, 0);
	decide(&r, SHARE_PREP, 0.5);
	fixes_find(&r, &(struct fixes_about){ 64 * GIB, "/data", true });
	assert_int_equal(r.nr_fixes, 0);
	result_fini(&r);
}

/* Each figure that the workers' gain comes from. */
static void
what_lacks_a_figure_is_left_out(void **state)
{
	struct result r;

	(void)state;
	for (int i = 0; i < 6; i++) {
		make_prep(&r);
		if (i == 0)
			r.rate[RATE_INGEST].is_known = false;
		else if (i == 1)
			r.rate[RATE_ACTUAL].is_known = false;
		else if (i == 2)
			r.job.prep_s = 0;
		else if (i == 3)
			r.job.prep_cpu_s = 0;
		else if (i == 4)
			r.job.cores = 0;
		fixes_find(&r, &nothing);
		assert_int_equal(find(&r, "workers instead") != NULL, i == 5);
		result_fini(&r);
	}
}

static void
small_gains_are_left_out(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	set(&r, RATE_INGEST, 203.9);		/* 1.95 % is left */
	fixes_find(&r, &nothing);
	assert_null(find(&r, "workers instead"));
	result_fini(&r);
	make_prep(&r);
	set(&r, RATE_INGEST, 204.1);
	fixes_find(&r, &nothing);
	assert_fix(&r, "3 workers instead of 2", 0.0205, "num_workers=3");
	result_fini(&r);
}

/*--- workers and cores ---------------------------------------------------*/

static void
prep_wants_cores_workers_and_company(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	fixes_find(&r, &nothing);
	assert_int_equal(r.nr_fixes, 3);
	assert_in_order(&r);
	assert_fix(&r, "10 cores for each accelerator instead of 8, and 10 "
	    "workers", 4, "num_workers=10");
	assert_fix(&r, "8 workers instead of 2", 3, "num_workers=8");
	assert_fix(&r, "each gains 100 % over unshared ones with 2 jobs, 300 % "
	    "with 4, 700 % with 8", 1, "destall run -- python train.py");
	result_fini(&r);
}

static void
workers_do_not_pass_the_cores(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.cores = 2;			/* both are busy */
	fixes_find(&r, &nothing);
	assert_null(find(&r, "workers instead"));
	assert_fix(&r, "10 cores for each", 4, "num_workers=10");
	result_fini(&r);
	make_prep(&r);				/* unless they sleep */
	r.job.cores = 2;
	r.job.prep_cpu_s = 0.001;
	fixes_find(&r, &nothing);
	assert_fix(&r, "8 workers instead of 2", 3, "num_workers=8");
	assert_null(find(&r, "cores for each"));
	result_fini(&r);
}

static void
workers_do_not_pass_the_accelerator(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	set(&r, RATE_INGEST_BUSY, 420);		/* beside busy workers */
	fixes_find(&r, &nothing);
	assert_fix(&r, "5 workers instead of 2", 1.1, "num_workers=5");
	result_fini(&r);
	make_prep(&r);
	r.job.handover_s = 0.0015;		/* and the hand-over: 400 */
	fixes_find(&r, &nothing);
	assert_fix(&r, "4 workers instead of 2", 1, "num_workers=4");
	result_fini(&r);
}

/* The model has the job slower than it is: its ratio would pass G. */
static void
no_gain_passes_what_is_left(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	set(&r, RATE_ACTUAL, 400);
	fixes_find(&r, &nothing);
	assert_fix(&r, "8 workers instead of 2", 1.5, "num_workers=8");
	result_fini(&r);
}

/* Eight workers on two cores take four times as long: with more cores not. */
static void
more_cores_make_workers_faster(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.cores = 2;
	r.job.workers = 8;
	r.job.prep_s = 0.040;
	fixes_find(&r, &nothing);
	assert_fix(&r, "10 cores for each accelerator instead of 2, and 10 "
	    "workers", 4, "num_workers=10");
	result_fini(&r);
}

static void
the_first_worker_is_the_best(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.workers = 0;
	r.job.cores = 1;
	set(&r, RATE_ACTUAL, 1000.0 / 11);
	fixes_find(&r, &nothing);
	assert_fix(&r, "1 worker instead of 0", 0.1, "num_workers=1");
	result_fini(&r);
}

/* With four workers each took half as long again, alone. */
static void
workers_gain_what_the_loader_alone_did(void **state)
{
	const struct figure two = within(250, 1), four = within(334, 1);
	struct result r;

	(void)state;
	make_prep(&r);
	result_add_alone(&r, 2, &two, 8);
	result_add_alone(&r, 4, &four, 12);
	fixes_find(&r, &nothing);
	assert_fix(&r, "8 workers instead of 2", 4 / 1.497 - 1,
	    "num_workers=8");
	result_fini(&r);
}

static void
threads_are_set_in_c(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.is_pipelined = true;
	set(&r, RATE_CACHE, 50000);
	fixes_find(&r, &nothing);
	assert_fix(&r, "8 threads instead of 2", 3,
	    "ds_loader_set(loader, \"threads\", \"8\", &err)");
	result_fini(&r);
}

static void
ranks_have_their_part(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	set(&r, RATE_ACTUAL, 400);
	set(&r, RATE_INGEST, 2000);
	r.job.ranks = 2;
	r.job.cores = 16;
	fixes_find(&r, &nothing);
	assert_fix(&r, "8 workers instead of 2", 3, "num_workers=8");
	assert_fix(&r, "10 cores for each accelerator instead of 8", 4,
	    "num_workers=10");
	result_fini(&r);
}

/* A store that answers late: 10 ms, however many ask; 100 with each reader. */
static void
late_storage_takes_more_workers(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	r.job.workers = 2;
	r.job.prep_s = 0.010;
	r.job.prep_cpu_s = 0.001;
	r.job.fetch_s = 0.010;
	set(&r, RATE_STORAGE, 200);
	set(&r, RATE_ACTUAL, 100);
	set(&r, RATE_LOADER_CACHED, 200);
	fixes_find(&r, &nothing);
	assert_fix(&r, "8 workers instead of 2", 3, "num_workers=8");
	result_fini(&r);
	make_fetch(&r);				/* a disk of 200: no further */
	r.job.workers = 2;
	r.job.prep_cpu_s = 0.001;
	r.job.fetch_s = 0.0025;
	set(&r, RATE_ACTUAL, 160);
	set(&r, RATE_LOADER_CACHED, 200);
	fixes_find(&r, &nothing);
	assert_fix(&r, "3 workers instead of 2", 0.25, "num_workers=3");
	result_fini(&r);
}

/*--- memory and storage --------------------------------------------------*/

static void
fetch_wants_memory_or_storage(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	fixes_find(&r, &(struct fixes_about){ 64 * GIB, "/data/train", false });
	assert_in_order(&r);
	assert_fix(&r, "which holds 100 % of the data set", 3,
	    "destall run --cache 9733M --data /data/train -- python train.py");
	/* 95 % of 800 leaves a worker 0.53 ms of its 30 ms of fetching. */
	assert_fix(&r, "storage that reads 11,400 samples/s (1.06 GiB/s) instead "
	    "of 200 (19.1 MiB/s)", 2.8, "cp -r /data/train FASTER/");
	assert_null(find(&r, "workers instead"));
	assert_null(find(&r, "cores"));
	result_fini(&r);
}

static void
no_storage_is_faster_than_memory(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	set(&r, RATE_CACHE, 11000);
	fixes_find(&r, &nothing);
	assert_null(find(&r, "storage that"));
	result_fini(&r);
}

static void
a_cache_is_no_larger_than_it_helps(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);				/* G is 400: half of it */
	set(&r, RATE_INGEST, 400);
	set(&r, RATE_LOADER_CACHED, 400);
	r.job.workers = 64;
	r.job.cores = 64;
	r.job.fetch_s = 0.001;
	fixes_find(&r, &(struct fixes_about){ 64 * GIB, NULL, false });
	assert_fix(&r, "which holds 50 % of the data set", 1,
	    "destall run --cache 4867M -- python train.py");
	result_fini(&r);
}

static void
a_cache_is_no_larger_than_memory(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	r.job.workers = 64;
	r.job.fetch_s = 0.001;
	fixes_find(&r, &(struct fixes_about){ 1.0205e10 / 2 / 0.9, "/d", false });
	assert_non_null(find(&r, "which holds 50 % of the data set"));
	assert_true(fabs(find(&r, "a cache of")->gain - 1) < 0.01);
	result_fini(&r);
	make_fetch(&r);				/* as much is in memory as it is */
	r.job.resident = 0.5;
	fixes_find(&r, &(struct fixes_about){ 4 * GIB, "/d", false });
	assert_null(find(&r, "a cache of"));
	result_fini(&r);
}

static void
a_cache_needs_figures(void **state)
{
	struct result r;

	(void)state;
	for (int i = 0; i < 6; i++) {
		make_fetch(&r);
		if (i == 0)
			r.job.samples = 0;
		else if (i == 1)
			r.job.bytes_per_sample = 0;
		else if (i == 2)
			r.rate[RATE_LOADER_CACHED].is_known = false;
		else if (i == 3)
			r.share[SHARE_FETCH] = within(0.03, 0.04);
		else if (i == 4)
			r.job.samples = 3;	/* an item is a third of it */
		fixes_find(&r, &(struct fixes_about){ 64 * GIB, "/d", false });
		assert_int_equal(find(&r, "a cache of") != NULL, i == 5);
		result_fini(&r);
	}
	make_fetch(&r);
	fixes_find(&r, &nothing);		/* free memory */
	assert_null(find(&r, "a cache of"));
	result_fini(&r);
}

/* A job that cannot replay: from two speeds that were measured. */
static void
a_whole_cache_needs_no_model(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	r.mode = MODE_RUNS;
	r.rate[RATE_INGEST].is_known = false;
	r.share[SHARE_COMPUTE].is_known = r.share[SHARE_PREP].is_known = false;
	r.job.resident = -1;
	r.job.prep_s = r.job.prep_cpu_s = 0;
	fixes_find(&r, &(struct fixes_about){ 64 * GIB, "/d", false });
	assert_int_equal(r.nr_fixes, 1);
	assert_fix(&r, "which holds 100 % of the data set", 3,
	    "destall run --cache 9733M --data /d -- python train.py");
	result_fini(&r);
}

static void
folders_are_quoted(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	fixes_find(&r, &(struct fixes_about){ 64 * GIB, "/my d'ata", false });
	assert_fix(&r, "a cache of", 3, "destall run --cache 9733M --data "
	    "'/my d'\\''ata' -- python train.py");
	assert_string_equal(find(&r, "storage that")->command,
	    "cp -r '/my d'\\''ata' FASTER/");
	result_fini(&r);
}

/*--- jobs and the hand-over ----------------------------------------------*/

static void
sharing_needs_a_stage(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.mode = MODE_RUNS;
	fixes_find(&r, &nothing);
	assert_null(find(&r, "DESTALL=1"));
	result_fini(&r);
}

/* What a job does by itself on the same cores is not shared. */
static void
sharing_gains_less_beside_own_work(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.cores = 2;
	r.cpu_ms_per_sample = within(11, 0);	/* 1 ms in the main process */
	set(&r, RATE_ACTUAL, 2000.0 / 11);
	fixes_find(&r, &nothing);
	assert_true(fabs(find(&r, "DESTALL=1")->gain - (22.0 / 12 - 1)) < 1e-3);
	result_fini(&r);
}

static void
handover_wants_a_thread(void **state)
{
	struct result r;

	(void)state;
	for (int i = 0; i < 3; i++) {
		make_prep(&r);
		decide(&r, i == 0 ? SHARE_PREP : SHARE_HANDOVER, 0.2);
		set(&r, RATE_INGEST, 200);
		set(&r, RATE_ACTUAL, 160);
		r.job.workers = 8;
		r.job.handover_s = 0.00125;
		fixes_find(&r, &(struct fixes_about){ .can_pin = i != 1 });
		assert_int_equal(find(&r, "hand-over") != NULL, i == 2);
		if (i == 2)
			assert_fix(&r, "hand-over", 0.25, "pin_memory=True");
		result_fini(&r);
	}
}

UNIT_MAIN(
	UNIT(no_stall_needs_no_fix),
	UNIT(nothing_known_nothing_told),
	UNIT(what_lacks_a_figure_is_left_out),
	UNIT(small_gains_are_left_out),
	UNIT(prep_wants_cores_workers_and_company),
	UNIT(workers_do_not_pass_the_cores),
	UNIT(workers_do_not_pass_the_accelerator),
	UNIT(no_gain_passes_what_is_left),
	UNIT(more_cores_make_workers_faster),
	UNIT(the_first_worker_is_the_best),
	UNIT(workers_gain_what_the_loader_alone_did),
	UNIT(threads_are_set_in_c),
	UNIT(ranks_have_their_part),
	UNIT(late_storage_takes_more_workers),
	UNIT(fetch_wants_memory_or_storage),
	UNIT(no_storage_is_faster_than_memory),
	UNIT(a_cache_is_no_larger_than_it_helps),
	UNIT(a_cache_is_no_larger_than_memory),
	UNIT(a_cache_needs_figures),
	UNIT(a_whole_cache_needs_no_model),
	UNIT(folders_are_quoted),
	UNIT(sharing_needs_a_stage),
	UNIT(sharing_gains_less_beside_own_work),
	UNIT(handover_wants_a_thread))
