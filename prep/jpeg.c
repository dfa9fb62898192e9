/* SPDX-License-Identifier: Apache-2.0
 *
 * jpeg.c: a decoder of libjpeg-turbo, and how it fails.
 * Runs in clients, in any of their threads, with one picture each.
 *
 * libjpeg repairs what it can, fills the rest with grey and warns: for us a
 * warning is a failure, unless damage is accepted.  It has no limit of its own
 * that holds: scans and time are looked at between rows of blocks, memory is
 * computed from the head.
 */

#include <config.h>

#include "prep/jpeg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>

/*--- failures ------------------------------------------------------------*/

static _Noreturn void
jump_back(j_common_ptr c)
{
	struct jpeg *j = c->client_data;

	longjmp(j->back, 1);
}

/* Warnings that say nothing of the pixels; bytes that belong to nothing do not
 * before there are any. */
static bool
is_harmless(const struct jpeg *j, int code)
{
	return code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
	    code == JWRN_NOT_SEQUENTIAL ||
	    (code == JWRN_EXTRANEOUS_DATA && j->in_head);
}

static void
hear_message(j_common_ptr c, int level)
{
	struct jpeg *j = c->client_data;

	if (level >= 0 || is_harmless(j, c->err->msg_code))
		return;
	if (!j->picture->limits.truncated)
		jump_back(c);
	j->picture->was_damaged = true;
}

static void
stay_silent(j_common_ptr c)
{
	(void)c;
}

/* What is not of a kind of its own is damage. */
static int
errno_of(int code)
{
	switch (code) {
	case JERR_OUT_OF_MEMORY:
		return -ENOMEM;
	case JERR_IMAGE_TOO_BIG:
	case JERR_WIDTH_OVERFLOW:
		return -EFBIG;
	case JERR_ARITH_NOTIMPL:
	case JERR_BAD_PRECISION:
	case JERR_CCIR601_NOTIMPL:
	case JERR_COMPONENT_COUNT:
	case JERR_CONVERSION_NOTIMPL:
	case JERR_EMPTY_IMAGE:
	case JERR_FRACT_SAMPLE_NOTIMPL:
	case JERR_NOT_COMPILED:
	case JERR_SOF_UNSUPPORTED:
		return -ENOTSUP;
	default:
		return -EBADMSG;
	}
}

static int
explain_limit(struct jpeg *j, struct ds_err *err)
{
	if (j->failure == -EFBIG)
		return err_fail(err, -EFBIG,
		    "it has more scans than max-scans allows");
	return picture_late(err);
}

int
jpeg_explain(struct jpeg *j, struct ds_err *err)
{
	char text[JMSG_LENGTH_MAX];
	int code = j->errors.msg_code;

	if (j->failure < 0)
		return explain_limit(j, err);
	if (code == JWRN_JPEG_EOF || code == JERR_INPUT_EOF)
		return err_fail(err, -EBADMSG, "it is cut short");
	j->errors.format_message((j_common_ptr)&j->d, text);
	switch (errno_of(code)) {
	case -ENOMEM:
		return err_fail(err, -ENOMEM, "out of memory for a picture of "
		    "%ux%u", j->d.image_width, j->d.image_height);
	case -EBADMSG:
		return err_fail(err, -EBADMSG, "it is damaged: %s", text);
	default:
		return err_fail(err, errno_of(code),
		    "it is of a kind that is not read: %s", text);
	}
}

/*--- limits --------------------------------------------------------------*/

static _Noreturn void
break_limit(struct jpeg *j, int rc)
{
	j->failure = rc;
	jump_back((j_common_ptr)&j->d);
}

void
jpeg_watch(struct jpeg *j, uint64_t pixels)
{
	if (picture_is_late(j->picture, pixels))
		break_limit(j, -ETIME);
}

/* Called for each row of blocks while all scans are read. */
static void
watch_scans(j_common_ptr c)
{
	struct jpeg *j = c->client_data;
	uint64_t scans = (uint64_t)j->d.input_scan_number;

	if (scans > j->picture->limits.scans)
		break_limit(j, -EFBIG);
	jpeg_watch(j, (uint64_t)j->d.image_width * DCTSIZE);
}

static uint64_t
round_up(uint64_t n, int unit)
{
	return (n + (uint64_t)unit - 1) / (uint64_t)unit * (uint64_t)unit;
}

/* Several scans are put together as coefficients of the whole picture. */
int
jpeg_check_memory(struct jpeg *j, struct ds_err *err)
{
	uint64_t bytes = 0;

	if (!jpeg_has_multiple_scans(&j->d))
		return 0;
	for (int i = 0; i < j->d.num_components; i++) {
		const jpeg_component_info *c = &j->d.comp_info[i];

		bytes += round_up(c->width_in_blocks, c->h_samp_factor) *
		    round_up(c->height_in_blocks, c->v_samp_factor) *
		    sizeof(JBLOCK);
	}
	return picture_check_memory(j->picture, bytes, err);
}

/*--- a decoder -----------------------------------------------------------*/

/* Tables of a file would stay for the next one: let them end with it. */
static void *
alloc_for_picture(j_common_ptr c, int pool, size_t size)
{
	struct jpeg *j = c->client_data;

	(void)pool;
	return j->alloc_small(c, JPOOL_IMAGE, size);
}

void
jpeg_forget(struct jpeg *j)
{
	struct jpeg_decompress_struct *d = &j->d;

	jpeg_abort_decompress(d);
	for (int i = 0; i < NUM_QUANT_TBLS; i++)
		d->quant_tbl_ptrs[i] = NULL;
	for (int i = 0; i < NUM_HUFF_TBLS; i++) {
		d->dc_huff_tbl_ptrs[i] = NULL;
		d->ac_huff_tbl_ptrs[i] = NULL;
	}
}

static int
create(struct jpeg *j, struct ds_err *err)
{
	static const unsigned char nothing[1];

	if (setjmp(j->back) != 0) {
		jpeg_destroy_decompress(&j->d);
		return err_fail(err, -ENOMEM, "out of memory for a decoder");
	}
	jpeg_create_decompress(&j->d);
	/* Its source is the one thing that is to last. */
	jpeg_mem_src(&j->d, nothing, sizeof nothing);
	j->alloc_small = j->d.mem->alloc_small;
	j->d.mem->alloc_small = alloc_for_picture;
	return 0;
}

int
jpeg_new(void **decoder, struct ds_err *err)
{
	struct jpeg *j = calloc(1, sizeof *j);
	int rc;

	if (j == NULL)
		return err_fail(err, -ENOMEM, "out of memory for a decoder");
	j->d.err = jpeg_std_error(&j->errors);
	j->errors.error_exit = jump_back;
	j->errors.emit_message = hear_message;
	j->errors.output_message = stay_silent;
	j->progress.progress_monitor = watch_scans;
	j->d.client_data = j;
	rc = create(j, err);
	if (rc < 0) {
		free(j);
		return rc;
	}
	*decoder = j;
	return 0;
}

void
jpeg_free(void *decoder)
{
	struct jpeg *j = decoder;

	jpeg_destroy_decompress(&j->d);
	free(j);
}
