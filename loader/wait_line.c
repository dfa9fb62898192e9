/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_line.c: a progress line for a call that tells nothing while it works.
 * Runs in the command only.
 */

#include <config.h>

#include "loader/wait_line.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "base/io.h"
#include "base/must.h"
#include "base/text.h"

#define REDRAW_MS	200

static void *
draw(void *arg)
{
	struct wait_line *w = arg;
	struct pollfd p = { .fd = w->over, .events = POLLIN };

	while (poll(&p, 1, REDRAW_MS) <= 0)
		progress_at(&w->progress, 0);
	progress_end(&w->progress);
	return NULL;
}

/* Without the thread there is no line, and nothing else is amiss. */
void
wait_line_start(struct wait_line *w, const char *command, const char *name)
{
	char clean[sizeof w->what - 32];

	*w = (struct wait_line){ .over = -1 };
	text_clean(clean, sizeof clean, name);
	(void)snprintf(w->what, sizeof w->what, "%.16s: listing %s", command,
	    clean);
	progress_start(&w->progress, w->what, NULL, 0, 0);
	if (!w->progress.term.can_redraw)
		return;
	w->over = eventfd(0, EFD_CLOEXEC);
	w->runs = w->over >= 0 &&
	    pthread_create(&w->thread, NULL, draw, w) == 0;
}

void
wait_line_end(struct wait_line *w)
{
	if (w->runs) {
		must(eventfd_write(w->over, 1) == 0);
		must(pthread_join(w->thread, NULL) == 0);
	}
	io_close(&w->over);
	w->runs = false;
}
