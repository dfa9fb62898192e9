/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_line.c: tests of stage/line.c and line_check.c.
 */

#include <config.h>

#include "stage/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

#define RING	8u
#define PLACES	4u

static struct line_unit units[RING];
static struct line_place places[PLACES];
static struct line line;

struct note {			/* of what the callbacks were told last */
	unsigned changed, retired;
	uint64_t unit;
	uint32_t slot;
};
static struct note note;

static void
note_changed(void *arg, uint64_t unit)
{
	((struct note *)arg)->changed++;
	(void)unit;
}

static void
note_retired(void *arg, uint64_t unit, uint32_t slot)
{
	struct note *n = arg;

	n->retired++;
	n->unit = unit;
	n->slot = slot;
}

static void
check_line(void)
{
	const char *broken = line_broken(&line);

	if (broken != NULL)
		fail_msg("%s", broken);
}

static void
start(uint64_t nr_units, uint64_t window, uint64_t at)
{
	memset(&note, 0, sizeof note);
	line_init(&line, nr_units, window, at, units, RING, places, PLACES);
	line.changed = note_changed;
	line.retired = note_retired;
	line.arg = &note;
	check_line();
}

static uint32_t
attach(uint64_t job)
{
	int p = line_attach(&line, job);

	assert_true(p >= 0);
	return (uint32_t)p;
}

/* A member from a unit to the end; where it began. */
static uint64_t
begin(uint32_t p, uint64_t at)
{
	uint64_t begun = UINT64_MAX;

	assert_int_equal(line_begin(&line, p, at, line.units, &begun), 0);
	check_line();
	return begun;
}

static uint32_t
lease(uint32_t p, uint64_t want)
{
	uint64_t unit = UINT64_MAX;

	assert_true(line_can_lease(&line));
	assert_int_equal(line_lease(&line, p, &unit), LINE_LEASED);
	assert_int_equal(unit, want);
	check_line();
	return units[unit % RING].generation;
}

static void
expect_none(uint32_t p, enum line_answer want)
{
	uint64_t unit = 77;

	assert_false(line_can_lease(&line));
	assert_int_equal(line_lease(&line, p, &unit), want);
	assert_int_equal(unit, 77);
	check_line();
}

/* Leases and publishes a unit; its slot is 100 + unit. */
static void
make(uint32_t p, uint64_t unit)
{
	uint32_t generation = lease(p, unit);

	assert_int_equal(line_publish(&line, unit, p, generation,
	    100 + (uint32_t)unit), 0);
	check_line();
}

static void
progress(uint32_t p, uint64_t taken, uint64_t released, uint64_t waits)
{
	assert_int_equal(line_progress(&line, p, taken, released, waits), 0);
	check_line();
}

static void
expect_unit(uint64_t unit, enum unit_state state)
{
	assert_int_equal(units[unit % RING].state, state);
}

/*--- places --------------------------------------------------------------*/

static void
places_come_and_go(void **state)
{
	(void)state;
	start(10, 4, 0);
	for (uint32_t p = 0; p < PLACES; p++)
		assert_int_equal(attach(p), p);
	assert_int_equal(line_attach(&line, 9), -EUSERS);
	line_leave(&line, 1);
	assert_int_equal(line.used, PLACES);
	assert_int_equal(attach(7), 1);
	assert_int_equal(places[1].job, 7);
	for (uint32_t p = PLACES; p-- > 0;)
		line_leave(&line, p);
	assert_int_equal(line.used, 0);
	check_line();
}

