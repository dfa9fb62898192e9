/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_texture.h: a tile of surface for the pictures of `destall gen`.
 * Runs in the command only, in any thread.
 *
 * Octaves of noise, each as strong as the next, which is the 1/f amplitude of
 * natural surfaces.  The tile repeats in both directions; each row is followed
 * by its own beginning, so that a run of up to GEN_TILE_RUN pixels may start
 * at any column.
 */

#ifndef TOOL_GEN_TEXTURE_H
#define TOOL_GEN_TEXTURE_H

#include <stdint.h>

#include "tool/gen_rng.h"

#define GEN_TILE	256u	/* pixels a side, a power of two */
#define GEN_TILE_RUN	64u
#define GEN_TILE_STRIDE	(GEN_TILE + GEN_TILE_RUN)

struct gen_texture {
	int8_t	tile[GEN_TILE * GEN_TILE_STRIDE];
	int16_t	work[2][GEN_TILE * GEN_TILE];	/* while it is made */
};

void gen_texture_make(struct gen_texture *t, struct gen_rng *rng);

static inline const int8_t *
gen_texture_at(const struct gen_texture *t, unsigned x, unsigned y)
{
	return &t->tile[(y % GEN_TILE) * GEN_TILE_STRIDE + x % GEN_TILE];
}

#endif
