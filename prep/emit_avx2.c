/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_avx2.c: lines as rows of the sample, for processors with AVX2, FMA and
 * F16C.  Runs in clients, in any of their threads.
 *
 * Stores are ordinary ones: those that bypass the caches were not faster, with
 * or without a reader of the whole batch behind them.
 */

#include <config.h>

#include "prep/kernels.h"

#if defined(__x86_64__)

#include "prep/avx2.h"

/* What makes numbers of eight bytes at once; for pixels that lie one after
 * another there are three kinds of eight. */
struct chain {
	__m256	by_255[2], mean, by_std[2];
};

INLINE __m256
convert(const uint8_t *bytes, const struct chain *c)
{
	__m256 v = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(
	    _mm_loadl_epi64((const __m128i *)bytes)));

	v = _mm256_fmadd_ps(v, c->by_255[0], _mm256_mul_ps(v, c->by_255[1]));
	v = _mm256_sub_ps(v, c->mean);
	return _mm256_fmadd_ps(v, c->by_std[0], _mm256_mul_ps(v, c->by_std[1]));
}

/* To the nearest, halves to the even. */
INLINE __m128i
round_bf16(__m256 v)
{
	__m256i x = _mm256_castps_si256(v);
	__m256i odd = _mm256_and_si256(_mm256_srli_epi32(x, 16),
	    _mm256_set1_epi32(1));

	x = _mm256_add_epi32(x, _mm256_add_epi32(odd,
	    _mm256_set1_epi32(0x7fff)));
	x = _mm256_srli_epi32(x, 16);
	return _mm_packus_epi32(_mm256_castsi256_si128(x),
	    _mm256_extracti128_si256(x, 1));
}

/* Number `at` of the sample and the seven behind it. */
INLINE void
put_eight(void *sample, size_t at, __m256 v, enum sample_type type)
{
	uint16_t *half = (uint16_t *)sample + at;

	switch (type) {
	case SAMPLE_F16:
		_mm_storeu_si128((__m128i *)half, _mm256_cvtps_ph(v,
		    _MM_FROUND_TO_NEAREST_INT));
		break;
	case SAMPLE_BF16:
		_mm_storeu_si128((__m128i *)half, round_bf16(v));
		break;
	default:
		_mm256_storeu_ps((float *)sample + at, v);
	}
}

/* 32 numbers. */
INLINE void
put_group(void *sample, size_t at, const uint8_t *bytes, const struct chain *a,
    const struct chain *b, const struct chain *c, enum sample_type type)
{
	put_eight(sample, at, convert(bytes, a), type);
	put_eight(sample, at + 8, convert(bytes + 8, b), type);
	put_eight(sample, at + 16, convert(bytes + 16, c), type);
	put_eight(sample, at + 24, convert(bytes + 24, a), type);
}

/* Where the 32 from x on are made: those at the end of a row anew, rather than
 * less than 32. */
static inline size_t
stay_within(size_t x, size_t width)
{
	return x + KERNEL_LANE <= width ? x : width - KERNEL_LANE;
}

/* A row of one plane. */
INLINE void
put_plane(void *sample, size_t at, const uint8_t *bytes, size_t width,
    const struct chain *c, enum sample_type type)
{
	size_t x = 0;

	for (; x + KERNEL_LANE <= width; x += KERNEL_LANE)
		put_group(sample, at + x, bytes + x, c, c, c, type);
	if (x < width) {
		x = stay_within(x, width);
		put_group(sample, at + x, bytes + x, c, c, c, type);
	}
}

/* Byte n of the 16j.. that three planes become: its place in plane c. */
#define MIX(j, c, n)	((16 * (j) + (n)) % 3 == (c) ? (16 * (j) + (n)) / 3 : -128)
#define MIX4(j, c, n)	MIX(j, c, n), MIX(j, c, n + 1), MIX(j, c, n + 2), MIX(j, c, n + 3)
#define MIX16(j, c)	{ MIX4(j, c, 0), MIX4(j, c, 4), MIX4(j, c, 8), MIX4(j, c, 12) }
#define MIX48(j)	{ MIX16(j, 0), MIX16(j, 1), MIX16(j, 2) }

static const int8_t mix[3][3][16] = { MIX48(0), MIX48(1), MIX48(2) };

/* 32 pixels of three planes, one after another. */
INLINE void
mix_planes(uint8_t *out, const uint8_t *line, size_t plane)
{
	__m256i from[3] = { load(line), load(line + plane),
	    load(line + 2 * plane) };

	for (size_t j = 0; j < 3; j++) {
		__m256i x = _mm256_setzero_si256();

		for (size_t c = 0; c < 3; c++)
			x = _mm256_or_si256(x, _mm256_shuffle_epi8(from[c],
			    load_lanes(mix[j][c], mix[j][c])));
		_mm_storeu_si128((__m128i *)(out + 16 * j),
		    _mm256_castsi256_si128(x));
		_mm_storeu_si128((__m128i *)(out + 48 + 16 * j),
		    _mm256_extracti128_si256(x, 1));
	}
}

/* A row of pixels. */
INLINE void
put_pixels(void *sample, size_t at, const uint8_t *line, size_t plane,
    size_t width, const struct chain *c, enum sample_type type)
{
	uint8_t b[3 * KERNEL_LANE];

	for (size_t i = 0; i < width; i += KERNEL_LANE) {
		size_t x = stay_within(i, width), to = at + 3 * x;

		mix_planes(b, line + x, plane);
		put_group(sample, to, b, &c[0], &c[1], &c[2], type);
		put_group(sample, to + 32, b + 32, &c[1], &c[2], &c[0], type);
		put_group(sample, to + 64, b + 64, &c[2], &c[0], &c[1], type);
	}
}

