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

static void
draw(struct progress *p, uint64_t done, uint64_t elapsed_ns)
{
	char a[TEXT_FIGURE], b[TEXT_FIGURE], left[TEXT_FIGURE];
	double rate = (double)(done - p->first) /
	    ((double)elapsed_ns / (double)NS_PER_S);
	uint64_t left_ns = rate > 0 ?
	    (uint64_t)((double)(p->total - done) / rate * (double)NS_PER_S) : 0;

	fprintf(p->term.out, "\r\033[K%s: %s of %s %s, %.0f/s, %s left",
	    p->what, text_count(a, done), text_count(b, p->total), p->unit,
	    rate, rate > 0 ? text_duration(left, left_ns) : "?");
	fflush(p->term.out);
	p->is_drawn = true;
}

void
progress_at(struct progress *p, uint64_t done)
{
	uint64_t now = clock_now_ns();

	if (!p->term.is_tty || now - p->start_ns < QUIET_NS ||
	    now - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn_ns = now;
	draw(p, done, now - p->start_ns);
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
