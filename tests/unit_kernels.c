/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_kernels.c: tests of prep/kernels*.c and prep/emit.c: what is built for
 * this processor gives the bytes of the plain C, and touches no others.
 */

#include <config.h>

#include "prep/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prep/picture.h"
#include "tests/harness/unit.h"

#define GUARD		0xa5
#define GUARD_BYTES	64u

enum { RANDOM, BLACK, WHITE, EDGES, NR_FILLS };

static uint32_t
draw(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32);
}

static void
fill(uint8_t *p, size_t len, int how)
{
	for (size_t i = 0; i < len; i++) {
		uint32_t x = draw();

		p[i] = how == RANDOM ? (uint8_t)x : how == BLACK ? 0 :
		    how == WHITE || x & 1 ? 255 : 0;
	}
}

/*--- memory that ends at a page that cannot be touched --------------------*/

struct fenced {
	uint8_t *map, *end;
	size_t len;
};

static void
fence(struct fenced *f, size_t most)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	f->len = (most + page - 1) / page * page + page;
	f->map = mmap(NULL, f->len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f->map != MAP_FAILED);
	f->end = f->map + f->len - page;
	assert_int_equal(mprotect(f->end, page, PROT_NONE), 0);
}

static void
unfence(struct fenced *f)
{
	munmap(f->map, f->len);
}

/*--- lines ---------------------------------------------------------------*/

static size_t
plane_of(uint32_t width)
{
	return (width + KERNEL_LANE - 1) / KERNEL_LANE * KERNEL_LANE;
}

/* So many lines, with guards behind them. */
static uint8_t *
new_lines(size_t plane, uint32_t nr)
{
	size_t bytes = 3 * plane * nr;
	uint8_t *p = aligned_alloc(KERNEL_LANE, bytes + GUARD_BYTES);

	assert_non_null(p);
	memset(p, GUARD, bytes + GUARD_BYTES);
	return p;
}

static void
check_guard(const uint8_t *p)
{
	for (size_t i = 0; i < GUARD_BYTES; i++)
		assert_int_equal(p[i], GUARD);
}

/*--- across --------------------------------------------------------------*/

static void
compare_across(const struct kernels *k, const struct taps *t,
    struct fenced *f, int how)
{
	size_t plane = plane_of(t->nr), len = t->end - t->begin;
	uint8_t *want = new_lines(plane, 1), *got = new_lines(plane, 1);
	uint8_t *row = f->end - PICTURE_SLACK - len * PICTURE_PIXEL;

	fill(row, (size_t)(f->end - row), how);
	kernels_plain.across(want, plane, row, t);
	k->across(got, plane, row, t);
	for (size_t c = 0; c < 3; c++) {
		if (memcmp(want + c * plane, got + c * plane, t->nr) != 0)
			fail_msg("%s: across, %zu pixels to %u, plane %zu",
			    k->name, len, t->nr, c);
	}
	check_guard(got + 3 * plane);
	free(want);
	free(got);
}

static void
try_across(const struct kernels *k, struct fenced *f, uint32_t size,
    uint32_t out, uint32_t first, uint32_t nr)
{
	struct taps_axis a = { .to = size, .size = size, .out = out,
	    .first = first, .nr = nr, .stepped = true };
	struct taps t = { 0 };

	for (int how = 0; how < NR_FILLS; how++) {
		a.reversed = how % 2 == 1;
		assert_int_equal(taps_make(&t, &a, NULL), 0);
		compare_across(k, &t, f, how);
	}
	/* Nor do they need what makes them fast. */
	t.is_narrow = false;
	compare_across(k, &t, f, RANDOM);
	taps_fini(&t);
}

static void
across_kernel(const struct kernels *k)
{
	static const uint32_t widths[] = { 224, 225 };
	struct fenced f;

	fence(&f, 40 * 225 * PICTURE_PIXEL + PICTURE_SLACK);
	for (uint32_t out = 1; out <= 70; out++) {
		try_across(k, &f, 1 + draw() % out, out, 0, out);
		try_across(k, &f, out, out, 0, out);
		try_across(k, &f, out + draw() % (2 * out), out, 0, out);
		try_across(k, &f, out * 3 + draw() % (17 * out), out, 0, out);
	}
	for (int i = 0; i < 2; i++) {
		uint32_t n = widths[i];

		for (uint32_t size = 40; size < 20 * n; size += 1 + size / 7)
			try_across(k, &f, size, n, 0, n);
	}
	/* About 1 to 40 taps, of some of the outputs. */
	for (uint32_t taps = 1; taps <= 40; taps++)
		try_across(k, &f, 20 * taps + taps % 3, 40, 3, 33);
	unfence(&f);
}

/*--- down ----------------------------------------------------------------*/

