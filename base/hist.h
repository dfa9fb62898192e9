/* SPDX-License-Identifier: Apache-2.0
 *
 * hist.h: a histogram of whole numbers (nanoseconds, bytes) of fixed size.
 * Runs in every process; may lie in memory that another process reads.
 *
 * Buckets are logarithmic with 16 linear steps in each power of two, so any
 * quantile is right to 1/16 (6 %) of its value, from 1 ns to 584 years, in 8 kB.
 * Fixed-width members only; adding is one increment; two histograms merge by
 * addition.
 *
 *  1. count is the sum of all buckets.
 *  2. min and max are exact; min > max exactly while count is 0.
 * Whoever reads it while another process adds sees these nearly so: a quantile
 * of it may be wrong, but is computed without harm, whatever the numbers are.
 */

#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdint.h>

#define HIST_STEP_BITS	4
#define HIST_STEPS	(1u << HIST_STEP_BITS)
#define HIST_BUCKETS	((64u - HIST_STEP_BITS + 1u) * HIST_STEPS)

struct hist {
	uint64_t count;
	uint64_t sum;			/* wraps after 584 years in all */
	uint64_t min;
	uint64_t max;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
void hist_merge(struct hist *into, const struct hist *from);

uint64_t hist_quantile(const struct hist *h, double q);
	/* The value below which the share q of all values lies, 0 <= q <= 1;
	 * 0 of an empty histogram.  Never below min or above max. */

/* For who keeps buckets of its own. */
unsigned hist_bucket(uint64_t value);
uint64_t hist_value(unsigned bucket);
	/* The middle of a bucket: the value that is reported for all in it. */

#endif
