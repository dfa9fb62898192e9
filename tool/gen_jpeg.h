/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_jpeg.h: a picture as the bytes of a JPEG file, for `destall gen`.
 * Runs in the command only, a struct for each thread.
 *
 * Baseline, 4:2:0, the standard Huffman tables and the exact integer DCT, with
 * which libjpeg-turbo gives the same bytes with and without SIMD.
 */

#ifndef TOOL_GEN_JPEG_H
#define TOOL_GEN_JPEG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tool/gen_picture.h"

struct gen_jpeg;

extern const char gen_jpeg_version[];
	/* Of the library this was built with: another may give other bytes. */

int gen_jpeg_new(struct gen_jpeg **out, struct ds_err *err);
void gen_jpeg_free(struct gen_jpeg **jp);

int gen_jpeg_encode(struct gen_jpeg *j, const struct gen_picture *p,
    int quality, const uint8_t **bytes, size_t *len, struct ds_err *err);
	/* The bytes are the encoder's, valid until the next call. */

#endif