static void
compare_down(const struct kernels *k, const struct taps *t, uint32_t i,
    size_t plane, int how)
{
	uint32_t nr = t->count[i], kept = nr < 64 ? nr : 64;
	uint8_t *want = new_lines(plane, 1), *got = new_lines(plane, 1);
	uint8_t *lines = new_lines(plane, kept);
	const uint8_t **window = calloc(nr, sizeof *window);

	assert_non_null(window);
	fill(lines, 3 * plane * kept, how);
	for (uint32_t n = 0; n < nr; n++)
		window[n] = lines + n % kept * (3 * plane);
	kernels_plain.down(want, window, t, i, 3 * plane);
	k->down(got, window, t, i, 3 * plane);
	if (memcmp(want, got, 3 * plane) != 0)
		fail_msg("%s: down, %u taps, plane %zu", k->name, nr, plane);
	check_guard(got + 3 * plane);
	free(window);
	free(lines);
	free(want);
	free(got);
}

static void
try_down(const struct kernels *k, uint32_t size, uint32_t out, size_t plane)
{
	struct taps_axis a = { .to = size, .size = size, .out = out,
	    .nr = out };
	struct taps t = { 0 };

	assert_int_equal(taps_make(&t, &a, NULL), 0);
	for (uint32_t i = 0; i < out; i += 1 + out / 20) {
		for (int how = 0; how < NR_FILLS; how++)
			compare_down(k, &t, i, plane, how);
	}
	t.is_narrow = false;
	compare_down(k, &t, out / 2, plane, RANDOM);
	taps_fini(&t);
}

static void
down_kernel(const struct kernels *k)
{
	for (uint32_t n = 1; n <= 70; n++)
		try_down(k, 7 + 13 * n / 5, 13, plane_of(n));
	for (uint32_t size = 10; size <= 4500; size += 1 + size / 5)
		try_down(k, size, 224, plane_of(224));
	try_down(k, 20000, 1, KERNEL_LANE);
	try_down(k, 40000, 3, KERNEL_LANE);
}

/*--- emit ----------------------------------------------------------------*/

static const size_t type_bytes[NR_SAMPLE_TYPES] = {
	[SAMPLE_U8] = 1, [SAMPLE_F16] = 2, [SAMPLE_BF16] = 2, [SAMPLE_F32] = 4,
};

/* Rows and samples end where nothing may be read or written. */
static void
compare_emit(const struct kernels *k, const struct emit *e, struct fenced *f)
{
	size_t values = (size_t)3 * e->width * e->height;
	size_t bytes = values * type_bytes[e->type];
	size_t plane = plane_of(e->width);
	uint8_t *want = malloc(bytes), *sample = f->end - bytes;
	uint8_t *line = new_lines(plane, 1);

	assert_non_null(want);
	memset(want, GUARD, bytes);
	memset(sample - GUARD_BYTES, GUARD, bytes + GUARD_BYTES);
	fill(line, 3 * plane, RANDOM);
	kernels_plain.emit(want, e, 1, line, plane);
	k->emit(sample, e, 1, line, plane);
	if (memcmp(want, sample, bytes) != 0)
		fail_msg("%s: emit, type %d, layout %d, width %u", k->name,
		    (int)e->type, (int)e->layout, e->width);
	check_guard(sample - GUARD_BYTES);
	kernels_plain.emit(want, e, e->height - 1, line, plane);
	k->emit(sample, e, e->height - 1, line, plane);
	assert_memory_equal(want, sample, bytes);
	free(want);
	free(line);
}

static const float norms[][6] = {	/* means, standard deviations */
	{ 0.485f, 0.456f, 0.406f, 0.229f, 0.224f, 0.225f },
	{ 0, 0, 0, 1, 1, 1 },
	{ 0.909f, 0.08f, 0.48f, 0.709f, 0.158f, 0.24f },	/* not exact */
	{ 0.5f, 0.5f, 0.5f, 1e-6f, 3e6f, 1e-30f },
	{ 0, 0.25f, 1e30f, 0, 1e-42f, 1e-10f },
	/* Black is half way between two numbers of 16 bits. */
	{ -0x1.01p0f, -0x1.03p0f, -0x1.002p0f, 1, 1, 1 },
	{ -0x1.006p0f, 0x1.01p0f, 0x1.03p0f, 1, 1, 1 },
};
#define NR_NORMS	(sizeof norms / sizeof *norms)

static void
set_emit(struct emit *e, enum sample_type type, enum sample_layout layout,
    uint32_t width, size_t norm)
{
	*e = (struct emit){ .type = type, .layout = layout, .width = width,
	    .height = 3 };
	memcpy(e->mean, norms[norm], sizeof e->mean);
	memcpy(e->std, norms[norm] + 3, sizeof e->std);
	emit_init(e);
}

