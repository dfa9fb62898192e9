/* SPDX-License-Identifier: Apache-2.0
 *
 * testline.c: a small line, checked after every step.
 */

#include <config.h>

#include "tests/harness/testline.h"

#include <string.h>

#include "tests/harness/unit.h"

struct line line;
struct line_unit units[RING];
struct line_place places[PLACES];
struct note note;

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

void
testline_check(void)
{
	const char *broken = line_broken(&line);

	if (broken != NULL)
		fail_msg("%s", broken);
}

void
testline_start(uint64_t nr_units, uint64_t window, uint64_t at)
{
	memset(&note, 0, sizeof note);
	line_init(&line, nr_units, window, at, units, RING, places, PLACES);
	line.changed = note_changed;
	line.retired = note_retired;
	line.arg = &note;
	testline_check();
}

uint32_t
testline_attach(uint64_t job)
{
	int p = line_attach(&line, job);

	assert_true(p >= 0);
	return (uint32_t)p;
}

uint64_t
testline_begin(uint32_t p, uint64_t at)
{
	uint64_t begun = UINT64_MAX;

	assert_int_equal(line_begin(&line, p, at, line.units, &begun), 0);
	testline_check();
	return begun;
}

uint32_t
testline_start_two(uint64_t nr_units, uint64_t window, uint32_t *b)
{
	uint32_t a;

	testline_start(nr_units, window, 0);
	a = testline_attach(1);
	if (b != NULL)
		*b = testline_attach(2);
	testline_begin(a, 0);
	return a;
}

uint32_t
testline_start_one(uint64_t nr_units, uint64_t window)
{
	return testline_start_two(nr_units, window, NULL);
}

uint32_t
testline_lease(uint32_t p, uint64_t want)
{
	uint64_t unit = UINT64_MAX;

	assert_true(line_can_lease(&line));
	assert_int_equal(line_lease(&line, p, &unit), LINE_LEASED);
	assert_int_equal(unit, want);
	testline_check();
	return units[unit % RING].generation;
}

void
testline_make(uint32_t p, uint64_t unit)
{
	uint32_t generation = testline_lease(p, unit);

	assert_int_equal(line_publish(&line, unit, p, generation,
	    100 + (uint32_t)unit), 0);
	testline_check();
}

void
testline_progress(uint32_t p, uint64_t taken, uint64_t released, uint64_t waits)
{
	assert_int_equal(line_progress(&line, p, taken, released, waits), 0);
	testline_check();
}