/* For numbers of channel c. */
INLINE struct chain
set_chain(const struct emit *e, unsigned c)
{
	return (struct chain){
	    .by_255 = { _mm256_set1_ps(e->by_255.high),
	    _mm256_set1_ps(e->by_255.low) },
	    .mean = _mm256_set1_ps(e->mean[c]),
	    .by_std = { _mm256_set1_ps(e->by_std[c].high),
	    _mm256_set1_ps(e->by_std[c].low) } };
}

INLINE __m256
join(__m256 a, __m256 b, __m256 c)
{
	return _mm256_blend_ps(_mm256_blend_ps(a, b, 0x92), c, 0x24);
}

/* For pixels, of whose channels the eight take turns: elements 0, 3 and 6 are of
 * channel a, 1, 4 and 7 of b, 2 and 5 of c. */
INLINE struct chain
join_chains(const struct chain *a, const struct chain *b,
    const struct chain *c)
{
	return (struct chain){
	    .by_255 = { a->by_255[0], a->by_255[1] },
	    .mean = join(a->mean, b->mean, c->mean),
	    .by_std = { join(a->by_std[0], b->by_std[0], c->by_std[0]),
	    join(a->by_std[1], b->by_std[1], c->by_std[1]) } };
}

#define CACHE_LINE	64u

/* A row that is written next, once it is made: let its memory come meanwhile.
 * (Stores that pass the caches by are no faster, and slower for the reader.) */
INLINE void
expect_row(const void *sample, size_t at, size_t numbers,
    enum sample_type type)
{
	size_t each = type == SAMPLE_F32 ? 4 : 2;
	const char *row = (const char *)sample + at * each;

	for (size_t i = 0; i < numbers * each; i += CACHE_LINE)
		__builtin_prefetch(row + i, 1);
}

INLINE void
emit_planes(void *sample, const struct emit *e, uint32_t y,
    const uint8_t *line, size_t plane, enum sample_type type)
{
	size_t row = (size_t)y * e->width, all = (size_t)e->height * e->width;

	for (unsigned c = 0; c < 3; c++) {
		struct chain k = set_chain(e, c);

		put_plane(sample, c * all + row, line + c * plane, e->width,
		    &k, type);
		if (y + 1 < e->height)
			expect_row(sample, c * all + row + e->width, e->width,
			    type);
	}
}

INLINE void
emit_pixels(void *sample, const struct emit *e, uint32_t y,
    const uint8_t *line, size_t plane, enum sample_type type)
{
	struct chain r = set_chain(e, 0), g = set_chain(e, 1);
	struct chain b = set_chain(e, 2);
	/* Numbers 0, 8 and 16 are of channels 0, 2 and 1. */
	struct chain mixed[3] = { join_chains(&r, &g, &b),
	    join_chains(&b, &r, &g), join_chains(&g, &b, &r) };

	size_t at = 3 * (size_t)y * e->width, row = 3 * (size_t)e->width;

	put_pixels(sample, at, line, plane, e->width, mixed, type);
	if (y + 1 < e->height)
		expect_row(sample, at + row, row, type);
}

AVX2 static void
emit_bytes(uint8_t *sample, const struct emit *e, uint32_t y,
    const uint8_t *line, size_t plane)
{
	size_t row = (size_t)y * e->width, all = (size_t)e->height * e->width;

	for (size_t i = 0; i < e->width; i += KERNEL_LANE) {
		size_t x = stay_within(i, e->width);

		if (e->layout == SAMPLE_NHWC) {
			mix_planes(sample + 3 * (row + x), line + x, plane);
			continue;
		}
		for (size_t c = 0; c < 3; c++)
			_mm256_storeu_si256((__m256i *)(sample + c * all + row +
			    x), load(line + c * plane + x));
	}
}

/* A function for each type and layout. */
#define EMIT(name, how, type) \
	AVX2 static void \
	name(void *sample, const struct emit *e, uint32_t y, \
	    const uint8_t *line, size_t plane) \
	{ \
		how(sample, e, y, line, plane, type); \
	}
EMIT(emit_f16_planes, emit_planes, SAMPLE_F16)
EMIT(emit_f16_pixels, emit_pixels, SAMPLE_F16)
EMIT(emit_bf16_planes, emit_planes, SAMPLE_BF16)
EMIT(emit_bf16_pixels, emit_pixels, SAMPLE_BF16)
EMIT(emit_f32_planes, emit_planes, SAMPLE_F32)
EMIT(emit_f32_pixels, emit_pixels, SAMPLE_F32)

void
emit_avx2(void *sample, const struct emit *e, uint32_t y, const uint8_t *line,
    size_t plane)
{
	bool planes = e->layout == SAMPLE_NCHW;

	if (e->width < KERNEL_LANE || (e->type != SAMPLE_U8 && !e->is_exact))
		kernels_plain.emit(sample, e, y, line, plane);
	else if (e->type == SAMPLE_U8)
		emit_bytes(sample, e, y, line, plane);
	else if (e->type == SAMPLE_F16)
		(planes ? emit_f16_planes : emit_f16_pixels)(sample, e, y,
		    line, plane);
	else if (e->type == SAMPLE_BF16)
		(planes ? emit_bf16_planes : emit_bf16_pixels)(sample, e, y,
		    line, plane);
	else
		(planes ? emit_f32_planes : emit_f32_pixels)(sample, e, y,
		    line, plane);
}

#endif
