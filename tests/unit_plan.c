/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_plan.c: tests of loader/plan.c.
 */

#include <config.h>

#include "loader/plan.h"

#include <errno.h>
#include <string.h>

#include "tests/harness/unit.h"

static struct loader_options
options(uint64_t batch)
{
	struct loader_options o;

	loader_options_init(&o);
	o.batch = batch;
	o.epochs = 2;
	return o;
}

static void
runs_follow_each_other(void **state)
{
	struct loader_options o = options(4);
	struct plan_place at = { .epoch = 0 };
	struct plan_run run;
	struct plan p;

	(void)state;
	assert_int_equal(plan_init(&p, &o, 10, NULL), 0);
	assert_int_equal(plan_samples(&p), 10);
	for (uint64_t epoch = 0; epoch < 2; epoch++) {
		for (uint64_t k = 0; k < 3; k++) {
			assert_int_equal(plan_step(&p, &at, &run), PLAN_RUN);
			assert_int_equal(run.at.epoch, epoch);
			assert_int_equal(run.number, k);
			assert_int_equal(run.at.turn, 4 * k);
			assert_int_equal(run.count, k < 2 ? 4 : 2);
		}
		assert_int_equal(plan_step(&p, &at, &run), PLAN_EPOCH_ENDS);
	}
	assert_int_equal(plan_step(&p, &at, &run), PLAN_OVER);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_OVER);
	plan_fini(&p);
}

static void
a_short_last_one_can_be_dropped(void **state)
{
	struct loader_options o = options(4);
	struct plan_place at = { .epoch = 1, .turn = 4 };
	struct plan_run run;
	struct plan p;

	(void)state;
	o.drop_last = true;
	assert_int_equal(plan_init(&p, &o, 10, NULL), 0);
	assert_int_equal(plan_samples(&p), 8);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_RUN);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_EPOCH_ENDS);
	plan_fini(&p);
}

/* From anywhere, as after a restore. */
static void
a_run_begins_where_it_is_told(void **state)
{
	struct loader_options o = options(4);
	struct plan_place at = { .epoch = 5, .turn = 7 };
	struct plan_run run;
	struct plan p;

	(void)state;
	o.epochs = 0;
	assert_int_equal(plan_init(&p, &o, 10, NULL), 0);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_RUN);
	assert_int_equal(run.at.turn, 7);
	assert_int_equal(run.count, 3);
	assert_int_equal(run.number, 1);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_EPOCH_ENDS);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_RUN);
	assert_int_equal(run.at.epoch, 6);
	plan_fini(&p);
}

/* From every turn, and with every tail. */
static void
an_epoch_joined_late_has_every_turn_once(void **state)
{
	struct loader_options o = options(4);
	struct plan p;

	(void)state;
	assert_int_equal(plan_init(&p, &o, 10, NULL), 0);
	for (uint64_t from = 0; from <= 10; from++) {
		for (uint64_t tail = 0; from + tail <= 10; tail++) {
			struct plan_place at = { 0, 0, from, tail };
			unsigned seen = 0;

			assert_true(plan_place_fits(&p, &at));
			for (uint64_t d = 0; d < 10; d++) {
				uint64_t turn = plan_turn(&p, &at, d);

				assert_in_range(turn, 0, 9);
				seen |= 1u << turn;
				assert_int_equal(plan_behind(&p, &at, turn), d);
				if (d >= 10 - tail)
					assert_int_equal(turn, d);
			}
			assert_int_equal(seen, (1u << 10) - 1);
			if (from + tail < 10)
				assert_int_equal(plan_turn(&p, &at, 0), from);
		}
	}
	assert_false(plan_place_fits(&p, &(struct plan_place){ 0, 0, 9, 2 }));
	assert_false(plan_place_fits(&p, &(struct plan_place){ 0, 0, 0, 11 }));
	assert_false(plan_place_fits(&p, &(struct plan_place){ 0, 11, 0, 0 }));
	plan_fini(&p);
}

/* How it was joined is a matter of that epoch. */
static void
the_next_epoch_begins_at_its_beginning(void **state)
{
	struct loader_options o = options(4);
	struct plan_place at = { 0, 8, 4, 2 };
	struct plan_run run;
	struct plan p;

	(void)state;
	assert_int_equal(plan_init(&p, &o, 10, NULL), 0);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_RUN);
	assert_int_equal(run.at.from, 4);
	assert_int_equal(run.count, 2);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_EPOCH_ENDS);
	assert_int_equal(plan_step(&p, &at, &run), PLAN_RUN);
	assert_int_equal(run.at.from, 0);
	assert_int_equal(run.at.tail, 0);
	plan_fini(&p);
}

