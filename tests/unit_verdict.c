/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_verdict.c: tests of analyzer/verdict.c and verdict_say.c.
 */

#include <config.h>

#include "analyzer/verdict.h"

#include <math.h>
#include <string.h>

#include "analyzer/interval.h"
#include "tests/harness/unit.h"

static void
assert_near(double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-6 + 1e-3 * fabs(wanted)))
		fail_msg("%.9g is not %.9g", got, wanted);
}

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

/* G 200, P' 125, v 100, 0.5 ms of hand-over: all four shares. */
static void
make(struct result *r)
{
	result_init(r);
	set(r, RATE_ACTUAL, 100);
	set(r, RATE_INGEST, 200);
	set(r, RATE_LOADER_CACHED, 125);
	r->handover_ms_per_batch = within(16, 0.5);
	r->job.batch_size = 32;
}

/*--- shares --------------------------------------------------------------*/

static void
shares_have_intervals(void **state)
{
	struct result r;

	(void)state;
	make(&r);
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_COMPUTE].value, 0.5);
	assert_near(r.share[SHARE_PREP].value, 0.25);
	assert_near(r.share[SHARE_FETCH].value, 0.2);
	assert_near(r.share[SHARE_HANDOVER].value, 0.05);
	/* 1 % of v and 1 % of G, of a half. */
	assert_true(fabs(interval_half(&r.share[SHARE_COMPUTE]) - 0.00707) <
	    2e-4);
	assert_true(fabs(interval_half(&r.share[SHARE_FETCH]) - 0.0113) <
	    2e-4);
	for (int s = 0; s < SHARES; s++) {
		assert_true(r.share[s].is_known);
		assert_true(r.share[s].low < r.share[s].value);
		assert_true(r.share[s].high > r.share[s].value);
	}
	result_fini(&r);
}

static void
nothing_is_fetched_where_no_file_is_known(void **state)
{
	struct result r;

	(void)state;
	make(&r);
	r.job.has_no_files = true;
	r.rate[RATE_STORAGE] = (struct figure){ .is_known = false };
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_FETCH].value, 0);
	assert_near(r.share[SHARE_PREP].value, 0.45);
	result_fini(&r);
}

/* Then v and P' are one figure, whose noise is no stall. */
static void
nothing_is_fetched_where_all_is_in_memory(void **state)
{
	struct result r;

	(void)state;
	make(&r);
	r.job.resident = 1;
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_COMPUTE].value, 0.5);
	assert_near(r.share[SHARE_PREP].value, 0.45);
	assert_near(r.share[SHARE_FETCH].value, 0);
	assert_near(interval_half(&r.share[SHARE_FETCH]), 0);
	/* Nor where the rest costs nothing to speak of. */
	r.job.resident = 0.9;
	set(&r, RATE_STORAGE, 1e6);
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_FETCH].value, 0);
	set(&r, RATE_STORAGE, 1000);
	verdict_take_shares(&r);
	assert_true(r.share[SHARE_FETCH].value > 0.1);
	result_fini(&r);
}

static void
noise_below_zero_is_zero_with_a_width(void **state)
{
	double sum = 0;
	struct result r;

	(void)state;
	make(&r);
	set(&r, RATE_ACTUAL, 127);
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_FETCH].value, 0);
	assert_near(r.share[SHARE_FETCH].low, 0);
	assert_true(r.share[SHARE_FETCH].high > 0.01);
	for (int s = 0; s < SHARES; s++)
		sum += r.share[s].value;
	assert_near(sum, 1);
	result_fini(&r);
}

static void
shares_stay_within_a_whole(void **state)
{
	struct result r;

	(void)state;
	make(&r);
	set(&r, RATE_ACTUAL, 199.9);
	set(&r, RATE_LOADER_CACHED, 199.95);
	r.handover_ms_per_batch = within(0, 0);
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_COMPUTE].value, 0.9995);
	assert_true(r.share[SHARE_COMPUTE].high <= 1);
	assert_true(r.share[SHARE_PREP].low >= 0);
	result_fini(&r);
}

