/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_hist.c: tests of base/hist.c.
 */

#include <config.h>

#include "base/hist.h"

#include "tests/harness/unit.h"

static void
empty_has_no_values(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	assert_int_equal(h.count, 0);
	assert_int_equal(hist_quantile(&h, 0.5), 0);
	assert_true(h.min > h.max);
}

static void
small_values_are_exact(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	for (uint64_t v = 0; v < HIST_STEPS; v++)
		hist_add(&h, v);
	for (uint64_t v = 0; v < HIST_STEPS; v++)
		assert_int_equal(hist_quantile(&h, (double)v / 15.0), v);
}

/* Every power of two and its neighbours, up to the last value there is. */
static void
quantiles_are_near(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (UINT64_C(1) << bit) + (uint64_t)d;
			struct hist h;
			double got;

			hist_init(&h);
			hist_add(&h, 0);
			hist_add(&h, v);
			hist_add(&h, UINT64_MAX);
			got = (double)hist_quantile(&h, 0.5);
			assert_true(got >= (double)v * (1 - 1.0 / 16));
			assert_true(got <= (double)v * (1 + 1.0 / 16));
		}
	}
}

static void
extremes_are_exact(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	hist_add(&h, 1000003);
	hist_add(&h, 2000003);
	assert_int_equal(hist_quantile(&h, 0), 1000003);
	assert_int_equal(hist_quantile(&h, 1), 2000003);
}

static void
merging_is_adding(void **state)
{
	struct hist a, b, both;

	(void)state;
	hist_init(&a);
	hist_init(&b);
	hist_init(&both);
	for (uint64_t i = 1; i < 1000; i++) {
		hist_add(i % 2 ? &a : &b, i * i);
		hist_add(&both, i * i);
	}
	hist_merge(&a, &b);
	assert_memory_equal(&a, &both, sizeof a);
}

UNIT_MAIN(
	UNIT(empty_has_no_values),
	UNIT(small_values_are_exact),
	UNIT(quantiles_are_near),
	UNIT(extremes_are_exact),
	UNIT(merging_is_adding))