/* How often each sample and position comes, over all ranks. */
static void
count_ranks(uint64_t nr, uint64_t ranks, bool drop_last, unsigned *samples,
    unsigned *positions, uint64_t *turns)
{
	struct loader_options o = options(1);
	struct plan p;

	o.ranks = ranks;
	o.drop_last = drop_last;
	for (o.rank = 0; o.rank < ranks; o.rank++) {
		assert_int_equal(plan_init(&p, &o, nr, NULL), 0);
		assert_true(plan_epoch(&p, 3));
		assert_false(plan_epoch(&p, 3));
		for (uint64_t i = 0; i < p.turns; i++) {
			positions[plan_position(&p, i)]++;
			samples[plan_sample(&p, plan_position(&p, i))]++;
		}
		*turns = p.turns;
		plan_fini(&p);
	}
}

/* 10 by 4: 12 positions, of which 2 are the beginning once more. */
static void
ranks_share_an_epoch(void **state)
{
	unsigned samples[16] = { 0 }, positions[16] = { 0 }, twice = 0;
	uint64_t turns;

	(void)state;
	count_ranks(10, 4, false, samples, positions, &turns);
	assert_int_equal(turns, 3);
	for (int i = 0; i < 12; i++)
		assert_int_equal(positions[i], 1);
	for (int i = 0; i < 10; i++) {
		assert_in_range(samples[i], 1, 2);
		twice += samples[i] == 2;
	}
	assert_int_equal(twice, 2);
}

static void
ranks_drop_what_is_uneven(void **state)
{
	unsigned samples[16] = { 0 }, positions[16] = { 0 }, once = 0;
	uint64_t turns;

	(void)state;
	count_ranks(10, 4, true, samples, positions, &turns);
	assert_int_equal(turns, 2);
	for (int i = 0; i < 10; i++) {
		assert_in_range(samples[i], 0, 1);
		once += samples[i];
	}
	assert_int_equal(once, 8);
}

/* torch repeats the order as often as needed. */
static void
there_may_be_more_ranks_than_samples(void **state)
{
	unsigned samples[16] = { 0 }, positions[16] = { 0 };
	uint64_t turns;

	(void)state;
	count_ranks(3, 8, false, samples, positions, &turns);
	assert_int_equal(turns, 1);
	assert_int_equal(samples[0] + samples[1] + samples[2], 8);
	for (int i = 0; i < 3; i++)
		assert_in_range(samples[i], 2, 3);
}

static void
listed_is_as_listed(void **state)
{
	struct loader_options o = options(4);
	struct plan p;

	(void)state;
	o.order = ORDER_LISTED;
	assert_int_equal(plan_init(&p, &o, 10, NULL), 0);
	plan_epoch(&p, 1);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(plan_sample(&p, plan_position(&p, i)), i);
	plan_fini(&p);
}

static void
expect_failure(const struct loader_options *o, uint64_t nr, int rc,
    const char *words)
{
	struct ds_err err;
	struct plan p;

	assert_int_equal(plan_init(&p, o, nr, &err), rc);
	assert_non_null(strstr(err.text, words));
	plan_fini(&p);
}

static void
what_gives_nothing_is_refused(void **state)
{
	struct loader_options o = options(4);

	(void)state;
	expect_failure(&o, 0, -ENODATA, "no picture");
	expect_failure(&o, UINT64_C(1) << 33, -E2BIG, "more than");
	o.rank = 1;
	expect_failure(&o, 10, -EINVAL, "rank=1");
	o.rank = 0;
	o.drop_last = true;
	expect_failure(&o, 3, -EINVAL, "drop-last leaves nothing");
	o.ranks = 4;
	expect_failure(&o, 15, -EINVAL, "drop-last leaves nothing");
}

UNIT_MAIN(
    UNIT(runs_follow_each_other),
    UNIT(a_short_last_one_can_be_dropped),
    UNIT(a_run_begins_where_it_is_told),
    UNIT(an_epoch_joined_late_has_every_turn_once),
    UNIT(the_next_epoch_begins_at_its_beginning),
    UNIT(ranks_share_an_epoch),
    UNIT(ranks_drop_what_is_uneven),
    UNIT(there_may_be_more_ranks_than_samples),
    UNIT(listed_is_as_listed),
    UNIT(what_gives_nothing_is_refused))
