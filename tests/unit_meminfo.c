/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_meminfo.c: tests of base/meminfo.c.
 */

#include <config.h>

#include "base/meminfo.h"

#include <errno.h>

#include "tests/harness/unit.h"

static void
meminfo_lines(void **state)
{
	static const char text[] =
	    "MemTotal:       24682416 kB\nXMemAvailable: 1 kB\n"
	    "MemAvailable:   24328572 kB\nSwapTotal:             0 kB\n"
	    "Bad: 12\nWorse: x kB\nHuge: 99999999999999999999 kB\nLast: 7 kB";
	uint64_t n = 1;

	(void)state;
	assert_int_equal(meminfo_get(text, "MemTotal", &n), 0);
	assert_int_equal(n, UINT64_C(24682416) * 1024);
	assert_int_equal(meminfo_get(text, "MemAvailable", &n), 0);
	assert_int_equal(n, UINT64_C(24328572) * 1024);
	assert_int_equal(meminfo_get(text, "SwapTotal", &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(meminfo_get(text, "Last", &n), 0);
	assert_int_equal(n, 7 * 1024);
	assert_int_equal(meminfo_get(text, "Mem", &n), -ENOENT);
	assert_int_equal(meminfo_get(text, "Bad", &n), -EBADMSG);
	assert_int_equal(meminfo_get(text, "Worse", &n), -EBADMSG);
	assert_int_equal(meminfo_get(text, "Huge", &n), -EBADMSG);
	assert_int_equal(meminfo_get("", "MemTotal", &n), -ENOENT);
}

UNIT_MAIN(UNIT(meminfo_lines))
