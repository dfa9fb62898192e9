/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.h: encoded pictures, decoded row by row, as far as they are needed.
 * Runs in clients, in any of their threads, with one picture each.
 *
 * A picture is reused from file to file, so that memory is found once:
 *
 *     picture_open() -> picture_start() -> picture_row()... -> picture_close()
 *
 *  1. Bytes are hostile.  Whatever they are, each call ends, within the limits
 *     and with pixels that equal those of a whole decode, or with an error.
 *     Damaged data is an error, unless limits.truncated accepts it: never grey
 *     without a word.
 *  2. Rows are R, G, B and a fourth byte that means nothing.
 *  3. The kind is told by the bytes, never by the name.
 *  4. A format is one file and one line in the table of picture.c.
 */

#ifndef PREP_PICTURE_H
#define PREP_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct picture_limits {
	uint64_t	bytes;		/* of the file */
	uint64_t	pixels;		/* as its head says */
	uint64_t	scans;		/* of a progressive one */
	uint64_t	time_ns;	/* of the processor, per picture */
	uint64_t	memory;		/* for one decoder, in bytes */
	bool		truncated;	/* accept damaged data, and count it */
};

struct picture_box {
	uint32_t x, y, width, height;
};

#define PICTURE_SIDE_MOST (UINT32_C(1) << 20)	/* pixels */
#define PICTURE_PIXEL	4u	/* bytes */
#define PICTURE_SLACK	64u	/* readable behind each row */

struct picture;

int picture_new(struct picture **out, const struct picture_limits *limits,
    struct ds_err *err);
void picture_free(struct picture **pp);

int picture_open(struct picture *p, const void *bytes, size_t len,
    struct ds_err *err);
	/* Reads the head.  The bytes stay the caller's, until picture_close().
	 * -ENODATA, -EBADMSG, -ENOTSUP, -EFBIG, -ETIME: it is bad, and why;
	 * -ENOMEM: we are.  On failure it is closed. */
int picture_too_long(uint64_t bytes, struct ds_err *err);
	/* -EFBIG, as it says of a file past limits.bytes; for who knows that
	 * before reading it. */
uint32_t picture_width(const struct picture *p);
uint32_t picture_height(const struct picture *p);

unsigned picture_shrink(struct picture *p, unsigned denominator);
	/* Decode it smaller, by 2, 4 or 8, if the format can: what it will be
	 * divided by.  Width and height are those of the smaller picture then,
	 * rounded up.  Before picture_start(). */

int picture_start(struct picture *p, const struct picture_box *box,
    struct ds_err *err);
	/* The box is within the picture, and not empty. */
int picture_row(struct picture *p, const uint8_t **row, struct ds_err *err);
	/* The next of box.height rows of box.width pixels; valid until the
	 * next call. */

int picture_check_memory(const struct picture *p, uint64_t bytes,
    struct ds_err *err);
	/* -EFBIG: more than its limit allows. */

void picture_close(struct picture *p);
	/* At any time: rows that are not needed are not decoded. */

bool picture_was_damaged(const struct picture *p);
	/* And accepted; tells of the last one, after closing it, too. */

#endif
