/* SPDX-License-Identifier: Apache-2.0
 *
 * top_screen.c: a picture that is drawn again and again where it stands, and
 * the key that ends it.  Runs in the command only.
 *
 *  1. A picture is never higher than the terminal less one line, and its lines
 *     are cut, not wrapped: so the cursor finds back to its first line.
 *  2. After the terminal has changed its size nobody knows where that is: all
 *     is cleared.
 *  3. The terminal's settings are touched only while we are in its foreground:
 *     from the background that would stop us.  They are set for every picture,
 *     for a shell that stopped us and let us go on had its own meanwhile.
 */

#include <config.h>

#include "tool/top.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/say.h"

#define ROWS_DEFAULT	24u
#define ROWS_LEAST	2u
#define NO_WRAP		"\033[?7l"
#define WRAP		"\033[?7h"
#define CLEAR_ALL	"\033[H\033[2J"
#define CLEAR_LINE	"\033[K"
#define CLEAR_BELOW	"\033[J"

/*--- keys ----------------------------------------------------------------*/

static bool
in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void
want_keys(const struct top_screen *s)
{
	struct termios now = s->before;

	if (!s->has_keys || !in_foreground())
		return;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

static bool
read_key(struct top_screen *s)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1) {
		s->has_keys = false;
		return false;
	}
	return key == 'q' || key == 'Q';
}

bool
top_screen_wait(struct top_screen *s, int stop_fd, uint64_t until_ns)
{
	for (;;) {
		bool listens = s->has_keys && in_foreground();
		struct pollfd p[] = {
			{ .fd = stop_fd, .events = POLLIN },
			{ .fd = listens ? STDIN_FILENO : -1,
			  .events = POLLIN },
		};
		int left_ms = clock_left_ms(until_ns);

		if (left_ms <= 0)
			return false;
		if (poll(p, 2, left_ms) <= 0)
			continue;
		if (p[0].revents != 0)
			return false;
		if (p[1].revents != 0 && read_key(s))
			return true;
	}
}

/*--- pictures ------------------------------------------------------------*/

void
top_screen_open(struct top_screen *s)
{
	*s = (struct top_screen){ 0 };
	term_init(&s->term, stdout);
	s->has_keys = s->term.can_redraw &&
	    tcgetattr(STDIN_FILENO, &s->before) == 0;
}

void
top_screen_close(struct top_screen *s)
{
	if (s->has_keys && in_foreground())
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
}

/* To where the next picture begins. */
static void
go_back(struct top_screen *s)
{
	struct winsize ws = { 0 };
	unsigned rows = ROWS_DEFAULT, columns = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 &&
	    ws.ws_row >= ROWS_LEAST) {
		rows = ws.ws_row;
		columns = ws.ws_col;
	}
	if (s->lines > 0 && (rows != s->rows || columns != s->columns))
		fputs(CLEAR_ALL, stdout);
	else if (s->lines > 0)
		printf("\r\033[%uA", s->lines);
	s->rows = rows;
	s->columns = columns;
	s->lines = 0;
}

static void
draw_lines(struct top_screen *s, const char *text)
{
	const char *end;

	go_back(s);
	fputs(NO_WRAP, stdout);
	for (; *text != '\0' && s->lines < s->rows - 1; s->lines++) {
		end = strchrnul(text, '\n');
		printf("%.*s" CLEAR_LINE "\n", (int)(end - text), text);
		text = *end != '\0' ? end + 1 : end;
	}
	fputs(CLEAR_BELOW WRAP, stdout);
}

/* What is printed, as text. */
static char *
print_text(const struct top_screen *s, const struct top *t)
{
	struct term term = s->term;
	char *text = NULL;
	size_t size = 0;
	bool failed;

	term.out = open_memstream(&text, &size);
	if (term.out == NULL)
		say_no_memory();
	top_print(t, &term);
	failed = ferror(term.out) != 0;
	if (fclose(term.out) != 0 || failed)
		say_no_memory();
	return text;
}

void
top_screen_draw(struct top_screen *s, const struct top *t)
{
	char *text;

	if (s->term.can_redraw) {
		want_keys(s);
		text = print_text(s, t);
		draw_lines(s, text);
		free(text);
	} else {
		if (s->lines++ > 0)
			putchar('\n');
		top_print(t, &s->term);
	}
	fflush(stdout);
}
