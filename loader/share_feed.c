/* SPDX-License-Identifier: Apache-2.0
 *
 * share_feed.c: the units that are made here for all jobs: the feeder leases
 * them, and whoever makes the last sample of one publishes it.
 * Runs in clients: the feeder, makers and readers.
 *
 *  1. A few units are in work at a time: so many that no thread waits.
 *  2. While the job makes batches for itself alone, nothing is leased.
 *  3. When nothing is left to make in the job's epoch, the next one is fed.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/must.h"
#include "loader/loader.h"

#define IN_WORK		2u	/* units, at least */
#define IN_WORK_MOST	32u

/*--- what was made -------------------------------------------------------*/

/* The memory of a bare one is the slot's, that of another the shelf's. */
void
share_free_lease(struct ds_loader *l, struct batch *b)
{
	share_pass_drop(&l->share, b->lease->pass);
	free(b->lease);
	b->lease = NULL;
	if (b->memory == NULL)
		batch_free(b);
	else if (!l->share.is_abandoned)
		shelf_put(&l->shelf, b);
}

static bool
has_failed(const struct batch *b, bool *is_bad)
{
	bool failed = false;

	*is_bad = false;
	for (uint32_t i = 0; i < b->nr; i++) {
		failed |= b->cells[i].rc < 0;
		*is_bad |= b->cells[i].rc < 0 && b->cells[i].is_bad;
	}
	return failed;
}

/* Another may try what failed by our own fault; if it comes to us again, and
 * fails again, nobody should wait for it. */
static void
give_up(struct share *s, struct batch *b, bool is_bad)
{
	struct share_lease *sl = b->lease;
	bool is_again;

	must(pthread_mutex_lock(&s->lock) == 0);
	is_again = s->failed_epoch == b->given.epoch &&
	    s->failed_unit == b->given.number;
	s->failed_epoch = b->given.epoch;
	s->failed_unit = b->given.number;
	must(pthread_mutex_unlock(&s->lock) == 0);
	ds_pass_give_up(sl->pass->pass, &sl->lease, is_bad || is_again ?
	    DS_GIVE_UP_ALONE : DS_GIVE_UP_LATER);
}

/* Counted before, because the job may have ended when this thread goes on. */
static void
count_published(struct share *s, bool is_published)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	if (is_published)
		s->counts.published++;
	else
		s->counts.published--;
	must(pthread_mutex_unlock(&s->lock) == 0);
}

static bool
is_different(struct share *s, uint64_t *root)
{
	bool is;

	must(pthread_mutex_lock(&s->lock) == 0);
	is = s->is_different;
	*root = s->root;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return is;
}

void
share_publish_unit(struct share *s, struct batch *b)
{
	size_t bytes = share_bytes(b->nr, b->given.sample_bytes);
	struct share_lease *sl = b->lease;
	uint8_t *states = (uint8_t *)sl->lease.bytes +
	    b->nr * b->given.sample_bytes;
	uint64_t root;

	for (uint32_t i = 0; i < b->nr; i++)
		states[i] = (uint8_t)b->cells[i].rc;
	if (is_different(s, &root) || crash_point("loader.filled") < 0) {
		ds_pass_give_up(sl->pass->pass, &sl->lease, DS_GIVE_UP_LATER);
		return;
	}
	memcpy(states + b->nr, &root, sizeof root);
	count_published(s, true);
	if (ds_pass_publish(sl->pass->pass, &sl->lease, bytes, sl->hash,
	    b->made_ns, NULL) < 0)
		count_published(s, false);
	(void)crash_point("loader.published");
}

void
share_made(void *loader, struct batch *b)
{
	struct ds_loader *l = loader;
	struct share *s = &l->share;
	bool is_bad, failed = has_failed(b, &is_bad);

	if (failed)
		give_up(s, b, is_bad);
	else if (b->memory == NULL)
		share_publish_unit(s, b);
	if (failed || b->memory == NULL)
		share_free_lease(l, b);
	else
		share_keep(l, b);
	must(pthread_mutex_lock(&s->lock) == 0);
	s->in_work--;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
}

/*--- a unit to make ------------------------------------------------------*/

/* A bare batch, for the memory of a slot, or one with its own. */
static struct batch *
new_batch(struct ds_loader *l, uint32_t count, bool is_own)
{
	struct share_lease *sl = calloc(1, sizeof *sl);
	struct batch *b = NULL;

	if (sl != NULL)
		b = is_own ? shelf_take(&l->shelf) :
		    batch_new_bare(count, l->shelf.sample_bytes);
	if (b != NULL)
		b->lease = sl;
	else
		free(sl);
	return b;
}

