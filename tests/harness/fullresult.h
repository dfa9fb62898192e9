/* SPDX-License-Identifier: Apache-2.0
 *
 * fullresult.h: a result in which every member differs from what it begins with,
 * and whether two are equal, member by member.
 */

#ifndef HARNESS_FULLRESULT_H
#define HARNESS_FULLRESULT_H

#include "reports/result.h"

#define FULL_RESULT_STARTED	INT64_C(1794923102)	/* of number 0 */

void full_result_make(struct result *r, unsigned number);
	/* Begins it, and fills it; those of other numbers began so many seconds
	 * later, and differ in other members.  Numbers have at most 12 digits,
	 * all texts are ASCII. */

const char *full_result_differ(const struct result *a, const struct result *b);
	/* The first member that differs, but for the id, or NULL. */

#endif
