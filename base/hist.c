/* SPDX-License-Identifier: Apache-2.0
 *
 * hist.c: a histogram of fixed size.  Runs in every process.
 *
 * Values below 16 have a bucket each.  Above, a value with its highest bit at
 * position p >= 4 falls into row p - 3, and its next four bits choose the step
 * within the row.
 */

#include <config.h>

#include "base/hist.h"

#include <assert.h>
#include <string.h>

#include "base/must.h"

static_assert(sizeof(struct hist) == 8 * (4 + HIST_BUCKETS),
    "the layout is shared between processes");

unsigned
hist_bucket(uint64_t value)
{
	unsigned top, row;

	if (value < HIST_STEPS)
		return (unsigned)value;
	top = 63u - (unsigned)__builtin_clzll(value);
	row = top - HIST_STEP_BITS + 1;
	return row * HIST_STEPS +
	    (unsigned)((value >> (top - HIST_STEP_BITS)) & (HIST_STEPS - 1));
}

uint64_t
hist_value(unsigned bucket)
{
	unsigned row = bucket / HIST_STEPS;
	uint64_t step = bucket % HIST_STEPS;
	uint64_t low, width;

	must(bucket < HIST_BUCKETS);
	if (row == 0)
		return step;
	width = UINT64_C(1) << (row - 1);
	low = (HIST_STEPS + step) << (row - 1);
	return low + width / 2;
}

void
hist_init(struct hist *h)
{
	memset(h, 0, sizeof *h);
	h->min = UINT64_MAX;
}

void
hist_add(struct hist *h, uint64_t value)
{
	h->count++;
	h->sum += value;
	h->bucket[hist_bucket(value)]++;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

void
hist_merge(struct hist *into, const struct hist *from)
{
	into->count += from->count;
	into->sum += from->sum;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t
hist_quantile(const struct hist *h, double q)
{
	uint64_t rank, seen = 0, value;
	double place;

	must(q >= 0 && q <= 1);
	if (h->count == 0)
		return 0;
	place = q * (double)(h->count - 1);
	/* A double past 2^53 may round up, to a number that has no rank. */
	if (place >= (double)(h->count - 1))
		return h->max;
	rank = (uint64_t)place;
	if (rank == 0)
		return h->min;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen <= rank)
			continue;
		value = hist_value(i);
		if (value < h->min)
			return h->min;
		return value > h->max ? h->max : value;
	}
	return h->max;
}
