/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_demo_law.c: the caches that the demo computes, against their laws in
 * closed form and by hand.
 */

#include <config.h>

#include "tool/demo_law.h"

#include <stdbool.h>

#include "tests/harness/unit.h"

#define N	20000u
#define EPOCHS	8u

static void
make_law(struct demo_law *l, uint32_t items, unsigned epochs)
{
	assert_int_equal(demo_law_init(l, items, epochs, 1, NULL), 0);
	for (uint32_t i = 0; i < items; i++)
		l->size[i] = 1;
}

/* Every item once, and no two epochs alike. */
static void
orders_are_permutations(void **state)
{
	static bool seen[N];
	struct demo_law l;
	uint32_t same = 0;

	(void)state;
	make_law(&l, N, 2);
	for (uint32_t i = 0; i < N; i++) {
		assert_true(l.order[1][i] < N && !seen[l.order[1][i]]);
		seen[l.order[1][i]] = true;
		same += l.order[0][i] == l.order[1][i];
	}
	assert_true(same < 20);		/* 1 is expected of strangers */
	demo_law_fini(&l);
}

static void
check_near(uint64_t misses, double share)
{
	double off = (double)misses / N - share;

	assert_true(off > -0.01 && off < 0.01);
}

static void
check_share(double c, double lru, double any)
{
	struct demo_law l;

	make_law(&l, N, EPOCHS);
	assert_int_equal(demo_law_run(&l, (uint64_t)(c * N + 0.5), NULL), 0);
	assert_int_equal(l.admitted, (uint64_t)(c * N + 0.5));
	assert_int_equal(l.miss[DEMO_LRU][0].items, N);
	assert_int_equal(l.miss[DEMO_RANDOM][0].items, N);
	for (unsigned e = 1; e < EPOCHS; e++)
		check_near(l.miss[DEMO_LRU][e].items, lru);
	check_near(l.miss[DEMO_RANDOM][EPOCHS - 1].items, any);
	demo_law_fini(&l);
}

static void
laws_in_closed_form(void **state)
{
	/* c, (1 - c)(1 - ln(1 - c)), c ln(c + (1 - c) exp(1 / c)) */
	static const double laws[][3] = {
		{ .25, 0.9658, 0.9296 },
		{ .35, 0.9300, 0.8599 },
		{ .5, 0.8466, 0.7169 },
		{ .65, 0.7174, 0.5357 },
		{ .8, 0.5219, 0.3233 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof laws / sizeof laws[0]; i++)
		check_share(laws[i][0], laws[i][1], laws[i][2]);
}

/* Three items in a cache for two, in orders that are known. */
static void
by_hand(void **state)
{
	static const uint32_t orders[3][3] = {
		{ 0, 1, 2 }, { 2, 0, 1 }, { 0, 1, 2 },
	};
	const struct demo_misses *lru;
	struct demo_law l;

	(void)state;
	make_law(&l, 3, 3);
	for (unsigned e = 0; e < 3; e++)
		for (unsigned i = 0; i < 3; i++)
			l.order[e][i] = orders[e][i];
	assert_int_equal(demo_law_run(&l, 2, NULL), 0);
	lru = l.miss[DEMO_LRU];
	assert_int_equal(lru[0].items, 3);	/* holds 1 2 */
	assert_int_equal(lru[1].items, 2);	/* 2 hits; holds 0 1 */
	assert_int_equal(lru[2].items, 1);	/* 0 and 1 hit */
	assert_int_equal(lru[2].bytes, DEMO_LAW_PAGE);
	assert_int_equal(l.largest, 1);
	demo_law_fini(&l);
}

static void
make_sizes(struct demo_law *l, uint32_t items, const uint64_t *sizes)
{
	make_law(l, items, 2);
	for (uint32_t i = 0; i < items; i++) {
		l->order[0][i] = i;
		l->size[i] = sizes[i];
	}
}

/* The first that does not fit ends admission, though a later would. */
static void
first_that_does_not_fit(void **state)
{
	static const uint64_t sizes[] = { 20000, 20000, 20000, 19000, 20000,
	    1 };
	struct demo_law l;

	(void)state;
	make_sizes(&l, 6, sizes);
	assert_int_equal(demo_law_run(&l, 80000, NULL), 0);
	assert_int_equal(l.admitted, 4);
	assert_int_equal(l.admitted_bytes, 79000);
	assert_int_equal(l.admitted_pages, 20 * DEMO_LAW_PAGE);
	assert_int_equal(l.too_large, 0);
	assert_int_equal(l.largest, 20000);
	assert_int_equal(l.miss[DEMO_MINIO][0].items, 6);
	assert_int_equal(l.miss[DEMO_MINIO][0].bytes, 26 * DEMO_LAW_PAGE);
	assert_int_equal(l.miss[DEMO_MINIO][1].items, 2);
	assert_int_equal(l.miss[DEMO_MINIO][1].bytes, 6 * DEMO_LAW_PAGE);
	demo_law_fini(&l);
}

/* More than a quarter of the cache is left out, and ends nothing; the same
 * again in another size. */
static void
too_large(void **state)
{
	static const uint64_t sizes[] = { 1, 9, 1, 1 };
	struct demo_law l;

	(void)state;
	make_sizes(&l, 4, sizes);
	assert_int_equal(demo_law_run(&l, 5, NULL), 0);
	assert_int_equal(l.admitted, 3);
	assert_int_equal(l.too_large, 1);
	assert_int_equal(l.miss[DEMO_MINIO][1].items, 1);
	assert_int_equal(l.miss[DEMO_LRU][0].items, 4);
	assert_int_equal(l.miss[DEMO_RANDOM][0].items, 4);
	assert_int_equal(demo_law_run(&l, 40, NULL), 0);
	assert_int_equal(l.admitted, 4);
	assert_int_equal(l.too_large, 0);
	assert_int_equal(l.miss[DEMO_MINIO][1].items, 0);
	assert_int_equal(l.miss[DEMO_LRU][0].items, 4);
	demo_law_fini(&l);
}

/* All of it, and nothing. */
static void
all_and_nothing(void **state)
{
	struct demo_law l;

	(void)state;
	make_law(&l, 50, 2);
	assert_int_equal(demo_law_run(&l, 50, NULL), 0);
	assert_int_equal(l.admitted, 50);
	for (unsigned c = 0; c < DEMO_CACHES; c++)
		assert_int_equal(l.miss[c][1].items, 0);
	demo_law_fini(&l);
	make_law(&l, 50, 2);
	assert_int_equal(demo_law_run(&l, 0, NULL), 0);
	assert_int_equal(l.admitted, 0);
	for (unsigned c = 0; c < DEMO_CACHES; c++)
		assert_int_equal(l.miss[c][1].items, 50);
	demo_law_fini(&l);
}

UNIT_MAIN(UNIT(orders_are_permutations), UNIT(laws_in_closed_form),
    UNIT(by_hand), UNIT(first_that_does_not_fit), UNIT(too_large),
    UNIT(all_and_nothing))
