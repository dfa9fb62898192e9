/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_line_places.c: tests of stage/line.c: places, where members begin, what
 * their seats may say, and whom they hold up.
 */

#include <config.h>

#include "stage/line.h"

#include <errno.h>

#include "tests/harness/testline.h"
#include "tests/harness/unit.h"

static void
places_come_and_go(void **state)
{
	(void)state;
	testline_start(10, 4, 0);
	for (uint32_t p = 0; p < PLACES; p++)
		assert_int_equal(testline_attach(p), p);
	assert_int_equal(line_attach(&line, 9), -EUSERS);
	line_leave(&line, 1);
	assert_int_equal(line.used, PLACES);
	assert_int_equal(testline_attach(7), 1);
	assert_int_equal(places[1].job, 7);
	for (uint32_t p = PLACES; p-- > 0;)
		line_leave(&line, p);
	assert_int_equal(line.used, 0);
	testline_check();
}

static void
begins_where_it_was_told(void **state)
{
	uint64_t begun = 99;
	uint32_t a, b;

	(void)state;
	testline_start(20, 4, 5);
	a = testline_attach(1);
	b = testline_attach(2);
	assert_int_equal(testline_begin(a, 5), 5);
	assert_int_equal(line_begin(&line, b, 4, 20, &begun), -EAGAIN);
	assert_int_equal(line_begin(&line, b, 9, 20, &begun), -EAGAIN);
	assert_int_equal(line_begin(&line, b, 8, 7, &begun), -EINVAL);
	assert_int_equal(line_begin(&line, b, 8, 21, &begun), -EINVAL);
	assert_int_equal(line_begin(&line, a, 8, 20, &begun), -EINVAL);
	assert_int_equal(begun, 99);
	assert_int_equal(testline_begin(b, 8), 8);
	assert_int_equal(places[b].taken, 8);
	assert_int_equal(places[b].released, 8);
	assert_int_equal(places[b].end, 20);
	assert_int_equal(line.members, 2);
	line_end(&line, a);
	line_end(&line, a);
	assert_int_equal(line.members, 1);
	testline_check();
}

/* Room is made for one who begins, as far as the members allow. */
static void
begins_further_on(void **state)
{
	uint64_t begun;
	uint32_t a, b;

	(void)state;
	a = testline_start_two(100, 4, &b);
	for (unsigned u = 0; u < 4; u++)
		testline_make(a, u);
	testline_progress(a, 4, 2, LINE_ANY);
	assert_int_equal(line.base, 0);
	assert_int_equal(line_begin(&line, b, 6, 100, &begun), -EAGAIN);
	assert_int_equal(testline_begin(b, 5), 5);
	assert_int_equal(line.base, 2);
	assert_int_equal(note.retired, 2);
	assert_int_equal(note.slot, 101);
	line_end(&line, b);
	/* Past all that was ever leased. */
	testline_progress(a, 50, 50, LINE_ANY);
	assert_int_equal(testline_begin(b, 51), 51);
	assert_int_equal(line.base, 48);
	assert_int_equal(line.front, 48);
	assert_int_equal(note.retired, 4);
}

static void
the_window_moves_to_the_only_one(void **state)
{
	uint64_t begun;
	uint32_t a, g;

	(void)state;
	testline_start(UINT64_C(1) << 40, 4, 0);
	a = testline_attach(1);
	g = testline_lease(a, 0);
	assert_int_equal(line_begin(&line, a, 5, 9, &begun), -EAGAIN);
	assert_int_equal(line_publish(&line, 0, a, g, 7), 0);
	assert_int_equal(testline_begin(a, UINT64_C(1) << 39), UINT64_C(1) << 39);
	assert_int_equal(line.base, UINT64_C(1) << 39);
	assert_int_equal(note.retired, 1);
	assert_int_equal(note.slot, 7);
	testline_lease(a, UINT64_C(1) << 39);
}

static void
begins_near_the_others(void **state)
{
	uint32_t a, b, c, d;
	uint64_t begun;

	(void)state;
	testline_start(100, 8, 0);
	a = testline_attach(1);
	b = testline_attach(2);
	c = testline_attach(3);
	d = testline_attach(4);
	assert_int_equal(testline_begin(a, LINE_ANY), 0);
	testline_progress(a, 4, 4, LINE_ANY);
	assert_int_equal(testline_begin(b, LINE_ANY), 0);
	testline_progress(a, 5, 5, LINE_ANY);
	assert_int_equal(testline_begin(c, LINE_ANY), 3);
	testline_progress(a, 100, 100, LINE_ANY);
	assert_int_equal(line_begin(&line, d, LINE_ANY, 50, &begun), 0);
	assert_int_equal(begun, 50);
	assert_int_equal(line_lead(&line), 100);
	testline_check();
}