static void
begins_where_it_was_told(void **state)
{
	uint64_t begun = 99;
	uint32_t a, b;

	(void)state;
	start(20, 4, 5);
	a = attach(1);
	b = attach(2);
	assert_int_equal(begin(a, 5), 5);
	assert_int_equal(line_begin(&line, b, 4, 20, &begun), -EAGAIN);
	assert_int_equal(line_begin(&line, b, 9, 20, &begun), -EAGAIN);
	assert_int_equal(line_begin(&line, b, 8, 7, &begun), -EINVAL);
	assert_int_equal(line_begin(&line, b, 8, 21, &begun), -EINVAL);
	assert_int_equal(line_begin(&line, a, 8, 20, &begun), -EINVAL);
	assert_int_equal(begun, 99);
	assert_int_equal(begin(b, 8), 8);
	assert_int_equal(places[b].taken, 8);
	assert_int_equal(places[b].released, 8);
	assert_int_equal(places[b].end, 20);
	assert_int_equal(line.members, 2);
	line_end(&line, a);
	line_end(&line, a);
	assert_int_equal(line.members, 1);
	check_line();
}

/* Room is made for one who begins, as far as the members allow. */
static void
begins_further_on(void **state)
{
	uint64_t begun;
	uint32_t a, b;

	(void)state;
	start(100, 4, 0);
	a = attach(1);
	b = attach(2);
	begin(a, 0);
	for (unsigned u = 0; u < 4; u++)
		make(a, u);
	progress(a, 4, 2, LINE_ANY);
	assert_int_equal(line.base, 0);
	assert_int_equal(line_begin(&line, b, 6, 100, &begun), -EAGAIN);
	assert_int_equal(begin(b, 5), 5);
	assert_int_equal(line.base, 2);
	assert_int_equal(note.retired, 2);
	assert_int_equal(note.slot, 101);
	line_end(&line, b);
	/* Past all that was ever leased. */
	progress(a, 50, 50, LINE_ANY);
	assert_int_equal(begin(b, 51), 51);
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
	start(UINT64_C(1) << 40, 4, 0);
	a = attach(1);
	g = lease(a, 0);
	assert_int_equal(line_begin(&line, a, 5, 9, &begun), -EAGAIN);
	assert_int_equal(line_publish(&line, 0, a, g, 7), 0);
	assert_int_equal(begin(a, UINT64_C(1) << 39), UINT64_C(1) << 39);
	assert_int_equal(line.base, UINT64_C(1) << 39);
	assert_int_equal(note.retired, 1);
	assert_int_equal(note.slot, 7);
	lease(a, UINT64_C(1) << 39);
}

static void
begins_near_the_others(void **state)
{
	uint32_t a, b, c, d;
	uint64_t begun;

	(void)state;
	start(100, 8, 0);
	a = attach(1);
	b = attach(2);
	c = attach(3);
	d = attach(4);
	assert_int_equal(begin(a, LINE_ANY), 0);
	progress(a, 4, 4, LINE_ANY);
	assert_int_equal(begin(b, LINE_ANY), 0);
	progress(a, 5, 5, LINE_ANY);
	assert_int_equal(begin(c, LINE_ANY), 3);
	progress(a, 100, 100, LINE_ANY);
	assert_int_equal(line_begin(&line, d, LINE_ANY, 50, &begun), 0);
	assert_int_equal(begun, 50);
	assert_int_equal(line_lead(&line), 100);
	check_line();
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
	start(20, 8, 0);
	a = attach(1);
	/* No member: what it says is nothing. */
	assert_int_equal(line_progress(&line, a, 99, 100, 3), 0);
	assert_int_equal(line_begin(&line, a, 2, 10, &begun), 0);
	/* It has not stored where it begins. */
	progress(a, 0, 0, 0);
	assert_int_equal(places[a].taken, 2);
	assert_int_equal(places[a].waits, LINE_ANY);
	assert_int_equal(line_progress(&line, a, 3, 1, LINE_ANY), -EBADMSG);
	progress(a, 5, 3, 9);
	before = places[a];
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(line_progress(&line, a, wrong[i][0],
		    wrong[i][1], wrong[i][2]), -EBADMSG);
		assert_memory_equal(&places[a], &before, sizeof before);
	}
	progress(a, 10, 10, LINE_ANY);
}

/*--- units ---------------------------------------------------------------*/

