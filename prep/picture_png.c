/* SPDX-License-Identifier: Apache-2.0
 *
 * picture_png.c: PNG, through libpng; built only where that is present.
 * Runs in clients, in any of their threads, with one picture each.
 *
 *  1. The pixels are those of Pillow's convert("RGB"): transparency is dropped,
 *     not blended; of 16 bits the upper 8 count; gamma and profiles do not; a
 *     number that the palette does not have is grey.  Grey of 16 bits is
 *     refused: Pillow makes white of all but its darkest 256 steps.
 *  2. A file without its last chunk is cut short, whichever part is wanted.
 *     Other damage is seen in what is decoded, down to the last row of the box
 *     (of all rows, if it is interlaced).  If damage is accepted, what it hides
 *     is black; of an interlaced palette, its first colour.
 *
 * A row that libpng is not given memory for is decoded and dropped.
 */

#include <config.h>

#include "prep/format.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#define TEXT_MAX	128u
#define WORK_PER_ROW	64u	/* in pixels: even empty rows take time */

struct png {
	png_structp	png;
	png_infop	info;
	jmp_buf		back;
	char		text[TEXT_MAX];	/* why it jumped */
	bool		is_memory;	/* for want of it */
	bool		has_ended;	/* by accepted damage: black from here */
	struct picture	*picture;
	size_t		at;		/* bytes that were read */
	uint32_t	y;		/* the next row of the file */
	int		passes;		/* more than one: interlaced */
	uint8_t		*rows;		/* of the box, if it is */
	bool		has_palette;	/* rows are numbers, a byte each */
	uint8_t		palette[PNG_MAX_PALETTE_LENGTH][PICTURE_PIXEL];
};

/*--- failures ------------------------------------------------------------*/

static _Noreturn void
jump_back(png_structp png, const char *text)
{
	struct png *s = png_get_error_ptr(png);
	size_t len = strnlen(text, sizeof s->text - 1);

	memcpy(s->text, text, len);
	s->text[len] = '\0';
	longjmp(s->back, 1);
}

static void
stay_silent(png_structp png, const char *text)
{
	(void)png;
	(void)text;
}

static void *
find_memory(png_structp png, png_alloc_size_t size)
{
	struct png *s = png_get_mem_ptr(png);
	void *p = malloc(size);

	if (p == NULL)
		s->is_memory = true;
	return p;
}

static void
free_memory(png_structp png, void *p)
{
	(void)png;
	free(p);
}

static int
explain(const struct png *s, struct ds_err *err)
{
	if (s->is_memory)
		return err_fail(err, -ENOMEM, "out of memory for a picture");
	return err_fail(err, -EBADMSG, "it is damaged: %s", s->text);
}

static void
read_bytes(png_structp png, png_bytep to, size_t len)
{
	struct png *s = png_get_io_ptr(png);
	const struct picture *p = s->picture;

	if (len > p->len - s->at)
		png_error(png, "cut short");
	memcpy(to, p->bytes + s->at, len);
	s->at += len;
}

/*--- the head ------------------------------------------------------------*/

static uint32_t
get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	    (uint32_t)at[2] << 8 | at[3];
}

#define MARK_LEN	8u
#define CHUNK_LEAST	12u	/* length, name, checksum */

static bool
has_end(const struct picture *p)
{
	size_t at = MARK_LEN;

	while (p->len - at >= CHUNK_LEAST) {
		uint32_t len = get32(p->bytes + at);

		if (len > p->len - at - CHUNK_LEAST)
			return false;
		if (memcmp(p->bytes + at + 4, "IEND", 4) == 0)
			return true;
		at += CHUNK_LEAST + (size_t)len;
	}
	return false;
}

static int
new_png(void **decoder, struct ds_err *err)
{
	struct png *s = calloc(1, sizeof *s);

	if (s == NULL)
		return err_fail(err, -ENOMEM, "out of memory for a decoder");
	*decoder = s;
	return 0;
}

static int
create(struct png *s, struct ds_err *err)
{
	s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, jump_back,
	    stay_silent, s, find_memory, free_memory);
	if (s->png != NULL)
		s->info = png_create_info_struct(s->png);
	if (s->info == NULL)
		return err_fail(err, -ENOMEM, "out of memory for a decoder");
	return 0;
}