static void
seats_are_checked(void **state)
{
	static const uint64_t wrong[][3] = {
		{ 4, 3, LINE_ANY },	/* went back */
		{ 5, 2, LINE_ANY },
		{ 5, 6, LINE_ANY },	/* released what it has not taken */
		{ 11, 3, LINE_ANY },	/* past its end */
		{ 6, 3, 5 },		/* waits for what it has */
		{ 6, 3, 10 },
		{ 0, 0, LINE_ANY },
	};
	struct line_place before;
	uint64_t begun;
	uint32_t a;

	(void)state;
	testline_start(20, 8, 0);
	a = testline_attach(1);
	/* No member: what it says is nothing. */
	assert_int_equal(line_progress(&line, a, 99, 100, 3), 0);
	assert_int_equal(line_begin(&line, a, 2, 10, &begun), 0);
	/* It has not stored where it begins. */
	testline_progress(a, 0, 0, 0);
	assert_int_equal(places[a].taken, 2);
	assert_int_equal(places[a].waits, LINE_ANY);
	assert_int_equal(line_progress(&line, a, 3, 1, LINE_ANY), -EBADMSG);
	testline_progress(a, 5, 3, 9);
	before = places[a];
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(line_progress(&line, a, wrong[i][0],
		    wrong[i][1], wrong[i][2]), -EBADMSG);
		assert_memory_equal(&places[a], &before, sizeof before);
	}
	testline_progress(a, 10, 10, LINE_ANY);
}

static void
pins_of_the_detached(void **state)
{
	uint32_t a, b, g;

	(void)state;
	a = testline_start_two(20, 4, &b);
	testline_begin(b, 0);
	testline_make(a, 0);
	testline_make(a, 1);
	g = testline_lease(a, 2);
	testline_make(a, 3);
	testline_progress(b, 1, 1, LINE_ANY);
	line_detach(&line, b);
	line_detach(&line, b);
	testline_check();
	assert_int_equal(line.members, 1);
	assert_int_equal(line.detached, 1);
	assert_int_equal(line_publish(&line, 2, a, g, 102), 0);
	testline_progress(a, 4, 4, LINE_ANY);
	testline_make(a, 4);
	assert_false(line_pinned(&line, 0));
	assert_true(line_pinned(&line, 1));
	assert_true(line_pinned(&line, 3));
	assert_false(line_pinned(&line, 4));
	/* It lets go of some. */
	testline_progress(b, 3, 3, LINE_ANY);
	assert_false(line_pinned(&line, 2));
	assert_true(line_pinned(&line, 3));
	line_end(&line, b);
	assert_false(line_pinned(&line, 3));
	/* It is a member again, and detached with nothing. */
	testline_begin(b, LINE_ANY);
	testline_progress(b, 20, 20, LINE_ANY);
	line_detach(&line, b);
	assert_false(line_pinned(&line, 19));
	line_leave(&line, b);
	testline_check();
}

static void
who_blocks_whom(void **state)
{
	uint32_t a, b, c;

	(void)state;
	testline_start(20, 2, 0);
	a = testline_attach(1);
	b = testline_attach(2);
	c = testline_attach(3);
	testline_begin(a, 0);
	testline_begin(b, 0);
	testline_begin(c, 0);
	testline_progress(a, 2, 2, 2);
	assert_true(line_is_blocked(&line, a));
	assert_false(line_is_blocked(&line, b));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), b);
	assert_int_equal(line_blocker(&line, b), c);
	assert_int_equal(line_blocker(&line, c), LINE_NOBODY);
	testline_progress(b, 1, 1, LINE_ANY);
	assert_int_equal(line_blocker(&line, LINE_NOBODY), c);
	/* All have let go of it, though it was not retired. */
	testline_progress(c, 2, 1, LINE_ANY);
	assert_int_equal(line.base, 0);
	assert_false(line_is_blocked(&line, a));
	testline_progress(a, 3, 3, 3);
	assert_true(line_is_blocked(&line, a));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), b);
	assert_int_equal(line_blocker(&line, b), c);
	line_detach(&line, c);
	line_end(&line, b);
	assert_false(line_is_blocked(&line, a));
	/* By what it keeps itself. */
	testline_progress(a, 5, 3, 5);
	assert_true(line_is_blocked(&line, a));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), a);
	assert_true(line_keeps(&line, a));
	testline_progress(a, 5, 3, LINE_ANY);
	assert_false(line_keeps(&line, a));
	testline_progress(a, 5, 5, 5);
	assert_false(line_keeps(&line, a));
	assert_false(line_is_blocked(&line, a));
	line_detach(&line, a);
	assert_false(line_is_blocked(&line, a));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), LINE_NOBODY);
}

UNIT_MAIN(
	UNIT(places_come_and_go),
	UNIT(begins_where_it_was_told),
	UNIT(begins_further_on),
	UNIT(the_window_moves_to_the_only_one),
	UNIT(begins_near_the_others),
	UNIT(seats_are_checked),
	UNIT(pins_of_the_detached),
	UNIT(who_blocks_whom))
