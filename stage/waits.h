/* SPDX-License-Identifier: Apache-2.0
 *
 * waits.h: which job waits for which, over all passes: cycles are found.
 * Runs in the hub; pure, in memory that the caller gives.
 *
 * All ranks and streams of a job are one node.  An edge goes from a job with a
 * member that is blocked (line.h) to that of one who blocks it, unless that one
 * only keeps something and waits, too (line_keeps): it makes that private.
 */

#ifndef STAGE_WAITS_H
#define STAGE_WAITS_H

#include <stdint.h>

struct wait_edge {
	uint64_t	from, to;	/* jobs */
	uint32_t	pass, place;	/* of the one who is waited for */
};

int64_t waits_cycle(const struct wait_edge *edges, uint32_t nr,
    uint32_t *mark);
	/* The index of an edge that is part of a cycle (from == to is one), or
	 * -1.  mark: room for nr words.  Takes nr * nr looks: give each pair of
	 * jobs once. */

#endif
