/* SPDX-License-Identifier: Apache-2.0
 *
 * loader.h: what a loader is made of.  Runs in clients.
 *
 *     plan -> batches in the pipeline -> finished, written down -> the job
 *
 * It becomes, in this order: open (options can be set), ready (the samples and
 * their order are known), started (threads work).
 *
 *  1. The job's calls that give, save or change something take turns, by the
 *     lock `turn`; it is taken before any other.
 *  2. `given` is where the job is; `opened` is where the pipeline ends; the
 *     batches between them are in the pipeline, in order.  Those that come
 *     from the stage (share.h) are in it for as long as a call lasts.
 *  3. Only the process that opened it uses it: in a forked child its threads
 *     are not there, and any of its locks may be held for ever.
 */

#ifndef LOADER_LOADER_H
#define LOADER_LOADER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/err.h"
#include "loader/bad.h"
#include "loader/labels.h"
#include "loader/ledger.h"
#include "loader/loader_options.h"
#include "loader/pipeline.h"
#include "loader/plan.h"
#include "loader/position.h"
#include "loader/share.h"
#include "loader/shelf.h"
#include "loader/steer.h"
#include "loader/workers.h"

#define LOADER_MAGIC	0x10ade4edu

struct ds_loader {
	unsigned	magic;
	pid_t		pid;
	struct ds_data	*data;
	_Atomic bool	is_interrupted;	/* the next wait for others ends */

	pthread_mutex_t	turn;		/* guards what follows */
	struct loader_options options;
	struct ds_prep	*prep;		/* the settings that threads copy */

	bool		is_ready;
	struct labels	*labels;
	const uint64_t	*items;		/* of the samples, theirs */
	struct plan	plan;
	uint64_t	stream;		/* its hash; 0: not made yet */

	bool		is_restored;
	struct position	restored;

	bool		is_started;
	struct plan_place given, opened;
	struct ledger	*ledger;
	struct ledger_skip *skips;	/* room for those of a batch */
	struct workers	*workers;
	struct steer	*steer;		/* NULL: the job is not profiled */

	/* These have locks of their own. */
	struct share	share;
	struct shelf	shelf;
	struct pipeline	pipeline;
	struct bad	bad;
};

/* loader.c */
int loader_ready(struct ds_loader *l, struct ds_err *err);
int loader_check_process(const struct ds_loader *l, struct ds_err *err);
	/* -ECHILD: by rule 3. */

/* loader_start.c */
int loader_start(struct ds_loader *l, struct ds_err *err);
	/* From ready to started. */
void loader_end(struct ds_loader *l);
	/* The threads, and what they have in hand. */

/* loader_open.c */
void loader_number(const struct ds_loader *l, const struct plan *p,
    struct batch *b, const struct plan_run *run);
	/* The samples of a run, of the epoch that the plan has the order of:
	 * their numbers, labels and positions.  In any thread. */
void loader_want(const struct ds_loader *l, struct batch *b);
	/* All of it is to be made. */
void loader_turn_to(struct ds_loader *l, uint64_t epoch);
	/* The loader's own plan, and the data set. */
int loader_new_batch(struct ds_loader *l, const struct plan_run *run,
    struct batch **out, struct ds_err *err);
	/* One of the shelf, all of it to be made. */
int loader_no_batch(const struct ds_loader *l, struct ds_err *err);
	/* -ENOMEM: what there is no memory for. */

/* Where opening ahead ends. */
enum loader_ahead { AHEAD_ALL, AHEAD_EPOCH, AHEAD_NOT };

int loader_open_ahead(struct ds_loader *l, uint64_t nr, enum loader_ahead how,
    struct ds_err *err);
	/* Until so many are in the pipeline. */

/* loader_finish.c */
const struct cell *loader_failure(const struct ds_loader *l,
    const struct batch *b);
	/* The first sample that the policy does not cover, or NULL. */
int loader_fail_sample(const struct cell *s, struct ds_err *err);
int loader_finish(struct ds_loader *l, struct batch *b, struct ds_err *err);
int loader_finish_view(struct ds_loader *l, struct batch *b,
    struct ds_err *err);
	/* Of one none of whose samples failed, and whose states are there. */

/* loader_next.c */
int loader_give_own(struct ds_loader *l, const struct plan_place *behind,
    enum loader_ahead how, struct ds_batch **out, struct ds_err *err);
	/* The oldest of the pipeline, as ds_loader_next(). */
int loader_give(struct ds_loader *l, struct ds_batch **out,
    struct ds_err *err);
	/* ds_loader_next() of one that is started, and not steered. */
int loader_end_epoch(struct ds_loader *l, const struct plan_place *behind);

/* loader_place.c */
int loader_begin(struct ds_loader *l, struct ds_err *err);
	/* Sets where it begins.  -ESTALE: a position was restored, and does
	 * not fit any more. */

#endif
