/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_picture_bad.c: tests of prep/picture.c with files that are broken,
 * hostile, or not pictures: rows 1 to 20 of the matrix of bad input.
 */

#include <config.h>

#include "prep/picture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/jpegs.h"
#include "tests/harness/unit.h"

#ifndef WITH_PNG
#define WITH_PNG 0
#endif

#define WIDTH	160u
#define HEIGHT	120u

static const struct picture_limits usual = {
	.bytes = 1 << 28, .pixels = 178956970, .scans = 100,
	.time_ns = UINT64_C(2000000000), .memory = 1 << 30,
};

static const struct jpeg_kind *
kind_of(const char *name)
{
	const struct jpeg_kind *k = jpeg_kinds;

	while (strcmp(k->name, name) != 0)
		k++;
	return k;
}

struct outcome {
	int	rc;
	bool	was_damaged;
	char	text[DS_ERR_TEXT];
};

static int
decode(struct picture *p, const void *bytes, size_t len, uint32_t rows,
    struct ds_err *err)
{
	struct picture_box box = { 0 };
	const uint8_t *row;
	int rc = picture_open(p, bytes, len, err);

	if (rc < 0)
		return rc;
	box.width = picture_width(p);
	box.height = rows > 0 ? rows : picture_height(p);
	rc = picture_start(p, &box, err);
	for (uint32_t y = 0; rc == 0 && y < box.height; y++)
		rc = picture_row(p, &row, err);
	picture_close(p);
	return rc;
}

/* The first rows, or all if it is 0. */
static struct outcome
try_rows(const struct picture_limits *limits, const void *bytes, size_t len,
    uint32_t rows)
{
	struct outcome o = { .rc = 0 };
	struct picture *p;
	struct ds_err err = { .text = "" };

	assert_int_equal(picture_new(&p, limits, &err), 0);
	o.rc = decode(p, bytes, len, rows, &err);
	o.was_damaged = picture_was_damaged(p);
	memcpy(o.text, err.text, sizeof o.text);
	picture_free(&p);
	return o;
}

static void
expect(const void *bytes, size_t len, int rc, const char *text)
{
	struct outcome o = try_rows(&usual, bytes, len, 0);

	if (o.rc != rc || strstr(o.text, text) == NULL)
		fail_msg("%d, not %d: \"%s\", not \"%s\"", o.rc, rc, o.text,
		    text);
}

static uint8_t *
make(const char *kind, size_t *len)
{
	return jpegs_make(kind_of(kind), WIDTH, HEIGHT, 1, len);
}

/* Where a marker's segment begins: behind FF and its code. */
static size_t
find_marker(const uint8_t *bytes, size_t len, uint8_t code)
{
	for (size_t at = 2; at + 4 <= len; ) {
		assert_int_equal(bytes[at], 0xff);
		if (bytes[at + 1] == code)
			return at + 2;
		at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
	}
	fail_msg("no marker %02x", code);
	return 0;
}