static void
leased_in_order(void **state)
{
	uint32_t a, b, g;

	(void)state;
	start(3, 8, 0);
	a = attach(1);
	b = attach(2);
	begin(a, 0);
	g = lease(a, 0);
	assert_true(line_holds(&line, 0, a, g));
	assert_false(line_holds(&line, 0, b, g));
	assert_false(line_holds(&line, 8, a, g));
	lease(b, 1);
	assert_int_equal(line.leases, 2);
	make(b, 2);
	expect_none(b, LINE_OVER);
	assert_int_equal(line_publish(&line, 0, a, g, 5), 0);
	expect_unit(0, UNIT_STAGED);
	assert_int_equal(units[0].slot, 5);
	assert_int_equal(line.made, 2);
	/* Its maker dies: there is something to make. */
	line_leave(&line, b);
	assert_int_equal(line.revoked, 1);
	expect_unit(1, UNIT_FREE);
	make(a, 1);
	expect_none(a, LINE_OVER);
	assert_int_equal(note.changed, 8);
}

static void
not_too_far_ahead(void **state)
{
	uint32_t a;

	(void)state;
	start(20, 8, 0);
	line.ahead = 2;
	a = attach(1);
	make(a, 0);
	make(a, 1);
	expect_none(a, LINE_WAIT);
	begin(a, 0);
	expect_none(a, LINE_WAIT);
	progress(a, 1, 0, LINE_ANY);
	make(a, 2);
	expect_none(a, LINE_WAIT);
	/* It makes some itself: what it has passed is nobody's. */
	progress(a, 6, 6, LINE_ANY);
	make(a, 6);
	make(a, 7);
	expect_none(a, LINE_WAIT);
	assert_int_equal(line.holes, 3);
	/* A newcomer wants them. */
	assert_int_equal(begin(attach(2), 3), 3);
	make(a, 3);
	assert_int_equal(line.holes, 2);
}

static void
full_until_released(void **state)
{
	uint32_t a, b;

	(void)state;
	start(20, 2, 0);
	line.ahead = 20;
	a = attach(1);
	b = attach(2);
	make(a, 0);
	make(a, 1);
	/* There was no member yet. */
	expect_none(a, LINE_WAIT);
	assert_false(line_retire(&line));
	begin(a, 0);
	begin(b, 0);
	expect_none(a, LINE_FULL);
	progress(a, 2, 2, 2);
	progress(b, 2, 0, LINE_ANY);
	expect_none(a, LINE_FULL);
	progress(b, 2, 1, LINE_ANY);
	assert_int_equal(note.retired, 0);
	make(b, 2);
	assert_int_equal(note.retired, 1);
	assert_int_equal(note.unit, 0);
	assert_int_equal(note.slot, 100);
	expect_none(b, LINE_FULL);
	/* The slow one is gone. */
	line_leave(&line, b);
	make(a, 3);
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
	start(UINT64_C(1) << 40, 4, 0);
	a = attach(1);
	begin(a, 0);
	make(a, 0);
	lease(a, 1);
	progress(a, UINT64_C(1) << 39, UINT64_C(1) << 39, LINE_ANY);
	make(a, UINT64_C(1) << 39);
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
	start(4, 4, 0);
	a = attach(1);
	b = attach(2);
	begin(a, 0);
	g = lease(a, 0);
	assert_int_equal(line_give_up(&line, 0, b, g, true), -ESTALE);
	assert_int_equal(line_give_up(&line, 0, a, g, false), 0);
	expect_unit(0, UNIT_FREE);
	check_line();
	assert_int_equal(line_give_up(&line, 0, a, g, false), -ESTALE);
	g = lease(b, 0);
	assert_int_equal(line_give_up(&line, 0, b, g, true), 0);
	expect_unit(0, UNIT_ALONE);
	assert_int_equal(line.alone, 1);
	check_line();
	make(a, 1);
	progress(a, 2, 2, LINE_ANY);
	assert_true(line_retire(&line));
	assert_int_equal(note.slot, LINE_NO_SLOT);
	assert_int_equal(line.revoked, 0);
}

