/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_planner.c: tests of analyzer/planner.c: what holds of every plan, over many
 * jobs.
 */

#include <config.h>

#include "analyzer/planner.h"

#include <string.h>

#include "base/rng.h"
#include "tests/harness/unit.h"

#define JOBS	3000u
#define PLANS	200u

static const struct measured_list none;

static struct planner_job
make(uint64_t workers, uint64_t room)
{
	return (struct planner_job){ .workers = workers, .prefetch = 2,
	    .batch_size = 16, .room = room, .cores = 8, .knows_files = true,
	    .batch_s = 0.02, .step_s = 0.01 };
}

static uint64_t
bunch(const struct planner_job *j)
{
	return j->workers > 0 ? j->workers : 1;
}

static bool
is_delivered(enum block_kind kind)
{
	return kind == BLOCK_ACTUAL || kind == BLOCK_CACHED ||
	    kind == BLOCK_COLD || kind == BLOCK_REPLAY ||
	    kind == BLOCK_REPLAY_BUSY;
}

static bool
is_replayed(enum block_kind kind)
{
	return kind == BLOCK_REPLAY || kind == BLOCK_REPLAY_BUSY;
}

static bool
needs_files(enum block_kind kind)
{
	return kind == BLOCK_COLD || kind == BLOCK_RAW_COLD ||
	    kind == BLOCK_RAW_CACHED;
}

/*--- what always holds ---------------------------------------------------*/

static void
check(const struct planner *p, const struct planned *b)
{
	const struct planner_job *j = &p->job;
	uint64_t width = bunch(j);

	assert_in_range(b->batches, 1, UINT32_MAX / 2);
	assert_true(b->kind > BLOCK_SET && b->kind < BLOCK_END);
	if (is_delivered(b->kind) && j->room > 0)
		assert_true(b->batches <= j->room);
	if (is_replayed(b->kind))
		assert_true(b->batches % 12 == 0 || b->batches < 12);
	else if (b->kind == BLOCK_ALONE && b->workers > 0)
		assert_int_equal(b->batches % b->workers, 0);
	else if (j->room == 0 || j->room >= width)
		assert_int_equal(b->batches % width, 0);
	assert_true(j->knows_files || !needs_files(b->kind));
	if (needs_files(b->kind))
		assert_true(b->batches <= p->set);
	assert_true(j->workers > 0 || b->kind != BLOCK_REPLAY_BUSY);
	if (b->workers > 0) {
		assert_int_equal(b->kind, BLOCK_ALONE);
		assert_false(j->is_iterable);
		assert_true(b->workers <= j->cores);
		assert_true(b->workers != j->workers);
	}
}

static struct planner_job
draw(struct rng *rng)
{
	static const double times[] = { 0, 1e-6, 1e-3, 0.02, 0.3, 5, 1e4 };
	struct planner_job j = {
		.workers = rng_below(rng, 5) == 0 ? rng_below(rng, 1000) :
		    rng_below(rng, 9),
		.prefetch = 1 + rng_below(rng, 4),
		.batch_size = 1 + rng_below(rng, 512),
		.room = rng_below(rng, 3) == 0 ? 0 : 1 + rng_below(rng, 1 <<
		    (1 + rng_below(rng, 14))),
		.cores = 1 + rng_below(rng, 65),
		.is_iterable = rng_below(rng, 2) == 0,
		.is_pipelined = rng_below(rng, 4) == 0,
		.knows_files = rng_below(rng, 2) == 0,
		.batch_s = times[rng_below(rng, 7)],
		.step_s = times[rng_below(rng, 7)],
	};

	return j;
}

static void
every_plan_of_every_job_is_possible(void **state)
{
	struct planner_job j;
	struct planned b;
	struct rng rng;

	(void)state;
	rng_init(&rng, RNG_ORDER, 9, 0, 0);
	for (unsigned i = 0; i < JOBS; i++) {
		struct planner p = { 0 };

		j = draw(&rng);
		planner_start(&p, &j);
		planner_next(&p, &none, &b);
		assert_int_equal(b.kind, BLOCK_SET);
		assert_in_range(b.batches, 1, UINT32_MAX / 2);
		assert_true(j.room == 0 || b.batches <= j.room);
		for (unsigned k = 0; k < PLANS; k++) {
			planner_next(&p, &none, &b);
			check(&p, &b);
		}
		assert_true(p.round >= PLANS / 10);
	}
}

/*--- rounds --------------------------------------------------------------*/

static void
all_kinds_come_round(void **state)
{
	struct planner_job j = make(3, 0);
	struct planner p = { 0 };
	struct planned b;
	unsigned seen[BLOCK_KINDS] = { 0 };

	(void)state;
	planner_start(&p, &j);
	planner_next(&p, &none, &b);
	while (seen[BLOCK_REPLAY] < 11) {		/* it is the first */
		planner_next(&p, &none, &b);
		seen[b.kind] += b.workers == 0;
	}
	assert_int_equal(seen[BLOCK_ACTUAL], 10);
	assert_int_equal(seen[BLOCK_CACHED], 10);
	assert_int_equal(seen[BLOCK_COLD], 10);
	assert_int_equal(seen[BLOCK_RAW_COLD], 10);
	assert_int_equal(seen[BLOCK_REPLAY_BUSY], 10);
	assert_int_equal(seen[BLOCK_ALONE], 10);
	assert_int_equal(seen[BLOCK_RAW_CACHED], 2);
}

/* 1, 2, 4, 6 of 6 cores, twice each, but the job's own. */
static void
other_numbers_of_workers_are_tried(void **state)
{
	struct planner_job j = make(2, 0);
	struct planner p = { 0 };
	struct planned b;
	char tried[64] = "";

	(void)state;
	j.cores = 6;
	planner_start(&p, &j);
	while (p.round < 20) {
		planner_next(&p, &none, &b);
		if (b.workers > 0)
			strcat(tried, (const char[]){ (char)('0' + b.workers),
			    '\0' });
	}
	assert_string_equal(tried, "114466");
}

