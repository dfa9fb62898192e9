/* SPDX-License-Identifier: Apache-2.0
 *
 * median.h: the middle of some values.  Runs in the command only.
 */

#ifndef BASE_MEDIAN_H
#define BASE_MEDIAN_H

#include <stddef.h>

void median_sort(double *values, size_t nr);
double median_of_sorted(const double *values, size_t nr);
	/* Of two in the middle their mean; 0 of none. */
double median_of(double *values, size_t nr);
	/* They are sorted by it. */

#endif
