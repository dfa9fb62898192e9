/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_cpus.c: tests of base/cpus.c.
 */

#include <config.h>

#include "base/cpus.h"

#include <sched.h>

#include "tests/harness/unit.h"

static void
the_mask_is_counted(void **state)
{
	cpu_set_t before, one;
	size_t first = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	assert_int_equal(cpus_usable(), CPU_COUNT(&before));
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(cpus_usable(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

UNIT_MAIN(UNIT(the_mask_is_counted))
