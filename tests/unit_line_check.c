/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_line_check.c: tests of stage/line_check.c: what is broken is told, and
 * nothing is after steps at random.
 */

#include <config.h>

#include "stage/line.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/testline.h"
#include "tests/harness/unit.h"

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

	testline_start(20, 4, 2);
	a = testline_attach(1);
	b = testline_attach(2);
	testline_begin(a, 2);
	testline_lease(b, 2);
	testline_make(b, 3);
	assert_int_equal(line_call_late(&line, 2), 0);
	testline_check();
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
		testline_start(1 + choose(&seed, 40), 1 + choose(&seed, RING), 0);
		line.ahead = 1 + choose(&seed, 10);
		for (unsigned i = 0; i < 500; i++) {
			step_at_random(&seed);
			testline_check();
		}
	}
}

UNIT_MAIN(
	UNIT(broken_lines_are_told),
	UNIT(rules_hold_at_random))
