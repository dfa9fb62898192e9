/* SPDX-License-Identifier: Apache-2.0
 *
 * jpegs.c: JPEG files of all kinds, made in memory.
 */

#include <config.h>

#include "tests/harness/jpegs.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

const struct jpeg_kind jpeg_kinds[] = {
	{ .name = "4:4:4", .space = JCS_YCbCr, .h = { 1 }, .v = { 1 } },
	{ .name = "4:2:2", .space = JCS_YCbCr, .h = { 2 }, .v = { 1 } },
	{ .name = "4:2:0", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 } },
	{ .name = "4:4:0", .space = JCS_YCbCr, .h = { 1 }, .v = { 2 } },
	{ .name = "4:1:1", .space = JCS_YCbCr, .h = { 4 }, .v = { 1 } },
	{ .name = "4:1:0", .space = JCS_YCbCr, .h = { 4 }, .v = { 2 } },
	{ .name = "1x4", .space = JCS_YCbCr, .h = { 1 }, .v = { 4 } },
	{ .name = "mixed", .space = JCS_YCbCr, .h = { 2, 1, 2 }, .v = { 2, 2, 1 } },
	{ .name = "luma below", .space = JCS_YCbCr, .h = { 1, 2, 2 }, .v = { 1, 2, 2 } },
	{ .name = "third", .space = JCS_YCbCr, .h = { 3 }, .v = { 1 } },
	{ .name = "grey", .space = JCS_GRAYSCALE, .h = { 1 }, .v = { 1 } },
	{ .name = "grey 2x2", .space = JCS_GRAYSCALE, .h = { 2 }, .v = { 2 } },
	{ .name = "RGB", .space = JCS_RGB, .h = { 1 }, .v = { 1 } },
	{ .name = "CMYK", .space = JCS_CMYK, .h = { 1 }, .v = { 1 } },
	{ .name = "YCCK", .space = JCS_YCCK, .h = { 2, 1, 1, 2 }, .v = { 2, 1, 1, 2 } },
	{ .name = "4:2:0 restart", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 },
	  .restart = 2 },
	{ .name = "4:2:2 restart", .space = JCS_YCbCr, .h = { 2 }, .v = { 1 },
	  .restart = 3 },
	{ .name = "4:2:0 split", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 },
	  .is_split = true },
	{ .name = "4:2:0 arithmetic", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 },
	  .is_arithmetic = true },
	{ .name = "4:4:4 progressive", .space = JCS_YCbCr, .h = { 1 }, .v = { 1 },
	  .is_progressive = true },
	{ .name = "4:2:0 progressive", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 },
	  .is_progressive = true },
	{ .name = "4:2:2 progressive", .space = JCS_YCbCr, .h = { 2 }, .v = { 1 },
	  .is_progressive = true,
	  .restart = 2 },
	{ .name = "grey progressive", .space = JCS_GRAYSCALE, .h = { 1 }, .v = { 1 },
	  .is_progressive = true },
	{ .name = "arithmetic progressive", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 },
	  .is_progressive = true, .is_arithmetic = true },
	{ .name = "unfinished", .space = JCS_YCbCr, .h = { 2 }, .v = { 2 },
	  .is_progressive = true,
	  .is_unfinished = true },
	{ .name = "4:1:1 progressive", .space = JCS_YCbCr, .h = { 4 }, .v = { 1 },
	  .is_progressive = true },
	{ .name = NULL },
};

static const jpeg_scan_info split[] = {
	{ 1, { 0 }, 0, 63, 0, 0 },
	{ 1, { 1 }, 0, 63, 0, 0 },
	{ 1, { 2 }, 0, 63, 0, 0 },
};

static const jpeg_scan_info unfinished[] = {
	{ 3, { 0, 1, 2 }, 0, 0, 0, 1 },
	{ 1, { 0 }, 1, 5, 0, 2 },
};

#define BOMB_BITS	10u	/* scans of one coefficient */
#define BOMB_MOST	(63u * BOMB_BITS)

static void
set_kind(struct jpeg_compress_struct *c, const struct jpeg_kind *k)
{
	jpeg_set_defaults(c);
	jpeg_set_colorspace(c, k->space);
	jpeg_set_quality(c, 85, TRUE);
	for (int i = 0; i < c->num_components; i++) {
		c->comp_info[i].h_samp_factor = k->h[i] > 0 ? k->h[i] : 1;
		c->comp_info[i].v_samp_factor = k->v[i] > 0 ? k->v[i] : 1;
	}
	c->restart_interval = k->restart;
	c->arith_code = k->is_arithmetic;
	if (k->is_progressive)
		jpeg_simple_progression(c);
	if (k->is_split) {
		c->scan_info = split;
		c->num_scans = 3;
	}
	if (k->is_unfinished) {
		c->scan_info = unfinished;
		c->num_scans = 2;
	}
}

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
	return *state >> 24;
}

