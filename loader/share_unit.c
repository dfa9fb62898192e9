/* SPDX-License-Identifier: Apache-2.0
 *
 * share_unit.c: units that the job takes from the stage.
 * Runs in clients, in the job's thread; units are dropped in any.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/must.h"
#include "base/text.h"
#include "loader/loader.h"

#define TAKEN_OWN	100	/* beside DS_TAKEN */
#define SELFS_MOST	8u	/* in a row: then the stage is of no use */
#define LONG_NS		(3 * NS_PER_S)	/* then it is told for whom it waits */
#define PATIENCE_NS	(200 * NS_PER_MS)
#define PATIENCE_TIMES	4u	/* as long as it takes to make a batch */

/*--- holding -------------------------------------------------------------*/

static struct share_unit *
new_unit(const struct ds_loader *l, const struct ds_taken *taken)
{
	const struct share_pass *sp = l->share.now;
	struct share_unit *u = calloc(1, sizeof *u);

	if (u == NULL)
		return NULL;
	u->taken = *taken;
	u->turn = taken->unit * sp->info.unit;
	u->count = share_count(sp, l->plan.turns, taken->unit);
	u->users = 1;
	return u;
}

static void
enlist(struct share *s, struct share_unit *u)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	if (u->stage != NULL)
		u->stage->users++;
	u->next = s->units;
	if (u->next != NULL)
		u->next->prev = u;
	s->units = u;
	must(pthread_mutex_unlock(&s->lock) == 0);
}

static struct share_unit *
hold(struct ds_loader *l, const struct ds_taken *taken)
{
	struct share_unit *u = new_unit(l, taken);

	if (u == NULL)
		return NULL;
	u->stage = l->share.now->stage;
	u->states = (const uint8_t *)taken->bytes +
	    u->count * l->shelf.sample_bytes;
	enlist(&l->share, u);
	return u;
}

/* That was made in our own memory. */
static struct share_unit *
hold_own(struct ds_loader *l, struct batch *b)
{
	struct share_unit *u = new_unit(l, &(struct ds_taken){
	    .bytes = b->given.samples, .unit = b->given.number,
	    .is_own = true });

	if (u == NULL) {
		shelf_put(&l->shelf, b);
		return NULL;
	}
	u->own = b;
	u->shelf = &l->shelf;
	u->states = b->states;
	enlist(&l->share, u);
	return u;
}

static void
unlist(struct share *s, struct share_unit *u)
{
	if (u->next != NULL)
		u->next->prev = u->prev;
	if (u->prev != NULL)
		u->prev->next = u->next;
	else
		s->units = u->next;
}

void
share_unit_drop(struct share *s, struct share_unit *u)
{
	bool is_last;

	must(pthread_mutex_lock(&s->lock) == 0);
	is_last = --u->users == 0;
	if (is_last)
		unlist(s, u);
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (!is_last)
		return;
	if (u->stage != NULL) {
		ds_stage_release(u->stage->stage, &u->taken);
		(void)crash_point("loader.released");
		share_stage_drop(s, u->stage);
	} else if (!s->is_abandoned) {
		shelf_put(u->shelf, u->own);
	}
	free(u);
}

/* What it made itself is told when it has passed it. */
void
share_forget_unit(struct ds_loader *l)
{
	struct share *s = &l->share;

	if (s->unit != NULL)
		share_unit_drop(s, s->unit);
	s->unit = NULL;
	if (s->self != SHARE_NEVER && s->now != NULL)
		ds_pass_skip(s->now->pass, s->self);
	s->self = SHARE_NEVER;
}

/*--- taking --------------------------------------------------------------*/

static enum share_found
find_self(struct ds_loader *l, uint64_t unit)
{
	struct share *s = &l->share;

	s->self = unit;
	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.own++;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (++s->selfs < SELFS_MOST)
		return FOUND_SELF;
	share_leave(l);
	return FOUND_NONE;
}

