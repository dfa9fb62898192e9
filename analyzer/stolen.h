/* SPDX-License-Identifier: Apache-2.0
 *
 * stolen.h: what the host of a virtual machine took from its processors, over
 * time, as the kernel tells it (/proc/stat).  Runs in the command only.
 *
 * What was running when it was taken is slower for it, and no clock of a process
 * shows why: blocks that suffered much more than others of their kind do not
 * count (chosen.c).
 */

#ifndef ANALYZER_STOLEN_H
#define ANALYZER_STOLEN_H

#include <stddef.h>
#include <stdint.h>

struct stolen_look {
	uint64_t at_ns;
	double	taken, wanted;		/* ticks of all processors, since ever */
};

struct stolen {
	const char	*path;		/* NULL: /proc/stat */
	struct stolen_look *looks;	/* in the order of time */
	size_t		nr;
};

void stolen_fini(struct stolen *s);

void stolen_look(struct stolen *s, uint64_t now_ns);
	/* To be called often; looks a few times a second. */

double stolen_share(const struct stolen *s, uint64_t begin_ns,
    uint64_t end_ns);
	/* Of the time that somebody wanted a processor for: one that is idle
	 * loses nothing.  0 where it is not known, or too little to say. */

#endif
