/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_taps.c: tests of prep/taps.c.
 *
 * Pillow's weights are those of Debian 12's python3-pil, 9.4: a picture of mode
 * "I" with one pixel of 2^22 is resized to its weight in each output.
 */

#include <config.h>

#include "prep/taps.h"

#include <string.h>

#include "tests/harness/unit.h"

#define ONE	(1 << TAPS_BITS)

static void
make(struct taps *t, const struct taps_axis *a)
{
	struct ds_err err;

	assert_int_equal(taps_make(t, a, &err), 0);
}

static struct taps_axis
whole(uint32_t size, uint32_t out)
{
	return (struct taps_axis){ .to = size, .size = size, .out = out,
	    .nr = out, .stepped = true };
}

/* The weight of source pixel x in output i. */
static int32_t
weight_of(const struct taps *t, uint32_t i, uint32_t x)
{
	if (x < t->first[i] || x >= t->first[i] + t->count[i])
		return 0;
	return t->weight[i * t->stride + x - t->first[i]];
}

/* What the header promises of any axis. */
static void
check(const struct taps *t, const struct taps_axis *a)
{
	uint32_t begin = a->size, end = 0, most = 0;

	assert_int_equal(t->nr, a->nr);
	assert_int_equal(t->stride % 4, 0);
	for (uint32_t i = 0; i < t->nr; i++) {
		uint32_t j = a->reversed ? t->nr - 1 - i : i;
		const int32_t *w = t->weight + j * t->stride;
		int64_t sum = 0;

		assert_true(t->count[j] >= 1 && t->count[j] <= t->stride);
		assert_true(t->first[j] + t->count[j] <= a->size);
		assert_true(t->first[j] + t->count[j] >= end);
		end = t->first[j] + t->count[j];
		if (t->first[j] < begin)
			begin = t->first[j];
		if (t->count[j] > most)
			most = t->count[j];
		for (uint32_t k = 0; k < t->stride; k++) {
			assert_true(w[k] >= 0 && w[k] <= ONE);
			if (k >= t->count[j])
				assert_int_equal(w[k], 0);
			sum += w[k];
		}
		assert_true(2 * (sum - ONE) <= t->count[j]);
		assert_true(2 * (ONE - sum) <= t->count[j]);
	}
	assert_int_equal(t->begin, begin);
	assert_int_equal(t->end, end);
	assert_int_equal(t->most, most);
}

/*--- Pillow's ------------------------------------------------------------*/

/* Of output, pixel and weight, for every weight that is not 0. */
static uint64_t
sum_of(const struct taps *t)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < t->nr; i++) {
		for (uint32_t k = 0; k < t->count[i]; k++) {
			int32_t w = t->weight[i * t->stride + k];
			uint64_t parts[] = { i, t->first[i] + k, (uint64_t)w };

			for (int n = 0; w != 0 && n < 3; n++)
				sum = (sum ^ parts[n]) *
				    UINT64_C(0x100000001b3);
		}
	}
	return sum;
}

static void
weights_are_those_of_pillow(void **state)
{
	static const struct {
		uint32_t size, out;
		uint64_t sum;
	} cases[] = {
		{ 350, 224, UINT64_C(0x450f8e2b2c778385) },
		{ 280, 224, UINT64_C(0x86446de7cb5807a9) },
		{ 100, 224, UINT64_C(0x3764e2546622fa0d) },
		{ 223, 224, UINT64_C(0x381157d3e540ce2c) },
		{ 225, 224, UINT64_C(0xfefcccf24a1d7c75) },
		{ 1, 5, UINT64_C(0xc6e3962012e32e07) },
		{ 5, 3, UINT64_C(0x0d37097bed32212d) },
		{ 3, 8, UINT64_C(0x3d0f00fea845c990) },
		{ 375, 224, UINT64_C(0x70f0dea6d740d821) },
		{ 500, 224, UINT64_C(0x52d3b2a59413afbf) },
		{ 448, 224, UINT64_C(0x235005d84c9aee05) },
		{ 1000, 7, UINT64_C(0xedc06407f45e5adc) },
		{ 600, 31, UINT64_C(0x600d17f6f38bb423) },
		{ 17, 224, UINT64_C(0x02652ccdd92af286) },
		{ 1500, 224, UINT64_C(0xbe6956a00f57fa5b) },
		{ 37, 1, UINT64_C(0x9748d144d1270a58) },
		{ 2, 1, UINT64_C(0x76d6d042cdda8e14) },
		{ 256, 224, UINT64_C(0x02526292ee129efb) },
		{ 640, 200, UINT64_C(0x3faa4061fb13b137) },
	};
	struct taps t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct taps_axis a = whole(cases[i].size, cases[i].out);

		make(&t, &a);
		check(&t, &a);
		assert_int_equal(sum_of(&t), cases[i].sum);
	}
	taps_fini(&t);
}

