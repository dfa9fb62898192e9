/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_rng.c: tests of base/rng.c.
 */

#include <config.h>

#include "base/rng.h"

#include <string.h>

#include "tests/harness/unit.h"

/* The known answers that the paper's authors publish with their library. */
static void
known_answers(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], block[4];
	} known[] = {
		{ { 0, 0, 0, 0 }, { 0, 0 },
		  { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ { ~0u, ~0u, ~0u, ~0u }, { ~0u, ~0u },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xa4093822, 0x299f31d0 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};
	uint32_t block[4];

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		rng_philox(known[i].key, known[i].counter, block);
		assert_memory_equal(block, known[i].block, sizeof block);
	}
}

/* Whatever of a place differs, the numbers do; the same place gives them
 * again. */
static void
places_differ(void **state)
{
	static const uint64_t place[][4] = {
		{ RNG_ORDER, 1, 2, 3 }, { RNG_SAMPLE, 1, 2, 3 },
		{ RNG_SAMPLE, 2, 2, 3 }, { RNG_SAMPLE, 1 + (1ULL << 32), 2, 3 },
		{ RNG_SAMPLE, 1, 3, 3 }, { RNG_SAMPLE, 1, 2, 4 },
		{ RNG_SAMPLE, 1, 2, 3 + (1ULL << 32) },
	};
	enum { NR = sizeof place / sizeof place[0], EACH = 9 };
	uint32_t got[NR][EACH];
	struct rng r;

	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		for (size_t i = 0; i < NR; i++) {
			rng_init(&r, (enum rng_purpose)place[i][0],
			    place[i][1], place[i][2], place[i][3]);
			for (int k = 0; k < EACH; k++) {
				uint32_t n = rng_next(&r);

				if (twice)
					assert_int_equal(n, got[i][k]);
				got[i][k] = n;
			}
		}
	}
	for (size_t i = 0; i < NR; i++) {
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(got[i], got[k],
			    sizeof got[i]);
	}
}

static void
units_fill_the_interval(void **state)
{
	double sum = 0, low = 1, high = 0;
	struct rng r;

	(void)state;
	rng_init(&r, RNG_SAMPLE, 1, 0, 0);
	for (int i = 0; i < 100000; i++) {
		double u = rng_unit(&r);

		assert_true(u >= 0 && u < 1);
		sum += u;
		low = u < low ? u : low;
		high = u > high ? u : high;
	}
	assert_true(low < 0.001 && high > 0.999);
	assert_true(sum > 49500 && sum < 50500);
}

/* Each as likely: within five standard deviations. */
static void
below_is_even(void **state)
{
	enum { LIMIT = 7, DRAWS = 70000 };
	unsigned seen[LIMIT] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, RNG_ORDER, 1, 0, 0);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t n = rng_below(&r, LIMIT);

		assert_true(n < LIMIT);
		seen[n]++;
	}
	for (int i = 0; i < LIMIT; i++)
		assert_in_range(seen[i], 9537, 10463);
	assert_int_equal(rng_below(&r, 1), 0);
	for (int i = 0; i < 100; i++)
		assert_true(rng_below(&r, (1ULL << 63) + 1) <= 1ULL << 63);
}

UNIT_MAIN(
	UNIT(known_answers),
	UNIT(places_differ),
	UNIT(units_fill_the_interval),
	UNIT(below_is_even))