static void
emit_kernel(const struct kernels *k)
{
	struct emit *e = malloc(sizeof *e);
	struct fenced f;

	assert_non_null(e);
	fence(&f, (size_t)3 * 3 * 225 * 4 + GUARD_BYTES);
	for (unsigned n = 0; n < NR_SAMPLE_TYPES * NR_SAMPLE_LAYOUTS; n++) {
		for (size_t norm = 0; norm < NR_NORMS; norm++) {
			set_emit(e, n / NR_SAMPLE_LAYOUTS,
			    n % NR_SAMPLE_LAYOUTS, 1, norm);
			for (e->width = 1; e->width <= 70; e->width++)
				compare_emit(k, e, &f);
			e->width = 224;
			compare_emit(k, e, &f);
			e->width = 225;
			compare_emit(k, e, &f);
		}
	}
	unfence(&f);
	free(e);
}

/* The usual ones are made the short way. */
static void
usual_norms_are_exact(void **state)
{
	struct emit *e = malloc(sizeof *e);

	(void)state;
	assert_non_null(e);
	for (size_t norm = 0; norm < 3; norm++) {
		set_emit(e, SAMPLE_F32, SAMPLE_NCHW, 8, norm);
		assert_int_equal(e->is_exact, norm < 2);
	}
	free(e);
}

/* A number of 16 bits by its definition. */
static double
value_of(uint16_t half, int exponent_bits)
{
	int mantissa_bits = 15 - exponent_bits;
	int bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = (half & 0x7fff) >> mantissa_bits;
	int mantissa = half & ((1 << mantissa_bits) - 1);
	double sign = half & 0x8000 ? -1 : 1;

	if (exponent == 2 * bias + 1)
		return mantissa != 0 ? NAN : sign * INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
	return sign * ldexp(mantissa + (1 << mantissa_bits),
	    exponent - bias - mantissa_bits);
}

/* Is no other number of 16 bits nearer to x, nor as near and even? */
static void
check_half(float x, uint16_t half, int exponent_bits)
{
	double v = value_of(half, exponent_bits), error = fabs(v - (double)x);

	if (isnan(x)) {
		assert_true(isnan(v));
		return;
	}
	assert_true(!isnan(v) && (signbit(x) != 0) == (half >> 15 != 0));
	if (isinf(v)) {		/* half a step past the greatest */
		double most = value_of((uint16_t)(half - 1), exponent_bits);
		double before = value_of((uint16_t)(half - 2), exponent_bits);

		assert_true(fabs((double)x) >=
		    fabs(most) + fabs(most - before) / 2);
		return;
	}
	for (int d = -1; d <= 1; d += 2) {
		double other = (half & 0x7fff) == 0 && d < 0 ? 1 :
		    value_of((uint16_t)(half + d), exponent_bits);
		double far = fabs(other - (double)x);

		assert_true(error < far || (error == far && half % 2 == 0));
	}
}

static void
halves_are_the_nearest(void **state)
{
	struct emit *e = malloc(sizeof *e);

	(void)state;
	assert_non_null(e);
	for (size_t norm = 0; norm < NR_NORMS; norm++) {
		for (int n = 0; n < 2 * 3 * 256; n++) {
			int c = n / 256 % 3, v = n % 256;

			if (v == 0 && c == 0)
				set_emit(e, n < 768 ? SAMPLE_F16 : SAMPLE_BF16,
				    SAMPLE_NCHW, 8, norm);
			check_half(e->table[c][v], e->half[c][v],
			    n < 768 ? 5 : 8);
		}
	}
	free(e);
}

/*--- all kernels ---------------------------------------------------------*/

static void
for_all(void (*test)(const struct kernels *k))
{
	const struct kernels *const *k = kernels_all();

	for (; *k != NULL; k++) {
		if ((*k)->works())
			test(*k);
		else
			printf("%s does not work here\n", (*k)->name);
	}
}

static void
across_equals_plain(void **state)
{
	(void)state;
	for_all(across_kernel);
}

static void
down_equals_plain(void **state)
{
	(void)state;
	for_all(down_kernel);
}

static void
emit_equals_plain(void **state)
{
	(void)state;
	for_all(emit_kernel);
}

static void
found_by_name(void **state)
{
	const struct kernels *const *k = kernels_all();

	(void)state;
	assert_ptr_equal(kernels_find("plain"), &kernels_plain);
	assert_null(kernels_find("no such"));
	while (!(*k)->works())
		k++;
	assert_ptr_equal(kernels_find("auto"), *k);
	assert_ptr_equal(kernels_find((*k)->name), *k);
}

UNIT_MAIN(UNIT(across_equals_plain), UNIT(down_equals_plain),
    UNIT(emit_equals_plain), UNIT(usual_norms_are_exact),
    UNIT(halves_are_the_nearest), UNIT(found_by_name))