static void
retired_while_leased(void **state)
{
	uint32_t a, g;

	(void)state;
	start(9, 2, 0);
	a = attach(1);
	begin(a, 0);
	g = lease(a, 0);
	progress(a, 1, 1, LINE_ANY);
	assert_true(line_retire(&line));
	check_line();
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
	start(99, 4, 0);
	line.ahead = 99;
	a = attach(1);
	begin(a, 0);
	make(a, 0);
	make(a, 1);
	g = lease(a, 2);
	line.window = 1;
	check_line();
	expect_none(a, LINE_FULL);
	assert_int_equal(line_publish(&line, 2, a, g, 9), 0);
	progress(a, 2, 2, LINE_ANY);
	expect_none(a, LINE_FULL);
	line.window = RING;
	for (unsigned u = 3; u < 2 + RING; u++)
		make(a, u);
	assert_int_equal(line.base, 2);
	expect_none(a, LINE_FULL);
}

static void
generations_go_on(void **state)
{
	uint32_t a, g;

	(void)state;
	start(99, 1, 0);
	a = attach(1);
	begin(a, 0);
	for (unsigned u = 0; u < RING; u++) {
		make(a, u);
		progress(a, u + 1, u + 1, LINE_ANY);
	}
	assert_int_equal(lease(a, RING), 2);
	line_leave(&line, a);
	units[0].generation = LINE_GENERATIONS - 1;
	a = attach(1);
	begin(a, LINE_ANY);
	g = lease(a, RING);
	assert_int_equal(g, 0);
	assert_int_equal(line_publish(&line, RING, a, 0, 1), 0);
}

static void
pins_of_the_detached(void **state)
{
	uint32_t a, b, g;

	(void)state;
	start(20, 4, 0);
	a = attach(1);
	b = attach(2);
	begin(a, 0);
	begin(b, 0);
	make(a, 0);
	make(a, 1);
	g = lease(a, 2);
	make(a, 3);
	progress(b, 1, 1, LINE_ANY);
	line_detach(&line, b);
	line_detach(&line, b);
	check_line();
	assert_int_equal(line.members, 1);
	assert_int_equal(line.detached, 1);
	assert_int_equal(line_publish(&line, 2, a, g, 102), 0);
	progress(a, 4, 4, LINE_ANY);
	make(a, 4);
	assert_false(line_pinned(&line, 0));
	assert_true(line_pinned(&line, 1));
	assert_true(line_pinned(&line, 3));
	assert_false(line_pinned(&line, 4));
	/* It lets go of some. */
	progress(b, 3, 3, LINE_ANY);
	assert_false(line_pinned(&line, 2));
	assert_true(line_pinned(&line, 3));
	line_end(&line, b);
	assert_false(line_pinned(&line, 3));
	/* It is a member again, and detached with nothing. */
	begin(b, LINE_ANY);
	progress(b, 20, 20, LINE_ANY);
	line_detach(&line, b);
	assert_false(line_pinned(&line, 19));
	line_leave(&line, b);
	check_line();
}

/*--- waiting -------------------------------------------------------------*/

