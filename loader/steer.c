/* SPDX-License-Identifier: Apache-2.0
 *
 * steer.c: a loader whose job is profiled: its life, and its next batch.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include "loader/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/must.h"
#include "cache/data.h"
#include "loader/loader.h"

/* Which process has a loader that is profiled, and how many were tried.  A
 * child that was forked is another process. */
static _Atomic pid_t claimed_by;
static _Atomic uint32_t nr_tried;

static bool
claim(void)
{
	/* relaxed: nothing is passed from one loader to another */
	return atomic_exchange_explicit(&claimed_by, getpid(),
	    memory_order_relaxed) != getpid();
}

static void
unclaim(void)
{
	atomic_store_explicit(&claimed_by, 0, memory_order_relaxed);
}

/*--- beginning and ending ------------------------------------------------*/

static void
init(struct ds_loader *l, struct steer *s)
{
	bool is_live = (s->session.flags & SCHEDULE_LIVE) != 0;

	s->loader = atomic_fetch_add_explicit(&nr_tried, 1,
	    memory_order_relaxed) + 1;
	s->mode = is_live ? STEER_LIVE : STEER_FOLLOWS;
	s->id = JOURNAL_NO_BLOCK;
	s->left = steer_left(l);
	s->block = (struct session_block){ .kind = BLOCK_ACTUAL,
	    .batches = STEER_PLAIN };
	s->is_in = true;
	must(pthread_mutex_init(&s->busy.lock, NULL) == 0);
	must(pthread_cond_init(&s->busy.changed, NULL) == 0);
	l->steer = s;
}

static void
begin(struct ds_loader *l)
{
	struct steer *s = l->steer;

	steer_tell_loader(l);
	steer_begin_totals(l);
	if (s->mode == STEER_LIVE)
		return;
	memset((void *)l->pipeline.sound, 1, ds_data_count(l->data));
	if (l->options.share)
		steer_note(s, "the loader does not share while it is profiled");
	if (s->session.is_broken)
		steer_leave(s, LEFT_FAILED);
}

void
steer_start(struct ds_loader *l)
{
	struct steer *s;

	if (env_get(SCHEDULE_ENV) == NULL || !claim())
		return;
	s = calloc(1, sizeof *s);
	if (s == NULL || session_open(&s->session, NULL) <= 0) {
		free(s);
		return;
	}
	init(l, s);
	begin(l);
}

bool
steer_shares(const struct ds_loader *l)
{
	return l->steer == NULL || l->steer->mode == STEER_LIVE;
}

void
steer_stop(struct ds_loader *l)
{
	struct steer *s = l->steer;

	if (s == NULL)
		return;
	steer_end_busy(l);
	if (s->mode == STEER_LIVE)
		steer_tell_watched(l, clock_now_ns());
}

/* In a child its locks may be held for ever; they go with the memory. */
void
steer_free(struct ds_loader *l)
{
	struct steer *s = l->steer;

	if (s == NULL)
		return;
	if (l->pid == getpid()) {
		if (!s->trains)
			unclaim();
		must(pthread_cond_destroy(&s->busy.changed) == 0);
		must(pthread_mutex_destroy(&s->busy.lock) == 0);
	}
	steer_free_ring(s);
	steer_free_fresh(s);
	steer_free_set(s);
	session_close(&s->session);
	free(s);
	l->steer = NULL;
}

/*--- the next batch ------------------------------------------------------*/

static int
end_epoch(struct ds_loader *l)
{
	struct steer *s = l->steer;
	struct plan_place behind = { .epoch = l->given.epoch + 1 };

	must(l->pipeline.nr_batches == 0);
	(void)loader_end_epoch(l, &behind);
	l->opened = behind;
	steer_tell(s, JOURNAL_EPOCH, (const uint64_t[7]){ clock_now_ns(),
	    s->epoch_batches }, NULL);
	s->epoch_batches = 0;
	s->left = steer_left(l);
	if (s->mode == STEER_CONTINUES)
		s->mode = STEER_OFF;
	return 0;
}

/* From the pipeline: fresh ones move the loader's place, the set's do not. */
static int
give_made(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct plan_place behind = l->given;
	struct plan_run run;

	if (l->steer->block.kind == BLOCK_ACTUAL)
		must(plan_step(&l->plan, &behind, &run) == PLAN_RUN);
	return loader_give_own(l, &behind, AHEAD_ALL, out, err);
}

/* One that was taken counts, also if the job has got an error instead of it. */
static void
count(struct steer *s, const struct ds_batch *b)
{
	s->given++;
	s->left--;
	s->epoch_batches++;
	s->samples += b != NULL ? b->count : 0;
}

static int
give(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct steer *s = l->steer;
	int rc;

	if (s->block.kind == BLOCK_REPLAY ||
	    s->block.kind == BLOCK_REPLAY_BUSY) {
		rc = steer_replay(l, out, err);
		s->opened += rc == 1;
	} else {
		rc = give_made(l, out, err);
	}
	if (s->opened - s->given > l->pipeline.nr_batches)
		count(s, rc == 1 ? *out : NULL);
	return rc;
}

/* Are there no more epochs? */
static bool
is_over(const struct ds_loader *l)
{
	return l->plan.epochs > 0 && l->given.epoch >= l->plan.epochs;
}

/* An epoch that ends while its first batches are delivered is passed only if it
 * had none for this loader, or if the schedule says so. */
static int
follow(struct ds_loader *l, uint64_t *asked_ns, struct ds_err *err)
{
	struct steer *s = l->steer;
	bool passes = (s->session.flags & SCHEDULE_PASS_EPOCHS) != 0;

	if (s->mode == STEER_CONTINUES)
		return 0;
	if (s->left == 0 && !s->trains) {
		if (passes || s->epoch_batches == 0)
			return 0;
		s->block.batches = (uint32_t)s->given;
	}
	return steer_follow(l, asked_ns, err);
}

static int
next_steered(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	uint64_t asked_ns = clock_now_ns(), cpu_ns;
	struct steer *s = l->steer;
	int rc;

	if (is_over(l))
		return err_fail(err, -ENOENT, "there are no more epochs");
	rc = follow(l, &asked_ns, err);
	if (rc < 0)
		return rc;
	if (s->left == 0)
		return end_epoch(l);
	cpu_ns = clock_thread_ns();
	rc = give(l, out, err);
	if (rc == 1)
		steer_tell_step(s, s->given - 1, asked_ns, cpu_ns, *out);
	return rc;
}

int
steer_next(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct steer *s = l->steer;

	switch (s->mode) {
	case STEER_LIVE:
		if (session_leaves(&s->session))
			steer_leave(s, LEFT_ASKED);
		return steer_watch(l, out, err);
	case STEER_OFF:
		return loader_give(l, out, err);
	default:
		return next_steered(l, out, err);
	}
}
