/* SPDX-License-Identifier: Apache-2.0
 *
 * pipeline.h: the batches in work, oldest first, and who does what next.
 * Runs in clients: the job's thread adds and takes batches; makers turn bytes
 * into samples; readers fetch bytes ahead.
 *
 *     job: add -> [ batches ] -> readers: fetch -> makers: make -> job: take
 *
 * Besides those for the job there are leased ones, which are made for all jobs
 * (share.h): whoever makes the last sample of one publishes it.
 *
 * Where bytes come quickly (cached, or in the page cache) a maker gets them
 * itself: nothing is handed over and no reader wakes up.  Readers work while
 * getting an item takes more than a small share of making its sample, so that
 * the latency of storage is hidden.
 *
 *  1. One lock guards everything here and the cells of batches in work; it is
 *     held for a few instructions per sample.  The sample's memory and its
 *     item belong to whom its cell's state names.
 *  2. The lowest position that can go on goes on: the oldest batch is ready
 *     first, and those for the job before leased ones.
 *  3. Bytes read ahead are at most PIPELINE_AHEAD, or one item.
 *  4. No sample depends on who made it, or when.
 */

#ifndef LOADER_PIPELINE_H
#define LOADER_PIPELINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "destall.h"
#include "loader/batch.h"

#define PIPELINE_AHEAD	(UINT64_C(64) << 20)

struct pipeline {
	struct ds_data	*data;
	uint64_t	seed;
	bool		substitutes;
	uint64_t	bytes_most;	/* of an item; more are not fetched */
	_Atomic uint8_t	*sound;		/* of each item: 1 once it was read to
					 * its end, and was whole */

	pthread_mutex_t	lock;		/* guards the rest */
	pthread_cond_t	for_makers, for_readers, for_job;
	unsigned	idle_makers, idle_readers;
	bool		job_waits, stops;
	unsigned	nr_makers, nr_readers;	/* that were started */
	struct batch	*oldest, *newest;	/* for the job */
	uint32_t	nr_batches;	/* the job's thread alone changes it */
	uint64_t	nr_wanted;	/* cells */
	uint64_t	ahead_bytes;	/* FETCHING, FETCHED, not made */
	uint64_t	fetch_mean_ns, make_mean_ns;	/* of the last few */
	struct ds_loader_counts counts;

	struct batch	*leased;	/* by epoch and number */
	void		(*publish)(void *arg, struct batch *b);
			/* All of a leased one is DONE; it is in no list any
			 * more.  Without the lock. */
	void		*publish_arg;
};

void pipeline_init(struct pipeline *p, struct ds_data *data);
void pipeline_fini(struct pipeline *p);

void pipeline_add(struct pipeline *p, struct batch *b);
	/* Its cells are CACHED or WANTED. */
void pipeline_put_back(struct pipeline *p, struct batch *b);
	/* The one taken last is the oldest again: its samples that failed by
	 * our own fault are tried once more. */
struct batch *pipeline_take(struct pipeline *p);
	/* The oldest, when all of it is DONE.  There is one. */
bool pipeline_is_made(struct pipeline *p);
	/* Nothing is left to do for the job. */
void pipeline_drop(struct pipeline *p);
	/* All for the job, when the threads have ended. */

void pipeline_add_leased(struct pipeline *p, struct batch *b);
	/* In any thread. */
struct batch *pipeline_drop_leased(struct pipeline *p);
	/* The first, when the threads have ended; NULL: there is none. */

void pipeline_stop(struct pipeline *p);
	/* Threads end when they have done what they have in hand. */

/* What a thread has in hand. */
struct task {
	struct batch	*batch;
	uint32_t	i;
	enum cell_state	was;	/* of a maker's: how its bytes are had */
};

bool pipeline_next_make(struct pipeline *p, struct task *t);
bool pipeline_next_fetch(struct pipeline *p, struct task *t);
	/* Wait for something to do; false: end.  The lock is held before and
	 * after these. */

/* What came of it. */
struct done {
	int		rc;		/* DS_SAMPLE_*, or -errno */
	bool		is_bad;
	char		*why;		/* becomes the cell's */
	uint64_t	fetch_ns, make_ns;
	uint64_t	bytes;
};

void pipeline_fetched(struct pipeline *p, const struct task *t,
    const struct ds_item *item, const struct done *d);
struct batch *pipeline_done(struct pipeline *p, const struct task *t,
    const struct done *d);
	/* With the lock held.  A leased batch that is to be published, or
	 * NULL. */

#endif