static struct batch *
make_batch(struct ds_loader *l, struct share_pass *sp, uint64_t unit,
    uint32_t count, bool is_own)
{
	struct batch *b = new_batch(l, count, is_own);
	struct plan_run run = {
		.at = { .epoch = sp->epoch, .turn = unit * sp->info.unit },
		.number = unit, .count = count,
	};

	if (b == NULL)
		return NULL;
	(void)plan_epoch(&sp->plan, sp->epoch);
	loader_number(l, &sp->plan, b, &run);
	loader_want(l, b);
	return b;
}

static void
add_batch(struct ds_loader *l, struct share_pass *sp, struct batch *b,
    const struct ds_lease *lease)
{
	struct share *s = &l->share;

	*b->lease = (struct share_lease){ .pass = sp, .lease = *lease,
	    .hash = share_hash(b) };
	if (b->memory == NULL)
		b->given.samples = lease->bytes;
	must(pthread_mutex_lock(&s->lock) == 0);
	sp->users++;
	s->in_work++;
	if (sp == s->now && s->no_room_for == lease->unit)
		s->no_room_for = SHARE_NEVER;
	must(pthread_mutex_unlock(&s->lock) == 0);
	pipeline_add_leased(&l->pipeline, b);
}

/* The lease has ended: the job does not wait for it, and nobody asks again at
 * once. */
static int
note_no_room(struct share *s, const struct share_pass *sp, uint64_t unit)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	if (sp == s->now)
		s->no_room_for = unit;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return 0;
}

/* Nobody waits for what will never be: the job loads alone from there. */
static int
note_too_large(struct share *s, const struct share_pass *sp, uint64_t unit,
    uint64_t bytes)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	s->too_large = bytes;
	s->is_paused = true;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return note_no_room(s, sp, unit);
}

int
share_find_room(struct ds_loader *l, struct share_pass *sp,
    struct ds_lease *lease, size_t bytes)
{
	uint64_t unit = lease->unit;

	switch (ds_pass_room(sp->pass, lease, bytes, NULL)) {
	case 0:
		return 1;
	case -ESTALE:
		return -ESTALE;
	case -EFBIG:
		return note_too_large(&l->share, sp, unit, bytes);
	default:
		return note_no_room(&l->share, sp, unit);
	}
}

static bool
makes_own(struct ds_loader *l, const struct share_pass *sp)
{
	struct share *s = &l->share;
	bool does;

	must(pthread_mutex_lock(&s->lock) == 0);
	does = share_makes_own(l, sp);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return does;
}

/* 1: it is in work; 0: it is not; -ESTALE. */
static int
accept(struct ds_loader *l, struct share_pass *sp, struct ds_lease *lease)
{
	uint32_t count = share_count(sp, l->plan.turns, lease->unit);
	size_t bytes = share_bytes(count, l->shelf.sample_bytes);
	bool is_own = lease->bytes == NULL && makes_own(l, sp);
	struct batch *b = NULL;
	int rc = 1;

	if (lease->bytes == NULL && !is_own)
		rc = share_find_room(l, sp, lease, bytes);
	if (rc != 1)
		return rc;
	if ((is_own || lease->room >= bytes) &&
	    crash_point("loader.leased") == 0)
		b = make_batch(l, sp, lease->unit, count, is_own);
	if (b == NULL) {
		ds_pass_give_up(sp->pass, lease, DS_GIVE_UP_LATER);
		return note_no_room(&l->share, sp, lease->unit);
	}
	add_batch(l, sp, b, lease);
	return 1;
}

/*--- the feeder ----------------------------------------------------------*/

void
share_wait_slice(struct share *s)
{
	uint64_t at_ns = clock_now_ns() + SHARE_SLICE_MS * NS_PER_MS;
	struct timespec at = {
		.tv_sec = (time_t)(at_ns / NS_PER_S),
		.tv_nsec = (long)(at_ns % NS_PER_S),
	};
	int e = pthread_cond_timedwait(&s->changed, &s->lock, &at);

	must(e == 0 || e == ETIMEDOUT);
}

/* The job needs no more of it. */
static bool
has_left(struct share *s, const struct share_pass *sp)
{
	bool has;

	must(pthread_mutex_lock(&s->lock) == 0);
	has = sp != s->next && (sp != s->now || s->is_paused);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return has;
}

/* With the lock held, which is let go of meanwhile.  True: there may be more
 * to make there. */
