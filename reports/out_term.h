/* SPDX-License-Identifier: Apache-2.0
 *
 * out_term.h: a result for people, on a terminal.  Runs in the command only.
 *
 *  1. It says the same without colour, and fits into 80 columns but for words
 *     that are longer.
 *  2. What is not known is left out; a confession says why.
 */

#ifndef REPORTS_OUT_TERM_H
#define REPORTS_OUT_TERM_H

#include "base/term.h"
#include "base/text.h"
#include "reports/result.h"

void out_term_print(const struct result *r, const struct term *t);

void out_term_brief(const struct result *r, const struct term *t);
	/* The verdict, the shares, and what would help most. */

const char *out_term_colour(const struct term *t, enum share share);
	/* What to print before a share, to be ended by term_off(). */

const char *out_term_rate(char out[TEXT_FIGURE], double value);
	/* "1,234", "12.3" */

void out_term_text(const struct term *t, const char *text, unsigned max);
	/* Somebody else's text; if max is not 0, cut to so many columns. */

#endif
