/* SPDX-License-Identifier: Apache-2.0
 *
 * emit.c: what each byte becomes in a sample.
 * Runs in clients, when a prep is made ready.
 */

#include <config.h>

#include "prep/kernels.h"

#include <math.h>
#include <string.h>

/* To the nearest, halves to the even: IEEE's 16 bits of 5 and 10. */
static uint16_t
round_f16(float x)
{
	uint32_t bits, sign, rest, half;
	int exponent;

	memcpy(&bits, &x, sizeof bits);
	sign = bits >> 16 & 0x8000;
	bits &= 0x7fffffff;
	if (bits > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x1ff));
	if (bits >= 0x47800000)		/* 2^16 and more, infinity */
		return (uint16_t)(sign | 0x7c00);
	exponent = (int)(bits >> 23) - 112;
	if (exponent < -10)
		return (uint16_t)sign;
	if (exponent <= 0) {		/* without an implied bit */
		unsigned shift = (unsigned)(14 - exponent);

		rest = (bits & 0x7fffff) | 0x800000;
		half = rest >> shift;
		rest = rest << (32 - shift);
	} else {
		half = (uint32_t)exponent << 10 | (bits >> 13 & 0x3ff);
		rest = bits << 19;
	}
	/* A carry into the exponent is right, up to infinity. */
	if (rest > 0x80000000u || (rest == 0x80000000u && (half & 1) != 0))
		half++;
	return (uint16_t)(sign | half);
}

/* The same for the upper half of a float. */
static uint16_t
round_bf16(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* x / y as two multiplications: 1 / y in two parts, which are close enough that
 * most quotients are rounded the same way. */
static struct inverse
invert(float y)
{
	struct inverse i;

	i.high = 1.0f / y;
	i.low = (float)(1.0 / (double)y - (double)i.high);
	return i;
}

static float
divide(float x, struct inverse by)
{
	return fmaf(x, by.high, x * by.low);
}

/* What kernels compute: is it the table's value, to the last bit? */
static bool
is_same(const struct emit *e, int c, int v)
{
	float x = divide(divide((float)v, e->by_255) - e->mean[c],
	    e->by_std[c]);

	return memcmp(&x, &e->table[c][v], sizeof x) == 0;
}

void
emit_init(struct emit *e)
{
	e->is_exact = true;
	e->by_255 = invert(255.0f);
	for (int c = 0; c < 3; c++) {
		e->by_std[c] = invert(e->std[c]);
		for (int v = 0; v < 256; v++) {
			float x = (float)v / 255.0f;

			x = (x - e->mean[c]) / e->std[c];
			e->table[c][v] = x;
			e->half[c][v] = e->type == SAMPLE_BF16 ?
			    round_bf16(x) : round_f16(x);
			if (!is_same(e, c, v))
				e->is_exact = false;
		}
	}
}
