/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_leaves.h: occluding shapes painted on a canvas, for `destall gen`.
 * Runs in the command only, in any thread.
 *
 * Painted from the front to the back: what is covered stays, and every pixel
 * is written exactly once.
 */

#ifndef TOOL_GEN_LEAVES_H
#define TOOL_GEN_LEAVES_H

#include <stddef.h>
#include <stdint.h>

#include "tool/gen_rng.h"
#include "tool/gen_texture.h"

/* Steps of the canvas in one of the picture.  With eight, sums of three pixels
 * and what lies beyond black and white fit in 16 bits. */
#define GEN_LEVEL_BITS	3
#define GEN_LEVEL	(1 << GEN_LEVEL_BITS)

/* Luma at full resolution, chroma at half; width is a multiple of 16. */
struct gen_canvas {
	unsigned	width, height;
	int16_t		*y, *cb, *cr;	/* rows of width, and of width / 2 */
	uint64_t	*covered;	/* a bit for each pixel */
	unsigned	words;		/* of covered, in a row */
};

#define GEN_CANVAS_WORDS(width)	(((width) + 63u) / 64u)

void gen_leaves_paint(struct gen_canvas *c, const struct gen_texture *t,
    struct gen_rng *rng);

#endif
