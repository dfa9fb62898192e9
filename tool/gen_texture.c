/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_texture.c: a tile of surface.  Runs in the command only, in any thread.
 *
 * Starts with FIRST_SIDE random values a side; each octave doubles the side by
 * quadratic interpolation (weights 3/4 and 1/4, which shows no grid) and adds
 * new noise.  Whole numbers only.
 */

#include <config.h>

#include "tool/gen_texture.h"

#include <endian.h>
#include <string.h>

#define FIRST_SIDE	4u

/* How much of each octave's noise goes in, in 1/16, finest first.  The finest
 * get more, because the lens of gen_picture.c takes from them. */
static const int gain[] = { 26, 20, 16, 16, 16, 16 };

/* One row, twice as wide: out[2i] and out[2i+1] lie a quarter of a step to the
 * left and right of in[i].  Scales by 4. */
static void
widen(int16_t *out, const int16_t *in, unsigned side)
{
	for (unsigned i = 0; i < side; i++) {
		int here = 3 * in[i];

		out[2 * i] = (int16_t)(here + in[(i - 1) % side]);
		out[2 * i + 1] = (int16_t)(here + in[(i + 1) % side]);
	}
}

/* Two rows, already wide, into the row between them that is nearer to a;
 * takes back the scale of both directions, and adds noise. */
static void
blend(int16_t *out, const int16_t *a, const int16_t *b, unsigned side,
    int weight, struct gen_rng *rng)
{
	for (unsigned i = 0; i < side; i += 8) {
		uint64_t word = htole64(gen_rng_next(rng));
		int8_t noise[8];

		memcpy(noise, &word, sizeof noise);
		for (unsigned j = 0; j < 8; j++)
			out[i + j] = (int16_t)(((3 * a[i + j] + b[i + j] + 8) >>
			    4) + ((noise[j] * weight) >> 4));
	}
}

/* in, side pixels a side, becomes out, twice that. */
static void
add_octave(int16_t *out, const int16_t *in, unsigned side, int weight,
    struct gen_rng *rng)
{
	int16_t wide[3][GEN_TILE];
	int16_t *above = wide[0], *here = wide[1], *below = wide[2];

	widen(above, in + (side - 1) * side, side);
	widen(here, in, side);
	for (unsigned y = 0; y < side; y++) {
		int16_t *free_row = above;

		widen(below, in + ((y + 1) % side) * side, side);
		blend(out + 4 * y * side, here, above, 2 * side, weight, rng);
		blend(out + (4 * y + 2) * side, here, below, 2 * side, weight,
		    rng);
		above = here;
		here = below;
		below = free_row;
	}
}

static int8_t
clamp(int v)
{
	return (int8_t)(v < -127 ? -127 : v > 127 ? 127 : v);
}

static void
copy_tile(struct gen_texture *t, const int16_t *from)
{
	for (unsigned y = 0; y < GEN_TILE; y++) {
		int8_t *row = t->tile + y * GEN_TILE_STRIDE;

		for (unsigned x = 0; x < GEN_TILE; x++)
			row[x] = clamp(from[y * GEN_TILE + x] >> 1);
		memcpy(row + GEN_TILE, row, GEN_TILE_RUN);
	}
}

void
gen_texture_make(struct gen_texture *t, struct gen_rng *rng)
{
	int16_t *now = t->work[0], *next = t->work[1];

	for (unsigned i = 0; i < FIRST_SIDE * FIRST_SIDE; i++)
		now[i] = (int16_t)gen_rng_range(rng, -128, 127);
	for (unsigned side = FIRST_SIDE; side < GEN_TILE; side *= 2) {
		int16_t *was = now;
		unsigned octave = 0;

		while ((side << (octave + 1)) < GEN_TILE)
			octave++;
		add_octave(next, now, side, gain[octave], rng);
		now = next;
		next = was;
	}
	copy_tile(t, now);
}
