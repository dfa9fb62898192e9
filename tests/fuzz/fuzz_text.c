/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_text.c: any bytes as a name that a terminal is to show.
 *
 * The first byte chooses the room for the output.  The checker below is
 * written from the Unicode standard (table 3-7, the general category Cf), not
 * from text.c.
 */

#include <config.h>

#include <stdbool.h>

#include "base/text.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "text";

/* Table 3-7, "Well-Formed UTF-8 Byte Sequences", row by row. */
static const struct row {
	uint8_t first, last;	/* of the first byte */
	uint8_t low, high;	/* of the second byte */
	size_t len;
} rows[] = {
	{ 0x00, 0x7f, 0x00, 0x00, 1 },
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static size_t
well_formed(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *r = &rows[i];

		if (p[0] < r->first || p[0] > r->last)
			continue;
		if (r->len > len)
			return 0;
		if (r->len > 1 && (p[1] < r->low || p[1] > r->high))
			return 0;
		for (size_t k = 2; k < r->len; k++) {
			if (p[k] < 0x80 || p[k] > 0xbf)
				return 0;
		}
		return r->len;
	}
	return 0;
}

static uint32_t
code_of(const uint8_t *p, size_t len)
{
	switch (len) {
	case 1: return p[0];
	case 2: return (p[0] & 0x1fu) * 64 + (p[1] & 0x3fu);
	case 3: return (p[0] & 0x0fu) * 4096 + (p[1] & 0x3fu) * 64 +
	    (p[2] & 0x3fu);
	default: return (p[0] & 0x07u) * 262144 + (p[1] & 0x3fu) * 4096 +
	    (p[2] & 0x3fu) * 64 + (p[3] & 0x3fu);
	}
}

/* Controls, format characters, separators of lines; noncharacters. */
static bool
is_hostile(uint32_t c)
{
	switch (c) {
	case 0x00ad: case 0x061c: case 0x06dd: case 0x070f: case 0x08e2:
	case 0x180e: case 0x2028: case 0x2029: case 0xfeff: case 0x110bd:
	case 0x110cd: case 0xe0001: case 0x3164: case 0xffa0: case 0x034f:
		return true;
	default:
		return c < 0x20 || (c >= 0x7f && c <= 0x9f) ||
		    (c >= 0x600 && c <= 0x605) || (c >= 0x890 && c <= 0x891) ||
		    (c >= 0x200b && c <= 0x200f) ||
		    (c >= 0x202a && c <= 0x202e) ||
		    (c >= 0x2060 && c <= 0x2064) ||
		    (c >= 0x2066 && c <= 0x206f) ||
		    (c >= 0xfff9 && c <= 0xfffb) ||
		    (c >= 0x13430 && c <= 0x1343f) ||
		    (c >= 0x1bca0 && c <= 0x1bca3) ||
		    (c >= 0x1d173 && c <= 0x1d17a) ||
		    (c >= 0xe0020 && c <= 0xe007f) ||
		    c % 0x10000 >= 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
	}
}

/* Are these whole, well-formed characters, and fit for a terminal? */
static bool
is_good(const char *text, bool for_terminal)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t left = strlen(text);

	while (left > 0) {
		size_t len = well_formed(p, left);

		if (len == 0 || (for_terminal && is_hostile(code_of(p, len))))
			return false;
		p += len;
		left -= len;
	}
	return true;
}

typedef size_t text_f(char *out, size_t size, const char *bytes);

static void
check(text_f *f, const char *text, size_t room, bool for_terminal)
{
	size_t enough = 4 * strlen(text) + 1;
	char *whole = malloc(enough), *again = malloc(enough);
	char *cut = malloc(room);
	size_t len, cut_len;

	must(whole != NULL && again != NULL && cut != NULL);
	len = f(whole, enough, text);
	must(len == strlen(whole) && len < enough);
	must(is_good(whole, for_terminal));
	if (is_good(text, false) && !for_terminal)
		must(strcmp(whole, text) == 0);
	must(f(again, enough, whole) == len && strcmp(again, whole) == 0);
	cut_len = f(cut, room, text);
	must(cut_len == strlen(cut) && cut_len < room);
	must(memcmp(cut, whole, cut_len) == 0 && is_good(cut, for_terminal));
	/* It was cut only where nothing more would fit. */
	must(cut_len == len || cut_len + 17 > room);
	free(whole);
	free(again);
	free(cut);
}

static void
check_nearest(const char *word)
{
	static const char *const known[] = {
		"count", "seed", "size", "classes", "tar", NULL,
	};
	const char *near = text_nearest(word, known);
	bool listed = near == NULL;

	for (size_t i = 0; known[i] != NULL; i++) {
		listed |= near == known[i];
		if (strcmp(known[i], word) == 0)
			must(near == known[i]);
	}
	must(listed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	size_t room = 1 + (len > 0 ? bytes[0] : 0);
	char *text = len > 0 ? fuzz_text(bytes + 1, len - 1) :
	    fuzz_text(bytes, 0);

	check(text_clean, text, room, true);
	check(text_utf8, text, room, false);
	check_nearest(text);
	free(text);
	return 0;
}
