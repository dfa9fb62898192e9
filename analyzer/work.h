/* SPDX-License-Identifier: Apache-2.0
 *
 * work.h: how much the workers of a loader made of a block, from some time on.
 * Runs in the command only; no I/O.
 *
 * Workers that begin together deliver together, in bunches, and do so for a while:
 * batches that were delivered between two times may be two or three fewer than were
 * made, in parts, by four workers.  Where workers decide how fast a job is, what they
 * made counts, therefore, and not what was delivered of it.
 */

#ifndef ANALYZER_WORK_H
#define ANALYZER_WORK_H

#include <stdint.h>

#include "analyzer/facts.h"

/* The words of JOURNAL_MADE (probe/journal.h). */
enum { MADE_BLOCK, MADE_WORKER, MADE_BEGIN, MADE_END, MADE_SAMPLES, MADE_CPU,
    MADE_KEPT };

struct work {
	double		samples;	/* of a batch that was in work then, the part */
	double		busy_s;		/* of all workers */
	double		pages;		/* of the files of these samples, as far as that
					 * was told, */
	double		resident;	/* and of them in memory before */
	uint64_t	last_ns;	/* when the last batch of the block was begun,
					 * or 0: until then all were at work */
};

void work_find(struct work *w, const struct facts *f, uint64_t block,
    uint64_t from_ns);
	/* From then to last_ns.  Threads of a native loader tell sums, and count
	 * for nothing here. */

#endif
