/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_order.c: tests of loader/order.c.
 */

#include <config.h>

#include "loader/order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

static bool
has_each_once(const uint32_t *order, uint64_t nr)
{
	bool *seen = calloc((size_t)nr + 1, sizeof *seen);
	bool right = true;

	assert_non_null(seen);
	for (uint64_t i = 0; i < nr; i++) {
		right = right && order[i] < nr && !seen[order[i]];
		if (order[i] < nr)
			seen[order[i]] = true;
	}
	free(seen);
	return right;
}

/* Past the end of what one place of random numbers is used for, too. */
static void
each_comes_once(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 2, 3, 100, (1 << 20) - 1,
	    1 << 20, (1 << 20) + 1, (1 << 21) + 5 };
	uint32_t *order = calloc((1 << 21) + 5, sizeof *order);

	(void)state;
	assert_non_null(order);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		order_make(order, sizes[i], 3, 4);
		assert_true(has_each_once(order, sizes[i]));
	}
	free(order);
}

#define NR	1000u

static void
it_is_of_seed_and_epoch(void **state)
{
	uint32_t a[NR], b[NR];

	(void)state;
	order_make(a, NR, 1, 0);
	order_make(b, NR, 1, 0);
	assert_memory_equal(a, b, sizeof a);
	order_make(b, NR, 1, 1);
	assert_memory_not_equal(a, b, sizeof a);
	order_make(b, NR, 2, 0);
	assert_memory_not_equal(a, b, sizeof a);
	order_make(b, NR, UINT64_C(1) << 32 | 1, 0);
	assert_memory_not_equal(a, b, sizeof a);
}

/* An order that changed with a version would break every saved position. */
static void
it_stays_what_it_was(void **state)
{
	static const uint32_t want[8] = { 7, 2, 0, 6, 3, 4, 1, 5 };
	uint32_t order[8];

	(void)state;
	order_make(order, 8, 1, 2);
	assert_memory_equal(order, want, sizeof want);
}

/* All 6 orders of 3, 1000 times each if it were exact: 5 standard deviations
 * are 145. */
static void
all_are_as_likely(void **state)
{
	unsigned seen[3][3] = { { 0 } };
	uint32_t order[3];

	(void)state;
	for (uint64_t epoch = 0; epoch < 6000; epoch++) {
		order_make(order, 3, 99, epoch);
		seen[order[0]][order[1]]++;
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (i != j)
				assert_in_range(seen[i][j], 855, 1145);
}

/* Each of 64 at each of 64 positions, in 4096 epochs: 64 times if it were
 * exact.  The sum over all of (times - 64)^2 / 64 is about 64 * 63. */
static void
none_has_a_place_of_its_own(void **state)
{
	static unsigned seen[64][64];
	uint32_t order[64];
	double sum = 0;

	(void)state;
	for (uint64_t epoch = 0; epoch < 4096; epoch++) {
		order_make(order, 64, 5, epoch);
		for (int i = 0; i < 64; i++)
			seen[i][order[i]]++;
	}
	for (int i = 0; i < 64; i++)
		for (int j = 0; j < 64; j++)
			sum += (seen[i][j] - 64.0) * (seen[i][j] - 64.0) / 64;
	assert_true(sum > 63 * 63 - 500 && sum < 64 * 64 + 500);
}

UNIT_MAIN(
    UNIT(each_comes_once),
    UNIT(it_is_of_seed_and_epoch),
    UNIT(it_stays_what_it_was),
    UNIT(all_are_as_likely),
    UNIT(none_has_a_place_of_its_own))
