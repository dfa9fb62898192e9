/* SPDX-License-Identifier: Apache-2.0
 *
 * picture_jpeg.c: JPEG, through libjpeg-turbo.
 * Runs in clients, in any of their threads, with one picture each.
 *
 *  1. The pixels of a box equal those of the whole picture decoded: chroma is
 *     spread over its neighbours, so one pixel more is decoded at each side.
 *  2. A file that is cut short is damaged, whichever part of it is wanted.
 *     Other damage is seen in what is decoded: with several scans all of it,
 *     else down to the last row of the box (prep.c lets it be the picture's
 *     where a verdict is wanted).  libjpeg-turbo is silent on most
 *     wrong codes; they show when the scan does not end where its rows do,
 *     which is looked at if the box has the last row.
 *  3. CMYK is made RGB as Pillow does it: stored inverted, as Adobe does.
 *  4. EXIF is not looked at: a picture is not turned, as with torchvision's
 *     loader.  What follows the first picture in a file is not looked at.
 */

#include <config.h>

#include "prep/jpeg.h"

#include <errno.h>
#include <string.h>

#define NEIGHBOURS	1u	/* pixels that count for one beside them */
#define WIDTH_LEAST	8u	/* libjpeg spreads narrower ones otherwise */
#define SKIP_PIXELS	(UINT64_C(1) << 18)	/* between looks at the clock */

/*--- the head ------------------------------------------------------------*/

static int
choose_colours(struct jpeg *j, struct ds_err *err)
{
	struct jpeg_decompress_struct *d = &j->d;

	j->is_cmyk = d->jpeg_color_space == JCS_CMYK ||
	    d->jpeg_color_space == JCS_YCCK;
	d->out_color_space = j->is_cmyk ? JCS_CMYK : JCS_EXT_RGBX;
	if (d->jpeg_color_space == JCS_UNKNOWN)
		return err_fail(err, -ENOTSUP, "it has %d colours, which is "
		    "not read", d->num_components);
	return 0;
}

/* Behind the head of the first scan, is there an end?  It cannot stand within
 * the data of a scan.  Sound files have it last. */
static bool
has_end(const struct jpeg *j)
{
	const uint8_t *from = j->d.src->next_input_byte;
	size_t len = j->d.src->bytes_in_buffer;

	while (len >= 2) {
		const uint8_t *at = memrchr(from + 1, 0xd9, len - 1);

		if (at == NULL)
			return false;
		if (at[-1] == 0xff)
			return true;
		len = (size_t)(at - from);
	}
	return false;
}

static int
read_head(struct jpeg *j, struct ds_err *err)
{
	if (setjmp(j->back) != 0)
		return jpeg_explain(j, err);
	jpeg_mem_src(&j->d, j->picture->bytes, j->picture->len);
	j->in_head = true;
	(void)jpeg_read_header(&j->d, TRUE);
	j->in_head = false;
	return 0;
}

static int
open_jpeg(struct picture *p, struct ds_err *err)
{
	struct jpeg *j = p->decoder;
	int rc;

	j->picture = p;
	j->failure = 0;
	j->d.progress = NULL;
	rc = read_head(j, err);
	if (rc < 0)
		return rc;
	p->width = j->d.image_width;
	p->height = j->d.image_height;
	rc = choose_colours(j, err);
	if (rc == 0 && !has_end(j))
		rc = picture_damage(p, err, "cut short");
	return rc;
}

static unsigned
shrink_jpeg(struct picture *p, unsigned denominator)
{
	struct jpeg *j = p->decoder;

	j->d.scale_num = 1;
	j->d.scale_denom = denominator;
	if (setjmp(j->back) != 0)
		return 1;
	jpeg_calc_output_dimensions(&j->d);
	p->width = j->d.output_width;
	p->height = j->d.output_height;
	return denominator;
}

/*--- the box -------------------------------------------------------------*/

/* Where scans are missing, libjpeg guesses from blocks around, and not the same
 * at the edges of a part. */
static bool
is_guessed(const struct jpeg_decompress_struct *d)
{
	if (!d->progressive_mode || d->coef_bits == NULL)
		return false;
	for (int i = 0; i < d->num_components; i++) {
		for (int k = 0; k < DCTSIZE2; k++) {
			if (d->coef_bits[i][k] != 0)
				return true;
		}
	}
	return false;
}

/* Of colours that are decoded smaller by less than others and yet have to be
 * spread, libjpeg-turbo 2.1.5 forgets the scale when it crops. */