static bool
lease_of(struct ds_loader *l, struct share_pass *sp, unsigned wait_ms)
{
	struct share *s = &l->share;
	bool is_leased;
	struct ds_lease lease;
	int rc;

	sp->users++;
	must(pthread_mutex_unlock(&s->lock) == 0);
	rc = ds_pass_lease(sp->pass, wait_ms, &lease, NULL);
	if (rc == 1 && lease.unit >= sp->info.units) {
		ds_pass_give_up(sp->pass, &lease, DS_GIVE_UP_LATER);
		rc = -EBADMSG;
	}
	if (rc == 1 && has_left(s, sp)) {
		ds_pass_give_up(sp->pass, &lease, DS_GIVE_UP_LATER);
		rc = 0;
	}
	is_leased = rc == 1;
	if (is_leased)
		rc = accept(l, sp, &lease);
	must(pthread_mutex_lock(&s->lock) == 0);
	if (rc < 0 && rc != -EBUSY)
		sp->is_dead = true;
	must(pthread_mutex_unlock(&s->lock) == 0);
	share_pass_drop(s, sp);
	must(pthread_mutex_lock(&s->lock) == 0);
	/* For memory, or until fewer are leased to us. */
	if (((is_leased && rc == 0) || rc == -EBUSY) && !s->stops)
		share_wait_slice(s);
	return is_leased;
}

bool
share_may_feed(const struct share *s, const struct share_pass *sp)
{
	return s->is_proven || sp->info.jobs == 0;
}

static bool
is_fed(const struct share_pass *sp)
{
	return sp != NULL && sp->feeds && !sp->is_dead;
}

/* Does the job come to the end of its epoch within what is made ahead? */
static bool
is_near_end(const struct ds_loader *l)
{
	const struct share *s = &l->share;

	return s->at + l->options.prefetch + SHARE_AHEAD >=
	    s->now->info.units;
}

static bool
may_open_next(const struct ds_loader *l)
{
	const struct share *s = &l->share;
	uint64_t epochs = l->plan.epochs;

	return s->next == NULL && !s->is_next_tried &&
	    (epochs == 0 || s->now->epoch + 1 < epochs);
}

/* With the lock held, which is let go of meanwhile. */
static void
open_next(struct ds_loader *l)
{
	struct share *s = &l->share;
	uint64_t epoch = s->now->epoch + 1;
	uint64_t at = l->plan.order != NULL ? DS_ANY : 0;
	struct share_pass *sp = NULL;
	int rc;

	s->is_opening = s->is_next_tried = true;
	must(pthread_mutex_unlock(&s->lock) == 0);
	rc = share_pass_open(l, epoch, at, false, &sp, NULL);
	must(pthread_mutex_lock(&s->lock) == 0);
	s->is_opening = false;
	if (rc == 0) {
		sp->feeds = share_may_feed(s, sp);
		s->next = sp;
	}
	pthread_cond_broadcast(&s->changed);
}

static unsigned
most_in_work(const struct ds_loader *l)
{
	uint32_t unit = l->share.now != NULL ? l->share.now->info.unit :
	    l->shelf.room;
	unsigned most = IN_WORK * l->pipeline.nr_makers / unit;

	return most < IN_WORK ? IN_WORK : most < IN_WORK_MOST ? most :
	    IN_WORK_MOST;
}

/* One turn, with the lock held at both ends. */
static void
feed(struct ds_loader *l)
{
	struct share *s = &l->share;

	if (share_publish_kept(l))
		return;
	if (s->is_paused || s->in_work >= most_in_work(l) ||
	    (!is_fed(s->now) && !is_fed(s->next))) {
		if (s->kept != NULL)	/* others may come */
			share_wait_slice(s);
		else
			must(pthread_cond_wait(&s->changed, &s->lock) == 0);
		return;
	}
	if (share_has_enough(l)) {
		share_wait_slice(s);	/* others may come */
		return;
	}
	if (is_fed(s->now)) {
		bool near = is_near_end(l);

		/* The job may have gone on since. */
		if (lease_of(l, s->now, near ? 0 : SHARE_SLICE_MS) || !near ||
		    s->stops || !is_fed(s->now))
			return;
		if (may_open_next(l))
			open_next(l);
	}
	if (is_fed(s->next))
		(void)lease_of(l, s->next, SHARE_SLICE_MS);
	else if (!s->stops)
		share_wait_slice(s);
}

void *
share_feed(void *loader)
{
	struct ds_loader *l = loader;
	struct share *s = &l->share;

	must(pthread_mutex_lock(&s->lock) == 0);
	while (!s->stops)
		feed(l);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return NULL;
}
