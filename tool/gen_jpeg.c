/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_jpeg.c: a picture as the bytes of a JPEG file, through libjpeg-turbo.
 * Runs in the command only, in any thread.
 */

#include <config.h>

#include "tool/gen_jpeg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>		/* jpeglib.h needs it first */
#include <stdlib.h>

#include <jpeglib.h>

#include "base/must.h"

#define JPEG_MAGIC	0x474a5047u	/* "GJPG" */
#define FIRST_SIZE	((size_t)256 << 10)

#define AS_TEXT(x)	#x
#define VALUE_AS_TEXT(x) AS_TEXT(x)
const char gen_jpeg_version[] = VALUE_AS_TEXT(LIBJPEG_TURBO_VERSION);

struct gen_jpeg {
	unsigned	magic;
	struct jpeg_compress_struct cinfo;
	struct jpeg_error_mgr errors;
	struct jpeg_destination_mgr dest;
	jmp_buf		on_error;
	uint8_t		*bytes;
	size_t		size;		/* of the memory */
	size_t		len;		/* of the file in it */
	int		quality;	/* the tables are made for it; 0: none */
	char		why[JMSG_LENGTH_MAX];
};

/*--- what libjpeg calls --------------------------------------------------*/

static void
fail_encoding(j_common_ptr cinfo)
{
	struct gen_jpeg *j = cinfo->client_data;

	cinfo->err->format_message(cinfo, j->why);
	longjmp(j->on_error, 1);
}

static void
drop_message(j_common_ptr cinfo)
{
	(void)cinfo;
}

static void
start_bytes(j_compress_ptr cinfo)
{
	struct gen_jpeg *j = cinfo->client_data;

	j->dest.next_output_byte = j->bytes;
	j->dest.free_in_buffer = j->size;
}

/* The memory is full: libjpeg means all of it, whatever the counters say. */
static boolean
grow_bytes(j_compress_ptr cinfo)
{
	struct gen_jpeg *j = cinfo->client_data;
	uint8_t *more = realloc(j->bytes, 2 * j->size);

	if (more == NULL) {
		(void)snprintf(j->why, sizeof j->why, "no memory");
		longjmp(j->on_error, 1);
	}
	j->bytes = more;
	j->dest.next_output_byte = more + j->size;
	j->dest.free_in_buffer = j->size;
	j->size *= 2;
	return TRUE;
}

static void
end_bytes(j_compress_ptr cinfo)
{
	struct gen_jpeg *j = cinfo->client_data;

	j->len = j->size - j->dest.free_in_buffer;
}

/*--- what we call --------------------------------------------------------*/

static int
create_encoder(struct gen_jpeg *j)
{
	j->cinfo.err = jpeg_std_error(&j->errors);
	j->errors.error_exit = fail_encoding;
	j->errors.output_message = drop_message;
	j->cinfo.client_data = j;
	if (setjmp(j->on_error) != 0)
		return -ENOMEM;
	jpeg_create_compress(&j->cinfo);
	j->dest.init_destination = start_bytes;
	j->dest.empty_output_buffer = grow_bytes;
	j->dest.term_destination = end_bytes;
	j->cinfo.dest = &j->dest;
	return 0;
}

int
gen_jpeg_new(struct gen_jpeg **out, struct ds_err *err)
{
	struct gen_jpeg *j = calloc(1, sizeof *j);

	if (j == NULL)
		return err_fail(err, -ENOMEM, "no memory for an encoder");
	j->magic = JPEG_MAGIC;
	j->size = FIRST_SIZE;
	j->bytes = malloc(j->size);
	if (j->bytes == NULL || create_encoder(j) < 0) {
		gen_jpeg_free(&j);
		return err_fail(err, -ENOMEM, "no memory for an encoder");
	}
	*out = j;
	return 0;
}

void
gen_jpeg_free(struct gen_jpeg **jp)
{
	struct gen_jpeg *j = *jp;

	*jp = NULL;
	if (j == NULL)
		return;
	must_be(j, JPEG_MAGIC);
	jpeg_destroy_compress(&j->cinfo);
	free(j->bytes);
	j->magic = 0;
	free(j);
}

static void
set_parameters(struct gen_jpeg *j, int quality)
{
	struct jpeg_compress_struct *c = &j->cinfo;

	c->input_components = 3;
	c->in_color_space = JCS_YCbCr;
	jpeg_set_defaults(c);		/* baseline, 4:2:0 */
	jpeg_set_quality(c, quality, TRUE);
	c->dct_method = JDCT_ISLOW;
	c->raw_data_in = TRUE;
}

/* The pointers to the rows of one step of the encoder: 16 of luma, 8 of each
 * chroma. */
static void
write_block_row(struct gen_jpeg *j, const struct gen_picture *p, unsigned y)
{
	JSAMPROW rows[3][GEN_BLOCK];
	JSAMPARRAY planes[3] = { rows[0], rows[1], rows[2] };

	for (unsigned i = 0; i < GEN_BLOCK; i++)
		rows[0][i] = p->y + (size_t)(y + i) * p->stride;
	for (unsigned i = 0; i < GEN_BLOCK / 2; i++) {
		size_t at = (size_t)(y / 2 + i) * (p->stride / 2);

		rows[1][i] = p->cb + at;
		rows[2][i] = p->cr + at;
	}
	(void)jpeg_write_raw_data(&j->cinfo, planes, GEN_BLOCK);
}

int
gen_jpeg_encode(struct gen_jpeg *j, const struct gen_picture *p, int quality,
    const uint8_t **bytes, size_t *len, struct ds_err *err)
{
	must_be(j, JPEG_MAGIC);
	if (setjmp(j->on_error) != 0) {
		jpeg_abort_compress(&j->cinfo);
		return err_fail(err, -ENOMEM, "cannot encode a picture of "
		    "%u x %u: %s", p->width, p->height, j->why);
	}
	if (j->quality != quality)
		set_parameters(j, quality);
	j->quality = quality;
	j->cinfo.image_width = p->width;
	j->cinfo.image_height = p->height;
	jpeg_start_compress(&j->cinfo, TRUE);
	for (unsigned y = 0; y < p->rows; y += GEN_BLOCK)
		write_block_row(j, p, y);
	jpeg_finish_compress(&j->cinfo);
	*bytes = j->bytes;
	*len = j->len;
	return 0;
}