/* Reads up to the pixels.  Chunks that do not change them are not unpacked. */
static int
read_head(struct png *s, struct ds_err *err)
{
	if (setjmp(s->back) != 0)
		return explain(s, err);
	png_set_read_fn(s->png, s, read_bytes);
	png_set_user_limits(s->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	png_set_crc_action(s->png, PNG_CRC_ERROR_QUIT, PNG_CRC_QUIET_USE);
	png_read_info(s->png, s->info);
	return 0;
}

static int
open_png(struct picture *p, struct ds_err *err)
{
	struct png *s = p->decoder;
	int rc;

	*s = (struct png){ .picture = p };
	if (!has_end(p)) {
		rc = picture_damage(p, err, "cut short");
		if (rc < 0)
			return rc;
	}
	rc = create(s, err);
	if (rc == 0)
		rc = read_head(s, err);
	if (rc < 0)
		return rc;
	p->width = png_get_image_width(s->png, s->info);
	p->height = png_get_image_height(s->png, s->info);
	if (png_get_color_type(s->png, s->info) == PNG_COLOR_TYPE_GRAY &&
	    png_get_bit_depth(s->png, s->info) == 16)
		return err_fail(err, -ENOTSUP,
		    "it is grey of 16 bits, which is not read");
	return 0;
}

/*--- rows ----------------------------------------------------------------*/

/* libpng's own way loses its memory twice when there is none for a palette of
 * all numbers. */
static void
read_palette(struct png *s)
{
	png_colorp colours = NULL;
	int nr = 0;

	if (png_get_PLTE(s->png, s->info, &colours, &nr) == 0)
		png_error(s->png, "no palette");
	for (int i = 0; i < PNG_MAX_PALETTE_LENGTH; i++) {
		uint8_t *px = s->palette[i];

		px[0] = i < nr ? colours[i].red : (uint8_t)i;
		px[1] = i < nr ? colours[i].green : (uint8_t)i;
		px[2] = i < nr ? colours[i].blue : (uint8_t)i;
	}
	s->has_palette = true;
}

/* From the end: a pixel is never written before its number was read. */
static void
look_up(const struct png *s, uint8_t *row, uint32_t width)
{
	while (width-- > 0)
		memcpy(row + (size_t)width * PICTURE_PIXEL,
		    s->palette[row[width]], PICTURE_PIXEL);
}

/* Whatever it is but a palette, four bytes of a pixel. */
static void
make_rgb(struct png *s, int type)
{
	if (type == PNG_COLOR_TYPE_GRAY)
		png_set_expand_gray_1_2_4_to_8(s->png);
	if ((type & PNG_COLOR_MASK_COLOR) == 0)
		png_set_gray_to_rgb(s->png);
	png_set_strip_16(s->png);
	png_set_strip_alpha(s->png);
	png_set_filler(s->png, 0xff, PNG_FILLER_AFTER);
}

static void
set_colours(struct png *s)
{
	int type = png_get_color_type(s->png, s->info);
	size_t pixel = PICTURE_PIXEL;

	if (type == PNG_COLOR_TYPE_PALETTE) {
		read_palette(s);
		png_set_packing(s->png);
		pixel = 1;
	} else {
		make_rgb(s, type);
	}
	s->passes = png_set_interlace_handling(s->png);
	png_read_update_info(s->png, s->info);
	if (png_get_rowbytes(s->png, s->info) != s->picture->width * pixel)
		png_error(s->png, "rows of another length");
}

/* The next row of the file, or of this pass. */
static int
read_row(struct png *s, uint8_t *row, struct ds_err *err)
{
	if (picture_is_late(s->picture, s->picture->width + WORK_PER_ROW))
		return picture_late(err);
	png_read_row(s->png, row, NULL);
	s->y++;
	return 0;
}

/* All passes; those rows are kept that are in the box. */
static int
read_passes(struct png *s, struct ds_err *err)
{
	const struct picture *p = s->picture;
	size_t stride = (size_t)p->width * PICTURE_PIXEL;
	int rc = 0;

	for (int pass = 0; pass < s->passes; pass++) {
		s->y = 0;
		while (rc == 0 && s->y < p->height) {
			uint32_t y = s->y - p->box.y;

			rc = read_row(s, s->y >= p->box.y && y < p->box.height ?
			    s->rows + y * stride : NULL, err);
		}
	}
	return rc;
}

static int
find_rows(struct png *s, struct ds_err *err)
{
	const struct picture *p = s->picture;
	size_t stride = (size_t)p->width * PICTURE_PIXEL;
	int rc = picture_check_memory(p, stride * p->box.height, err);

	if (rc < 0)
		return rc;
	s->rows = calloc(p->box.height, stride);
	if (s->rows == NULL)
		return err_fail(err, -ENOMEM, "out of memory for a picture of "
		    "%ux%u", p->width, p->height);
	return 0;
}

static int
read_above(struct png *s, struct ds_err *err)
{
	int rc = 0;

	while (rc == 0 && s->y < s->picture->box.y)
		rc = read_row(s, NULL, err);
	return rc;
}

/* After a jump; rows can be black if that is accepted. */
static int
take_damage(struct png *s, struct ds_err *err)
{
	if (s->is_memory || !s->picture->limits.truncated)
		return explain(s, err);
	s->picture->was_damaged = true;
	s->has_ended = true;
	return 0;
}

static int
start_reading(struct png *s, struct ds_err *err)
{
	int rc;

	if (setjmp(s->back) != 0)
		return take_damage(s, err);
	set_colours(s);
	if (s->passes == 1)
		return read_above(s, err);
	rc = find_rows(s, err);
	return rc < 0 ? rc : read_passes(s, err);
}

static int
start_png(struct picture *p, struct ds_err *err)
{
	p->decoded = p->width;
	p->before = p->box.x;
	return start_reading(p->decoder, err);
}

static void
copy_rows(struct png *s, unsigned nr)
{
	struct picture *p = s->picture;
	size_t stride = (size_t)p->width * PICTURE_PIXEL;
	size_t done = p->box.height - p->left;

	for (unsigned i = 0; i < nr; i++) {
		memcpy(p->rows[i], s->rows + (done + i) * stride, stride);
		if (s->has_palette)
			look_up(s, p->rows[i], p->width);
	}
}

static int
read_rows(struct png *s, unsigned nr, struct ds_err *err)
{
	struct picture *p = s->picture;
	uint32_t first = p->box.y + p->box.height - p->left;
	int rc = 0;

	if (setjmp(s->back) != 0)
		return take_damage(s, err);
	while (rc == 0 && s->y < first + nr) {
		uint8_t *row = p->rows[s->y - first];

		rc = read_row(s, row, err);
		if (rc == 0 && s->has_palette)
			look_up(s, row, p->width);
	}
	return rc;
}

static void
blacken(struct png *s, unsigned nr)
{
	const struct picture *p = s->picture;
	uint32_t first = p->box.y + p->box.height - p->left;
	uint32_t have = s->y > first ? s->y - first : 0;

	for (uint32_t i = have; i < nr; i++)
		memset(p->rows[i], 0, (size_t)p->width * PICTURE_PIXEL);
}

static int
rows_png(struct picture *p, unsigned nr, struct ds_err *err)
{
	struct png *s = p->decoder;
	int rc = 0;

	if (s->rows != NULL) {
		copy_rows(s, nr);
		return 0;
	}
	if (!s->has_ended)
		rc = read_rows(s, nr, err);
	if (s->has_ended)
		blacken(s, nr);
	return rc;
}

static void
close_png(struct picture *p)
{
	struct png *s = p->decoder;

	if (s->png != NULL)
		png_destroy_read_struct(&s->png, &s->info, NULL);
	free(s->rows);
	s->rows = NULL;
}

const struct format format_png = {
	.name = "PNG",
	.mark = "\x89PNG\r\n\x1a\n",
	.mark_len = MARK_LEN,
	.new = new_png,
	.free = free,
	.open = open_png,
	.start = start_png,
	.rows = rows_png,
	.close = close_png,
};
