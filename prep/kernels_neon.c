/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_neon.c: the loops over pixels for 64-bit ARM.
 * Runs in clients, in any of their threads.
 *
 * Multiplying 32-bit numbers is as fast here as anything shorter, so weights
 * are taken as they are: a pixel's four bytes are one vector across, and four
 * bytes of a line are one down.
 */

#include <config.h>

#include "prep/kernels.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

#include "prep/picture.h"

#define HALF	(UINT32_C(1) << (TAPS_BITS - 1))

static bool
works(void)
{
	return true;
}

/*--- across --------------------------------------------------------------*/

/* The pixel's bytes, in the first four lanes, as 32-bit numbers. */
static inline uint32x4_t
load_pixel(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof word);
	return vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(word))));
}

static inline uint32x4_t
sum_taps(const uint8_t *p, const int32_t *w, uint32_t count)
{
	uint32x4_t a = vdupq_n_u32(HALF), b = vdupq_n_u32(0);
	uint32_t k;

	for (k = 0; k + 2 <= count; k += 2) {
		uint16x8_t two = vmovl_u8(vld1_u8(p + k * PICTURE_PIXEL));

		a = vmlaq_n_u32(a, vmovl_u16(vget_low_u16(two)),
		    (uint32_t)w[k]);
		b = vmlaq_n_u32(b, vmovl_high_u16(two), (uint32_t)w[k + 1]);
	}
	if (k < count)
		a = vmlaq_n_u32(a, load_pixel(p + k * PICTURE_PIXEL),
		    (uint32_t)w[k]);
	return vaddq_u32(a, b);
}

static void
across(uint8_t *line, size_t plane, const uint8_t *row, const struct taps *t)
{
	for (uint32_t i = 0; i < t->nr; i++) {
		uint32x4_t sum = sum_taps(row +
		    (size_t)(t->first[i] - t->begin) * PICTURE_PIXEL,
		    t->weight + (size_t)i * t->stride, t->count[i]);
		/* Saturating: many weights can add up to more than 1. */
		uint16x4_t v = vmovn_u32(vshrq_n_u32(sum, TAPS_BITS));
		uint8x8_t bytes = vqmovn_u16(vcombine_u16(v, v));

		line[i] = vget_lane_u8(bytes, 0);
		line[plane + i] = vget_lane_u8(bytes, 1);
		line[2 * plane + i] = vget_lane_u8(bytes, 2);
	}
}

/*--- down ----------------------------------------------------------------*/

/* 16 bytes of one more line. */
static inline void
add_line(uint32x4_t *sum, const uint8_t *bytes, uint32_t w)
{
	uint8x16_t v = vld1q_u8(bytes);
	uint16x8_t low = vmovl_u8(vget_low_u8(v)), high = vmovl_high_u8(v);

	sum[0] = vmlaq_n_u32(sum[0], vmovl_u16(vget_low_u16(low)), w);
	sum[1] = vmlaq_n_u32(sum[1], vmovl_high_u16(low), w);
	sum[2] = vmlaq_n_u32(sum[2], vmovl_u16(vget_low_u16(high)), w);
	sum[3] = vmlaq_n_u32(sum[3], vmovl_high_u16(high), w);
}

static inline uint16x8_t
finish(uint32x4_t a, uint32x4_t b)
{
	return vcombine_u16(vmovn_u32(vshrq_n_u32(a, TAPS_BITS)),
	    vmovn_u32(vshrq_n_u32(b, TAPS_BITS)));
}

static void
down(uint8_t *out, const uint8_t *const *lines, const struct taps *t,
    uint32_t i, size_t bytes)
{
	const int32_t *w = t->weight + (size_t)i * t->stride;

	for (size_t x = 0; x < bytes; x += 16) {
		uint32x4_t sum[4];

		for (int j = 0; j < 4; j++)
			sum[j] = vdupq_n_u32(HALF);
		for (uint32_t k = 0; k < t->count[i]; k++)
			add_line(sum, lines[k] + x, (uint32_t)w[k]);
		vst1q_u8(out + x, vcombine_u8(vqmovn_u16(finish(sum[0], sum[1])),
		    vqmovn_u16(finish(sum[2], sum[3]))));
	}
}

/*--- emit ----------------------------------------------------------------*/

/* What makes numbers of one channel's bytes. */
struct chain {
	float	high_255, low_255, mean, high, low;
};

static inline float32x4_t
convert_four(uint16x4_t bytes, const struct chain *c)
{
	float32x4_t v = vcvtq_f32_u32(vmovl_u16(bytes));

	v = vfmaq_n_f32(vmulq_n_f32(v, c->low_255), v, c->high_255);
	v = vsubq_f32(v, vdupq_n_f32(c->mean));
	return vfmaq_n_f32(vmulq_n_f32(v, c->low), v, c->high);
}

