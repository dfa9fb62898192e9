/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_plain.c: the loops over pixels in plain C, which say what the others
 * must give.  Runs in clients, in any of their threads.
 */

#include <config.h>

#include "prep/kernels.h"

#include <string.h>

#include "prep/picture.h"

#define HALF	(UINT32_C(1) << (TAPS_BITS - 1))

static bool
works(void)
{
	return true;
}

/* Weights are rounded each for itself: many of them can add up to more than 1. */
static uint8_t
clip(uint32_t sum)
{
	sum >>= TAPS_BITS;
	return sum > 255 ? 255 : (uint8_t)sum;
}

static void
across(uint8_t *line, size_t plane, const uint8_t *row, const struct taps *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		const uint8_t *p = row +
		    (size_t)(t->first[i] - t->begin) * PICTURE_PIXEL;
		const int32_t *w = t->weight + (size_t)i * t->stride;
		uint32_t r = HALF, g = HALF, b = HALF;

		for (uint32_t k = 0; k < t->count[i]; k++) {
			r += p[0] * (uint32_t)w[k];
			g += p[1] * (uint32_t)w[k];
			b += p[2] * (uint32_t)w[k];
			p += PICTURE_PIXEL;
		}
		line[i] = clip(r);
		line[plane + i] = clip(g);
		line[2 * plane + i] = clip(b);
	}
}

static void
down(uint8_t *out, const uint8_t *const *lines, const struct taps *t,
    uint32_t i, size_t bytes)
{
	const int32_t *w = t->weight + (size_t)i * t->stride;
	uint32_t sum[KERNEL_LANE];

	for (size_t x = 0; x < bytes; x += KERNEL_LANE) {
		for (size_t j = 0; j < KERNEL_LANE; j++)
			sum[j] = HALF;
		for (uint32_t k = 0; k < t->count[i]; k++) {
			for (size_t j = 0; j < KERNEL_LANE; j++)
				sum[j] += lines[k][x + j] * (uint32_t)w[k];
		}
		for (size_t j = 0; j < KERNEL_LANE; j++)
			out[x + j] = clip(sum[j]);
	}
}

/* One plane, as values that are `step` apart. */
static void
put_plane(void *sample, const struct emit *e, size_t at, size_t step,
    const uint8_t *bytes, int c)
{
	uint8_t *u8 = (uint8_t *)sample + at;
	uint16_t *half = (uint16_t *)sample + at;
	float *f32 = (float *)sample + at;

	switch (e->type) {
	case SAMPLE_U8:
		for (uint32_t x = 0; x < e->width; x++)
			u8[x * step] = bytes[x];
		break;
	case SAMPLE_F16:
	case SAMPLE_BF16:
		for (uint32_t x = 0; x < e->width; x++)
			half[x * step] = e->half[c][bytes[x]];
		break;
	default:
		for (uint32_t x = 0; x < e->width; x++)
			f32[x * step] = e->table[c][bytes[x]];
	}
}

static void
emit(void *sample, const struct emit *e, uint32_t y, const uint8_t *line,
    size_t plane)
{
	size_t row = (size_t)y * e->width, all = (size_t)e->height * e->width;

	for (int c = 0; c < 3; c++) {
		if (e->layout == SAMPLE_NCHW)
			put_plane(sample, e, (size_t)c * all + row, 1,
			    line + (size_t)c * plane, c);
		else
			put_plane(sample, e, 3 * row + (size_t)c, 3,
			    line + (size_t)c * plane, c);
	}
}

const struct kernels kernels_plain = {
	.name = "plain",
	.works = works,
	.across = across,
	.down = down,
	.emit = emit,
};