/* What one unknown figure takes with it, and what it leaves alone. */
static void
shares_lack_what_is_not_known(void **state)
{
	struct result r;

	(void)state;
	make(&r);
	r.rate[RATE_INGEST].is_known = false;
	verdict_take_shares(&r);
	assert_false(r.share[SHARE_COMPUTE].is_known);
	assert_false(r.share[SHARE_PREP].is_known);
	assert_near(r.share[SHARE_FETCH].value, 0.2);
	assert_near(r.share[SHARE_HANDOVER].value, 0.05);
	result_fini(&r);

	make(&r);
	r.job.batch_size = 0;			/* no hand-over per sample */
	r.share[SHARE_PREP] = within(0.123, 0);	/* told by others: stays */
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_COMPUTE].value, 0.5);
	assert_near(r.share[SHARE_PREP].value, 0.123);
	assert_false(r.share[SHARE_HANDOVER].is_known);
	result_fini(&r);

	result_init(&r);
	verdict_take_shares(&r);
	for (int s = 0; s < SHARES; s++)
		assert_false(r.share[s].is_known);
	result_fini(&r);
}

/* Two ranks: twice the rates, and both hand over at once. */
static void
ranks_hand_over_at_the_same_time(void **state)
{
	struct result r;

	(void)state;
	make(&r);
	set(&r, RATE_ACTUAL, 200);
	set(&r, RATE_INGEST, 400);
	set(&r, RATE_LOADER_CACHED, 250);
	r.job.ranks = 2;
	verdict_take_shares(&r);
	assert_near(r.share[SHARE_HANDOVER].value, 0.05);
	assert_near(r.share[SHARE_PREP].value, 0.25);
	result_fini(&r);
}

/*--- the bottleneck ------------------------------------------------------*/

struct shares {
	double	compute, prep, fetch, handover;	/* negative: not known */
	double	half;
};

static void
set_shares(struct result *r, const struct shares *s)
{
	const double value[SHARES] = { s->compute, s->prep, s->fetch,
	    s->handover };

	result_init(r);
	for (int i = 0; i < SHARES; i++)
		if (value[i] >= 0)
			r->share[i] = within(value[i], s->half);
}

static void
bottleneck_follows_the_rule(void **state)
{
	static const struct {
		struct shares s;
		int	bottleneck;		/* SHARES: no verdict */
	} cases[] = {
		{ { 1, 0, 0, 0, 0.01 }, SHARE_COMPUTE },
		{ { 0.985, 0.015, 0, 0, 0.001 }, SHARE_COMPUTE },
		{ { 0.981, 0.019, 0, 0, 0.001 }, SHARE_COMPUTE },
		{ { 0.979, 0.021, 0, 0, 0.001 }, SHARE_PREP },
		/* Together they are a stall, though each alone is small. */
		{ { 0.96, 0.01, 0.015, 0.015, 0.001 }, SHARE_FETCH },
		/* Noise of that size: no stall was shown. */
		{ { 0.96, 0.04, 0, 0, 0.05 }, SHARE_COMPUTE },
		{ { 0.94, 0.06, 0, 0, 0.05 }, SHARE_PREP },
		{ { 0.89, 0.11, 0, 0, 0.5 }, SHARE_PREP },
		{ { 0.5, 0.3, 0.2, 0, 0.01 }, SHARE_PREP },
		{ { 0.5, 0.2, 0.3, 0, 0.01 }, SHARE_FETCH },
		/* A loader that is behind decides, whatever else there is. */
		{ { 0.5, 0.1, 0.15, 0.25, 0.01 }, SHARE_FETCH },
		{ { 0.3, 0.005, 0.005, 0.69, 0.001 }, SHARE_HANDOVER },
		{ { 0.9, 0.005, 0.005, 0.09, 0.001 }, SHARE_COMPUTE },
		{ { 0.9, 0.0501, 0.0499, 0, 0.01 }, SHARE_PREP },
		{ { 0.9, 0.0499, 0.0501, 0, 0.01 }, SHARE_FETCH },
		{ { 0, 1, 0, 0, 0 }, SHARE_PREP },
		{ { 0, 0, 1, 0, 0 }, SHARE_FETCH },
		/* Without G: fetch is more than all that is not known. */
		{ { -1, -1, 0.6, 0.05, 0.01 }, SHARE_FETCH },
		{ { -1, -1, 0.4, 0.05, 0.01 }, SHARES },
		{ { -1, -1, 0.01, 0.01, 0.001 }, SHARES },
		{ { -1, 0.99, 0, 0.01, 0.999 }, SHARE_PREP },
		/* Without the hand-over. */
		{ { 0.99, -1, 0, -1, 0.001 }, SHARE_COMPUTE },
		{ { 0.5, -1, 0.3, -1, 0.01 }, SHARE_FETCH },
		{ { 0.5, -1, 0.1, -1, 0.01 }, SHARES },
		{ { -1, -1, -1, -1, 0 }, SHARES },
	};
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		set_shares(&r, &cases[i].s);
		verdict_decide(&r);
		if (r.has_verdict != (cases[i].bottleneck != SHARES) ||
		    (r.has_verdict && r.bottleneck != (enum share)
		    cases[i].bottleneck))
			fail_msg("case %zu: %s", i, r.sentence);
		assert_non_null(r.sentence);
		assert_null(strstr(r.sentence, "nan"));
		result_fini(&r);
	}
}