static void
draw_row(uint8_t *row, unsigned width, int colours, unsigned y, uint32_t *state)
{
	for (unsigned x = 0; x < width; x++) {
		for (unsigned i = 0; i < (unsigned)colours; i++) {
			unsigned wave = (x * (5 + 3 * i) + y * (7 - i)) & 127;

			row[x * (unsigned)colours + i] = (uint8_t)(wave +
			    next_random(state) / 2);
		}
	}
}

uint8_t *
jpegs_make(const struct jpeg_kind *k, unsigned width, unsigned height,
    unsigned seed, size_t *len)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	unsigned char *bytes = NULL;
	unsigned long size = 0;
	uint32_t state = seed;
	uint8_t *row;

	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &bytes, &size);
	c.image_width = width;
	c.image_height = height;
	c.in_color_space = k->space == JCS_GRAYSCALE ? JCS_GRAYSCALE :
	    k->space == JCS_CMYK || k->space == JCS_YCCK ? JCS_CMYK : JCS_RGB;
	c.input_components = c.in_color_space == JCS_GRAYSCALE ? 1 :
	    c.in_color_space == JCS_CMYK ? 4 : 3;
	set_kind(&c, k);
	row = malloc((size_t)width * (unsigned)c.input_components);
	must(row != NULL);
	jpeg_start_compress(&c, TRUE);
	for (unsigned y = 0; y < height; y++) {
		draw_row(row, width, c.input_components, y, &state);
		(void)jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(row);
	*len = size;
	return bytes;
}

/* The first scan of all, then each coefficient bit by bit. */
static void
script_bomb(jpeg_scan_info *scan, unsigned scans)
{
	for (unsigned i = 0; i < scans; i++) {
		int bit = (int)(BOMB_BITS - 1 - i % BOMB_BITS);
		int at = (int)(i / BOMB_BITS) + 1;

		scan[i + 1] = (jpeg_scan_info){ .comps_in_scan = 1, .Ss = at,
		    .Se = at, .Ah = i % BOMB_BITS == 0 ? 0 : bit + 1, .Al = bit };
	}
	scan[0] = (jpeg_scan_info){ .comps_in_scan = 1 };
}

uint8_t *
jpegs_make_bomb(unsigned side, unsigned scans, size_t *len)
{
	static jpeg_scan_info script[BOMB_MOST + 1];
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	unsigned char *bytes = NULL;
	unsigned long size = 0;
	uint8_t *row = calloc(1, side);

	must(row != NULL && scans <= BOMB_MOST);
	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &bytes, &size);
	c.image_width = side;
	c.image_height = side;
	c.in_color_space = JCS_GRAYSCALE;
	c.input_components = 1;
	jpeg_set_defaults(&c);
	script_bomb(script, scans);
	c.scan_info = script;
	c.num_scans = (int)scans + 1;
	jpeg_start_compress(&c, TRUE);
	while (c.next_scanline < side)
		(void)jpeg_write_scanlines(&c, &row, 1);
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(row);
	*len = size;
	return bytes;
}

void
jpegs_decode(struct jpeg_whole *w, const uint8_t *bytes, size_t len,
    unsigned denominator)
{
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr errors;

	d.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&d);
	jpeg_mem_src(&d, bytes, len);
	(void)jpeg_read_header(&d, TRUE);
	w->is_cmyk = d.num_components == 4;
	d.out_color_space = w->is_cmyk ? JCS_CMYK : JCS_EXT_RGBX;
	d.scale_num = 1;
	d.scale_denom = denominator;
	(void)jpeg_start_decompress(&d);
	w->width = d.output_width;
	w->height = d.output_height;
	w->pixels = malloc((size_t)w->width * w->height * 4);
	must(w->pixels != NULL);
	while (d.output_scanline < d.output_height) {
		uint8_t *row = w->pixels +
		    (size_t)d.output_scanline * w->width * 4;

		(void)jpeg_read_scanlines(&d, &row, 1);
	}
	must(errors.num_warnings == 0);
	jpeg_destroy_decompress(&d);
}
