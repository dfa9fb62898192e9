/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_picture.h: the pictures of `destall gen`.  Runs in the command only, a
 * struct for each thread.
 *
 * A picture is a function of (seed, index, width, height) in whole numbers
 * alone: the same on every machine, with every compiler.  It is made of
 * occluding shapes whose sizes follow a power law ("dead leaves"), the model
 * that has the edges, scales and spectra of photographs (doc/datasets.md).
 *
 *  1. What is drawn depends on the four numbers only, never on what the struct
 *     was used for before.
 *  2. The planes are filled to whole blocks of GEN_BLOCK: an encoder reads
 *     past width and height.
 */

#ifndef TOOL_GEN_PICTURE_H
#define TOOL_GEN_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define GEN_MODEL	1	/* a change of any pixel is another model */
#define GEN_BLOCK	16u	/* pixels: an encoder's unit of 4:2:0 */

struct gen_workspace;

struct gen_picture {
	unsigned	magic;
	unsigned	width, height;
	unsigned	stride, rows;	/* of y; of cb and cr, half */
	uint8_t		*y, *cb, *cr;
	struct gen_workspace *work;
};

int gen_picture_new(struct gen_picture **out, unsigned max_width,
    unsigned max_height, struct ds_err *err);
void gen_picture_free(struct gen_picture **pp);

void gen_picture_make(struct gen_picture *p, uint64_t seed, uint64_t index,
    unsigned width, unsigned height);
	/* Fills the planes, which stay until the next call. */

#endif