static void
put16(uint8_t *at, unsigned n)
{
	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

/*--- not pictures --------------------------------------------------------*/

static void
what_is_no_picture(void **state)
{
	static const char zeros[100];
	static const char text[] = "hello, world\n";
	static const char html[] = "<!DOCTYPE html><html></html>";

	(void)state;
	expect("", 0, -ENODATA, "it is empty");
	expect(zeros, sizeof zeros, -EBADMSG, "begins with 00 00 00 00");
	expect(text, sizeof text - 1, -EBADMSG, "\"hello, w\"");
	expect("x", 1, -EBADMSG, "begins with 78 \"x\"");
	expect(html, sizeof html - 1, -EBADMSG, "a web page");
	expect("\xff\xd8", 2, -EBADMSG, "cut short");
	expect("\xff\xd8\xff", 3, -EBADMSG, "cut short");
	expect("\xff\xd8\xff\xd9", 4, -EBADMSG, "contains no image");
}

static void
other_formats_by_name(void **state)
{
	static const char tiff[] = "II*\0\x08\0\0\0", webp[] = "RIFF\0\0\0\0WEBP";

	(void)state;
	expect("GIF89a...", 9, -ENOTSUP, "it is a GIF, which is not read");
	expect(webp, sizeof webp - 1, -ENOTSUP, "it is a WebP");
	expect(tiff, sizeof tiff - 1, -ENOTSUP, "it is a TIFF");
	expect("BM123", 5, -ENOTSUP, "it is a BMP");
#if WITH_PNG
	expect("\x89PNG\r\n\x1a\n", 8, -EBADMSG, "cut short");
#else
	expect("\x89PNG\r\n\x1a\n", 8, -ENOTSUP,
	    "a PNG, which this build does not read");
#endif
}

/*--- cut short and damaged -----------------------------------------------*/

static const char *const some_kinds[] = {
	"4:2:0", "4:4:4", "grey", "4:2:0 progressive", "4:2:0 restart",
	"4:2:0 split", "4:2:0 arithmetic", "CMYK",
};

#define NR_SOME	(sizeof some_kinds / sizeof *some_kinds)

static void
cut_short_is_damage(void **state)
{
	struct picture_limits accepting = usual;

	(void)state;
	accepting.truncated = true;
	for (size_t i = 0; i < NR_SOME; i++) {
		size_t len;
		uint8_t *bytes = make(some_kinds[i], &len);
		struct outcome o;

		expect(bytes, len, 0, "");
		expect(bytes, len - 1, -EBADMSG, "it is cut short");
		expect(bytes, len / 2, -EBADMSG, "it is cut short");
		/* Even if the rows are there. */
		o = try_rows(&usual, bytes, len - 1, 1);
		assert_int_equal(o.rc, -EBADMSG);
		for (int rows = 0; rows < 2; rows++) {
			o = try_rows(&accepting, bytes, len / 2, (uint32_t)rows);
			assert_int_equal(o.rc, 0);
			assert_true(o.was_damaged);
		}
		o = try_rows(&accepting, bytes, len, 0);
		assert_false(o.was_damaged);
		free(bytes);
	}
}

/* Arithmetic codes have no sign of it. */
static void
bad_bytes_are_damage(void **state)
{
	struct picture_limits accepting = usual;

	(void)state;
	accepting.truncated = true;
	for (size_t i = 0; i < NR_SOME; i++) {
		size_t len;
		uint8_t *bytes = make(some_kinds[i], &len);
		struct outcome o;

		if (kind_of(some_kinds[i])->is_arithmetic) {
			free(bytes);
			continue;
		}
		/* Ones only, which no code begins with. */
		for (size_t k = 0; k < 64; k++)
			bytes[len / 2 + k] = k % 2 == 0 ? 0xff : 0;
		o = try_rows(&usual, bytes, len, 0);
		if (o.rc != -EBADMSG)
			fail_msg("%s: %d", some_kinds[i], o.rc);
		o = try_rows(&accepting, bytes, len, 0);
		assert_int_equal(o.rc, 0);
		assert_true(o.was_damaged);
		memset(bytes + len / 2, 0, len - len / 2);
		expect(bytes, len, -EBADMSG, "it is");
		free(bytes);
	}
}

/* What follows the end of the picture is not looked at. */
static void
trailing_bytes_are_allowed(void **state)
{
	size_t len;
	uint8_t *bytes = make("4:2:0", &len), *more = malloc(len + 1000);

	(void)state;
	assert_non_null(more);
	memcpy(more, bytes, len);
	memset(more + len, 0, 1000);
	expect(more, len + 1000, 0, "");
	memset(more + len, 0xd9, 1000);
	expect(more, len + 1000, 0, "");
	free(more);
	free(bytes);
}

/*--- heads ---------------------------------------------------------------*/

static void
heads_that_lie(void **state)
{
	size_t len;
	uint8_t *bytes = make("4:2:0", &len);
	size_t sof = find_marker(bytes, len, 0xc0);

	(void)state;
	put16(bytes + sof + 3, 65500);
	put16(bytes + sof + 5, 65500);
	expect(bytes, len, -EFBIG, "65500x65500 pixels: more than max-pixels");
	put16(bytes + sof + 3, 65535);
	expect(bytes, len, -EFBIG, "dimension is 65500");
	put16(bytes + sof + 3, 16173);
	put16(bytes + sof + 5, 48010);
	expect(bytes, len, -EFBIG, "48010x16173 pixels");
	put16(bytes + sof + 3, 0);
	expect(bytes, len, -ENOTSUP, "Empty JPEG image");
	put16(bytes + sof + 3, HEIGHT);
	put16(bytes + sof + 5, 0);
	expect(bytes, len, -ENOTSUP, "Empty JPEG image");
	put16(bytes + sof + 5, WIDTH);
	bytes[sof + 2] = 12;
	expect(bytes, len, -ENOTSUP, "precision 12");
	bytes[sof + 2] = 8;
	bytes[sof - 1] = 0xc3;
	expect(bytes, len, -ENOTSUP, "SOF type 0xc3");
	free(bytes);
}

static void
limits_hold(void **state)
{
	struct picture_limits l = usual;
	size_t len;
	uint8_t *bytes = make("4:2:0 progressive", &len);
	struct outcome o;

	(void)state;
	l.bytes = len - 1;
	o = try_rows(&l, bytes, len, 0);
	assert_int_equal(o.rc, -EFBIG);
	assert_non_null(strstr(o.text, "more than max-bytes allows"));
	l = usual;
	l.pixels = WIDTH * HEIGHT - 1;
	o = try_rows(&l, bytes, len, 0);
	assert_int_equal(o.rc, -EFBIG);
	l = usual;
	l.scans = 5;
	o = try_rows(&l, bytes, len, 0);
	assert_int_equal(o.rc, -EFBIG);
	assert_non_null(strstr(o.text, "max-scans"));
	l = usual;
	l.memory = (20 * 16 + 2 * 10 * 8) * sizeof(JBLOCK) - 1;
	o = try_rows(&l, bytes, len, 0);
	assert_int_equal(o.rc, -EFBIG);
	assert_non_null(strstr(o.text, "max-memory"));
	l.memory += 1;
	o = try_rows(&l, bytes, len, 0);
	assert_int_equal(o.rc, 0);
	free(bytes);
}

static void
huge_comments_are_passed_over(void **state)
{
	enum { SEGMENT = 65535 + 2, NR = 100 };
	size_t len, at = 2;
	uint8_t *bytes = make("4:2:2", &len);
	uint8_t *more = calloc(1, len + (size_t)SEGMENT * NR);

	(void)state;
	assert_non_null(more);
	memcpy(more, bytes, 2);
	for (int i = 0; i < NR; i++, at += SEGMENT) {
		more[at] = 0xff;
		more[at + 1] = 0xfe;
		put16(more + at + 2, 65535);
	}
	memcpy(more + at, bytes + 2, len - 2);
	expect(more, at + len - 2, 0, "");
	free(more);
	free(bytes);
}

/*--- one after the other -------------------------------------------------*/

/* A file without tables is not decoded with those of the one before; Huffman
 * tables that are missing are the usual ones, as in films. */
static void
no_file_lends_its_tables(void **state)
{
	size_t len, dqt, size;
	uint8_t *bytes = make("4:2:0", &len), *bare = malloc(len);
	struct ds_err err;
	struct picture *p;

	(void)state;
	assert_non_null(bare);
	dqt = find_marker(bytes, len, 0xdb);
	size = 2 + (size_t)(bytes[dqt] << 8 | bytes[dqt + 1]);
	memcpy(bare, bytes, dqt - 2);
	memcpy(bare + dqt - 2, bytes + dqt - 2 + size, len - size - dqt + 2);
	assert_int_equal(picture_new(&p, &usual, &err), 0);
	assert_int_equal(decode(p, bytes, len, 0, &err), 0);
	assert_int_equal(decode(p, bare, len - size, 0, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "Quantization table"));
	assert_int_equal(decode(p, bytes, len, 0, &err), 0);
	picture_free(&p);
	free(bare);
	free(bytes);
}

/* Whatever the last one was, and wherever it was left. */
static void
a_picture_is_used_again(void **state)
{
	struct picture_box box = { .width = 1, .height = 1 };
	const uint8_t *row;
	struct ds_err err;
	struct picture *p;

	(void)state;
	assert_int_equal(picture_new(&p, &usual, &err), 0);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < NR_SOME; i++) {
			size_t len;
			uint8_t *bytes = make(some_kinds[i], &len);

			assert_int_equal(picture_open(p, bytes, len, &err), 0);
			if (round > 0)
				assert_int_equal(picture_start(p, &box, &err),
				    0);
			if (round > 1)
				assert_int_equal(picture_row(p, &row, &err), 0);
			picture_close(p);
			assert_true(decode(p, bytes, len / 2, 0, &err) < 0);
			assert_int_equal(decode(p, bytes, len, 0, &err), 0);
			free(bytes);
		}
	}
	picture_free(&p);
}

