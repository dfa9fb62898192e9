/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_picture_png.c: tests of prep/picture_png.c: boxes, damage and limits.
 * d0601 compares the kinds of PNG with Pillow.
 */

#include <config.h>

#include "prep/picture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "tests/harness/unit.h"

#define WIDTH	90u
#define HEIGHT	70u
#define IHDR	16u	/* where the width stands */
#define IHDR_LEN	13u

static const struct picture_limits usual = {
	.bytes = 1 << 28, .pixels = 178956970, .scans = 100,
	.time_ns = UINT64_C(2000000000), .memory = 1 << 30,
};

/* Noise, so that rows lie everywhere in the file. */
static void
draw(uint8_t *pixels, size_t len)
{
	uint32_t state = 1;

	for (size_t i = 0; i < len; i++) {
		state = state * UINT32_C(1664525) + UINT32_C(1013904223);
		pixels[i] = (uint8_t)(state >> 24);
	}
}

static uint8_t *
make(unsigned width, unsigned height, uint8_t *pixels, size_t *len)
{
	png_image image = { .version = PNG_IMAGE_VERSION, .width = width,
	    .height = height, .format = PNG_FORMAT_RGB };
	png_alloc_size_t size;
	uint8_t *bytes;

	draw(pixels, (size_t)width * height * 3);
	size = PNG_IMAGE_PNG_SIZE_MAX(image);
	bytes = malloc(size);
	assert_non_null(bytes);
	assert_true(png_image_write_to_memory(&image, bytes, &size, 0, pixels,
	    0, NULL));
	*len = size;
	return bytes;
}

/* A sound one of the usual size; its pixels in *pixels, unless that is NULL. */
static uint8_t *
make_usual(uint8_t **pixels, size_t *len)
{
	uint8_t *drawn = malloc((size_t)WIDTH * HEIGHT * 3);
	uint8_t *bytes;

	assert_non_null(drawn);
	bytes = make(WIDTH, HEIGHT, drawn, len);
	if (pixels != NULL)
		*pixels = drawn;
	else
		free(drawn);
	return bytes;
}