/* The same where one can see them. */
static void
small_cases(void **state)
{
	static const int32_t five[3][5] = {
		{ 2396745, 1797559 },
		{ 0, 932068, 2330169, 932068 },
		{ 0, 0, 0, 1797559, 2396745 },
	};
	/* Of ten pixels those from 1.25 to 9.5. */
	static const int32_t part[4][10] = {
		{ 277564, 1264459, 1819588, 832693 },
		{ 0, 0, 215883, 1202778, 1881269, 894374 },
		{ 0, 0, 0, 0, 154202, 1141097, 1942950, 956055 },
		{ 0, 0, 0, 0, 0, 0, 92521, 1079416, 2004631, 1017736 },
	};
	struct taps_axis a = whole(5, 3);
	struct taps t = { 0 };

	(void)state;
	make(&t, &a);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t x = 0; x < 5; x++)
			assert_int_equal(weight_of(&t, i, x), five[i][x]);
	}
	a = (struct taps_axis){ .from = 1.25, .to = 9.5, .size = 10, .out = 4,
	    .nr = 4 };
	make(&t, &a);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t x = 0; x < 10; x++)
			assert_int_equal(weight_of(&t, i, x), part[i][x]);
	}
	taps_fini(&t);
}

/*--- parts of an axis ----------------------------------------------------*/

/* Some of the outputs, and in the other order, are the same outputs. */
static void
outputs_are_by_number(void **state)
{
	struct taps all = { 0 }, some = { 0 };
	struct taps_axis a = whole(341, 224);

	(void)state;
	make(&all, &a);
	a.first = 100;
	a.nr = 77;
	for (int reversed = 0; reversed < 2; reversed++) {
		a.reversed = reversed != 0;
		make(&some, &a);
		check(&some, &a);
		assert_true(some.begin > 0 && some.end < 341);
		for (uint32_t i = 0; i < a.nr; i++) {
			uint32_t j = reversed ? a.nr - 1 - i : i;

			for (uint32_t x = 0; x < a.size; x++)
				assert_int_equal(weight_of(&some, j, x),
				    weight_of(&all, 100 + i, x));
		}
	}
	taps_fini(&all);
	taps_fini(&some);
}

static void
copies_are_known(void **state)
{
	struct taps_axis a = whole(50, 50);
	struct taps t = { 0 };

	(void)state;
	make(&t, &a);
	assert_true(t.is_copy);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(t.first[i], i);
		assert_int_equal(t.count[i], 1);
		assert_int_equal(t.weight[i * t.stride], ONE);
	}
	a.out = 51;
	make(&t, &a);
	assert_false(t.is_copy);
	a = whole(50, 50);
	a.from = 0.5;
	make(&t, &a);
	assert_false(t.is_copy);
	taps_fini(&t);
}

/* Sizes that nobody has, but that someone could ask for. */
static void
extreme_axes(void **state)
{
	static const struct taps_axis axes[] = {
		{ .to = 1, .size = 1, .out = 1, .nr = 1 },
		{ .to = 1 << 20, .size = 1 << 20, .out = 1, .nr = 1 },
		{ .to = 1 << 20, .size = 1 << 20, .out = 3, .first = 1,
		  .nr = 1, .stepped = true },
		{ .to = 7, .size = 7, .out = 1 << 30, .first = 500000000,
		  .nr = 300, .stepped = true },
		{ .to = 1, .size = 1, .out = 1 << 30, .first = (1 << 30) - 99,
		  .nr = 99, .reversed = true, .stepped = true },
		{ .from = 0.875, .to = 1.0, .size = 1, .out = 224, .nr = 224,
		  .stepped = true },
		{ .to = 65500, .size = 65500, .out = 16384, .nr = 16384,
		  .stepped = true },
	};
	struct taps t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
		make(&t, &axes[i]);
		assert_int_equal(t.nr, axes[i].nr);
		for (uint32_t k = 0; k < t.nr; k++)
			assert_true(t.first[k] + t.count[k] <= axes[i].size);
		assert_true(t.is_narrow == (t.most <= 16384));
	}
	taps_fini(&t);
}

/* Every pair of sizes up to some: the promises hold. */
static void
all_small_sizes(void **state)
{
	struct taps t = { 0 };

	(void)state;
	for (uint32_t size = 1; size <= 90; size++) {
		for (uint32_t out = 1; out <= 60; out++) {
			struct taps_axis a = whole(size, out);

			a.reversed = (size + out) % 2 == 1;
			make(&t, &a);
			check(&t, &a);
		}
	}
	taps_fini(&t);
}

UNIT_MAIN(UNIT(weights_are_those_of_pillow), UNIT(small_cases),
    UNIT(outputs_are_by_number), UNIT(copies_are_known), UNIT(extreme_axes),
    UNIT(all_small_sizes))