static void
who_blocks_whom(void **state)
{
	uint32_t a, b, c;

	(void)state;
	start(20, 2, 0);
	a = attach(1);
	b = attach(2);
	c = attach(3);
	begin(a, 0);
	begin(b, 0);
	begin(c, 0);
	progress(a, 2, 2, 2);
	assert_true(line_is_blocked(&line, a));
	assert_false(line_is_blocked(&line, b));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), b);
	assert_int_equal(line_blocker(&line, b), c);
	assert_int_equal(line_blocker(&line, c), LINE_NOBODY);
	progress(b, 1, 1, LINE_ANY);
	assert_int_equal(line_blocker(&line, LINE_NOBODY), c);
	/* All have let go of it, though it was not retired. */
	progress(c, 2, 1, LINE_ANY);
	assert_int_equal(line.base, 0);
	assert_false(line_is_blocked(&line, a));
	progress(a, 3, 3, 3);
	assert_true(line_is_blocked(&line, a));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), b);
	assert_int_equal(line_blocker(&line, b), c);
	line_detach(&line, c);
	line_end(&line, b);
	assert_false(line_is_blocked(&line, a));
	/* By what it keeps itself. */
	progress(a, 5, 3, 5);
	assert_true(line_is_blocked(&line, a));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), a);
	assert_true(line_keeps(&line, a));
	progress(a, 5, 3, LINE_ANY);
	assert_false(line_keeps(&line, a));
	progress(a, 5, 5, 5);
	assert_false(line_keeps(&line, a));
	assert_false(line_is_blocked(&line, a));
	line_detach(&line, a);
	assert_false(line_is_blocked(&line, a));
	assert_int_equal(line_blocker(&line, LINE_NOBODY), LINE_NOBODY);
}

static void
the_late_one_is_replaced(void **state)
{
	uint32_t a, b, old, g;

	(void)state;
	start(20, 4, 0);
	a = attach(1);
	b = attach(2);
	begin(a, 0);
	old = lease(b, 0);
	g = lease(b, 1);
	assert_int_equal(line_call_late(&line, 0), 0);
	assert_int_equal(line_call_late(&line, 0), 0);
	assert_int_equal(line_call_late(&line, 1), 0);
	assert_int_equal(line_call_late(&line, 2), -ESTALE);
	assert_int_equal(line_call_late(&line, 0 + RING), -ESTALE);
	check_line();
	/* Nobody waits for it. */
	make(a, 2);
	progress(a, 0, 0, 0);
	assert_int_equal(lease(a, 0), old + 1);
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
	check_line();
}

/* Of two that are late and waited for, whoever waits. */
static void
the_first_late_one_first(void **state)
{
	uint32_t a, b;

	(void)state;
	start(20, 4, 0);
	a = attach(1);
	b = attach(2);
	begin(a, 0);
	begin(b, 0);
	lease(a, 0);
	lease(a, 1);
	progress(a, 0, 0, 0);
	progress(b, 1, 1, 1);
	assert_int_equal(line_call_late(&line, 0), 0);
	assert_int_equal(line_call_late(&line, 1), 0);
	lease(b, 0);
	lease(b, 1);
	lease(b, 2);
}

/*--- what is broken is told ----------------------------------------------*/

static void
break_and_look(const char *want)
{
	const char *got = line_broken(&line);

	if (got == NULL || strstr(got, want) == NULL)
		fail_msg("'%s' was expected: %s", want,
		    got != NULL ? got : "nothing");
}

/* A unit LEASED, one STAGED, a member, a maker. */
static void
start_whole(void)
{
	uint32_t a, b;

	start(20, 4, 2);
	a = attach(1);
	b = attach(2);
	begin(a, 2);
	lease(b, 2);
	make(b, 3);
	assert_int_equal(line_call_late(&line, 2), 0);
	check_line();
}

#define BREAK(change, want) \
	do { \
		start_whole(); \
		change; \
		break_and_look(want); \
	} while (0)

