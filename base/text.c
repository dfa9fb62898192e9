/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c: text for people, and text that strangers wrote.
 * Runs in every process.
 */

#include <config.h>

#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

#define WORD_MAX	64	/* longer words are not compared */

/*--- characters ----------------------------------------------------------*/

/* The length of the UTF-8 character at p and its code point; 0 if there is
 * none: overlong forms, surrogates and values past U+10FFFF included.  Reads
 * no byte past the terminator, because that is no continuation. */
static size_t
decode(const unsigned char *p, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t c;

	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	c = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return len;
}

/* Characters that move the cursor, colour the screen, turn the writing or hide
 * themselves: Unicode's control and format characters, the fillers and
 * selectors that show as nothing, separators of lines. */
static const struct {
	uint32_t first, last;
} unfit[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f },	/* controls, C0 and C1 */
	{ 0x00ad, 0x00ad },			/* soft hyphen */
	{ 0x034f, 0x034f },			/* joiner of graphemes */
	{ 0x0600, 0x0605 }, { 0x061c, 0x061c },	/* Arabic marks */
	{ 0x06dd, 0x06dd }, { 0x070f, 0x070f },
	{ 0x0890, 0x0891 }, { 0x08e2, 0x08e2 },
	{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },	/* fillers, Hangul and Khmer */
	{ 0x180b, 0x180f },			/* Mongolian selectors */
	{ 0x200b, 0x200f },			/* zero width, left, right */
	{ 0x2028, 0x202e },			/* lines, embedding, override */
	{ 0x2060, 0x206f },			/* joiners, isolates */
	{ 0x3164, 0x3164 },			/* filler */
	{ 0xfe00, 0xfe0f },			/* variation selectors */
	{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },	/* byte order mark, filler */
	{ 0xfff0, 0xfffb },			/* annotation */
	{ 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },
	{ 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a },			/* musical */
	{ 0xe0000, 0xe0fff },			/* tags and more selectors */
};

static bool
is_unfit(uint32_t c)
{
	for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++) {
		if (c >= unfit[i].first && c <= unfit[i].last)
			return true;
	}
	/* Noncharacters: the last two of every plane, and 32 more. */
	return (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

static void
put_hex(char out[4], unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 0xf];
}

static size_t
copy_text(char *out, size_t size, const char *bytes, bool for_terminal)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t used = 0, len, need;
	uint32_t code = 0;

	must(size > 0);
	while (*p != '\0') {
		bool shown;

		len = decode(p, &code);
		shown = len > 0 && !(for_terminal && is_unfit(code));
		if (len == 0)
			len = 1;
		need = shown ? len : 4 * len;
		if (used + need >= size)
			break;
		if (shown)
			memcpy(out + used, p, len);
		else for (size_t i = 0; i < len; i++)
			put_hex(out + used + 4 * i, p[i]);
		used += need;
		p += len;
	}
	out[used] = '\0';
	return used;
}

size_t
text_clean(char *out, size_t size, const char *bytes)
{
	return copy_text(out, size, bytes, true);
}

size_t
text_utf8(char *out, size_t size, const char *bytes)
{
	return copy_text(out, size, bytes, false);
}

/*--- words ---------------------------------------------------------------*/

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions, changes and swaps of neighbours (optimal string
 * alignment) between two words of at most WORD_MAX characters. */
static unsigned
distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned row[3][WORD_MAX + 1];
	unsigned *two = row[0], *one = row[1], *now = row[2], *spare;

	for (size_t j = 0; j <= lb; j++)
		one[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			now[j] = least(one[j] + 1, now[j - 1] + 1,
			    one[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && two[j - 2] + 1 < now[j])
				now[j] = two[j - 2] + 1;
		}
		spare = two;
		two = one;
		one = now;
		now = spare;
	}
	return one[lb];
}

/* How wrong a word may be and still be meant: a third of it.  Words of one
 * letter are either right or other words. */
static unsigned
tolerance(size_t a, size_t b)
{
	size_t longer = a > b ? a : b;
	size_t apart = a > b ? a - b : b - a;

	if (longer <= 1)
		return 0;
	if (apart > 1)
		return (unsigned)(longer + 2) / 3;
	return longer < 3 ? 1 : (unsigned)longer / 3;
}

const char *
text_nearest(const char *word, const char *const *known)
{
	const char *best = NULL;
	unsigned best_distance = WORD_MAX + 1, d;
	size_t len = strlen(word);

	if (len == 0 || len > WORD_MAX)
		return NULL;
	for (; *known != NULL; known++) {
		if (strlen(*known) > WORD_MAX)
			continue;
		if (strncmp(word, *known, len) == 0)
			return *known;
		d = distance(word, *known);
		if (d < best_distance && d <= tolerance(len, strlen(*known))) {
			best_distance = d;
			best = *known;
		}
	}
	return best;
}

/*--- figures -------------------------------------------------------------*/

/* Three digits are enough for a person; 9.996 is 10.0, not 10.00. */
static void
put_figure(char out[TEXT_FIGURE], double value, const char *unit)
{
	int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	(void)snprintf(out, TEXT_FIGURE, "%.*f %s", digits, value, unit);
}

const char *
text_size(char out[TEXT_FIGURE], uint64_t bytes)
{
	static const char *const units[] = {
		"KiB", "MiB", "GiB", "TiB", "PiB", "EiB",
	};
	double value = (double)bytes / 1024;
	unsigned u = 0;

	if (bytes < 1024) {
		(void)snprintf(out, TEXT_FIGURE, "%" PRIu64 " B", bytes);
		return out;
	}
	for (; value >= 1023.5 && u < 5; u++)
		value /= 1024;
	put_figure(out, value, units[u]);
	return out;
}

const char *
text_duration(char out[TEXT_FIGURE], uint64_t ns)
{
	uint64_t s = ns / 1000000000 + (ns % 1000000000 >= 500000000);

	/* Each unit ends where it would round to the first of the next. */
	if (ns < 1000)
		(void)snprintf(out, TEXT_FIGURE, "%" PRIu64 " ns", ns);
	else if (ns < 999500)
		put_figure(out, (double)ns / 1e3, "us");
	else if (ns < 999500000)
		put_figure(out, (double)ns / 1e6, "ms");
	else if (s < 60)
		put_figure(out, (double)ns / 1e9, "s");
	else if (s < 3600)
		(void)snprintf(out, TEXT_FIGURE, "%" PRIu64 " min %02" PRIu64
		    " s", s / 60, s % 60);
	else
		(void)snprintf(out, TEXT_FIGURE, "%" PRIu64 " h %02" PRIu64
		    " min", s / 3600, s / 60 % 60);
	return out;
}

const char *
text_count(char out[TEXT_FIGURE], uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
	char *p = out;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return out;
}
