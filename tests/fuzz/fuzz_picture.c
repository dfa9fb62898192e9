/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_picture.c: any bytes as a picture, whole and a part of it, with small
 * limits.
 *
 * What is decoded without an error is the same again with the same decoder,
 * and a part of it is that part of the whole.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>

#include "prep/picture.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "picture";

#define PIXELS_MAX	(1u << 16)

static const struct picture_limits limits = {
	.bytes = 1 << 20, .pixels = PIXELS_MAX, .scans = 20,
	.time_ns = 200 * UINT64_C(1000000), .memory = 1 << 25,
};

static uint32_t
hash_row(uint32_t h, const uint8_t *row, uint32_t pixels)
{
	for (uint32_t x = 0; x < pixels; x++, row += PICTURE_PIXEL)
		for (int i = 0; i < 3; i++)
			h = (h ^ row[i]) * UINT32_C(16777619);
	return h;
}

/* The pixels of a box, of rows as wide as that; a hash, or -errno. */
static int64_t
decode(struct picture *p, const void *bytes, size_t len, unsigned shrink,
    struct picture_box *box)
{
	const uint8_t *row;
	uint32_t h = UINT32_C(2166136261);
	struct ds_err err = { .code = 0 };
	int rc = picture_open(p, bytes, len, &err);

	if (rc < 0) {
		fuzz_check_error(&err, rc);
		return rc;
	}
	(void)picture_shrink(p, shrink);
	must(picture_width(p) > 0 && picture_height(p) > 0);
	if (box->width == 0)
		*box = (struct picture_box){ .width = picture_width(p),
		    .height = picture_height(p) };
	rc = picture_start(p, box, &err);
	for (uint32_t y = 0; rc == 0 && y < box->height; y++) {
		rc = picture_row(p, &row, &err);
		if (rc == 0)
			h = hash_row(h, row, box->width);
	}
	if (rc < 0)
		fuzz_check_error(&err, rc);
	picture_close(p);
	return rc < 0 ? rc : (int64_t)h;
}

/* The lower right part, from rows of the whole. */
static int64_t
decode_part(struct picture *p, const void *bytes, size_t len,
    const struct picture_box *part)
{
	struct picture_box all = { .width = part->x + part->width,
	    .height = part->y + part->height };
	const uint8_t *row;
	uint32_t h = UINT32_C(2166136261);
	struct ds_err err;
	int rc = picture_open(p, bytes, len, &err);

	if (rc == 0)
		rc = picture_start(p, &all, &err);
	for (uint32_t y = 0; rc == 0 && y < all.height; y++) {
		rc = picture_row(p, &row, &err);
		if (rc == 0 && y >= part->y)
			h = hash_row(h, row + (size_t)part->x * PICTURE_PIXEL,
			    part->width);
	}
	picture_close(p);
	return rc < 0 ? rc : (int64_t)h;
}

/* Only time may make a difference. */
static void
check_same(int64_t a, int64_t b)
{
	must(a == b || a == -ETIME || b == -ETIME);
}

static void
run(const uint8_t *bytes, size_t len, bool truncated)
{
	struct picture_limits l = limits;
	struct picture_box whole = { 0 }, small = { 0 }, part;
	struct ds_err err;
	struct picture *p;
	int64_t got;

	l.truncated = truncated;
	must(picture_new(&p, &l, &err) == 0);
	got = decode(p, bytes, len, 1, &whole);
	check_same(decode(p, bytes, len, 1, &whole), got);
	(void)decode(p, bytes, len, 2, &small);
	if (got >= 0 && !picture_was_damaged(p)) {
		part.x = whole.width / 3;
		part.y = whole.height / 3;
		part.width = whole.width - part.x;
		part.height = whole.height - part.y;
		check_same(decode(p, bytes, len, 1, &part),
		    decode_part(p, bytes, len, &part));
	}
	picture_free(&p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	run(bytes, len, false);
	run(bytes, len, true);
	return 0;
}
