/* SPDX-License-Identifier: Apache-2.0
 *
 * share_own.c: units of a job that is alone at its pass.
 * Runs in clients: the feeder leases them, makers make them, the job takes them.
 *
 * Nobody else needs them: so they are made in the loader's own memory, and
 * sharing costs a job that has nobody to share with nothing.
 *
 *     lease -> pipeline -> kept -> the job, which gives the lease up
 *                           |
 *                           +---> published, with a copy, once there are others
 *
 *  1. A unit that is kept is leased to us: nobody else makes it meanwhile.  One
 *     who comes and wants it is given it by the feeder, or, if that stands still,
 *     makes it itself: the hub calls the lease late.
 *  2. What is kept is of passes that are `now` or `next`.
 *  3. The job takes what is kept only while it is alone, or the hub is gone:
 *     that costs it nothing of what it has ahead.  Whoever removes a batch from
 *     the list, under the lock, has it.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/must.h"
#include "loader/loader.h"

#define COMPANY_UNITS	4u	/* taken alone, before others are forgotten */

/* The first of several that comes to an epoch is not alone. */
static bool
is_alone(const struct share *s, const struct share_pass *sp)
{
	if (s->company > 0 || (s->now != NULL && s->now != sp &&
	    !ds_pass_is_alone(s->now->pass)))
		return false;
	return ds_pass_is_alone(sp->pass);
}

/* Nobody else can have what is kept of it: nor can he when the hub is gone. */
static bool
is_ours_alone(const struct share *s, const struct share_pass *sp)
{
	return is_alone(s, sp) || !ds_pass_is_alive(sp->pass);
}

void
share_note_company(struct share *s)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	if (!ds_pass_is_alone(s->now->pass))
		s->company = COMPANY_UNITS;
	else if (s->company > 0)
		s->company--;
	must(pthread_mutex_unlock(&s->lock) == 0);
}

bool
share_makes_own(const struct ds_loader *l, const struct share_pass *sp)
{
	return sp->info.unit == l->shelf.room && is_alone(&l->share, sp);
}

/* As far ahead as a loader that shares nothing, and one more, because asking
 * for it takes a moment.  While the job waits it may be for one that is not
 * among them. */
bool
share_has_enough(const struct ds_loader *l)
{
	const struct share *s = &l->share;
	const struct share_pass *sp = s->now != NULL ? s->now : s->next;

	return s->counts.waits_since_ns == 0 && share_makes_own(l, sp) &&
	    s->in_work + s->nr_kept > l->options.prefetch;
}

/*--- kept ----------------------------------------------------------------*/

/* With the lock held.  False: the job has left its pass meanwhile, or is behind
 * the unit. */
static bool
keep(struct share *s, struct batch *b)
{
	const struct share_pass *sp = b->lease->pass;
	struct batch **at = &s->kept;

	if (sp != s->next && (sp != s->now || s->is_paused ||
	    b->given.number < s->at))
		return false;
	while (*at != NULL)
		at = &(*at)->next;
	*at = b;
	s->nr_kept++;
	return true;
}

static void
drop(struct ds_loader *l, struct batch *b)
{
	ds_pass_give_up(b->lease->pass->pass, &b->lease->lease,
	    DS_GIVE_UP_LATER);
	share_free_lease(l, b);
}

void
share_keep(struct ds_loader *l, struct batch *b)
{
	struct share *s = &l->share;
	bool is_kept;

	for (uint32_t i = 0; i < b->nr; i++)
		b->states[i] = (uint8_t)b->cells[i].rc;
	must(pthread_mutex_lock(&s->lock) == 0);
	is_kept = keep(s, b);
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (!is_kept)
		drop(l, b);
	else
		(void)crash_point("own.kept");
}

/* With the lock held. */
static struct batch *
find_kept(struct share *s, const struct share_pass *sp, uint64_t unit)
{
	struct batch *b = s->kept;

	while (b != NULL && (b->lease->pass != sp || (unit != SHARE_NEVER &&
	    b->given.number != unit)))
		b = b->next;
	return b;
}

static void
remove_kept(struct share *s, struct batch *b)
{
	struct batch **at = &s->kept;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	b->next = NULL;
	s->nr_kept--;
}

void
share_drop_kept(struct ds_loader *l, const struct share_pass *sp)
{
	struct share *s = &l->share;
	struct batch *b;

	do {
		must(pthread_mutex_lock(&s->lock) == 0);
		b = find_kept(s, sp, SHARE_NEVER);
		if (b != NULL)
			remove_kept(s, b);
		must(pthread_mutex_unlock(&s->lock) == 0);
		if (b != NULL)
			drop(l, b);
	} while (b != NULL);
}

/*--- others have come ----------------------------------------------------*/

/* With the lock held.  The first, if somebody may want it. */
static struct batch *
find_wanted(struct share *s)
{
	struct batch *b = s->kept;

	while (b != NULL && is_ours_alone(s, b->lease->pass))
		b = b->next;
	return b;
}

static void
publish_copy(struct ds_loader *l, struct batch *b)
{
	struct ds_lease *lease = &b->lease->lease;
	size_t bytes = share_bytes(b->nr, b->given.sample_bytes);

	if (share_find_room(l, b->lease->pass, lease, bytes) != 1)
		return;
	if (lease->room < bytes || crash_point("own.room") < 0) {
		ds_pass_give_up(b->lease->pass->pass, lease, DS_GIVE_UP_LATER);
		return;
	}
	memcpy(lease->bytes, b->given.samples,
	    b->nr * b->given.sample_bytes);
	share_publish_unit(&l->share, b);
}

/* With the lock held, which is let go of meanwhile. */
bool
share_publish_kept(struct ds_loader *l)
{
	struct share *s = &l->share;
	struct batch *b = find_wanted(s);

	if (b == NULL)
		return false;
	remove_kept(s, b);
	must(pthread_mutex_unlock(&s->lock) == 0);
	publish_copy(l, b);
	share_free_lease(l, b);
	must(pthread_mutex_lock(&s->lock) == 0);
	return true;
}

/*--- taken ---------------------------------------------------------------*/

/* The hub is told that it is behind, and then that nobody makes it: so it is not
 * made again. */
static void
end_lease(struct share *s, struct batch *b)
{
	struct share_lease *sl = b->lease;

	ds_pass_skip(sl->pass->pass, sl->lease.unit);
	ds_pass_give_up(sl->pass->pass, &sl->lease, DS_GIVE_UP_LATER);
	share_pass_drop(s, sl->pass);
	free(sl);
	b->lease = NULL;
}

bool
share_take_own(struct ds_loader *l, uint64_t unit, struct batch **out)
{
	struct share *s = &l->share;
	struct batch *b = NULL;
	bool alone;

	must(pthread_mutex_lock(&s->lock) == 0);
	alone = is_ours_alone(s, s->now);
	if (alone)
		b = find_kept(s, s->now, unit);
	else if (s->kept != NULL)
		pthread_cond_broadcast(&s->changed);	/* for the feeder */
	if (b != NULL)
		remove_kept(s, b);
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (b != NULL)
		end_lease(s, b);
	*out = b;
	return alone;
}

/* It may have been made since. */
void
share_wait_own(struct ds_loader *l, uint64_t unit)
{
	struct share *s = &l->share;

	must(pthread_mutex_lock(&s->lock) == 0);
	if (find_kept(s, s->now, unit) == NULL)
		share_wait_slice(s);
	must(pthread_mutex_unlock(&s->lock) == 0);
}
