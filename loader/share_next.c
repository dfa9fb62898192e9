/* SPDX-License-Identifier: Apache-2.0
 *
 * share_next.c: the next batch of a job that shares: where it joins, and what
 * its batches are made of.  Runs in clients, in the job's thread.
 *
 * An epoch that is begun at its beginning, in a random order, is begun where the
 * others are (plan.h): the shared part goes to the last whole unit, and what was
 * missed is made alone.  In any other case it is begun where the job is, as soon
 * as that is within the others' window; until then it makes batches itself.
 */

#include <config.h>

#include <errno.h>
#include <string.h>

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

static void
pause_feeder(struct share *s, bool is_paused)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	s->is_paused = is_paused;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
}

static void
say_shared(struct share *s)
{
	uint32_t jobs = s->now->info.jobs;

	if (jobs == 0)
		share_say(s, true, ": it is the first job of its stream");
	else
		share_say(s, true, " with %u other job%s", jobs,
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
	s->now->feeds = true;
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

/* The one that the feeder has opened, if it did. */
static struct share_pass *
adopt_next(struct ds_loader *l)
{
	struct share *s = &l->share;
	struct share_pass *sp;

	must(pthread_mutex_lock(&s->lock) == 0);
	while (s->is_opening)
		must(pthread_cond_wait(&s->changed, &s->lock) == 0);
	sp = s->next;
	s->next = NULL;
	s->is_next_tried = false;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (sp == NULL)
		return NULL;
	if (sp->epoch == l->given.epoch && ds_pass_is_alive(sp->pass) == 1)
		return sp;
	share_pass_drop(s, sp);
	return NULL;
}

static void
join(struct ds_loader *l)
{
	struct share *s = &l->share;
	struct share_pass *sp = adopt_next(l);
	struct ds_err err = { 0 };
	uint64_t at = begins_anywhere(l) ? DS_ANY :
	    find_unit(l, l->shelf.room);

	if (sp == NULL && share_pass_open(l, l->given.epoch, at, true, &sp,
	    &err) < 0) {
		share_say(s, false, "%s", err.text);
		return;
	}
	must(pthread_mutex_lock(&s->lock) == 0);
	s->now = sp;
	must(pthread_mutex_unlock(&s->lock) == 0);
	s->tried = begins_anywhere(l) ? DS_ANY : find_unit(l, sp->info.unit);
	try_to_begin(l, s->tried);
	if (s->mode == SHARE_BEHIND)
		share_say(s, false, "until it has caught up with the others");
}

/* In mid-epoch, when the job has come to another unit. */
static void
catch_up(struct ds_loader *l)
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

static void
begin_epoch(struct ds_loader *l)
{
	struct share *s = &l->share;

	s->mode = SHARE_ALONE;
	if (s->for_good)
		return;
	l->opened = l->given;
	s->until = end_turn(l) - l->given.from;
	if (l->given.turn < s->until)
		join(l);
	if (s->mode != SHARE_MEMBER)
		pause_feeder(s, true);
}

/*--- ending --------------------------------------------------------------*/

void
share_leave(struct ds_loader *l)
{
	struct share *s = &l->share;

	if (s->mode == SHARE_MEMBER) {
		share_forget_unit(l);
		ds_pass_end(s->now->pass);
	}
	s->mode = SHARE_ALONE;
	pause_feeder(s, true);
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

/*--- batches -------------------------------------------------------------*/

static const uint8_t *
find_states(const struct share_unit *u, size_t sample_bytes)
{
	return (const uint8_t *)u->taken.bytes + u->count * sample_bytes;
}

static void
note_batch(struct ds_loader *l)
{
	struct share *s = &l->share;

	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.batches++;
	must(pthread_mutex_unlock(&s->lock) == 0);
}

/* All of it is in one unit, from its i-th sample on. */
static int
give_view(struct ds_loader *l, const struct plan_run *run, uint64_t i,
    const struct plan_place *behind, struct ds_batch **out, struct ds_err *err)
{
	struct batch *b = shelf_take(&l->share.views);
	struct share_unit *u = l->share.unit;
	size_t size = l->shelf.sample_bytes;
	int rc;

	if (b == NULL)
		return err_fail(err, -ENOMEM, "no memory for a batch");
	must(pthread_mutex_lock(&l->share.lock) == 0);
	u->users++;
	must(pthread_mutex_unlock(&l->share.lock) == 0);
	b->unit = u;
	loader_turn_to(l, run->at.epoch);
	loader_number(l, &l->plan, b, run);
	b->given.samples = (char *)u->taken.bytes + i * size;
	memcpy(b->states, find_states(u, size) + i, b->nr);
	rc = loader_finish_view(l, b, err);
	if (rc < 0) {
		share_put(l, b);
		return rc;
	}
	note_batch(l);
	l->given = l->opened = *behind;
	*out = &b->given;
	return 1;
}

/* So many samples of a batch, from its k-th on, out of the unit at hand. */
static void
copy_samples(struct ds_loader *l, struct batch *b, uint32_t k, uint64_t i,
    uint32_t count)
{
	const struct share_unit *u = l->share.unit;
	size_t size = l->shelf.sample_bytes;
	const uint8_t *states = find_states(u, size);

	memcpy(batch_sample(b, k), (const char *)u->taken.bytes + i * size,
	    count * size);
	for (uint32_t n = 0; n < count; n++)
		b->cells[k + n] = (struct cell){ .state = CELL_DONE,
		    .rc = states[i + n] };
}

/* What is not in units that can be had is made here. */
static int
give_gathered(struct ds_loader *l, struct batch *b,
    const struct plan_place *behind, struct ds_batch **out, struct ds_err *err)
{
	pipeline_add(&l->pipeline, b);
	l->opened = *behind;
	return loader_give_own(l, behind, AHEAD_NOT, out, err);
}

static int
give_staged(struct ds_loader *l, const struct plan_run *run,
    const struct plan_place *behind, struct ds_batch **out, struct ds_err *err)
{
	struct share *s = &l->share;
	uint64_t unit = s->now->info.unit, left = s->until - run->at.turn;
	uint32_t nr = (uint32_t)(run->count < left ? run->count : left);
	uint32_t k = 0, count;
	struct batch *b = NULL;
	bool is_staged = false;
	int rc;

	while (k < nr && s->mode == SHARE_MEMBER) {
		uint64_t turn = plan_turn(&l->plan, &run->at,
		    run->at.turn + k);
		enum share_found found = share_find(l, turn / unit);

		left = unit - turn % unit;
		count = (uint32_t)(nr - k < left ? nr - k : left);
		if (found == FOUND_UNIT && count == run->count)
			return give_view(l, run, turn % unit, behind, out,
			    err);
		if (b == NULL) {
			rc = loader_new_batch(l, run, &b, err);
			if (rc < 0)
				return rc;
		}
		if (found == FOUND_UNIT)
			copy_samples(l, b, k, turn % unit, count);
		is_staged |= found == FOUND_UNIT;
		k += count;
	}
	if (is_staged)
		note_batch(l);
	return give_gathered(l, b, behind, out, err);
}

/*--- the next one --------------------------------------------------------*/

static int
give_next(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct share *s = &l->share;
	struct plan_place behind = l->given;
	struct plan_run run;

	must(plan_step(&l->plan, &behind, &run) == PLAN_RUN);
	if (s->for_good)
		return loader_give_own(l, &behind, AHEAD_ALL, out, err);
	if (s->mode != SHARE_MEMBER)
		return loader_give_own(l, &behind, AHEAD_EPOCH, out, err);
	if (l->pipeline.nr_batches > 0)
		return loader_give_own(l, &behind, AHEAD_NOT, out, err);
	return give_staged(l, &run, &behind, out, err);
}

int
share_next(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct share *s = &l->share;
	int rc;

	if (s->mode == SHARE_NOT_BEGUN)
		begin_epoch(l);
	else if (s->mode == SHARE_BEHIND)
		catch_up(l);
	else if (s->mode == SHARE_MEMBER && l->given.turn >= s->until)
		share_leave(l);
	rc = give_next(l, out, err);
	if (rc == 1 && s->now != NULL)
		ds_pass_delivered(s->now->pass, (*out)->count);
	return rc;
}

void
share_put(struct ds_loader *l, struct batch *b)
{
	struct share_unit *u = b->unit;

	if (u == NULL) {
		shelf_put(&l->shelf, b);
		return;
	}
	b->unit = NULL;
	b->given.samples = NULL;
	shelf_put(&l->share.views, b);
	share_unit_drop(&l->share, u);
}