static void
note_taken(struct share *s, const struct share_unit *u)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.units++;
	s->counts.foreign += !u->taken.is_own;
	must(pthread_mutex_unlock(&s->lock) == 0);
	s->selfs = 0;
}

/* What it has leased it gives up: who knows which one is right? */
static void
leave_for_good(struct ds_loader *l)
{
	struct share *s = &l->share;

	must(pthread_mutex_lock(&s->lock) == 0);
	s->is_different = true;
	must(pthread_mutex_unlock(&s->lock) == 0);
	s->for_good = true;
	share_leave(l);
}

static enum share_found
accept(struct ds_loader *l, const struct ds_taken *taken)
{
	struct share *s = &l->share;
	struct ds_taken unused = *taken;
	struct share_unit *u = NULL;

	if (crash_point("loader.taken") == 0)
		u = hold(l, taken);
	if (u == NULL) {
		ds_stage_release(s->now->stage->stage, &unused);
		return find_self(l, taken->unit);
	}
	switch (share_prove(l, u)) {
	case PROVED:
		note_taken(s, u);
		s->unit = u;
		return FOUND_UNIT;
	case UNPROVED:
		share_unit_drop(s, u);
		return find_self(l, taken->unit);
	default:
		share_unit_drop(s, u);
		leave_for_good(l);
		return FOUND_NONE;
	}
}

/* The hub knows already that it is behind. */
static enum share_found
accept_own(struct ds_loader *l, struct batch *b)
{
	struct share *s = &l->share;

	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.own++;
	must(pthread_mutex_unlock(&s->lock) == 0);
	s->selfs = 0;
	s->unit = hold_own(l, b);
	return s->unit != NULL ? FOUND_UNIT : FOUND_SELF;
}

static bool
has_no_room(struct share *s, uint64_t unit)
{
	bool has_none;

	must(pthread_mutex_lock(&s->lock) == 0);
	has_none = s->no_room_for == unit || s->too_large != 0;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return has_none;
}

/* The others make nothing: what it waits for it makes for all. */
static void
feed(struct share *s)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	s->now->feeds = true;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
}

/* Nothing is leased there any more. */
static bool
is_dead(struct share *s)
{
	bool is;

	must(pthread_mutex_lock(&s->lock) == 0);
	is = s->now->is_dead;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return is;
}

/* One that makes nothing for others yet (share.h, rule 2) must not wait for
 * them for ever: they may stand still, or wait for each other to begin. */
static bool
is_patient(struct share *s, uint64_t waited_ns)
{
	bool is_long = waited_ns >=
	    PATIENCE_NS + PATIENCE_TIMES * s->made_ns;

	if (s->now->feeds && !is_dead(s))
		return true;
	if ((is_long && s->selfs > 0) || ds_pass_jobs(s->now->pass) <= 1)
		feed(s);
	return !is_long;
}

/* It is asked for whom it waits until that is known. */
static void
note_wait(struct share *s, uint64_t since_ns, bool is_long)
{
	int64_t pid = is_long ? ds_pass_waits_for(s->now->pass) : 0;

	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.waits_since_ns = since_ns;
	s->counts.waits_pid = pid;
	must(pthread_mutex_unlock(&s->lock) == 0);
}

static bool
goes_on_waiting(struct share *s, uint64_t unit, uint64_t since_ns)
{
	uint64_t waited_ns = clock_now_ns() - since_ns;
	bool is_long = waited_ns > LONG_NS;

	if (has_no_room(s, unit) || !is_patient(s, waited_ns))
		return false;
	if (s->counts.waits_since_ns == 0 ||
	    (is_long && s->counts.waits_pid == 0))
		note_wait(s, since_ns, is_long);
	return true;
}

/* With the lock held. */
static void
count_wait(struct share_counts *c, uint64_t since_ns)
{
	uint64_t waited_ns = clock_now_ns() - since_ns;

	c->wait_ns += waited_ns;
	if (c->waits_pid != 0)
		c->blocked_ns += waited_ns;
	c->waits_since_ns = 0;
	c->waits_pid = 0;
}

