/* SPDX-License-Identifier: Apache-2.0
 *
 * planner.h: which block comes next, and how long it is.
 * Runs in the command only; no I/O, no clock of its own.
 *
 * Blocks are taken by turns, round after round, so that whatever drifts meets all
 * of them; each is as long as a second or two, less where there is little time, in
 * whole bunches of as many batches as there are workers.
 *
 *  1. The first block of each start of the job chooses the set of samples.
 *  2. No block is longer than what an epoch has room for, as far as that is known.
 *  3. What cannot be measured is left out: no block of files whose names are not
 *     known, no busy workers where there are none.
 *  4. Where files left memory in all blocks of a kind, it comes once more out of its
 *     turn, a few times.
 */

#ifndef ANALYZER_PLANNER_H
#define ANALYZER_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/measure.h"
#include "probe/schedule.h"

struct planner_job {
	uint64_t	workers, prefetch, batch_size;
	uint64_t	room;		/* batches that an epoch has for blocks; 0: not
					 * known */
	uint64_t	cores;		/* more workers are not tried */
	bool		is_iterable;
	bool		is_pipelined;	/* its workers are threads of one pipeline */
	bool		knows_files;	/* of the set */
	double		for_s;		/* that all blocks may take; 0: not known */
	double		batch_s;	/* of a batch, as the job is */
	double		step_s;		/* of them, the job's own */
};

struct planned {
	enum block_kind	kind;
	uint32_t	batches;
	uint32_t	workers;
};

struct planner {
	struct planner_job job;
	uint32_t	set;		/* batches of the set */
	uint32_t	at;		/* in the round */
	uint32_t	round;		/* whole ones are behind */
	uint32_t	again[BLOCK_KINDS];	/* out of their turn */
};

void planner_start(struct planner *p, const struct planner_job *job);
	/* A start of the job; rounds go on where they were. */

void planner_next(struct planner *p, const struct measured_list *l,
    struct planned *out);
	/* l: all that was measured so far. */

#define PLANNER_ROUNDS_LEAST	3u	/* before intervals mean anything */

#endif