/*--- bombs ---------------------------------------------------------------*/

static uint64_t
spent_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Few bytes, many scans, each over all blocks; nothing in it is wrong. */
static void
scan_bombs_cost_their_limit(void **state)
{
	struct picture_limits l = usual;
	size_t len;
	uint8_t *bytes = jpegs_make_bomb(1500, 300, &len);
	struct outcome o;
	uint64_t begun;

	(void)state;
	o = try_rows(&l, bytes, len, 1);
	assert_int_equal(o.rc, -EFBIG);
	assert_non_null(strstr(o.text, "max-scans"));
	l.scans = 1000000;
	l.time_ns = 20000000;
	begun = spent_ns();
	o = try_rows(&l, bytes, len, 1);
	printf("a bomb of %zu bytes, limit 20 ms: %.1f ms\n", len,
	    (double)(spent_ns() - begun) / 1e6);
	assert_int_equal(o.rc, -ETIME);
	free(bytes);
}

/* Rows are looked at too, not only scans. */
static void
time_is_limited_between_rows(void **state)
{
	struct picture_limits l = usual;
	size_t len;
	uint8_t *bytes = jpegs_make(kind_of("4:4:4"), 2000, 600, 1, &len);
	struct picture_box box = { .y = 599, .width = 2000, .height = 1 };
	struct picture *p;
	struct outcome o;
	struct ds_err err;

	(void)state;
	l.time_ns = 1;
	o = try_rows(&l, bytes, len, 0);
	assert_int_equal(o.rc, -ETIME);
	assert_non_null(strstr(o.text, "max-time"));
	/* And those that are skipped. */
	assert_int_equal(picture_new(&p, &l, &err), 0);
	assert_int_equal(picture_open(p, bytes, len, &err), 0);
	assert_int_equal(picture_start(p, &box, &err), -ETIME);
	picture_free(&p);
	free(bytes);
}

UNIT_MAIN(
	UNIT(what_is_no_picture),
	UNIT(other_formats_by_name),
	UNIT(cut_short_is_damage),
	UNIT(bad_bytes_are_damage),
	UNIT(trailing_bytes_are_allowed),
	UNIT(heads_that_lie),
	UNIT(limits_hold),
	UNIT(huge_comments_are_passed_over),
	UNIT(no_file_lends_its_tables),
	UNIT(a_picture_is_used_again),
	UNIT(scan_bombs_cost_their_limit),
	UNIT(time_is_limited_between_rows)
)
