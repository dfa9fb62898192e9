/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h: text for people, and text that strangers wrote.
 * Runs in every process; takes no memory and no lock.
 */

#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

size_t text_clean(char *out, size_t size, const char *bytes);
	/* Names and messages from elsewhere, fit for a terminal: control
	 * characters, escapes, marks that turn the direction of writing,
	 * characters that show as nothing and bytes that are not UTF-8 become
	 * \xNN.  What does not fit is cut at a whole character.  size is at
	 * least 1; out and bytes must not overlap.  Returns the length. */

size_t text_utf8(char *out, size_t size, const char *bytes);
	/* For JSON: only the bytes that are not UTF-8 become \xNN.  An output
	 * of four times the input and a terminator always suffices. */

const char *text_nearest(const char *word, const char *const *known);
	/* The known word (the list ends with NULL) that a mistyped one most
	 * likely meant, or NULL if none is near. */

/* Figures for people, of three digits: "1.50 GiB", "12.3 ms", "2 min 05 s".
 * The command never calls setlocale(), so the point is a point. */
#define TEXT_FIGURE 32
const char *text_size(char out[TEXT_FIGURE], uint64_t bytes);
const char *text_duration(char out[TEXT_FIGURE], uint64_t ns);
const char *text_count(char out[TEXT_FIGURE], uint64_t n);
	/* 1234567 as 1,234,567 */

#endif
