/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels_avx2.c: rows of pixels resized, for processors with AVX2, FMA and
 * F16C.  Runs in clients, in any of their threads.
 *
 * A weight has 22 bits behind the point.  Its upper 7 bits are multiplied with
 * bytes, two taps by one instruction, its lower 15 with 16-bit numbers:
 *
 *     (sum + 2^21) >> 22  ==  (high + (low >> 15) + 64) >> 7
 *
 * where sum = high * 2^15 + low.  high and that sum fit 16 bits, because the
 * weights of an output add up to 1 (taps->is_narrow: to 1 nearly enough).
 */

#include <config.h>

#include "prep/kernels.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <string.h>

#include "prep/avx2.h"
#include "prep/picture.h"
#include "prep/steps.h"

static bool
works(void)
{
	unsigned a, b, c, d;

	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") &&
	    __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) &&
	    (c & bit_F16C) != 0;
}

/* Sums of sixteen outputs: low of 2 x 8, high of all of them. */
struct sixteen {
	__m256i low[2], high;
};

INLINE struct sixteen
add(struct sixteen a, struct sixteen b)
{
	return (struct sixteen){
	    .low = { _mm256_add_epi32(a.low[0], b.low[0]),
	    _mm256_add_epi32(a.low[1], b.low[1]) },
	    .high = _mm256_add_epi16(a.high, b.high) };
}

/* The sums as 16-bit results. */
INLINE __m256i
finish(struct sixteen s)
{
	__m256i carry = _mm256_packus_epi32(
	    _mm256_srli_epi32(s.low[0], TAPS_LOW_BITS),
	    _mm256_srli_epi32(s.low[1], TAPS_LOW_BITS));

	/* (x * 2^8 + 2^14) >> 15 */
	return _mm256_mulhrs_epi16(_mm256_add_epi16(s.high, carry),
	    _mm256_set1_epi16(1 << 8));
}

/*--- across --------------------------------------------------------------*/

/* Four pixels per lane, as RRRRGGGGBBBB and four bytes that mean nothing. */
INLINE __m256i
load_pixels(const uint8_t *lane0, const uint8_t *lane1)
{
	const __m256i sort = _mm256_broadcastsi128_si256(_mm_setr_epi8(
	    0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));

	return _mm256_shuffle_epi8(load_lanes(lane0, lane1), sort);
}

/* 32 pixels to planes. */
INLINE void
split_pixels(uint8_t *planes, size_t pitch, const uint8_t *row)
{
	__m256i a = load_pixels(row, row + 64);
	__m256i b = load_pixels(row + 16, row + 80);
	__m256i c = load_pixels(row + 32, row + 96);
	__m256i d = load_pixels(row + 48, row + 112);
	__m256i rg0 = _mm256_unpacklo_epi32(a, b);
	__m256i rg1 = _mm256_unpacklo_epi32(c, d);
	__m256i bx0 = _mm256_unpackhi_epi32(a, b);
	__m256i bx1 = _mm256_unpackhi_epi32(c, d);

	store(planes, _mm256_unpacklo_epi64(rg0, rg1));
	store(planes + pitch, _mm256_unpackhi_epi64(rg0, rg1));
	store(planes + 2 * pitch, _mm256_unpacklo_epi64(bx0, bx1));
}

/* What is behind the row, but for PICTURE_SLACK bytes, is not read. */
AVX2 static void
split_row(uint8_t *planes, size_t pitch, const uint8_t *row, uint32_t width)
{
	const uint8_t *end = row + width * PICTURE_PIXEL;

	for (; end - row >= 128 - (ptrdiff_t)PICTURE_SLACK; row += 128) {
		split_pixels(planes, pitch, row);
		planes += 32;
	}
	for (; row < end; row += PICTURE_PIXEL, planes++) {
		planes[0] = row[0];
		planes[pitch] = row[1];
		planes[2 * pitch] = row[2];
	}
}

/* Two taps of sixteen outputs. */
INLINE struct sixteen
multiply_step(__m256i window0, __m256i window1, const struct step *s)
{
	__m256i p0 = _mm256_shuffle_epi8(window0, load(s->pick[0]));
	__m256i p1 = _mm256_shuffle_epi8(window1, load(s->pick[1]));

	return (struct sixteen){
	    .low = { _mm256_madd_epi16(p0, load(s->low[0])),
	    _mm256_madd_epi16(p1, load(s->low[1])) },
	    .high = _mm256_maddubs_epi16(_mm256_packus_epi16(p0, p1),
	    load(s->high)) };
}