/*--- sentences -----------------------------------------------------------*/

static void
assert_says(struct result *r, const char *sentence)
{
	verdict_decide(r);
	assert_string_equal(r->sentence, sentence);
	result_fini(r);
}

static void
no_stall_is_said_in_few_words(void **state)
{
	struct result r;

	(void)state;
	set_shares(&r, &(struct shares){ 0.99, 0.01, 0, 0, 0.001 });
	assert_says(&r, "no stall: the accelerator is busy 99 % of the time");
	set_shares(&r, &(struct shares){ 0.92, 0, 0, 0.08, 0.001 });
	assert_says(&r, "no stall: the accelerator is busy 92 % of the time, "
	    "8 % is hand-over of batches");
}

/* 10 ms of a processor for a sample; v is 380, G 1,000. */
static void
make_prep(struct result *r)
{
	set_shares(r, &(struct shares){ 0.38, 0.62, 0, 0, 0.01 });
	set(r, RATE_ACTUAL, 380);
	set(r, RATE_INGEST, 1000);
	r->job = (struct result_job){ .workers = 4, .cores = 4, .batch_size = 32,
	    .prep_s = 0.0105, .prep_cpu_s = 0.010, .resident = 1 };
}

static void
prep_is_said_in_cores(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);				/* 10 needed, 3.8 in use */
	assert_says(&r, "62 % of your epoch is prep stall: 6.2 cores per "
	    "accelerator are missing");
	make_prep(&r);				/* fetching gives but 690 */
	set(&r, RATE_STORAGE, 345);
	r.job.resident = 0.5;
	assert_says(&r, "62 % of your epoch is prep stall: 3.1 cores per "
	    "accelerator are missing");
	make_prep(&r);				/* of two accelerators */
	set(&r, RATE_ACTUAL, 760);
	set(&r, RATE_INGEST, 2000);
	r.job.ranks = 2;
	r.job.cores = 8;
	assert_says(&r, "62 % of your epoch is prep stall: 6.2 cores per "
	    "accelerator are missing");
}

static void
prep_is_said_in_workers_where_cores_are_left(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.cores = 16;
	assert_says(&r, "62 % of your epoch is prep stall: 4 workers keep 3.8 "
	    "of 16 cores busy, 11 would be enough");
	make_prep(&r);
	r.job.cores = 16;
	r.job.workers = 1;
	r.job.is_pipelined = true;
	assert_says(&r, "62 % of your epoch is prep stall: 1 thread keeps 3.8 "
	    "of 16 cores busy, 11 would be enough");
	make_prep(&r);				/* it sleeps */
	r.job.prep_cpu_s = 0.001;
	assert_says(&r, "62 % of your epoch is prep stall: 4 workers keep 0.4 "
	    "of 4 cores busy, 11 would be enough");
	make_prep(&r);
	r.job.workers = 0;
	assert_says(&r, "62 % of your epoch is prep stall: without workers, "
	    "nothing is prepared ahead");
}

static void
prep_is_said_as_far_as_it_is_known(void **state)
{
	struct result r;

	(void)state;
	make_prep(&r);
	r.job.prep_cpu_s = 0;
	r.job.prep_s = 0;
	assert_says(&r, "62 % of your epoch is prep stall: 380 of the 1,000 "
	    "samples/s that the accelerator takes");
	make_prep(&r);
	r.job.cores = 0;
	assert_says(&r, "62 % of your epoch is prep stall: 380 of the 1,000 "
	    "samples/s that the accelerator takes");
	make_prep(&r);
	r.rate[RATE_INGEST].is_known = false;
	assert_says(&r, "62 % of your epoch is prep stall");
}

static void
make_fetch(struct result *r)
{
	set_shares(r, &(struct shares){ 0.34, 0.01, 0.65, 0, 0.01 });
	set(r, RATE_ACTUAL, 408);
	set(r, RATE_INGEST, 1200);
	set(r, RATE_STORAGE, 410);
	r->job = (struct result_job){ .workers = 4, .cores = 8,
	    .prep_s = 0.001, .prep_cpu_s = 0.001, .fetch_s = 0.009 };
}

