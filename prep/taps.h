/* SPDX-License-Identifier: Apache-2.0
 *
 * taps.h: which source pixels make an output pixel, along one axis, and with
 * which weights.  Runs in clients, in any of their threads.
 *
 * The weights are those of Pillow's antialiased bilinear resize, to the last
 * bit: computed in double precision in the same order of operations, then
 * rounded to TAPS_BITS bits behind the point.
 *
 *  1. first + count is within the source; the weights past count are 0.  Of two
 *     outputs the later one's first + count is not smaller (reversed: greater).
 *  2. If that was asked for and is_narrow, they are there for vectors, too: as
 *     steps (steps.h), or, where those are too small, in two arrays.
 */

#ifndef PREP_TAPS_H
#define PREP_TAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TAPS_BITS	22
#define TAPS_LOW_BITS	15
#define TAPS_FEW	4.0	/* source pixels per output, that any four
				 * outputs fit into a window of steps.h */

struct taps_axis {
	double		from, to;	/* the part of the source, in pixels */
	uint32_t	size;		/* of the source: taps stay below */
	uint32_t	out;		/* what the part is resized to */
	uint32_t	first, nr;	/* the outputs that are wanted */
	bool		reversed;	/* the last of them first */
	bool		stepped;	/* for kernels->across(): make steps */
};

struct step;

struct taps {
	uint32_t	nr;		/* of outputs */
	uint32_t	stride;		/* of weights, a multiple of 4; of 16,
					 * if there are more than TAPS_FEW */
	uint32_t	most;		/* of count[] */
	uint32_t	begin, end;	/* of the source, all that is needed */
	bool		is_copy;	/* each output is one pixel, as it is */
	bool		is_narrow;	/* weights are below 1, or alone, and
					 * not so many that rounding adds up */
	uint32_t	*first;		/* [nr], in the source */
	uint32_t	*count;		/* [nr], at least 1 */
	int32_t		*weight;	/* [nr * stride] */
	void		*triangle;	/* [stride], while one is made */

	uint8_t		*planes;	/* room for a row of the source, for
					 * across(): 3 * pitch bytes */
	size_t		pitch;
	uint32_t	pairs;		/* of taps in steps; 0: there are none */
	bool		moving;		/* windows move from step to step */
	struct step	*steps;
	uint32_t	*windows;	/* where each four of outputs begin */
	int16_t		*low;		/* [nr * stride], without steps */
	int8_t		*high;

	void		*memory;
	size_t		room;
};

/* A weight in two parts, for multiplying bytes and 16 bits by one instruction
 * each: high * 2^TAPS_LOW_BITS + low. */
static inline uint32_t
taps_low(int32_t weight)
{
	return (uint32_t)weight & ((1u << TAPS_LOW_BITS) - 1);
}

static inline uint32_t
taps_high(int32_t weight)
{
	return (uint32_t)weight >> TAPS_LOW_BITS;
}

int taps_make(struct taps *t, const struct taps_axis *axis,
    struct ds_err *err);
	/* Reuses the memory of t, which is zeros at first.  0 or -ENOMEM. */
void taps_fini(struct taps *t);

#endif
