/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_term.c: tests of base/term.c.
 *
 * The environment is replaced as a whole: setenv() keeps memory, which the
 * check for leaks would see.
 */

#include <config.h>

#include "base/term.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/unit.h"

#define MAX_ENV	5

struct on_terminal {
	const char *env[MAX_ENV];
	unsigned short columns;	/* of the terminal; 0: a file */
	bool redraw, colour;
	unsigned width;
};

static void
check_term(const struct on_terminal *c)
{
	struct winsize size = { .ws_row = 24, .ws_col = c->columns };
	char **saved = environ;
	int master = -1, slave = -1;
	struct term t;
	FILE *out;

	if (c->columns > 0)
		assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	out = c->columns > 0 ? fdopen(slave, "w") : fopen("/dev/null", "we");
	assert_non_null(out);
	environ = (char **)(uintptr_t)c->env;
	term_init(&t, out);
	environ = saved;
	assert_int_equal(t.can_redraw, c->redraw);
	assert_int_equal(t.colour, c->colour);
	assert_int_equal(t.width, c->width);
	assert_int_equal(*term_on(&t, TERM_BAD) != '\0', c->colour);
	assert_int_equal(*term_off(&t) != '\0', c->colour);
	fclose(out);
	if (master >= 0)
		close(master);
}

static void
looks_at_terminal_and_environment(void **state)
{
	static const struct on_terminal cases[] = {
		{ { "TERM=xterm" }, 100, true, true, 100 },
		{ { "TERM=xterm", "NO_COLOR=1" }, 100, true, false, 100 },
		{ { "TERM=xterm", "NO_COLOR=" }, 100, true, true, 100 },
		{ { "TERM=dumb" }, 100, false, false, 100 },
		{ { "TERM=" }, 100, false, false, 100 },
		{ { NULL }, 100, false, false, 100 },
		{ { "TERM=dumb", "FORCE_COLOR=1" }, 100, false, true, 100 },
		{ { "TERM=xterm", "COLUMNS=60" }, 100, true, true, 60 },
		{ { "TERM=xterm", "COLUMNS=60x" }, 100, true, true, 100 },
		{ { "TERM=xterm", "COLUMNS=0" }, 100, true, true, 100 },
		{ { "TERM=xterm" }, 5, true, true, 40 },
		{ { "TERM=xterm" }, 65535, true, true, 200 },
		{ { "TERM=xterm" }, 0, false, false, 80 },
		{ { "FORCE_COLOR=1" }, 0, false, true, 80 },
		{ { "FORCE_COLOR=0" }, 0, false, false, 80 },
		{ { "FORCE_COLOR=" }, 0, false, false, 80 },
		{ { "CLICOLOR_FORCE=1" }, 0, false, true, 80 },
		{ { "CLICOLOR_FORCE=0" }, 0, false, false, 80 },
		{ { "FORCE_COLOR=1", "NO_COLOR=1" }, 0, false, false, 80 },
		{ { "COLUMNS=120" }, 0, false, false, 120 },
		{ { "COLUMNS=99999999999999999999" }, 0, false, false, 80 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_term(&cases[i]);
}

static void
wraps_at_words(void **state)
{
	static const struct {
		unsigned width, column, indent;
		const char *text, *want;
		unsigned ends;
	} cases[] = {
		{ 10, 0, 0, "", "", 0 },
		{ 10, 0, 0, "   ", "", 0 },
		{ 10, 0, 0, "one", "one", 3 },
		{ 10, 0, 0, " one  two ", "one two", 7 },
		{ 10, 0, 0, "123456 890", "123456 890", 10 },
		{ 10, 0, 0, "123456 8901", "123456\n8901", 4 },
		{ 10, 0, 2, "aaaa bbbb cccc", "aaaa bbbb\n  cccc", 6 },
		{ 10, 4, 4, "aaa bbb ccc", "aaa\n    bbb\n    ccc", 7 },
		{ 10, 0, 0, "averylongword b", "averylongword\nb", 1 },
		{ 10, 0, 2, "a averylongword b", "a\n  averylongword\n  b", 3 },
		{ 10, 2, 2, "averylongword", "averylongword", 15 },
		{ 10, 8, 2, "long", "\n  long", 6 },
		{ 10, 12, 2, "x", "\n  x", 3 },
		{ 10, 0, 0, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xe2\x82\xac"
		    "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac",
		    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 \xe2\x82\xac"
		    "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 10 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = NULL;
		size_t len = 0;
		struct term t = { .out = open_memstream(&text, &len),
		    .width = cases[i].width };
		unsigned ends = term_wrap(&t, cases[i].column,
		    cases[i].indent, cases[i].text);

		fclose(t.out);
		assert_string_equal(text, cases[i].want);
		assert_int_equal(ends, cases[i].ends);
		free(text);
	}
}

UNIT_MAIN(
	UNIT(looks_at_terminal_and_environment),
	UNIT(wraps_at_words))
