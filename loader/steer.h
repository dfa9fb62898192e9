/* SPDX-License-Identifier: Apache-2.0
 *
 * steer.h: a loader whose job is profiled: which batches it delivers is what the
 * schedule says (probe/schedule.h), and what came of it is told in a journal.
 * Runs in clients, in the job's thread; makers and threads that read help.
 *
 *     block -> files in memory, or out of it -> batches -> steps told -> block
 *
 * The first loader of a process that delivers is taken for the one that trains; if
 * it ends before it has delivered STEER_PLAIN batches, the next one is.
 *
 *  1. A block begins and ends with an empty pipeline: no batch of one is made in
 *     another.
 *  2. An epoch delivers no more batches than it would anyway.  Its end is not
 *     passed unless the schedule says so: the process leaves before.
 *  3. Fresh batches come from the front of an epoch's order, the set's from its
 *     end: so fresh ones are as the job left them, in memory or not, for as long as
 *     the two do not meet; what they bring into memory leaves it with their block.
 *  4. Pictures are taken for sound ones, as they are from the second epoch on (but
 *     with verify=yes): what is measured is not what only a first epoch costs.
 *  5. Live (SCHEDULE_LIVE), nothing of all this holds: steps are told, and that is
 *     all.
 */

#ifndef LOADER_STEER_H
#define LOADER_STEER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "loader/batch.h"
#include "loader/plan.h"
#include "probe/session.h"

#define STEER_PLAIN	5u	/* batches before the first block */

struct ds_loader;

struct steer_set {		/* the same samples for all blocks */
	struct plan_run	*runs;		/* batches */
	uint32_t	nr;
	uint64_t	*items;		/* of all of them, one after the other */
	uint64_t	nr_items;
};

struct steer_copy {
	struct batch	*batch;		/* the shelf's */
	_Atomic bool	is_out;		/* the job has it */
	bool		was_out;	/* and may have written to it */
};

struct steer_ring {		/* what is replayed */
	struct batch	**masters;	/* as they were made: never given */
	uint32_t	nr_masters;
	struct steer_copy *copies;	/* of them, in turn */
	uint32_t	nr, at;
};

struct steer_busy {		/* what makers make for nobody */
	pthread_mutex_t	lock;		/* guards the rest */
	pthread_cond_t	changed;
	bool		stops;
	uint32_t	in_work;
	uint64_t	at;		/* of the set, without end */
	uint64_t	samples;	/* that were made */
};

struct steer_fresh {		/* of a block of the job's own batches */
	uint64_t	*out;		/* items whose files were not in memory */
	uint64_t	nr_out;
};

struct steer_totals {		/* of a block, at its beginning */
	uint64_t	fetch_ns, prep_ns, storage_bytes;
	uint64_t	cpu_ns;		/* of the whole process */
};

struct steer_live {		/* of about a second, that is watched */
	uint64_t	begin_ns, batches, samples;
	uint64_t	waited_ns, found_ns, found;
};

enum steer_mode {
	STEER_LIVE,
	STEER_FOLLOWS,
	STEER_CONTINUES,	/* to the end of the epoch, plainly */
	STEER_OFF,
};

struct steer {
	struct session	session;
	uint32_t	loader;		/* its number, from 1 */
	enum steer_mode	mode;
	bool		trains;
	uint64_t	left;		/* batches of the epoch */
	uint64_t	epoch_batches;	/* given in it */

	uint64_t	next;		/* the block to follow */
	uint64_t	id;		/* of the one that is on */
	struct session_block block;
	bool		is_in;		/* one is on */
	uint64_t	begin_ns;
	uint64_t	opened, given;	/* of its batches; the rest is in the
					 * pipeline, or in hand */
	uint64_t	samples;
	struct steer_totals before;
	struct steer_live live;

	struct steer_set set;
	struct steer_fresh fresh;
	struct steer_ring ring;
	struct steer_busy busy;
};

/* steer.c */
void steer_start(struct ds_loader *l);
	/* When its threads run.  Whatever fails, there is no profile. */
bool steer_shares(const struct ds_loader *l);
	/* May it? */
