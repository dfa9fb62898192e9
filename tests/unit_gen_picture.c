/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_gen_picture.c: tests of tool/gen_rng.h, gen_picture.c and gen_jpeg.c.
 *
 * The hashes are the promise that the same seed gives the same bytes on every
 * machine and with every compiler.  Whoever changes the pictures changes
 * GEN_MODEL with them.
 */

#include <config.h>

#include "tool/gen_picture.h"

#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "tests/harness/unit.h"
#include "tool/gen_jpeg.h"
#include "tool/gen_rng.h"

/* FNV-1a */
static uint64_t
hash_of(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static struct gen_picture *
new_picture(unsigned width, unsigned height)
{
	struct gen_picture *p;
	struct ds_err err;

	assert_int_equal(gen_picture_new(&p, width, height, &err), 0);
	return p;
}

/* All three planes: they lie one after the other. */
static uint64_t
hash_picture(const struct gen_picture *p)
{
	return hash_of(p->y, (size_t)p->stride * p->rows * 3 / 2);
}

static uint64_t
make_hash(struct gen_picture *p, uint64_t seed, uint64_t index, unsigned width,
    unsigned height)
{
	gen_picture_make(p, seed, index, width, height);
	return hash_picture(p);
}

static void
random_numbers_are_pinned(void **state)
{
	struct gen_rng r;

	(void)state;
	gen_rng_init(&r, 0, 0, GEN_STREAM_LEAVES);
	assert_int_equal(gen_rng_next(&r), UINT64_C(0x26822314c7dfefc9));
	assert_int_equal(gen_rng_next(&r), UINT64_C(0x4937f22b341bd7f6));
}

static void
ranges_include_both_ends(void **state)
{
	unsigned seen[5] = { 0 };
	struct gen_rng r;

	(void)state;
	gen_rng_init(&r, 7, 7, GEN_STREAM_SIZE);
	for (unsigned i = 0; i < 5000; i++) {
		int n = gen_rng_range(&r, -2, 2);

		assert_in_range(n + 2, 0, 4);
		seen[n + 2]++;
	}
	for (unsigned i = 0; i < 5; i++)
		assert_in_range(seen[i], 850, 1150);
}

static void
pictures_are_pinned(void **state)
{
	struct gen_picture *p = new_picture(640, 640);

	(void)state;
	assert_int_equal(GEN_MODEL, 1);
	assert_int_equal(make_hash(p, 0, 0, 500, 375),
	    UINT64_C(0xcf46f706b33ca011));
	assert_int_equal(make_hash(p, 1, 12345, 500, 375),
	    UINT64_C(0x223c5e73827f1ccd));
	assert_int_equal(make_hash(p, 0, 0, 1, 1),
	    UINT64_C(0xbed32de736510028));
	assert_int_equal(make_hash(p, 0, 0, 33, 640),
	    UINT64_C(0xf8d4701d61700122));
	gen_picture_free(&p);
}

/* Whatever was drawn before, and however large the memory is. */
static void
pictures_have_no_memory(void **state)
{
	struct gen_picture *a = new_picture(200, 100);
	struct gen_picture *b = new_picture(1000, 1000);
	uint64_t alone = make_hash(a, 3, 4, 200, 100);

	(void)state;
	gen_picture_make(b, 9, 9, 1000, 1000);
	assert_int_equal(make_hash(b, 3, 4, 200, 100), alone);
	gen_picture_free(&a);
	gen_picture_free(&b);
}

static void
pictures_differ(void **state)
{
	struct gen_picture *p = new_picture(64, 64);
	uint64_t first = make_hash(p, 1, 1, 64, 64);

	(void)state;
	assert_int_not_equal(make_hash(p, 2, 1, 64, 64), first);
	assert_int_not_equal(make_hash(p, 1, 2, 64, 64), first);
	gen_picture_free(&p);
}

/* The extremes of shape, for the sanitizers. */
static void
any_shape_is_drawn(void **state)
{
	static const unsigned sides[] = { 1, 2, 15, 16, 17, 63, 65, 300 };
	struct gen_picture *p = new_picture(300, 300);

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		for (unsigned j = 0; j < 8; j++)
			gen_picture_make(p, i, j, sides[i], sides[j]);
	}
	gen_picture_free(&p);
	p = new_picture(8192, 3);
	gen_picture_make(p, 0, 0, 8192, 3);
	gen_picture_free(&p);
}

static void
check_decoded(const uint8_t *bytes, size_t len, unsigned width, unsigned height)
{
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr errors;
	JSAMPLE row[1024 * 3], *rows[1] = { row };

	d.err = jpeg_std_error(&errors);	/* exits: the test fails */
	jpeg_create_decompress(&d);
	jpeg_mem_src(&d, bytes, (unsigned long)len);
	assert_int_equal(jpeg_read_header(&d, TRUE), JPEG_HEADER_OK);
	assert_int_equal(d.image_width, width);
	assert_int_equal(d.image_height, height);
	assert_int_equal(d.comp_info[0].h_samp_factor, 2);
	assert_int_equal(d.comp_info[0].v_samp_factor, 2);
	assert_false(d.progressive_mode);
	jpeg_start_decompress(&d);
	while (d.output_scanline < d.output_height)
		assert_int_equal(jpeg_read_scanlines(&d, rows, 1), 1);
	jpeg_finish_decompress(&d);
	assert_int_equal(errors.num_warnings, 0);
	jpeg_destroy_decompress(&d);
}

static void
files_are_pinned_and_decode(void **state)
{
	struct gen_picture *p = new_picture(900, 900);
	struct gen_jpeg *j;
	struct ds_err err;
	const uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(gen_jpeg_new(&j, &err), 0);
	gen_picture_make(p, 0, 0, 500, 375);
	assert_int_equal(gen_jpeg_encode(j, p, 94, &bytes, &len, &err), 0);
	check_decoded(bytes, len, 500, 375);
	assert_int_equal(hash_of(bytes, len), UINT64_C(0x2e6b58499c66a182));
	/* The same encoder, with more than it had memory for, and with less. */
	gen_picture_make(p, 0, 0, 900, 900);
	assert_int_equal(gen_jpeg_encode(j, p, 100, &bytes, &len, &err), 0);
	assert_true(len > (size_t)512 << 10);
	check_decoded(bytes, len, 900, 900);
	gen_picture_make(p, 0, 0, 7, 9);
	assert_int_equal(gen_jpeg_encode(j, p, 94, &bytes, &len, &err), 0);
	check_decoded(bytes, len, 7, 9);
	gen_jpeg_free(&j);
	gen_picture_free(&p);
}

UNIT_MAIN(
	UNIT(random_numbers_are_pinned),
	UNIT(ranges_include_both_ends),
	UNIT(pictures_are_pinned),
	UNIT(pictures_have_no_memory),
	UNIT(pictures_differ),
	UNIT(any_shape_is_drawn),
	UNIT(files_are_pinned_and_decode))
