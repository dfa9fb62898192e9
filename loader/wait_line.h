/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_line.h: a progress line for a call that tells nothing while it works.
 * Runs in the command only.
 *
 * A thread draws it, on a terminal only; there is none between start and end
 * elsewhere.
 */

#ifndef LOADER_WAIT_LINE_H
#define LOADER_WAIT_LINE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/progress.h"

struct wait_line {
	bool		runs;
	int		over;		/* eventfd */
	pthread_t	thread;
	struct progress	progress;
	char		what[128];
};

void wait_line_start(struct wait_line *w, const char *command,
    const char *name);
	/* "run: listing NAME" */
void wait_line_end(struct wait_line *w);
	/* The line and the thread are gone. */

#endif
