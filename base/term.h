/* SPDX-License-Identifier: Apache-2.0
 *
 * term.h: what the stream we write to can show.  Runs in the command only.
 */

#ifndef BASE_TERM_H
#define BASE_TERM_H

#include <stdbool.h>
#include <stdio.h>

struct term {
	FILE		*out;
	bool		can_redraw;	/* a terminal that knows escapes */
	bool		colour;
	unsigned	width;		/* columns, 80 if unknown */
};

enum term_style {
	TERM_BOLD, TERM_DIM, TERM_GOOD, TERM_WARN, TERM_BAD,
};

void term_init(struct term *t, FILE *out);
	/* Colour on a terminal, unless NO_COLOR is set and not empty or TERM
	 * is dumb; FORCE_COLOR or CLICOLOR_FORCE, if not empty or 0, turn it
	 * on anywhere.  The width is COLUMNS or the terminal's own, kept
	 * between 40 and 200. */

unsigned term_columns(FILE *out);
	/* COLUMNS, or what the terminal has at this moment; 80 if unknown. */

const char *term_on(const struct term *t, enum term_style style);
const char *term_off(const struct term *t);
	/* What to print before and after; "" where there is no colour. */

unsigned term_wrap(const struct term *t, unsigned column, unsigned indent,
    const char *text);
	/* Prints words, which blanks separate, from the given column on,
	 * broken at the width, further lines indented; returns the column it
	 * ends at.  A word longer than a line is not broken. */

#endif
