/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_picture.c: tests of prep/picture.c and picture_jpeg.c with sound files:
 * the pixels of any box equal those of the whole.  unit_picture_bad.c has the
 * others.
 *
 * DS_LONG in the environment asks for the long form: all boxes of small files,
 * not only some of the ranges of columns and of the ranges of rows.
 */

#include <config.h>

#include "prep/picture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/jpegs.h"
#include "tests/harness/unit.h"

static const struct picture_limits limits = {
	.bytes = 1 << 28, .pixels = 1 << 28, .scans = 100,
	.time_ns = UINT64_C(60000000000), .memory = 1 << 30,
};

static struct picture *
new_picture(void)
{
	struct picture *p;
	struct ds_err err;

	assert_int_equal(picture_new(&p, &limits, &err), 0);
	return p;
}

struct file {
	const char	*name;
	uint8_t		*bytes;
	size_t		len;
	unsigned	denominator;
	struct jpeg_whole whole;
};

static void
make_file(struct file *f, const struct jpeg_kind *k, unsigned width,
    unsigned height, unsigned denominator)
{
	f->name = k->name;
	f->denominator = denominator;
	f->bytes = jpegs_make(k, width, height, width * 100 + height, &f->len);
	jpegs_decode(&f->whole, f->bytes, f->len, denominator);
}

static void
free_file(struct file *f)
{
	free(f->whole.pixels);
	free(f->bytes);
}

static unsigned
scale(unsigned a, unsigned b)
{
	unsigned n = a * b + 128;

	return ((n >> 8) + n) >> 8;
}

static bool
is_same(const uint8_t *got, const uint8_t *want, bool is_cmyk)
{
	for (int i = 0; i < 3; i++) {
		unsigned value = is_cmyk ?
		    want[3] - scale(255u - want[i], want[3]) : want[i];

		if (got[i] != value)
			return false;
	}
	return true;
}

static unsigned long boxes;

static void
check_row(const struct file *f, const struct picture_box *box, uint32_t y,
    const uint8_t *row)
{
	const uint8_t *want = f->whole.pixels +
	    ((size_t)(box->y + y) * f->whole.width + box->x) * 4;

	for (uint32_t x = 0; x < box->width; x++) {
		if (!is_same(row + (size_t)x * 4, want + (size_t)x * 4,
		    f->whole.is_cmyk))
			fail_msg("%s of %ux%u / %u: box %ux%u at %u,%u: pixel "
			    "%u,%u differs", f->name, f->whole.width,
			    f->whole.height, f->denominator, box->width,
			    box->height, box->x, box->y, x, y);
	}
}

static void
check_box(struct picture *p, const struct file *f, uint32_t x, uint32_t y,
    uint32_t width, uint32_t height)
{
	struct picture_box box = { x, y, width, height };
	const uint8_t *row;
	struct ds_err err;

	assert_int_equal(picture_open(p, f->bytes, f->len, &err), 0);
	assert_int_equal(picture_shrink(p, f->denominator), f->denominator);
	assert_int_equal(picture_width(p), f->whole.width);
	assert_int_equal(picture_height(p), f->whole.height);
	assert_int_equal(picture_start(p, &box, &err), 0);
	for (uint32_t i = 0; i < height; i++) {
		assert_int_equal(picture_row(p, &row, &err), 0);
		check_row(f, &box, i, row);
	}
	picture_close(p);
	assert_false(picture_was_damaged(p));
	boxes++;
}

static void
check_all_boxes(struct picture *p, const struct file *f)
{
	unsigned w = f->whole.width, h = f->whole.height;

	for (unsigned x = 0; x < w; x++)
		for (unsigned x2 = x + 1; x2 <= w; x2++)
			for (unsigned y = 0; y < h; y++)
				for (unsigned y2 = y + 1; y2 <= h; y2++)
					check_box(p, f, x, y, x2 - x, y2 - y);
}

/* One range of so many, others with every file. */
static bool
is_chosen(unsigned from, unsigned to, unsigned whole)
{
	static unsigned phase;

	return whole < 10 || (from * 7 + to + phase++ / 1000) % 7 == 0;
}

/* Ranges of columns and ranges of rows, the other one fixed. */
static void
check_ranges(struct picture *p, const struct file *f)
{
	unsigned w = f->whole.width, h = f->whole.height;

	for (unsigned x = 0; x < w; x++)
		for (unsigned x2 = x + 1; x2 <= w; x2++)
			if (is_chosen(x, x2, w))
				check_box(p, f, x, h / 2, x2 - x, h / 4 + 1);
	for (unsigned y = 0; y < h; y++)
		for (unsigned y2 = y + 1; y2 <= h; y2++)
			if (is_chosen(y, y2, h))
				check_box(p, f, w / 2, y, w / 4 + 1, y2 - y);
}

static void
check_size(unsigned width, unsigned height, unsigned denominator)
{
	struct picture *p = new_picture();

	for (const struct jpeg_kind *k = jpeg_kinds; k->name != NULL; k++) {
		struct file f;

		make_file(&f, k, width, height, denominator);
		if (getenv("DS_LONG") != NULL && width < 50)
			check_all_boxes(p, &f);
		else
			check_ranges(p, &f);
		free_file(&f);
	}
	picture_free(&p);
}

static void
every_box_is_of_the_whole(void **state)
{
	(void)state;
	check_size(37, 35, 1);
	check_size(32, 32, 1);
	check_size(53, 47, 1);
	printf("%lu boxes\n", boxes);
}

static void
tiny_pictures_too(void **state)
{
	static const unsigned sides[] = { 1, 2, 5, 9 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 4; j++)
			check_size(sides[i], sides[j], 1);
	}
}

static void
every_box_of_a_smaller_one(void **state)
{
	(void)state;
	check_size(83, 70, 2);
	check_size(131, 77, 4);
	check_size(211, 150, 8);
}

/* Large enough for skipping in steps. */
static void
boxes_of_large_ones(void **state)
{
	struct picture *p = new_picture();
	unsigned seed = 1;

	(void)state;
	for (const struct jpeg_kind *k = jpeg_kinds; k->name != NULL; k++) {
		struct file f;

		make_file(&f, k, 601, 901, 1);
		for (int i = 0; i < 4; i++) {
			unsigned x = (unsigned)rand_r(&seed) % 561;
			unsigned y = (unsigned)rand_r(&seed) % 861;

			check_box(p, &f, x, y, 40, 40);
		}
		free_file(&f);
	}
	picture_free(&p);
}

UNIT_MAIN(
	UNIT(every_box_is_of_the_whole),
	UNIT(tiny_pictures_too),
	UNIT(every_box_of_a_smaller_one),
	UNIT(boxes_of_large_ones)
)