static uint32_t
checksum(const uint8_t *bytes, size_t len)
{
	uint32_t c = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		c ^= bytes[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~c;
}

static void
put32(uint8_t *at, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(n >> (24 - 8 * i));
}

static void
sign_head(uint8_t *bytes)
{
	put32(bytes + IHDR + IHDR_LEN, checksum(bytes + IHDR - 4,
	    4 + IHDR_LEN));
}

static int
decode(const struct picture_limits *limits, const uint8_t *bytes, size_t len,
    const struct picture_box *wanted, bool *was_damaged, struct ds_err *err)
{
	struct picture_box box;
	const uint8_t *row;
	struct picture *p;
	int rc;

	assert_int_equal(picture_new(&p, limits, err), 0);
	rc = picture_open(p, bytes, len, err);
	if (rc == 0) {
		box = wanted != NULL ? *wanted : (struct picture_box){
		    .width = picture_width(p), .height = picture_height(p) };
		assert_int_equal(picture_shrink(p, 4), 1);
		rc = picture_start(p, &box, err);
		for (uint32_t y = 0; rc == 0 && y < box.height; y++)
			rc = picture_row(p, &row, err);
	}
	*was_damaged = picture_was_damaged(p);
	picture_free(&p);
	return rc;
}

static void
expect_with(const struct picture_limits *limits, const uint8_t *bytes,
    size_t len, int rc, const char *text)
{
	struct ds_err err = { .text = "" };
	bool was_damaged;
	int got = decode(limits, bytes, len, NULL, &was_damaged, &err);

	if (got != rc || strstr(err.text, text) == NULL)
		fail_msg("%d, not %d: \"%s\", not \"%s\"", got, rc, err.text,
		    text);
}

static void
expect(const uint8_t *bytes, size_t len, int rc, const char *text)
{
	expect_with(&usual, bytes, len, rc, text);
}

static void
check_box(struct picture *p, const uint8_t *bytes, size_t len,
    const uint8_t *pixels, const struct picture_box *box)
{
	const uint8_t *row;
	struct ds_err err;

	assert_int_equal(picture_open(p, bytes, len, &err), 0);
	assert_int_equal(picture_start(p, box, &err), 0);
	for (uint32_t y = 0; y < box->height; y++) {
		const uint8_t *want = pixels +
		    ((size_t)(box->y + y) * WIDTH + box->x) * 3;

		assert_int_equal(picture_row(p, &row, &err), 0);
		for (uint32_t x = 0; x < box->width; x++)
			assert_memory_equal(row + (size_t)x * 4,
			    want + (size_t)x * 3, 3);
	}
	picture_close(p);
}

static void
boxes_are_of_the_whole(void **state)
{
	size_t len;
	uint8_t *pixels, *bytes = make_usual(&pixels, &len);
	unsigned seed = 1;
	struct picture *p;
	struct ds_err err;

	(void)state;
	assert_int_equal(picture_new(&p, &usual, &err), 0);
	for (int i = 0; i < 200; i++) {
		struct picture_box box;

		box.x = (unsigned)rand_r(&seed) % WIDTH;
		box.y = (unsigned)rand_r(&seed) % HEIGHT;
		box.width = 1 + (unsigned)rand_r(&seed) % (WIDTH - box.x);
		box.height = 1 + (unsigned)rand_r(&seed) % (HEIGHT - box.y);
		check_box(p, bytes, len, pixels, &box);
	}
	picture_free(&p);
	free(bytes);
	free(pixels);
}

static void
damage_is_refused(void **state)
{
	size_t len;
	uint8_t *bytes = make_usual(NULL, &len);

	(void)state;
	expect(bytes, len, 0, "");
	expect(bytes, len - 1, -EBADMSG, "it is cut short");
	expect(bytes, len - 12, -EBADMSG, "it is cut short");
	expect(bytes, len / 2, -EBADMSG, "it is cut short");
	expect(bytes, 8, -EBADMSG, "it is cut short");
	bytes[len / 2] ^= 1;
	expect(bytes, len, -EBADMSG, "it is damaged: ");
	bytes[len / 2] ^= 1;
	bytes[IHDR + IHDR_LEN] ^= 1;
	expect(bytes, len, -EBADMSG, "CRC error");
	free(bytes);
}

/* Black from the damage on, and counted. */
static void
damage_can_be_accepted(void **state)
{
	struct picture_limits accepting = usual;
	struct picture_box top = { .width = WIDTH, .height = 5 };
	struct ds_err err;
	bool was_damaged;
	size_t len;
	uint8_t *bytes = make_usual(NULL, &len);

	(void)state;
	accepting.truncated = true;
	assert_int_equal(decode(&accepting, bytes, len / 2, NULL, &was_damaged,
	    &err), 0);
	assert_true(was_damaged);
	assert_int_equal(decode(&accepting, bytes, len / 2, &top, &was_damaged,
	    &err), 0);
	assert_true(was_damaged);
	assert_int_equal(decode(&accepting, bytes, len, NULL, &was_damaged,
	    &err), 0);
	assert_false(was_damaged);
	free(bytes);
}

static void
heads_that_lie(void **state)
{
	size_t len;
	uint8_t *bytes = make_usual(NULL, &len);

	(void)state;
	put32(bytes + IHDR, 65500);
	put32(bytes + IHDR + 4, 65500);
	sign_head(bytes);
	expect(bytes, len, -EFBIG, "65500x65500 pixels: more than max-pixels");
	put32(bytes + IHDR, INT32_MAX);
	put32(bytes + IHDR + 4, 1);
	sign_head(bytes);
	expect(bytes, len, -EFBIG, "2147483647x1 pixels");
	put32(bytes + IHDR, 0);
	sign_head(bytes);
	expect(bytes, len, -EBADMSG, "Invalid IHDR");
	put32(bytes + IHDR, WIDTH);
	put32(bytes + IHDR + 4, HEIGHT);
	bytes[IHDR + 8] = 16;
	bytes[IHDR + 9] = PNG_COLOR_TYPE_GRAY;
	sign_head(bytes);
	expect(bytes, len, -ENOTSUP, "grey of 16 bits");
	free(bytes);
}

static void
limits_hold(void **state)
{
	struct picture_limits l = usual;
	uint8_t *pixels = malloc((size_t)1000 * 1000 * 3), *bytes;
	size_t len;

	(void)state;
	assert_non_null(pixels);
	bytes = make(1000, 1000, pixels, &len);
	l.time_ns = 1;
	expect_with(&l, bytes, len, -ETIME, "max-time");
	l = usual;
	l.bytes = len - 1;
	expect_with(&l, bytes, len, -EFBIG, "max-bytes");
	l = usual;
	bytes[IHDR + 12] = 1;		/* says that it is interlaced */
	sign_head(bytes);
	l.memory = 1000 * 1000 * 4 - 1;
	expect_with(&l, bytes, len, -EFBIG, "max-memory");
	free(bytes);
	free(pixels);
}

UNIT_MAIN(
	UNIT(boxes_are_of_the_whole),
	UNIT(damage_is_refused),
	UNIT(damage_can_be_accepted),
	UNIT(heads_that_lie),
	UNIT(limits_hold)
)