static void
fetch_is_said_in_what_storage_gives(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	assert_says(&r, "65 % of your epoch is fetch stall: storage gives 410 "
	    "of the 1,200 samples/s that the accelerator takes");
	make_fetch(&r);
	r.job.resident = 0.5;
	assert_says(&r, "65 % of your epoch is fetch stall: with 50 % of the "
	    "files in memory, storage gives 820 of the 1,200 samples/s that "
	    "the accelerator takes");
	make_fetch(&r);
	r.job.ranks = 2;			/* all together */
	assert_says(&r, "65 % of your epoch is fetch stall: storage gives 410 "
	    "of the 1,200 samples/s that the accelerator takes");
}

static void
fetch_is_said_in_workers_where_storage_is_fast(void **state)
{
	struct result r;

	(void)state;
	make_fetch(&r);
	set(&r, RATE_STORAGE, 5000);
	assert_says(&r, "65 % of your epoch is fetch stall: a worker waits "
	    "9.0 ms for a sample from storage; 12 workers instead of 4 would "
	    "hide it");
	make_fetch(&r);
	r.rate[RATE_STORAGE].is_known = false;
	r.job.workers = 0;
	assert_says(&r, "65 % of your epoch is fetch stall: 408 of the 1,200 "
	    "samples/s that the accelerator takes");
	make_fetch(&r);				/* a job without replay */
	r.rate[RATE_INGEST].is_known = false;
	r.share[SHARE_COMPUTE].is_known = false;
	r.share[SHARE_PREP].is_known = false;
	assert_says(&r, "65 % of your epoch is fetch stall");
}

static void
handover_is_said_in_time(void **state)
{
	struct result r;

	(void)state;
	set_shares(&r, &(struct shares){ 0.4, 0.01, 0, 0.59, 0.01 });
	r.handover_ms_per_batch = within(6, 0.1);
	assert_says(&r, "59 % of your epoch is hand-over: the main process takes "
	    "6.0 ms for each batch that is ready");
	set_shares(&r, &(struct shares){ 0.4, 0.01, 0, 0.59, 0.01 });
	assert_says(&r, "59 % of your epoch is hand-over");
}

static void
without_a_verdict_the_known_is_said(void **state)
{
	struct result r;

	(void)state;
	result_init(&r);
	assert_says(&r, "no verdict: what the job waits for could not be "
	    "measured");
	set_shares(&r, &(struct shares){ -1, -1, 0.12, 0.01, 0.01 });
	assert_says(&r, "no verdict: 12 % of your epoch is fetch stall, 1 % "
	    "hand-over; the other 87 % could not be told apart");
	set_shares(&r, &(struct shares){ 0.5, -1, -1, -1, 0.01 });
	assert_says(&r, "no verdict: 50 % of your epoch is computing; the other "
	    "50 % could not be told apart");
}

/* A second verdict takes the place of the first. */
static void
a_verdict_is_made_anew(void **state)
{
	struct result r;

	(void)state;
	set_shares(&r, &(struct shares){ 0.5, 0.5, 0, 0, 0.01 });
	verdict_decide(&r);
	assert_true(r.has_verdict && r.bottleneck == SHARE_PREP);
	r.share[SHARE_COMPUTE] = within(1, 0);
	r.share[SHARE_PREP] = within(0, 0);
	assert_says(&r, "no stall: the accelerator is busy 100 % of the time");
}

UNIT_MAIN(
	UNIT(shares_have_intervals),
	UNIT(nothing_is_fetched_where_no_file_is_known),
	UNIT(nothing_is_fetched_where_all_is_in_memory),
	UNIT(noise_below_zero_is_zero_with_a_width),
	UNIT(shares_stay_within_a_whole),
	UNIT(shares_lack_what_is_not_known),
	UNIT(ranks_hand_over_at_the_same_time),
	UNIT(bottleneck_follows_the_rule),
	UNIT(no_stall_is_said_in_few_words),
	UNIT(prep_is_said_in_cores),
	UNIT(prep_is_said_in_workers_where_cores_are_left),
	UNIT(prep_is_said_as_far_as_it_is_known),
	UNIT(fetch_is_said_in_what_storage_gives),
	UNIT(fetch_is_said_in_workers_where_storage_is_fast),
	UNIT(handover_is_said_in_time),
	UNIT(without_a_verdict_the_known_is_said),
	UNIT(a_verdict_is_made_anew))
