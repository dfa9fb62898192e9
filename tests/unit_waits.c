/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_waits.c: tests of stage/waits.c.
 */

#include <config.h>

#include "stage/waits.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/harness/unit.h"

#define EDGES	40u
#define JOBS	12u

static struct wait_edge edges[EDGES];
static uint32_t mark[EDGES];
static uint32_t nr;

static void
wait_for(uint64_t from, uint64_t to)
{
	edges[nr++] = (struct wait_edge){ .from = from, .to = to };
}

static void
no_cycle(void **state)
{
	(void)state;
	nr = 0;
	assert_int_equal(waits_cycle(edges, 0, mark), -1);
	wait_for(1, 2);
	wait_for(2, 3);
	wait_for(1, 3);
	wait_for(3, 4);
	wait_for(UINT64_MAX, 1);
	/* The same pair twice is none. */
	wait_for(1, 2);
	assert_int_equal(waits_cycle(edges, nr, mark), -1);
}

static void
waiting_for_itself(void **state)
{
	(void)state;
	nr = 0;
	wait_for(1, 2);
	wait_for(2, 2);
	assert_int_equal(waits_cycle(edges, nr, mark), 1);
}

static void
two_wait_for_each_other(void **state)
{
	(void)state;
	nr = 0;
	wait_for(5, 1);
	wait_for(1, 4);
	wait_for(1, 2);
	wait_for(2, 1);
	assert_in_range(waits_cycle(edges, nr, mark), 2, 3);
}

/* What leads from one cycle to another is part of none. */
static void
between_two_cycles(void **state)
{
	(void)state;
	nr = 0;
	wait_for(1, 2);
	wait_for(2, 3);		/* no part of one */
	wait_for(3, 4);
	wait_for(4, 3);
	wait_for(2, 1);
	assert_int_not_equal(waits_cycle(edges, nr, mark), 1);
	edges[4].to = 9;
	assert_in_range(waits_cycle(edges, nr, mark), 2, 3);
}

/* Can `to` be reached from `from`?  Slowly. */
static bool
reaches(uint64_t from, uint64_t to)
{
	bool seen[JOBS] = { false }, changed = true;

	seen[from] = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < nr; i++)
			if (seen[edges[i].from] && !seen[edges[i].to])
				changed = seen[edges[i].to] = true;
	}
	return seen[to];
}

static bool
is_in_cycle(uint32_t i)
{
	return reaches(edges[i].to, edges[i].from);
}

static void
as_found_slowly(void **state)
{
	unsigned seed = 1, cycles = 0;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		unsigned many = 1 + (unsigned)rand_r(&seed) % EDGES;
		bool any = false;
		int64_t found;

		nr = 0;
		while (nr < many)
			wait_for((unsigned)rand_r(&seed) % JOBS,
			    (unsigned)rand_r(&seed) % JOBS);
		for (uint32_t i = 0; i < nr; i++)
			any |= is_in_cycle(i);
		found = waits_cycle(edges, nr, mark);
		assert_int_equal(found >= 0, any);
		if (any)
			assert_true(is_in_cycle((uint32_t)found));
		cycles += any;
	}
	assert_in_range(cycles, 300, 2900);
}

UNIT_MAIN(
	UNIT(no_cycle),
	UNIT(waiting_for_itself),
	UNIT(two_wait_for_each_other),
	UNIT(between_two_cycles),
	UNIT(as_found_slowly))