/* To the nearest, halves to the even. */
static inline uint16x4_t
round_bf16(float32x4_t v)
{
	uint32x4_t x = vreinterpretq_u32_f32(v);
	uint32x4_t odd = vandq_u32(vshrq_n_u32(x, 16), vdupq_n_u32(1));

	return vshrn_n_u32(vaddq_u32(x, vaddq_u32(odd, vdupq_n_u32(0x7fff))),
	    16);
}

static inline uint16x8_t
convert_halves(uint8x8_t bytes, const struct chain *c, enum sample_type type)
{
	uint16x8_t v = vmovl_u8(bytes);
	float32x4_t a = convert_four(vget_low_u16(v), c);
	float32x4_t b = convert_four(vget_high_u16(v), c);

	if (type == SAMPLE_BF16)
		return vcombine_u16(round_bf16(a), round_bf16(b));
	return vcombine_u16(vreinterpret_u16_f16(vcvt_f16_f32(a)),
	    vreinterpret_u16_f16(vcvt_f16_f32(b)));
}

/* Eight pixels as 16-bit numbers or bytes, to planes that are `all` apart or,
 * if that is 0, one pixel after another. */
static inline void
put_u8(uint8_t *to, size_t all, const uint8_t *line, size_t plane)
{
	uint8x8x3_t v = { { vld1_u8(line), vld1_u8(line + plane),
	    vld1_u8(line + 2 * plane) } };

	if (all == 0)
		vst3_u8(to, v);
	for (size_t i = 0; all != 0 && i < 3; i++)
		vst1_u8(to + i * all, v.val[i]);
}

static inline void
put_half(uint16_t *to, size_t all, const uint8_t *line, size_t plane,
    const struct chain *c, enum sample_type type)
{
	uint16x8x3_t v;

	for (size_t i = 0; i < 3; i++)
		v.val[i] = convert_halves(vld1_u8(line + i * plane), &c[i],
		    type);
	if (all == 0)
		vst3q_u16(to, v);
	for (size_t i = 0; all != 0 && i < 3; i++)
		vst1q_u16(to + i * all, v.val[i]);
}

static inline void
put_f32(float *to, size_t all, const uint8_t *line, size_t plane,
    const struct chain *c)
{
	float32x4x3_t a, b;

	for (size_t i = 0; i < 3; i++) {
		uint16x8_t v = vmovl_u8(vld1_u8(line + i * plane));

		a.val[i] = convert_four(vget_low_u16(v), &c[i]);
		b.val[i] = convert_four(vget_high_u16(v), &c[i]);
	}
	if (all == 0) {
		vst3q_f32(to, a);
		vst3q_f32(to + 12, b);
	}
	for (size_t i = 0; all != 0 && i < 3; i++) {
		vst1q_f32(to + i * all, a.val[i]);
		vst1q_f32(to + i * all + 4, b.val[i]);
	}
}

static void
set_chains(struct chain *k, const struct emit *e)
{
	for (int c = 0; c < 3; c++)
		k[c] = (struct chain){ .high_255 = e->by_255.high,
		    .low_255 = e->by_255.low, .mean = e->mean[c],
		    .high = e->by_std[c].high, .low = e->by_std[c].low };
}

static void
emit(void *sample, const struct emit *e, uint32_t y, const uint8_t *line,
    size_t plane)
{
	size_t row = (size_t)y * e->width, all = (size_t)e->height * e->width;
	size_t step = e->layout == SAMPLE_NCHW ? 1 : 3;
	struct chain k[3];

	if (e->width < 8 || (e->type != SAMPLE_U8 && !e->is_exact)) {
		kernels_plain.emit(sample, e, y, line, plane);
		return;
	}
	if (step == 3)
		all = 0;
	set_chains(k, e);
	for (size_t i = 0; i < e->width; i += 8) {
		/* Those at the end of a row anew, rather than less than 8. */
		size_t x = i + 8 <= e->width ? i : e->width - 8;
		size_t at = (row + x) * step;

		if (e->type == SAMPLE_U8)
			put_u8((uint8_t *)sample + at, all, line + x, plane);
		else if (e->type == SAMPLE_F32)
			put_f32((float *)sample + at, all, line + x, plane, k);
		else
			put_half((uint16_t *)sample + at, all, line + x, plane,
			    k, e->type);
	}
}

const struct kernels kernels_neon = {
	.name = "neon",
	.works = works,
	.across = across,
	.down = down,
	.emit = emit,
};

#endif
