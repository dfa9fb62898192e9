/* SPDX-License-Identifier: Apache-2.0
 *
 * median.c: the middle of some values.  Runs in the command only.
 */

#include <config.h>

#include "base/median.h"

#include <stdlib.h>

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
median_sort(double *values, size_t nr)
{
	if (nr > 0)
		qsort(values, nr, sizeof *values, compare);
}

double
median_of_sorted(const double *values, size_t nr)
{
	return nr == 0 ? 0 : (values[nr / 2] + values[(nr - 1) / 2]) / 2;
}

double
median_of(double *values, size_t nr)
{
	median_sort(values, nr);
	return median_of_sorted(values, nr);
}
