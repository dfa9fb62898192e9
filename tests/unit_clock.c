/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_clock.c: tests of base/clock.c.
 */

#include <config.h>

#include "base/clock.h"

#include <limits.h>

#include "tests/harness/unit.h"

static uint64_t
now_of(void *arg)
{
	return *(uint64_t *)arg;
}

static void
goes_forward(void **state)
{
	uint64_t last = clock_now_ns();

	(void)state;
	assert_true(last > 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_now_ns();

		assert_true(now >= last);
		last = now;
	}
}

static void
can_be_replaced_and_restored(void **state)
{
	uint64_t now = 42;

	(void)state;
	clock_replace(now_of, &now);
	assert_int_equal(clock_now_ns(), 42);
	now = 43;
	assert_int_equal(clock_now_ns(), 43);
	clock_replace(NULL, NULL);
	assert_true(clock_now_ns() > 43);
}

static void
left_is_rounded_up(void **state)
{
	static const struct {
		uint64_t now, deadline;
		int want;
	} cases[] = {
		{ 0, 0, 0 },
		{ 5, 4, 0 },
		{ UINT64_MAX, 0, 0 },
		{ 0, 1, 1 },
		{ 0, NS_PER_MS, 1 },
		{ 0, NS_PER_MS + 1, 2 },
		{ 7, 7 + 3 * NS_PER_S, 3000 },
		{ 0, (uint64_t)INT_MAX * NS_PER_MS, INT_MAX },
		{ 0, (uint64_t)INT_MAX * NS_PER_MS + 1, INT_MAX },
		{ 0, UINT64_MAX, INT_MAX },
		{ 1, UINT64_MAX, INT_MAX },
	};
	uint64_t now;

	(void)state;
	clock_replace(now_of, &now);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		now = cases[i].now;
		assert_int_equal(clock_left_ms(cases[i].deadline),
		    cases[i].want);
	}
	clock_replace(NULL, NULL);
}

UNIT_MAIN(
	UNIT(goes_forward),
	UNIT(can_be_replaced_and_restored),
	UNIT(left_is_rounded_up))