/* A job that is started again goes on in the round; its set is chosen anew. */
static void
rounds_go_on_after_a_start(void **state)
{
	struct planner_job j = make(2, 0);
	struct planner p = { 0 };
	struct planned b;

	(void)state;
	planner_start(&p, &j);
	planner_next(&p, &none, &b);
	planner_next(&p, &none, &b);
	assert_int_equal(b.kind, BLOCK_REPLAY);
	planner_start(&p, &j);
	planner_next(&p, &none, &b);
	assert_int_equal(b.kind, BLOCK_SET);
	planner_next(&p, &none, &b);
	assert_int_equal(b.kind, BLOCK_ACTUAL);
}

/*--- how long ------------------------------------------------------------*/

static uint32_t
length_of(const struct planner_job *j, const struct measured_list *l,
    enum block_kind kind)
{
	struct planner p = { 0 };
	struct planned b;

	planner_start(&p, j);
	do
		planner_next(&p, l, &b);
	while (b.kind != kind);
	return b.batches;
}

static void
blocks_take_about_a_second(void **state)
{
	struct measured m = { .kind = BLOCK_CACHED, .s_per_sample = 0.1 / 16,
	    .samples = 160, .ranks = 1 };
	struct measured_list l = { .list = &m, .nr = 1 };
	struct planner_job j = make(2, 0);

	(void)state;
	/* 50 batches are a second; a bunch before them, and two behind them, do
	 * not count. */
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 56);
	/* It was slower than the job as it is: 10 are. */
	assert_int_equal(length_of(&j, &l, BLOCK_CACHED), 16);
	assert_int_equal(length_of(&j, &l, BLOCK_ACTUAL), 56);
	/* Of four ranks, each of which takes as long. */
	m.ranks = 4;
	m.s_per_sample /= 4;
	assert_int_equal(length_of(&j, &l, BLOCK_CACHED), 16);
	/* Steps of 10 ms, for 0.6 s. */
	assert_int_equal(length_of(&j, &none, BLOCK_REPLAY), 60);
	assert_int_equal(length_of(&j, &none, BLOCK_SET), 106);
	/* Threads of one pipeline have none behind. */
	j.is_pipelined = true;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 52);
	/* Nor are there more behind than those that count. */
	j = make(8, 0);
	j.prefetch = 16;
	j.batch_s = 0.05;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 32);
}

/* So that there are several of each kind. */
static void
blocks_of_a_short_profile_are_short(void **state)
{
	struct planner_job j = make(2, 0);

	(void)state;
	j.for_s = 40;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 56);
	j.for_s = 20;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 32);
	assert_int_equal(length_of(&j, &none, BLOCK_SET), 56);
	assert_int_equal(length_of(&j, &none, BLOCK_REPLAY), 36);
	j.for_s = 1;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 20);
}

static void
several_blocks_fit_into_an_epoch(void **state)
{
	struct planner_job j = make(2, 100);

	(void)state;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 24);
	assert_int_equal(length_of(&j, &none, BLOCK_REPLAY), 24);
	/* Of steps as many as gradients are accumulated over, whoever works. */
	j.room = 14;
	assert_int_equal(length_of(&j, &none, BLOCK_REPLAY), 12);
	j.room = 7;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 6);
	assert_int_equal(length_of(&j, &none, BLOCK_REPLAY), 7);
	/* What a block must have, where a quarter is less: three of it. */
	j = make(8, 160);
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 48);
	j = make(2, 1);
	j.room = 1;
	assert_int_equal(length_of(&j, &none, BLOCK_CACHED), 1);
	assert_int_equal(length_of(&j, &none, BLOCK_SET), 1);
}

/* Three times at the most, and not again before it was measured. */
static void
what_had_left_memory_comes_once_more(void **state)
{
	struct measured blocks[8];
	struct measured_list l = { .list = blocks };
	struct planner_job j = make(2, 0);
	struct planner p = { 0 };
	struct planned b;

	(void)state;
	planner_start(&p, &j);
	planner_next(&p, &l, &b);
	for (uint32_t i = 0; i < 5; i++) {
		blocks[l.nr++] = (struct measured){ .kind = BLOCK_ALONE,
		    .workers = i == 1 ? 1 : 2, .has_files = true, .pages = 100,
		    .s_per_sample = 0.001, .ranks = 1, .resident = 1,
		    .resident_after = 1, .from_storage = 0.1 };
		planner_next(&p, &l, &b);
		if (i == 1 || i == 4) {		/* of others; enough */
			assert_true(b.kind != BLOCK_ALONE);
			continue;
		}
		assert_int_equal(b.kind, BLOCK_ALONE);
		assert_int_equal(b.workers, 0);
		planner_next(&p, &l, &b);
		assert_true(b.kind != BLOCK_ALONE);
	}
	blocks[0].from_storage = 0;
	assert_int_equal(p.again[BLOCK_ALONE], 3);
	p.again[BLOCK_ALONE] = 0;
	planner_next(&p, &l, &b);
	assert_int_equal(p.again[BLOCK_ALONE], 0);
}

UNIT_MAIN(
	UNIT(every_plan_of_every_job_is_possible),
	UNIT(all_kinds_come_round),
	UNIT(other_numbers_of_workers_are_tried),
	UNIT(rounds_go_on_after_a_start),
	UNIT(blocks_take_about_a_second),
	UNIT(what_had_left_memory_comes_once_more),
	UNIT(blocks_of_a_short_profile_are_short),
	UNIT(several_blocks_fit_into_an_epoch))
