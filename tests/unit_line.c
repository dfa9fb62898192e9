/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_line.c: tests of stage/line.c: units, from lease to retirement, and those
 * that are late.  unit_line_places.c has those who make and take them,
 * unit_line_check.c what must hold of both.
 */

#include <config.h>

#include "stage/line.h"

#include <errno.h>

#include "tests/harness/testline.h"
#include "tests/harness/unit.h"

static void
expect_none(uint32_t p, enum line_answer want)
{
	uint64_t unit = 77;

	assert_false(line_can_lease(&line));
	assert_int_equal(line_lease(&line, p, &unit), want);
	assert_int_equal(unit, 77);
	testline_check();
}

static void
expect_unit(uint64_t unit, enum unit_state state)
{
	assert_int_equal(units[unit % RING].state, state);
}

static void
leased_in_order(void **state)
{
	uint32_t a, b, g;

	(void)state;
	a = testline_start_two(3, 8, &b);
	g = testline_lease(a, 0);
	assert_true(line_holds(&line, 0, a, g));
	assert_false(line_holds(&line, 0, b, g));
	assert_false(line_holds(&line, 8, a, g));
	testline_lease(b, 1);
	assert_int_equal(line.leases, 2);
	testline_make(b, 2);
	expect_none(b, LINE_OVER);
	assert_int_equal(line_publish(&line, 0, a, g, 5), 0);
	expect_unit(0, UNIT_STAGED);
	assert_int_equal(units[0].slot, 5);
	assert_int_equal(line.made, 2);
	/* Its maker dies: there is something to make. */
	line_leave(&line, b);
	assert_int_equal(line.revoked, 1);
	expect_unit(1, UNIT_FREE);
	testline_make(a, 1);
	expect_none(a, LINE_OVER);
	assert_int_equal(note.changed, 8);
}

static void
not_too_far_ahead(void **state)
{
	uint32_t a;

	(void)state;
	testline_start(20, 8, 0);
	line.ahead = 2;
	a = testline_attach(1);
	testline_make(a, 0);
	testline_make(a, 1);
	expect_none(a, LINE_WAIT);
	testline_begin(a, 0);
	expect_none(a, LINE_WAIT);
	testline_progress(a, 1, 0, LINE_ANY);
	testline_make(a, 2);
	expect_none(a, LINE_WAIT);
	/* It makes some itself: what it has passed is nobody's. */
	testline_progress(a, 6, 6, LINE_ANY);
	testline_make(a, 6);
	testline_make(a, 7);
	expect_none(a, LINE_WAIT);
	assert_int_equal(line.holes, 3);
	/* A newcomer wants them. */
	assert_int_equal(testline_begin(testline_attach(2), 3), 3);
	testline_make(a, 3);
	assert_int_equal(line.holes, 2);
}

static void
full_until_released(void **state)
{
	uint32_t a, b;

	(void)state;
	testline_start(20, 2, 0);
	line.ahead = 20;
	a = testline_attach(1);
	b = testline_attach(2);
	testline_make(a, 0);
	testline_make(a, 1);
	/* There was no member yet. */
	expect_none(a, LINE_WAIT);
	assert_false(line_retire(&line));
	testline_begin(a, 0);
	testline_begin(b, 0);
	expect_none(a, LINE_FULL);
	testline_progress(a, 2, 2, 2);
	testline_progress(b, 2, 0, LINE_ANY);
	expect_none(a, LINE_FULL);
	testline_progress(b, 2, 1, LINE_ANY);
	assert_int_equal(note.retired, 0);
	testline_make(b, 2);
	assert_int_equal(note.retired, 1);
	assert_int_equal(note.unit, 0);
	assert_int_equal(note.slot, 100);
	expect_none(b, LINE_FULL);
	/* The slow one is gone. */
	line_leave(&line, b);
	testline_make(a, 3);
	expect_none(a, LINE_FULL);
	line_end(&line, a);
	expect_none(a, LINE_WAIT);
	assert_true(line_retire(&line));
	assert_int_equal(note.slot, 102);
}

static void
far_behind_is_one_step(void **state)
{
	uint32_t a;

	(void)state;
	a = testline_start_one(UINT64_C(1) << 40, 4);
	testline_make(a, 0);
	testline_lease(a, 1);
	testline_progress(a, UINT64_C(1) << 39, UINT64_C(1) << 39, LINE_ANY);
	testline_make(a, UINT64_C(1) << 39);
	assert_int_equal(line.base, (UINT64_C(1) << 39) - 3);
	assert_int_equal(note.retired, 2);
	/* One of them was being made. */
	assert_int_equal(line.revoked, 1);
	assert_int_equal(line.holes, 3);
}

