/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.h: what a unit test includes: cmocka, and the check for leaks around
 * each test.
 *
 *     static void
 *     quantile_of_one_value(void **state)
 *     { ... assert_int_equal(...); }
 *
 *     UNIT_MAIN(UNIT(quantile_of_one_value), UNIT(...))
 */

#ifndef HARNESS_UNIT_H
#define HARNESS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/harness/leak.h"

#define UNIT(test) \
	cmocka_unit_test_setup_teardown(test, leak_before, leak_after)

#define UNIT_MAIN(...)	UNIT_MAIN_WITH(NULL, NULL, __VA_ARGS__)

/* With a set-up and a tear-down of all of them. */
#define UNIT_MAIN_WITH(open, close, ...) \
	int \
	main(void) \
	{ \
		const struct CMUnitTest tests[] = { __VA_ARGS__ }; \
		return cmocka_run_group_tests(tests, open, close); \
	}

#endif
