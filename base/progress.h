/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.h: the one line that says how far a long work has come.
 * Runs in the command only, on standard error.
 *
 * It appears on a terminal only, after two seconds, and is redrawn at most
 * five times a second, so that short works and log files never see it.  It is
 * cut at the width of the terminal: a line that wraps could not be cleared.
 * One thread calls it; whoever prints a line meanwhile calls progress_end()
 * first.
 */

#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/term.h"

struct progress {
	struct term	term;
	const char	*what;		/* "gen" */
	const char	*unit;		/* "images"; NULL: only the time is
					 * shown, for want of a count */
	uint64_t	total;
	uint64_t	first;		/* done before we started */
	uint64_t	start_ns;
	uint64_t	drawn_ns;
	bool		is_drawn;
};

void progress_start(struct progress *p, const char *what, const char *unit,
    uint64_t first, uint64_t total);
void progress_at(struct progress *p, uint64_t done);
void progress_say(struct progress *p, const char *line);
	/* A line of one's own instead of a count.  The cursor is left at its
	 * beginning: what somebody else's program writes there takes its place. */
void progress_end(struct progress *p);
	/* Clears the line. */

#endif
