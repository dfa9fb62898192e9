/* SPDX-License-Identifier: Apache-2.0
 *
 * jpegs.h: JPEG files of all kinds, made in memory, and libjpeg's own decode
 * of the whole of one, to compare with.
 */

#ifndef HARNESS_JPEGS_H
#define HARNESS_JPEGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

struct jpeg_kind {
	const char	*name;
	J_COLOR_SPACE	space;		/* of the file */
	int		h[4], v[4];	/* sampling; 0: 1 */
	bool		is_progressive, is_arithmetic;
	bool		is_split;	/* a scan for each colour */
	bool		is_unfinished;	/* progressive, the last scans missing */
	unsigned	restart;	/* blocks between markers; 0: none */
};

extern const struct jpeg_kind jpeg_kinds[];	/* end with one without name */

uint8_t *jpegs_make(const struct jpeg_kind *k, unsigned width, unsigned height,
    unsigned seed, size_t *len);
	/* Noise on waves.  The caller frees it. */

uint8_t *jpegs_make_bomb(unsigned side, unsigned scans, size_t *len);
	/* A grey square that takes a scan after the other, 630 at most. */

struct jpeg_whole {
	unsigned	width, height;
	uint8_t		*pixels;	/* 4 bytes each: RGBX, or CMYK as stored */
	bool		is_cmyk;
};

void jpegs_decode(struct jpeg_whole *w, const uint8_t *bytes, size_t len,
    unsigned denominator);
	/* A sound one; ends the program otherwise.  The caller frees pixels. */

#endif
