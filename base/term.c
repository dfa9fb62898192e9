/* SPDX-License-Identifier: Apache-2.0
 *
 * term.c: what the stream we write to can show.  Runs in the command only.
 */

#include <config.h>

#include "base/term.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/parse.h"

#define WIDTH_DEFAULT	80u
#define WIDTH_MIN	40u
#define WIDTH_MAX	200u

static bool
is_set(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0';
}

static bool
is_forced(const char *name)
{
	return is_set(name) && strcmp(getenv(name), "0") != 0;
}

static bool
knows_escapes(void)
{
	return is_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

static bool
wants_colour(bool can_redraw)
{
	if (is_set("NO_COLOR"))
		return false;
	return can_redraw || is_forced("FORCE_COLOR") ||
	    is_forced("CLICOLOR_FORCE");
}

unsigned
term_columns(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize ws;
	uint64_t width;

	if (columns != NULL &&
	    parse_count(columns, 1, UINT16_MAX, &width, NULL) == 0)
		return (unsigned)width;
	if (ioctl(fileno(out), TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col;
	return WIDTH_DEFAULT;
}

/* Text broken at fewer columns than this, or read at more, is no pleasure. */
static unsigned
choose_width(FILE *out)
{
	unsigned width = term_columns(out);

	if (width < WIDTH_MIN)
		return WIDTH_MIN;
	return width > WIDTH_MAX ? WIDTH_MAX : width;
}

void
term_init(struct term *t, FILE *out)
{
	int fd = fileno(out);
	bool is_tty = fd >= 0 && isatty(fd) != 0;

	t->out = out;
	t->can_redraw = is_tty && knows_escapes();
	t->colour = wants_colour(t->can_redraw);
	t->width = choose_width(out);
}

const char *
term_on(const struct term *t, enum term_style style)
{
	static const char *const codes[] = {
		[TERM_BOLD] = "\033[1m",
		[TERM_DIM] = "\033[2m",
		[TERM_GOOD] = "\033[32m",
		[TERM_WARN] = "\033[33m",
		[TERM_BAD] = "\033[31m",
	};

	return t->colour ? codes[style] : "";
}

const char *
term_off(const struct term *t)
{
	return t->colour ? "\033[0m" : "";
}

/* Columns of a word: one per character, so that UTF-8 does not break early. */
static unsigned
columns_of(const char *word, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)word[i] & 0xc0) != 0x80;
	return n;
}

unsigned
term_wrap(const struct term *t, unsigned column, unsigned indent,
    const char *text)
{
	bool first = true;

	for (;;) {
		size_t len;
		unsigned columns;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (len == 0)
			return column;
		columns = columns_of(text, len);
		if ((!first || column > indent) &&
		    column + !first + columns > t->width) {
			fprintf(t->out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		fprintf(t->out, "%s%.*s", first ? "" : " ", (int)len, text);
		column += columns + !first;
		first = false;
		text += len;
	}
}
