/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.c: the one line that says how far a long work has come.
 * Runs in the command only.
 */

#include <config.h>

#include "base/progress.h"

#include "base/clock.h"
#include "base/text.h"

#define QUIET_NS	(2 * NS_PER_S)
#define REDRAW_NS	(NS_PER_S / 5)
#define LEFT_MAX_NS	1e18	/* thirty years: nobody knows */
#define LINE_MAX_LEN	256

void
progress_start(struct progress *p, const char *what, const char *unit,
    uint64_t first, uint64_t total)
{
	*p = (struct progress){
		.what = what, .unit = unit, .first = first, .total = total,
		.start_ns = clock_now_ns(),
	};
	term_init(&p->term, stderr);
}

/* "3 min 20 s", or "?" before anything is known. */
static const char *
text_left(char out[TEXT_FIGURE], uint64_t left, double rate)
{
	double ns;

	if (rate <= 0)
		return "?";
	ns = (double)left / rate * (double)NS_PER_S;
	return ns < LEFT_MAX_NS ? text_duration(out, (uint64_t)ns) : "?";
}

static void
draw(struct progress *p, uint64_t done, uint64_t elapsed_ns)
{
	char a[TEXT_FIGURE], b[TEXT_FIGURE], left[TEXT_FIGURE];
	char line[LINE_MAX_LEN];
	uint64_t since = done > p->first ? done - p->first : 0;
	uint64_t to_do = p->total > done ? p->total - done : 0;
	double rate = (double)since / ((double)elapsed_ns / (double)NS_PER_S);

	if (p->unit == NULL)
		(void)snprintf(line, sizeof line, "%s: %s", p->what,
		    text_duration(a, elapsed_ns));
	else
		(void)snprintf(line, sizeof line,
		    "%s: %s of %s %s, %.0f/s, %s left", p->what,
		    text_count(a, done), text_count(b, p->total), p->unit,
		    rate, text_left(left, to_do, rate));
	/* The window may have changed: a line that wraps cannot be cleared. */
	fprintf(p->term.out, "\r\033[K%.*s",
	    (int)term_columns(p->term.out) - 1, line);
	fflush(p->term.out);
	p->is_drawn = true;
}

/* Is it time for a line? */
static bool
is_due(struct progress *p, uint64_t now)
{
	if (!p->term.can_redraw || now - p->start_ns < QUIET_NS ||
	    now - p->drawn_ns < REDRAW_NS)
		return false;
	p->drawn_ns = now;
	return true;
}

void
progress_at(struct progress *p, uint64_t done)
{
	uint64_t now = clock_now_ns();

	if (is_due(p, now))
		draw(p, done, now - p->start_ns);
}

void
progress_say(struct progress *p, const char *line)
{
	if (!is_due(p, clock_now_ns()))
		return;
	fprintf(p->term.out, "\r\033[K%.*s\r",
	    (int)term_columns(p->term.out) - 1, line);
	fflush(p->term.out);
	p->is_drawn = true;
}

void
progress_end(struct progress *p)
{
	if (!p->is_drawn)
		return;
	fputs("\r\033[K", p->term.out);
	fflush(p->term.out);
	p->is_drawn = false;
}