/* Sixteen outputs of a plane, as 16-bit numbers. */
INLINE __m256i
make_sixteen(const uint8_t *bytes, const struct step *s,
    const uint32_t *window, uint32_t pairs, bool moving)
{
	__m256i w0 = load_lanes(bytes + window[0], bytes + window[1]);
	__m256i w1 = load_lanes(bytes + window[2], bytes + window[3]);
	struct sixteen sum = multiply_step(w0, w1, s);

	if (pairs > 1 && !moving)
		sum = add(sum, multiply_step(w0, w1, s + 1));
	for (uint32_t k = moving ? 1 : 2; k < pairs; k++) {
		if (moving) {
			bytes += 2;
			w0 = load_lanes(bytes + window[0], bytes + window[1]);
			w1 = load_lanes(bytes + window[2], bytes + window[3]);
		}
		sum = add(sum, multiply_step(w0, w1, s + k));
	}
	return finish(sum);
}

/* The same of all planes. */
struct pixels {
	__m256i r, g, b;
};

INLINE struct pixels
make_pixels(const uint8_t *planes, size_t pitch, const struct step *s,
    const uint32_t *window, uint32_t pairs, bool moving)
{
	return (struct pixels){
	    make_sixteen(planes, s, window, pairs, moving),
	    make_sixteen(planes + pitch, s, window, pairs, moving),
	    make_sixteen(planes + 2 * pitch, s, window, pairs, moving) };
}

INLINE void
across_steps(uint8_t *line, size_t plane, const struct taps *t, uint32_t pairs,
    bool moving)
{
	const uint32_t *window = t->windows;
	const struct step *s = t->steps;
	const uint8_t *planes = t->planes;
	size_t pitch = t->pitch;

	for (uint8_t *end = line + t->nr; line < end; line += STEP_GROUP) {
		struct pixels a, b;

		a = make_pixels(planes, pitch, s, window, pairs, moving);
		b = make_pixels(planes, pitch, s + pairs, window + STEP_FOURS,
		    pairs, moving);
		store(line, _mm256_packus_epi16(a.r, b.r));
		store(line + plane, _mm256_packus_epi16(a.g, b.g));
		store(line + 2 * plane, _mm256_packus_epi16(a.b, b.b));
		s += 2 * pairs;
		window += 2 * STEP_FOURS;
	}
}

/* 16 taps of one output of a plane, as four sums to be added. */
INLINE __m128i
multiply_taps(const uint8_t *bytes, __m256i low, __m128i high)
{
	__m128i p = _mm_loadu_si128((const __m128i *)bytes);
	__m128i h = _mm_madd_epi16(_mm_maddubs_epi16(p, high),
	    _mm_set1_epi16(1));
	__m256i l = _mm256_madd_epi16(_mm256_cvtepu8_epi16(p), low);

	return _mm_add_epi32(_mm_slli_epi32(h, TAPS_LOW_BITS),
	    _mm_add_epi32(_mm256_castsi256_si128(l),
	    _mm256_extracti128_si256(l, 1)));
}

/* One output of all planes that has more taps than fit steps: its R, G and B
 * in the first three bytes. */
INLINE int32_t
make_one(const uint8_t *bytes, size_t pitch, const int16_t *low,
    const int8_t *high, uint32_t count)
{
	const __m128i half = _mm_set1_epi32(1 << (TAPS_BITS - 1));
	__m128i r, g, b;

	r = g = b = _mm_setzero_si128();
	for (uint32_t k = 0; k < count; k += 16, bytes += 16) {
		__m256i l = load(low + k);
		__m128i h = _mm_loadu_si128((const __m128i *)(high + k));

		r = _mm_add_epi32(r, multiply_taps(bytes, l, h));
		g = _mm_add_epi32(g, multiply_taps(bytes + pitch, l, h));
		b = _mm_add_epi32(b, multiply_taps(bytes + 2 * pitch, l, h));
	}
	r = _mm_hadd_epi32(_mm_hadd_epi32(r, g), _mm_hadd_epi32(b, b));
	r = _mm_srli_epi32(_mm_add_epi32(r, half), TAPS_BITS);
	r = _mm_packus_epi32(r, r);
	return _mm_cvtsi128_si32(_mm_packus_epi16(r, r));
}

AVX2 static void
across_many(uint8_t *line, size_t plane, const struct taps *taps)
{
	const struct taps t = *taps;	/* what is stored to is not this */

	for (uint32_t i = 0; i < t.nr; i++) {
		size_t at = (size_t)i * t.stride;
		int32_t pixel = make_one(t.planes + (t.first[i] - t.begin),
		    t.pitch, t.low + at, t.high + at, t.count[i]);

		line[i] = (uint8_t)pixel;
		line[plane + i] = (uint8_t)(pixel >> 8);
		line[2 * plane + i] = (uint8_t)(pixel >> 16);
	}
}

