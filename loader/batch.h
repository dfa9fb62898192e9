/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.h: the memory of a batch, and how far each of its samples is.
 * Runs in clients, in any of their threads; shelf.h and pipeline.h say which
 * lock guards it.
 *
 * A cell is where one sample is made:
 *
 *     CACHED -----------------------------> MAKING -> DONE
 *     WANTED -> FETCHING -> FETCHED ---------^          ^
 *       +-----------------------------------^|          |
 *                   +--- could not be read --+----------+
 */

#ifndef LOADER_BATCH_H
#define LOADER_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "destall.h"

#define BATCH_MAGIC	0xba7c4e5du

enum cell_state {
	CELL_CACHED,		/* a thread that prepares gets it */
	CELL_WANTED,		/* from storage */
	CELL_FETCHING,		/* by a reader */
	CELL_FETCHED,
	CELL_MAKING,
	CELL_DONE,
};

struct cell {
	enum cell_state	state;
	struct ds_item	item;		/* FETCHED */
	uint64_t	read_ahead;	/* bytes, until it is made */
	int		rc;		/* DONE: DS_SAMPLE_*, or -errno */
	bool		is_bad;		/* by the file's fault, not ours */
	char		*why;		/* rc < 0; NULL: no memory for it */
};

struct batch {
	unsigned	magic;
	struct ds_batch	given;		/* what the job sees */
	struct batch	*next;		/* on the shelf, in the pipeline, or
					 * kept (share_own.c) */
	struct batch	*older, *newer;	/* among all there are */
	uint32_t	room;		/* cells */
	uint32_t	nr;		/* of them in use */
	size_t		bytes;		/* of memory */
	void		*memory;	/* its own; NULL: a bare one, whose
					 * samples are elsewhere */
	struct cell	*cells;
	int64_t		*labels;
	uint64_t	*items, *positions;
	uint8_t		*states;

	/* The pipeline's. */
	uint32_t	nr_left;	/* not DONE */
	uint32_t	nr_ready;	/* CACHED or FETCHED */
	uint32_t	nr_wanted;
	uint32_t	first;		/* all before it are MAKING or DONE */
	uint64_t	made_ns;	/* of all threads together */

	/* Of a bare one: whose its samples are (share.h). */
	struct share_lease *lease;	/* it is made for all jobs; or for this
					 * one, that is alone, in its own
					 * memory */
	struct share_unit *unit;	/* it was made for all jobs */
};

struct batch *batch_new(uint32_t room, size_t sample_bytes);
	/* NULL: no memory. */
struct batch *batch_new_bare(uint32_t room, size_t sample_bytes);
	/* Without memory for samples. */
void batch_free(struct batch *b);

void batch_clear(struct batch *b);
	/* Empty, as a new one is. */

static inline void *
batch_sample(const struct batch *b, uint32_t i)
{
	return (char *)b->given.samples + i * b->given.sample_bytes;
}

struct batch *batch_of(struct ds_batch *given);

void batch_finish(struct batch *b, bool substitutes);
	/* All cells are DONE: fills what the job sees.  Samples that failed
	 * stay, as substitutes, or are left out, and those behind them moved
	 * up. */
void batch_give(struct batch *b, uint32_t count);
	/* The same where nothing failed, or when that is done. */

#endif
