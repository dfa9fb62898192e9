/* SPDX-License-Identifier: Apache-2.0
 *
 * format.h: what a format of pictures is, and the inside of a picture that it
 * fills.  Runs in clients, in any of their threads, with one picture each.
 *
 * picture.c keeps the limits that all formats share, the buffer of rows and
 * the clock; a format reads heads and makes rows.
 */

#ifndef PREP_FORMAT_H
#define PREP_FORMAT_H

#include "prep/picture.h"

#define PICTURE_ROWS	8u	/* decoded at a time */
#define FORMATS_MOST	4u

struct picture {
	unsigned	magic;
	struct picture_limits limits;
	const struct format *format;	/* of what is open; NULL: nothing is */
	void		*decoder;	/* its own, of those below */
	void		*decoders[FORMATS_MOST]; /* each made when first needed */
	const uint8_t	*bytes;		/* the caller's */
	size_t		len;
	uint32_t	width, height;	/* set by open() and shrink() */
	struct picture_box box;
	bool		was_damaged;

	uint32_t	decoded;	/* pixels of a row that the format makes */
	uint32_t	before;		/* of these left of the box */
	uint8_t		*buffer;	/* of rows; room bytes */
	size_t		room;
	uint8_t		*rows[PICTURE_ROWS];
	unsigned	nr, next;	/* rows that are there, the next one */
	uint32_t	left;		/* rows of the box not yet decoded */

	uint64_t	work;		/* since the clock was looked at */
	uint64_t	begun_ns;	/* 0: it was not yet */
};

struct format {
	const char	*name;
	const char	*mark;		/* how its files begin */
	size_t		mark_len;

	int	(*new)(void **decoder, struct ds_err *err);
	void	(*free)(void *decoder);

	int	(*open)(struct picture *p, struct ds_err *err);
	/* Reads the head: width and height.  -errno: close() is called. */
	unsigned (*shrink)(struct picture *p, unsigned denominator);
	/* NULL: it cannot. */
	int	(*start)(struct picture *p, struct ds_err *err);
	/* Of the box; sets what is decoded of a row, and before. */
	int	(*rows)(struct picture *p, unsigned nr, struct ds_err *err);
	/* The next of the box, into p->rows. */
	void	(*close)(struct picture *p);
	/* Whatever was done, and however it ended. */
};

extern const struct format format_jpeg, format_png;

bool picture_is_late(struct picture *p, uint64_t pixels);
	/* After so many pixels more: has it taken all of its time?  Looks at
	 * the clock now and then only. */
int picture_late(struct ds_err *err);
	/* -ETIME, and why. */

int picture_damage(struct picture *p, struct ds_err *err, const char *what);
	/* 0 if damage is accepted, and remembered; -EBADMSG. */

int picture_check_size(const struct picture *p, uint64_t width,
    uint64_t height, struct ds_err *err);
	/* What a head says, before memory is found for it. */

#endif