static void
broken_lines_are_told(void **state)
{
	(void)state;
	BREAK(line.window = RING + 1, "does not fit");
	BREAK(line.window = 0, "does not fit");
	BREAK(line.base = 9, "out of order");
	BREAK(line.front = 21, "out of order");
	BREAK(line.used = 9, "more places");
	BREAK(units[2].state = 9, "no state");
	BREAK(units[5].state = UNIT_ALONE, "never leased");
	BREAK(units[3].maker = 1, "rule 1: a unit has");
	BREAK(units[2].maker = 3, "rule 1: a lease is held");
	BREAK(units[3].slot = 0, "rule 4: a unit is STAGED");
	BREAK(units[2].slot = 1, "rule 4: a unit is STAGED");
	BREAK(units[3].is_late = 1, "late");
	BREAK(places[3].state = PLACE_MAKER, "not seen");
	BREAK(places[1].state = 9, "in no state");
	BREAK(places[1].waits = 1, "but it waits");
	BREAK(places[3].leases = 1, "nobody holds");
	BREAK(places[0].taken = 21, "rule 6");
	BREAK((places[0].start = places[0].released = 1), "rule 4: a unit was");
	BREAK(places[0].waits = 20, "not owed");
	BREAK((places[0].state = PLACE_DETACHED, places[0].waits = 3),
	    "DETACHED");
	BREAK(line.begun = false, "never was");
	BREAK(line.leases = 2, "rule 1: leases");
	BREAK(places[1].leases = 0, "rule 1: leases");
	BREAK(line.members = 2, "members");
	BREAK(line.holes = 1, "holes");
	BREAK(line.overdue = 0, "overdue");
}

/*--- at random -----------------------------------------------------------*/

static uint64_t
choose(unsigned *seed, uint64_t below)
{
	return (uint64_t)rand_r(seed) % below;
}

/* Whatever is asked in whatever order, the rules hold. */
static void
step_at_random(unsigned *seed)
{
	uint32_t p = (uint32_t)choose(seed, PLACES);
	struct line_place *pl = &places[p];
	uint64_t unit = line.base + choose(seed, RING);
	uint64_t at, before = line.base;

	if (pl->state == PLACE_NONE) {
		(void)line_attach(&line, p);
		return;
	}
	switch (choose(seed, 12)) {
	case 0:
		at = choose(seed, 2) ? LINE_ANY : unit;
		(void)line_begin(&line, p, at, line.units, &at);
		break;
	case 1:
		if (choose(seed, 8) == 0)
			line_leave(&line, p);
		break;
	case 2:
		if (choose(seed, 8) == 0)
			line_end(&line, p);
		break;
	case 3:
		if (choose(seed, 8) == 0)
			line_detach(&line, p);
		break;
	case 4:
		(void)line_call_late(&line, unit);
		break;
	case 5:
		if (line_retire(&line))
			assert_int_equal(line.base, before + 1);
		break;
	case 6:
		(void)line_give_up(&line, unit, p,
		    units[unit % RING].generation, choose(seed, 2));
		break;
	case 7:
	case 8:
		(void)line_publish(&line, unit, p,
		    units[unit % RING].generation, 1);
		break;
	case 9:
		at = pl->taken + choose(seed, 3);
		(void)line_progress(&line, p, at,
		    pl->released + choose(seed, 3), choose(seed, 2) ?
		    LINE_ANY : at);
		break;
	default:
		if (line_can_lease(&line) !=
		    (line_lease(&line, p, &unit) == LINE_LEASED))
			fail_msg("line_can_lease() is wrong");
		break;
	}
}

static void
rules_hold_at_random(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		start(1 + choose(&seed, 40), 1 + choose(&seed, RING), 0);
		line.ahead = 1 + choose(&seed, 10);
		for (unsigned i = 0; i < 500; i++) {
			step_at_random(&seed);
			check_line();
		}
	}
}

UNIT_MAIN(
	UNIT(places_come_and_go),
	UNIT(begins_where_it_was_told),
	UNIT(begins_further_on),
	UNIT(the_window_moves_to_the_only_one),
	UNIT(begins_near_the_others),
	UNIT(seats_are_checked),
	UNIT(leased_in_order),
	UNIT(not_too_far_ahead),
	UNIT(full_until_released),
	UNIT(far_behind_is_one_step),
	UNIT(given_up),
	UNIT(retired_while_leased),
	UNIT(the_window_may_change),
	UNIT(generations_go_on),
	UNIT(pins_of_the_detached),
	UNIT(who_blocks_whom),
	UNIT(the_late_one_is_replaced),
	UNIT(the_first_late_one_first),
	UNIT(broken_lines_are_told),
	UNIT(rules_hold_at_random))
