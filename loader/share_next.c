/* SPDX-License-Identifier: Apache-2.0
 *
 * share_next.c: the next batch of a job that shares, and what it is made of.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "loader/loader.h"

/*--- batches -------------------------------------------------------------*/

struct staged {			/* samples of a batch */
	uint64_t	foreign, own;
};

static void
note_samples(struct staged *n, const struct share_unit *u, uint32_t count)
{
	if (u->stage == NULL)
		return;			/* for this job alone */
	if (u->taken.is_own)
		n->own += count;
	else
		n->foreign += count;
}

static void
note_batch(struct ds_loader *l, const struct staged *n)
{
	struct share *s = &l->share;

	if (n->own + n->foreign == 0)
		return;
	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.batches++;
	s->counts.foreign_samples += n->foreign;
	s->counts.own_samples += n->own;
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
	struct staged n = { 0 };
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
	memcpy(b->states, u->states + i, b->nr);
	rc = loader_finish_view(l, b, err);
	if (rc < 0) {
		share_put(l, b);
		return rc;
	}
	note_samples(&n, u, b->nr);
	note_batch(l, &n);
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

	memcpy(batch_sample(b, k), (const char *)u->taken.bytes + i * size,
	    count * size);
	for (uint32_t n = 0; n < count; n++)
		b->cells[k + n] = (struct cell){ .state = CELL_DONE,
		    .rc = u->states[i + n] };
}

/* What is not in units that can be had is made here. */
static int
give_gathered(struct ds_loader *l, struct batch *b,
    const struct plan_place *behind, struct ds_batch **out, struct ds_err *err)
{
	uint64_t since_ns = clock_now_ns();
	int rc;

	pipeline_add(&l->pipeline, b);
	l->opened = *behind;
	rc = loader_give_own(l, behind, AHEAD_NOT, out, err);
	l->share.made_ns = clock_now_ns() - since_ns;
	return rc;
}

/* What was gathered so far is made here when the job asks again. */
static int
give_up(struct ds_loader *l, struct batch *b, struct ds_err *err)
{
	if (b != NULL)
		shelf_put(&l->shelf, b);
	return err_fail(err, -EINTR, "interrupted while it waited for another "
	    "job");
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
	struct staged n = { 0 };
	int rc;

	while (k < nr && s->mode == SHARE_MEMBER) {
		uint64_t turn = plan_turn(&l->plan, &run->at,
		    run->at.turn + k);
		enum share_found found = share_find(l, turn / unit);

		left = unit - turn % unit;
		count = (uint32_t)(nr - k < left ? nr - k : left);
		if (found == FOUND_INTERRUPT)
			return give_up(l, b, err);
		if (found == FOUND_UNIT && count == run->count)
			return give_view(l, run, turn % unit, behind, out,
			    err);
		if (b == NULL) {
			rc = loader_new_batch(l, run, &b, err);
			if (rc < 0)
				return rc;
		}
		if (found == FOUND_UNIT) {
			copy_samples(l, b, k, turn % unit, count);
			note_samples(&n, s->unit, count);
		}
		k += count;
	}
	rc = give_gathered(l, b, behind, out, err);
	if (rc == 1)
		note_batch(l, &n);
	return rc;
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
		share_begin_epoch(l);
	else if (s->mode == SHARE_BEHIND)
		share_catch_up(l);
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
