/* SPDX-License-Identifier: Apache-2.0
 *
 * taps.h: which source pixels make an output pixel, along one axis, and with
 * which weights.  Runs in clients, in any of their threads.
 *
 * The weights are those of Pillow's antialiased bilinear resize, to the last
 * bit: computed in double precision in the same order of operations, then
 * rounded to TAPS_BITS bits behind the point.
 *
 *  1. first + count is within the source; the weights past count are 0.
 *  2. The same weights as pairs of 16 bits, for multiplying two pixels by one
 *     instruction: weight = high * 2^TAPS_LOW_BITS + low.
 */

#ifndef PREP_TAPS_H
#define PREP_TAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define TAPS_BITS	22
#define TAPS_LOW_BITS	11

struct taps_axis {
	double		from, to;	/* the part of the source, in pixels */
	uint32_t	size;		/* of the source: taps stay below */
	uint32_t	out;		/* what the part is resized to */
	uint32_t	first, nr;	/* the outputs that are wanted */
	bool		reversed;	/* the last of them first */
};

struct taps {
	uint32_t	nr;		/* of outputs */
	uint32_t	stride;		/* of weights, even */
	uint32_t	begin, end;	/* of the source, all that is needed */
	bool		is_copy;	/* each output is one pixel, as it is */
	uint32_t	*first;		/* [nr], in the source */
	uint32_t	*count;		/* [nr], at least 1 */
	int32_t		*weight;	/* [nr * stride] */
	uint32_t	*low, *high;	/* [nr * stride / 2]: the first of a pair
					 * in the lower half */
	void		*memory;
	size_t		room;
};

int taps_make(struct taps *t, const struct taps_axis *axis,
    struct ds_err *err);
	/* Reuses the memory of t, which is zeros at first.  0 or -ENOMEM. */
void taps_fini(struct taps *t);

#endif
