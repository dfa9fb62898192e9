/* SPDX-License-Identifier: Apache-2.0
 *
 * jpeg.h: a decoder of libjpeg-turbo, and how it fails.
 * Runs in clients, in any of their threads, with one picture each.
 *
 * libjpeg fails by jumping.  Who calls it sets the place to come back to:
 *
 *     if (setjmp(j->back) != 0)
 *             return jpeg_explain(j, err);
 *
 *  1. What one picture defined (its tables) is gone with it: the next one is
 *     decoded as if by a new decoder.
 */

#ifndef PREP_JPEG_H
#define PREP_JPEG_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "prep/format.h"

struct jpeg {
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr	errors;
	struct jpeg_progress_mgr progress;
	jmp_buf			back;
	struct picture		*picture;
	void	*(*alloc_small)(j_common_ptr c, int pool, size_t size);
	int			failure;	/* a limit of ours; or 0 */
	bool			is_cmyk;	/* what is decoded */
	bool			in_head;	/* no pixels yet */
};

int jpeg_new(void **decoder, struct ds_err *err);
void jpeg_free(void *decoder);

void jpeg_forget(struct jpeg *j);
	/* What is left of a picture, so that another can be read. */

int jpeg_explain(struct jpeg *j, struct ds_err *err);
	/* After a jump: why, as a -errno. */

int jpeg_check_memory(struct jpeg *j, struct ds_err *err);
	/* What the head asks for, before it is allocated. */

void jpeg_watch(struct jpeg *j, uint64_t pixels);
	/* Jumps if it is late. */

#endif