static bool
is_interrupted(struct ds_loader *l)
{
	/* relaxed: it speaks for nothing else */
	return atomic_exchange_explicit(&l->is_interrupted, false,
	    memory_order_relaxed);
}

/* One that is alone waits for its own makers, and not at the stage.  But another
 * that is no member may hold the lease: after a while the hub must know that
 * somebody waits for it, and whoever waits looks whether the hub is there. */
static unsigned
alone_ms(uint64_t since_ns)
{
	return clock_now_ns() - since_ns > SHARE_SLICE_MS * NS_PER_MS;
}

/* Until there is something to say of it; -EINTR. */
static int
wait_and_take(struct ds_loader *l, uint64_t unit, uint64_t since_ns,
    struct ds_taken *taken, struct batch **own, struct ds_err *err)
{
	struct share *s = &l->share;
	int rc;

	for (;;) {
		bool is_alone = share_take_own(l, unit, own);

		if (*own != NULL)
			return TAKEN_OWN;
		rc = ds_pass_take(s->now->pass, unit, is_alone ?
		    alone_ms(since_ns) : SHARE_SLICE_MS, taken, err);
		if (rc < 0 || rc == DS_TAKE_WAIT) {
			/* A hub that stands still is waited for, too. */
			if (is_interrupted(l))
				return -EINTR;
		}
		if (rc != DS_TAKE_WAIT)
			return rc;
		if (!goes_on_waiting(s, unit, since_ns))
			return DS_TAKE_SELF;
		if (is_alone)
			share_wait_own(l, unit);
	}
}

static int
take(struct ds_loader *l, uint64_t unit, struct ds_taken *taken,
    struct batch **own, struct ds_err *err)
{
	uint64_t since_ns = clock_now_ns();
	struct share *s = &l->share;
	int rc;

	share_note_company(s);
	rc = wait_and_take(l, unit, since_ns, taken, own, err);
	must(pthread_mutex_lock(&s->lock) == 0);
	if (rc != -EINTR)
		s->at = unit + 1;
	count_wait(&s->counts, since_ns);
	s->counts.detached += rc == DS_TAKE_DETACHED;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return rc;
}

/* Then it loads alone, as if there were no stage. */
static bool
is_too_large(struct ds_loader *l)
{
	struct share *s = &l->share;
	char size[TEXT_FIGURE];
	uint64_t bytes;

	must(pthread_mutex_lock(&s->lock) == 0);
	bytes = s->too_large;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (bytes == 0)
		return false;
	share_say(s, false, "a batch of %s does not fit four times into the "
	    "stage: give it more with DESTALL_STAGE", text_size(size, bytes));
	s->for_good = true;
	share_leave(l);
	return true;
}

static enum share_found
take_unit(struct ds_loader *l, uint64_t unit)
{
	uint64_t since_ns = clock_now_ns();
	struct ds_err err = { 0 };
	struct ds_taken taken;
	struct batch *own;

	switch (take(l, unit, &taken, &own, &err)) {
	case DS_TAKEN:
		return accept(l, &taken);
	case TAKEN_OWN:
		return accept_own(l, own);
	case DS_TAKE_SELF:
		return is_too_large(l) ? FOUND_NONE : find_self(l, unit);
	case DS_TAKE_DETACHED:
		share_say(&l->share, false, "it was too slow for the others: "
		    "it goes on alone until its next epoch");
		share_leave(l);
		return FOUND_NONE;
	case -EINTR:
		return FOUND_INTERRUPT;
	default:
		share_lost(&l->share, since_ns);
		share_say(&l->share, false, "%s", err.text);
		share_leave(l);
		return FOUND_NONE;
	}
}

/* One that was passed already, by a call that failed later, is made here. */
enum share_found
share_find(struct ds_loader *l, uint64_t unit)
{
	struct share *s = &l->share;

	if (s->unit != NULL && s->unit->taken.unit == unit)
		return FOUND_UNIT;
	if (s->self == unit || unit < s->at)
		return FOUND_SELF;
	share_forget_unit(l);
	return take_unit(l, unit);
}