int steer_next(struct ds_loader *l, struct ds_batch **out, struct ds_err *err);
	/* As ds_loader_next().  Only if l->steer is there; may end the
	 * process. */
void steer_stop(struct ds_loader *l);
	/* Before the threads end. */
void steer_free(struct ds_loader *l);
	/* In a forked child, too. */

/* steer_follow.c */
int steer_follow(struct ds_loader *l, uint64_t *asked_ns, struct ds_err *err);
	/* Until a batch is due: ends blocks and begins others.  asked_ns becomes
	 * the beginning of a block that was begun.  -EINTR. */
void steer_check(struct steer *s);
	/* While a block is on, at each of its batches: leaves, if it is to. */
bool steer_fills(const struct ds_loader *l);
	/* Is the pipeline filled by steer_open_ahead()? */
int steer_open_ahead(struct ds_loader *l, uint64_t nr, struct ds_err *err);
	/* As loader_open_ahead(), with batches of the block. */
uint64_t steer_left(const struct ds_loader *l);
	/* Batches from the loader's place to the end of the epoch. */

/* steer_tell.c */
void steer_tell(struct steer *s, enum journal_kind kind,
    const uint64_t word[7], const char *text);
void steer_note(struct steer *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void steer_tell_loader(struct ds_loader *l);
void steer_tell_step(struct steer *s, uint64_t number, uint64_t asked_ns,
    uint64_t cpu_ns, const struct ds_batch *b);
void steer_begin_totals(struct ds_loader *l);
void steer_tell_totals(struct ds_loader *l, uint64_t end_ns,
    uint64_t samples);
	/* Of the block that is on, in which so many were made: MADE, STORAGE. */
_Noreturn void steer_leave(struct steer *s, enum journal_left why);

/* steer_live.c */
int steer_watch(struct ds_loader *l, struct ds_batch **out,
    struct ds_err *err);
	/* As ds_loader_next(). */
void steer_tell_watched(struct ds_loader *l, uint64_t end_ns);

/* steer_set.c */
int steer_choose(struct ds_loader *l, uint32_t batches, struct ds_err *err);
void steer_free_set(struct steer *s);
uint64_t steer_items(const struct steer *s, uint32_t batches);
	/* How many of the set's items so many of its batches have. */

/* steer_ring.c */
int steer_fill_ring(struct ds_loader *l, struct ds_err *err);
	/* Makes each of the set's batches once. */
void steer_restore_ring(struct ds_loader *l);
	/* What the job may have written to is as it was made. */
int steer_replay(struct ds_loader *l, struct ds_batch **out,
    struct ds_err *err);
bool steer_put(struct ds_loader *l, struct batch *b);
	/* The job has released it: was it one of the ring? */
void steer_free_ring(struct steer *s);

/* steer_busy.c */
void steer_begin_busy(struct ds_loader *l);
uint64_t steer_count_busy(struct steer *s);
	/* Samples that were made since it was begun. */
void steer_end_busy(struct ds_loader *l);
	/* When makers have done what they have in hand.  Also if there is
	 * nothing. */

/* steer_files.c */
void steer_arrange(struct ds_loader *l, bool in_memory, uint64_t nr);
	/* The first nr items' files. */
void steer_tell_pages(struct ds_loader *l, bool is_after, uint64_t nr);
void steer_tell_beside(struct ds_loader *l);
	/* Of the data set, as it is found: not of the set's own files. */
void steer_look_fresh(struct ds_loader *l);
	/* Before the block's batches, which are fresh: tells of their files. */
void steer_restore_fresh(struct ds_loader *l);
	/* After it: what it has brought into memory leaves it, so that the next
	 * finds things as they were. */
void steer_free_fresh(struct steer *s);

/* steer_read.c */
struct steer_read {
	uint64_t	begin_ns, end_ns, files, bytes;
	unsigned	readers;
};
void steer_read(struct ds_loader *l, uint64_t nr, struct steer_read *r);
	/* The first nr items, by as many threads as the loader has. */
void steer_bring_in(struct ds_loader *l, uint64_t nr);
	/* The same into memory, by more of them. */

/* steer_alone.c */
int steer_alone(struct ds_loader *l, struct ds_err *err);
	/* The block that is on.  Less than 0: it has no threads any more. */

#endif