static void
given_up(void **state)
{
	uint32_t a, b, g;

	(void)state;
	a = testline_start_two(4, 4, &b);
	g = testline_lease(a, 0);
	assert_int_equal(line_give_up(&line, 0, b, g, true), -ESTALE);
	assert_int_equal(line_give_up(&line, 0, a, g, false), 0);
	expect_unit(0, UNIT_FREE);
	testline_check();
	assert_int_equal(line_give_up(&line, 0, a, g, false), -ESTALE);
	g = testline_lease(b, 0);
	assert_int_equal(line_give_up(&line, 0, b, g, true), 0);
	expect_unit(0, UNIT_ALONE);
	assert_int_equal(line.alone, 1);
	testline_check();
	testline_make(a, 1);
	testline_progress(a, 2, 2, LINE_ANY);
	assert_true(line_retire(&line));
	assert_int_equal(note.slot, LINE_NO_SLOT);
	assert_int_equal(line.revoked, 0);
}

static void
retired_while_leased(void **state)
{
	uint32_t a, g;

	(void)state;
	a = testline_start_one(9, 2);
	g = testline_lease(a, 0);
	testline_progress(a, 1, 1, LINE_ANY);
	assert_true(line_retire(&line));
	testline_check();
	assert_int_equal(line.revoked, 1);
	assert_int_equal(line.leases, 0);
	assert_int_equal(line_publish(&line, 0, a, g, 3), -ESTALE);
	assert_int_equal(line.late, 1);
}

static void
the_window_may_change(void **state)
{
	uint32_t a, g;

	(void)state;
	a = testline_start_one(99, 4);
	line.ahead = 99;
	testline_make(a, 0);
	testline_make(a, 1);
	g = testline_lease(a, 2);
	line.window = 1;
	testline_check();
	expect_none(a, LINE_FULL);
	assert_int_equal(line_publish(&line, 2, a, g, 9), 0);
	testline_progress(a, 2, 2, LINE_ANY);
	expect_none(a, LINE_FULL);
	line.window = RING;
	for (unsigned u = 3; u < 2 + RING; u++)
		testline_make(a, u);
	assert_int_equal(line.base, 2);
	expect_none(a, LINE_FULL);
}

static void
generations_go_on(void **state)
{
	uint32_t a, g;

	(void)state;
	a = testline_start_one(99, 1);
	for (unsigned u = 0; u < RING; u++) {
		testline_make(a, u);
		testline_progress(a, u + 1, u + 1, LINE_ANY);
	}
	assert_int_equal(testline_lease(a, RING), 2);
	line_leave(&line, a);
	units[0].generation = LINE_GENERATIONS - 1;
	a = testline_attach(1);
	testline_begin(a, LINE_ANY);
	g = testline_lease(a, RING);
	assert_int_equal(g, 0);
	assert_int_equal(line_publish(&line, RING, a, 0, 1), 0);
}

static void
the_late_one_is_replaced(void **state)
{
	uint32_t a, b, old, g;

	(void)state;
	a = testline_start_two(20, 4, &b);
	old = testline_lease(b, 0);
	g = testline_lease(b, 1);
	assert_int_equal(line_call_late(&line, 0), 0);
	assert_int_equal(line_call_late(&line, 0), 0);
	assert_int_equal(line_call_late(&line, 1), 0);
	assert_int_equal(line_call_late(&line, 2), -ESTALE);
	assert_int_equal(line_call_late(&line, 0 + RING), -ESTALE);
	testline_check();
	/* Nobody waits for it. */
	testline_make(a, 2);
	testline_progress(a, 0, 0, 0);
	assert_int_equal(testline_lease(a, 0), old + 1);
	assert_int_equal(line.revoked, 1);
	assert_int_equal(line_publish(&line, 0, b, old, 8), -ESTALE);
	assert_int_equal(line_publish(&line, 0, b, old + 1, 8), -ESTALE);
	assert_int_equal(line_publish(&line, 0, a, old, 8), -ESTALE);
	assert_int_equal(line_give_up(&line, 0, b, old, true), -ESTALE);
	assert_int_equal(line.late, 3);
	assert_int_equal(line_publish(&line, 0, a, old + 1, 9), 0);
	assert_int_equal(units[0].slot, 9);
	/* The other was late, and came. */
	assert_int_equal(line_publish(&line, 1, b, g, 10), 0);
	testline_check();
}

/* Of two that are late and waited for, whoever waits. */
static void
the_first_late_one_first(void **state)
{
	uint32_t a, b;

	(void)state;
	a = testline_start_two(20, 4, &b);
	testline_begin(b, 0);
	testline_lease(a, 0);
	testline_lease(a, 1);
	testline_progress(a, 0, 0, 0);
	testline_progress(b, 1, 1, 1);
	assert_int_equal(line_call_late(&line, 0), 0);
	assert_int_equal(line_call_late(&line, 1), 0);
	testline_lease(b, 0);
	testline_lease(b, 1);
	testline_lease(b, 2);
}

UNIT_MAIN(
	UNIT(leased_in_order),
	UNIT(not_too_far_ahead),
	UNIT(full_until_released),
	UNIT(far_behind_is_one_step),
	UNIT(given_up),
	UNIT(retired_while_leased),
	UNIT(the_window_may_change),
	UNIT(generations_go_on),
	UNIT(the_late_one_is_replaced),
	UNIT(the_first_late_one_first))