static bool
is_miscropped(const struct jpeg_decompress_struct *d)
{
	for (int i = 0; i < d->num_components; i++) {
		const jpeg_component_info *c = &d->comp_info[i];

		if (c->DCT_scaled_size != d->min_DCT_scaled_size &&
		    c->h_samp_factor * c->DCT_scaled_size !=
		    d->max_h_samp_factor * d->min_DCT_scaled_size)
			return true;
	}
	return false;
}

static void
crop(struct jpeg *j)
{
	struct picture *p = j->picture;
	JDIMENSION whole = j->d.output_width;
	JDIMENSION x = p->box.x, end = x + p->box.width + NEIGHBOURS;
	JDIMENSION width;

	x -= x < NEIGHBOURS ? x : NEIGHBOURS;
	if (end < x + WIDTH_LEAST)
		end = x + WIDTH_LEAST;
	if (end > whole)
		end = whole;
	if (x + WIDTH_LEAST > end)
		x = end < WIDTH_LEAST ? 0 : end - WIDTH_LEAST;
	width = end - x;
	jpeg_crop_scanline(&j->d, &x, &width);
	p->before = p->box.x - x;
	p->decoded = width;
}

/* In steps, each whole rows of blocks, so that time can be looked at. */
static void
skip(struct jpeg *j)
{
	struct jpeg_decompress_struct *d = &j->d;
	uint64_t block = (uint64_t)d->max_v_samp_factor *
	    (unsigned)d->min_DCT_scaled_size;
	uint64_t step = (SKIP_PIXELS / (d->output_width * block) + 1) * block;
	uint64_t left = j->picture->box.y;

	while (left > 0) {
		uint64_t rows = left < step ? left : step;

		(void)jpeg_skip_scanlines(d, (JDIMENSION)rows);
		jpeg_watch(j, rows * d->output_width);
		left -= rows;
	}
}

/* Reads all scans, if there are several. */
static int
start_decoding(struct jpeg *j, struct ds_err *err)
{
	struct picture *p = j->picture;

	if (setjmp(j->back) != 0)
		return jpeg_explain(j, err);
	j->d.progress = &j->progress;
	(void)jpeg_start_decompress(&j->d);
	j->d.progress = NULL;
	p->before = p->box.x;
	p->decoded = j->d.output_width;
	if (!is_guessed(&j->d) && !is_miscropped(&j->d))
		crop(j);
	skip(j);
	return 0;
}

static int
start_jpeg(struct picture *p, struct ds_err *err)
{
	struct jpeg *j = p->decoder;
	int rc = jpeg_check_memory(j, err);

	return rc < 0 ? rc : start_decoding(j, err);
}

/*--- rows ----------------------------------------------------------------*/

/* a * b / 255, rounded as Pillow does. */
static unsigned
multiply(unsigned a, unsigned b)
{
	unsigned n = a * b + 128;

	return (n + (n >> 8)) >> 8;
}

/* What is stored is 255 - C, 255 - M, 255 - Y, 255 - K. */
static void
make_rgb(uint8_t *row, uint32_t nr)
{
	for (uint8_t *px = row; nr > 0; nr--, px += PICTURE_PIXEL) {
		unsigned light = px[3];

		for (int i = 0; i < 3; i++)
			px[i] = (uint8_t)(light -
			    multiply(255u - px[i], light));
	}
}

static int
read_rows(struct jpeg *j, unsigned nr, struct ds_err *err)
{
	unsigned more;

	if (setjmp(j->back) != 0)
		return jpeg_explain(j, err);
	for (unsigned got = 0; got < nr; got += more) {
		more = jpeg_read_scanlines(&j->d, j->picture->rows + got,
		    nr - got);
		if (more == 0)
			return err_fail(err, -EBADMSG, "it is damaged: no rows");
	}
	if (j->d.output_scanline == j->d.output_height)
		(void)jpeg_finish_decompress(&j->d);
	return 0;
}

static int
rows_jpeg(struct picture *p, unsigned nr, struct ds_err *err)
{
	struct jpeg *j = p->decoder;
	int rc = read_rows(j, nr, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; j->is_cmyk && i < nr; i++)
		make_rgb(p->rows[i], p->decoded);
	return 0;
}

static void
close_jpeg(struct picture *p)
{
	jpeg_forget(p->decoder);
}

const struct format format_jpeg = {
	.name = "JPEG",
	.mark = "\xff\xd8",
	.mark_len = 2,
	.new = jpeg_new,
	.free = jpeg_free,
	.open = open_jpeg,
	.shrink = shrink_jpeg,
	.start = start_jpeg,
	.rows = rows_jpeg,
	.close = close_jpeg,
};
