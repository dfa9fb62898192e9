/* SPDX-License-Identifier: Apache-2.0
 *
 * share_join.c: where the job of a loader joins the others, and how it leaves
 * them.  Runs in clients, in the job's thread.
 *
 * An epoch that is begun at its beginning, in a random order, is begun where the
 * others are (plan.h): the shared part goes to the last whole unit, and what was
 * missed is made alone.  In any other case it is begun where the job is, as soon
 * as that is within the others' window; until then it makes batches itself.
 */

#include <config.h>

#include "base/must.h"
#include "loader/loader.h"

/*--- beginning -----------------------------------------------------------*/

/* How many turns of the epoch come before the part that stays last, and how
 * many of them the job gets. */
static uint64_t
end_turn(const struct ds_loader *l)
{
	uint64_t samples = plan_samples(&l->plan);
	uint64_t end = l->plan.turns - l->given.tail;

	return end < samples ? end : samples;
}

/* The job makes what is left of its epoch itself. */
static void
stop_feeder(struct ds_loader *l)
{
	struct share *s = &l->share;

	must(pthread_mutex_lock(&s->lock) == 0);
	s->is_paused = true;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (s->now != NULL)
		share_drop_kept(l, s->now);
}

static void
say_shared(struct share *s)
{
	uint32_t jobs = s->now->info.jobs;

	if (jobs == 0)
		share_say(s, true, "ready to share: no other job of its "
		    "stream yet");
	else
		share_say(s, true, "shared with %u other job%s", jobs,
		    jobs == 1 ? "" : "s");
}

static void
become_member(struct ds_loader *l, uint64_t start)
{
	struct share *s = &l->share;

	s->mode = SHARE_MEMBER;
	s->unit = NULL;
	s->self = SHARE_NEVER;
	s->selfs = 0;
	must(pthread_mutex_lock(&s->lock) == 0);
	s->at = start;
	s->no_room_for = SHARE_NEVER;
	s->now->feeds = share_may_feed(s, s->now);
	s->is_paused = false;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
	say_shared(s);
}

/* Late: the whole units from there on first.  If there is none, nothing is
 * shared. */
static void
join_late(struct ds_loader *l, uint64_t start)
{
	struct share *s = &l->share;
	uint64_t unit = s->now->info.unit, end = end_turn(l) / unit * unit;

	if (start * unit >= end) {
		ds_pass_end(s->now->pass);
		share_say(s, false, "the others are at the end of the epoch");
		return;
	}
	l->given.from = start * unit;
	l->given.tail = l->plan.turns - end;
	l->opened = l->given;
	s->until = end - l->given.from;
	become_member(l, start);
}

static void
try_to_begin(struct ds_loader *l, uint64_t at)
{
	struct share *s = &l->share;
	uint64_t unit = s->now->info.unit, start = 0;
	struct ds_err err = { 0 };
	int rc;

	rc = ds_pass_begin(s->now->pass, at, (end_turn(l) + unit - 1) / unit,
	    &start, &err);
	if (rc == 1 && at == DS_ANY && start > 0)
		join_late(l, start);
	else if (rc == 1)
		become_member(l, start);
	else if (rc == 0)
		s->mode = SHARE_BEHIND;
	else
		share_say(s, false, "%s", err.text);
}

/* The unit where what is not in the pipeline yet begins. */
static uint64_t
find_unit(const struct ds_loader *l, uint32_t size)
{
	return plan_turn(&l->plan, &l->opened, l->opened.turn) / size;
}

static bool
begins_anywhere(const struct ds_loader *l)
{
	return l->plan.order != NULL && l->given.turn == 0 &&
	    l->given.from == 0;
}

/* With the lock held. */
static void
set_now(struct share *s, struct share_pass *sp)
{
	s->now = sp;
	s->at = 0;
}

/* The one that the feeder has opened, if it did, is now; or it is dropped. */
static void
adopt_next(struct ds_loader *l, bool is_wanted)
{
	struct share *s = &l->share;
	struct share_pass *sp;

	must(pthread_mutex_lock(&s->lock) == 0);
	while (s->is_opening)
		must(pthread_cond_wait(&s->changed, &s->lock) == 0);
	sp = s->next;
	is_wanted = is_wanted && sp != NULL &&
	    sp->epoch == l->given.epoch && ds_pass_is_alive(sp->pass) == 1;
	if (is_wanted)
		set_now(s, sp);
	s->next = NULL;
	s->is_next_tried = false;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (sp == NULL || is_wanted)
		return;
	share_drop_kept(l, sp);
	share_pass_drop(s, sp);
}

static bool
open_now(struct ds_loader *l)
{
	struct share *s = &l->share;
	struct ds_err err = { 0 };
	uint64_t at = begins_anywhere(l) ? DS_ANY :
	    find_unit(l, l->shelf.room);
	struct share_pass *sp;

	if (share_pass_open(l, l->given.epoch, at, true, &sp, &err) < 0) {
		share_say(s, false, "%s", err.text);
		return false;
	}
	must(pthread_mutex_lock(&s->lock) == 0);
	set_now(s, sp);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return true;
}

static void
join(struct ds_loader *l)
{
	struct share *s = &l->share;

	adopt_next(l, true);
	if (s->now == NULL && !open_now(l))
		return;
	s->tried = begins_anywhere(l) ? DS_ANY :
	    find_unit(l, s->now->info.unit);
	try_to_begin(l, s->tried);
	if (s->mode == SHARE_BEHIND)
		share_say(s, false, "until it has caught up with the others");
}

/* In mid-epoch, when the job has come to another unit. */
void
share_catch_up(struct ds_loader *l)
{
	struct share *s = &l->share;
	uint64_t unit;

	if (l->opened.turn >= s->until) {
		share_leave(l);
		return;
	}
	unit = find_unit(l, s->now->info.unit);
	if (unit == s->tried)
		return;
	s->tried = unit;
	s->mode = SHARE_ALONE;
	try_to_begin(l, unit);
}

void
share_begin_epoch(struct ds_loader *l)
{
	struct share *s = &l->share;

	s->mode = SHARE_ALONE;
	if (s->for_good) {
		adopt_next(l, false);
		return;
	}
	l->opened = l->given;
	s->until = end_turn(l) - l->given.from;
	if (l->given.turn < s->until)
		join(l);
	if (s->mode != SHARE_MEMBER)
		stop_feeder(l);
}

/*--- ending --------------------------------------------------------------*/

void
share_leave(struct ds_loader *l)
{
	struct share *s = &l->share;
	bool was_member = s->mode == SHARE_MEMBER;

	if (was_member)
		share_forget_unit(l);
	s->mode = SHARE_ALONE;
	/* First: of a pass without members all can be leased again. */
	stop_feeder(l);
	if (was_member)
		ds_pass_end(s->now->pass);
}

void
share_end_epoch(struct ds_loader *l)
{
	struct share *s = &l->share;
	struct share_pass *sp;

	if (!s->is_on)
		return;
	share_leave(l);
	must(pthread_mutex_lock(&s->lock) == 0);
	sp = s->now;
	s->now = NULL;
	s->is_paused = s->for_good;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (sp != NULL)
		share_pass_drop(s, sp);
	s->mode = SHARE_NOT_BEGUN;
}