AVX2 static void
across(uint8_t *line, size_t plane, const uint8_t *row, const struct taps *t)
{
	if (!t->is_narrow || t->planes == NULL) {
		kernels_plain.across(line, plane, row, t);
		return;
	}
	split_row(t->planes, t->pitch, row, t->end - t->begin);
	if (t->pairs == 0)
		across_many(line, plane, t);
	else if (t->moving)
		across_steps(line, plane, t, t->pairs, true);
	else if (t->pairs == 1)
		across_steps(line, plane, t, 1, false);
	else if (t->pairs == 2)
		across_steps(line, plane, t, 2, false);
	else
		across_steps(line, plane, t, t->pairs, false);
}

/*--- down ----------------------------------------------------------------*/

/* Two taps of sixteen outputs, whose bytes take turns. */
INLINE struct sixteen
multiply_bytes(__m256i bytes, __m256i low, __m256i high)
{
	const __m256i zero = _mm256_setzero_si256();

	return (struct sixteen){ .low = {
	    _mm256_madd_epi16(_mm256_unpacklo_epi8(bytes, zero), low),
	    _mm256_madd_epi16(_mm256_unpackhi_epi8(bytes, zero), low) },
	    .high = _mm256_maddubs_epi16(bytes, high) };
}

struct weights {
	__m256i low, high;	/* of two taps */
};

INLINE struct weights
load_weights(const struct taps *t, uint32_t i, uint32_t k)
{
	const int32_t *w = t->weight + (size_t)i * t->stride + k;
	uint32_t low = taps_low(w[0]) | taps_low(w[1]) << 16;
	uint32_t high = taps_high(w[0]) | taps_high(w[1]) << 8;

	return (struct weights){ _mm256_set1_epi32((int32_t)low),
	    _mm256_set1_epi16((int16_t)high) };
}

struct both {
	struct sixteen	low, high;	/* halves of the lanes */
};

INLINE struct both
multiply_lines(const uint8_t *a, const uint8_t *b, struct weights w)
{
	return (struct both){
	    multiply_bytes(_mm256_unpacklo_epi8(load(a), load(b)), w.low,
	    w.high),
	    multiply_bytes(_mm256_unpackhi_epi8(load(a), load(b)), w.low,
	    w.high) };
}

INLINE void
put_bytes(uint8_t *out, struct both sum)
{
	store(out, _mm256_packus_epi16(finish(sum.low), finish(sum.high)));
}

INLINE struct both
add_both(struct both a, struct both b)
{
	return (struct both){ add(a.low, b.low), add(a.high, b.high) };
}

AVX2 static void
down_two(uint8_t *out, const uint8_t *const *lines, const struct taps *t,
    uint32_t i, size_t bytes)
{
	const uint8_t *a = lines[0], *b = lines[1];
	struct weights w = load_weights(t, i, 0);

	for (size_t x = 0; x < bytes; x += KERNEL_LANE)
		put_bytes(out + x, multiply_lines(a + x, b + x, w));
}

/* Three or four; the weight of a missing one is 0. */
AVX2 static void
down_four(uint8_t *out, const uint8_t *const *lines, const struct taps *t,
    uint32_t i, size_t bytes)
{
	const uint8_t *a = lines[0], *b = lines[1], *c = lines[2];
	const uint8_t *d = lines[t->count[i] - 1];
	struct weights v = load_weights(t, i, 0), w = load_weights(t, i, 2);

	for (size_t x = 0; x < bytes; x += KERNEL_LANE)
		put_bytes(out + x, add_both(multiply_lines(a + x, b + x, v),
		    multiply_lines(c + x, d + x, w)));
}

AVX2 static void
down_many(uint8_t *out, const uint8_t *const *lines, const struct taps *t,
    uint32_t i, size_t bytes)
{
	uint32_t last = t->count[i] - 1;

	for (size_t x = 0; x < bytes; x += KERNEL_LANE) {
		struct both sum = multiply_lines(lines[0] + x, lines[1] + x,
		    load_weights(t, i, 0));

		for (uint32_t k = 2; k <= last; k += 2)
			sum = add_both(sum, multiply_lines(lines[k] + x,
			    lines[k < last ? k + 1 : k] + x,
			    load_weights(t, i, k)));
		put_bytes(out + x, sum);
	}
}

AVX2 static void
down(uint8_t *out, const uint8_t *const *lines, const struct taps *t,
    uint32_t i, size_t bytes)
{
	if (!t->is_narrow)
		kernels_plain.down(out, lines, t, i, bytes);
	else if (t->count[i] == 1)
		memcpy(out, lines[0], bytes);
	else if (t->count[i] == 2)
		down_two(out, lines, t, i, bytes);
	else if (t->count[i] <= 4)
		down_four(out, lines, t, i, bytes);
	else
		down_many(out, lines, t, i, bytes);
}

const struct kernels kernels_avx2 = {
	.name = "avx2",
	.works = works,
	.across = across,
	.down = down,
	.emit = emit_avx2,
};

#endif
