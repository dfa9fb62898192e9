/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_take.c: taking units of a pass.
 * Runs in clients, in one thread of a pass at a time.
 *
 * What the board shows is the hub's, but nothing is taken on trust: what cannot
 * be is counted, and the job makes that unit itself.
 *
 *  1. No message is sent for a unit whose slot is mapped, unless the hub waits
 *     for the news.
 *  2. It is safe to hold a slot that was STAGED a moment ago, when this place
 *     was LIVE: a unit that it has not released stays, or is pinned until END.
 */

#include <config.h>

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"
#include "stage/stage.h"
#include "stage/talk.h"

/*--- the board -----------------------------------------------------------*/

struct sight {			/* of a STAGED unit */
	uint64_t	bytes, hash, job;
	uint32_t	slot;
};

enum seen { SEEN_NOTHING, SEEN_STAGED, SEEN_ALONE, SEEN_DETACHED, SEEN_ODD };

/* A unit that is not made: is it for the job to make it? */
static enum seen
judge_free(const struct ds_pass *p, uint64_t unit, uint64_t base)
{
	/* relaxed: both may be a moment old */
	uint64_t window = atomic_load_explicit(&p->board->window,
	    memory_order_relaxed);

	if (unit - base < window && atomic_load_explicit(&p->no_room,
	    memory_order_relaxed))
		return SEEN_ALONE;
	return SEEN_NOTHING;
}

/* The hub empties the word before it changes the rest: if that is the same
 * afterwards, all of it belongs together. */
static enum seen
read_entry(const struct board_entry *e, uint64_t word, struct sight *s)
{
	/* acquire: before the second look at the word */
	s->slot = atomic_load_explicit(&e->slot, memory_order_acquire);
	s->bytes = atomic_load_explicit(&e->bytes, memory_order_acquire);
	s->hash = atomic_load_explicit(&e->hash, memory_order_acquire);
	s->job = atomic_load_explicit(&e->job, memory_order_acquire);
	/* relaxed: the loads above come before it, by their own order */
	if (atomic_load_explicit(&e->word, memory_order_relaxed) != word)
		return SEEN_NOTHING;
	return s->slot == 0 || s->bytes > STAGE_BYTES_MAX ? SEEN_ODD :
	    SEEN_STAGED;
}

/* seq_cst, here and below: after the store of waits, as the hub looks at that
 * after it has stored these (board.h, rule 3). */
static enum seen
look_at_unit(const struct ds_pass *p, uint64_t unit, struct sight *s)
{
	const struct board_entry *e = &p->board->entries[unit % BOARD_RING];
	uint64_t base, word, number;

	base = atomic_load_explicit(&p->board->base, memory_order_seq_cst);
	word = atomic_load_explicit(&e->word, memory_order_seq_cst);
	number = atomic_load_explicit(&e->unit, memory_order_seq_cst);
	if (unit < base || number > unit)
		return SEEN_ODD;
	if (number < unit || board_state(word) == UNIT_FREE)
		return judge_free(p, unit, base);
	switch (board_state(word)) {
	case UNIT_LEASED:
		return SEEN_NOTHING;
	case UNIT_STAGED:
		return read_entry(e, word, s);
	case UNIT_ALONE:
		return SEEN_ALONE;
	default:
		return SEEN_ODD;
	}
}

/* The state last: a unit that this place is owed leaves the window only when it
 * is detached, and what is STAGED after that is not for it (line.h, rule 5). */
static enum seen
look(const struct ds_pass *p, uint64_t unit, struct sight *s)
{
	enum seen seen = look_at_unit(p, unit, s);

	return atomic_load_explicit(&p->board->places[p->place].state,
	    memory_order_seq_cst) == PLACE_DETACHED ? SEEN_DETACHED : seen;
}

/*--- taking --------------------------------------------------------------*/

static int
make_it_yourself(struct ds_pass *p, bool is_odd)
{
	if (is_odd)	/* relaxed: a count */
		atomic_fetch_add_explicit(&p->stage->nr_odd, 1,
		    memory_order_relaxed);
	return DS_TAKE_SELF;
}

/* With the lock, on success and on failure; a message in between is sent
 * without it. */
static int
find_map(struct ds_pass *p, uint32_t slot, struct map **out)
{
	struct desk *d = p->stage->desk;
	uint64_t room = 0;
	int fd, rc;

	*out = maps_find(d->maps, slot);
	if (*out != NULL)
		return 0;
	desk_unlock(d);
	fd = talk_map(d->link, p->id, slot, &room, NULL);
	(void)crash_point("stage.mapped");
	desk_lock(d);
	if (fd < 0)
		return fd;
	rc = room > SIZE_MAX ? -EFBIG :
	    maps_add(d->maps, slot, fd, (size_t)room, out, NULL);
	io_close(&fd);
	return rc;
}

static int
hold(struct ds_pass *p, uint64_t unit, const struct sight *s,
    struct ds_taken *taken, struct pass_news *n)
{
	struct map *map;
	struct hold *h;
	int rc;

	rc = find_map(p, s->slot, &map);
	if (rc < 0)
		return link_alive(p->stage->desk->link) ?
		    make_it_yourself(p, false) : -ESTALE;
	if (s->bytes > map->len)
		return make_it_yourself(p, true);
	if (pass_hold(p, map, unit, (size_t)s->bytes, &h, NULL) < 0)
		return make_it_yourself(p, false);
	(void)crash_point("stage.taken");
	pass_advance(p, unit + 1, n);
	*taken = (struct ds_taken){
		.bytes = map->base,
		.len = (size_t)s->bytes,
		.unit = unit,
		.hash = s->hash,
		.maker = s->job,
		.is_own = s->job == p->stage->desk->job,
		.priv = h,
	};
	return DS_TAKEN;
}

/* For a job that writes to what it takes; NULL: it gets what it has taken. */
static struct map *
find_copy(struct ds_stage *s, const struct ds_taken *taken)
{
	if (s->copies == 0)
		return NULL;
	s->copies--;
	return maps_copy(s->desk->maps, taken->len);
}

/* Nobody else knows of what was taken yet: so it is copied without the lock,
 * which others need meanwhile. */
static void
take_copy(struct ds_pass *p, struct map *copy, struct ds_taken *taken,
    struct pass_news *n)
{
	memcpy(copy->base, taken->bytes, taken->len);
	taken->bytes = copy->base;
	desk_lock(p->stage->desk);
	pass_hold_copy(taken->priv, copy);
	pass_advance(p, p->taken, n);
	desk_unlock(p->stage->desk);
}

static int
take_staged(struct ds_pass *p, uint64_t unit, const struct sight *s,
    struct ds_taken *taken)
{
	struct map *copy = NULL;
	struct pass_news n;
	int rc;

	pass_news_init(&n, p);
	desk_lock(p->stage->desk);
	rc = hold(p, unit, s, taken, &n);
	if (rc == DS_TAKEN)
		copy = find_copy(p->stage, taken);
	desk_unlock(p->stage->desk);
	if (copy != NULL)
		take_copy(p, copy, taken, &n);
	pass_tell(&n);
	return rc;
}

/*--- what the hub wants meanwhile ----------------------------------------*/

static void
make_private(struct ds_pass *p, uint64_t before)
{
	struct pass_news n;

	pass_news_init(&n, p);
	desk_lock(p->stage->desk);
	(void)pass_make_private(p, before, &n, NULL);	/* or next time */
	desk_unlock(p->stage->desk);
	pass_tell(&n);
}

/* relaxed: this process's own */
static uint64_t
load_released(const struct ds_pass *p)
{
	return atomic_load_explicit(&p->seat->released, memory_order_relaxed);
}

static void
make_room(struct ds_pass *p)
{
	/* acquire: pairs with the hub's release; a wish, nothing more */
	uint64_t before = atomic_load_explicit(&p->board->wants_room,
	    memory_order_acquire), released = load_released(p);

	if (released < before && released < p->taken)
		make_private(p, before);
}

/* A member that waits for what is behind the window, and keeps its first unit
 * itself, need not be asked.  Half of what it keeps, so that this happens once
 * in a while and not for each unit. */
static void
stop_blocking(struct ds_pass *p, uint64_t unit)
{
	/* acquire: pair with the hub's stores; both may be a moment old */
	uint64_t base = atomic_load_explicit(&p->board->base,
	    memory_order_acquire), released = load_released(p);
	uint64_t window = atomic_load_explicit(&p->board->window,
	    memory_order_acquire);

	if (unit >= base && unit - base >= window && released <= base &&
	    released < p->taken)
		make_private(p, released + (p->taken - released + 1) / 2);
}

static int
be_detached(struct ds_pass *p)
{
	desk_lock(p->stage->desk);
	p->is_detached = true;
	desk_unlock(p->stage->desk);
	ds_pass_end(p);
	return DS_TAKE_DETACHED;
}

/* One look, and what follows. */
static int
try_to_take(struct ds_pass *p, uint64_t unit, struct ds_taken *taken)
{
	struct sight s;

	make_room(p);
	switch (look(p, unit, &s)) {
	case SEEN_STAGED:
		return take_staged(p, unit, &s, taken);
	case SEEN_ALONE:
		return make_it_yourself(p, false);
	case SEEN_ODD:
		return make_it_yourself(p, true);
	case SEEN_DETACHED:
		return be_detached(p);
	default:
		stop_blocking(p, unit);
		return DS_TAKE_WAIT;
	}
}

/*--- waiting -------------------------------------------------------------*/

/* By board.h, rule 3.  A member that comes back for the same unit a slice
 * later waits all the time: its seat says so until it has moved on. */
static int
wait_and_take(struct ds_pass *p, uint64_t unit, uint64_t deadline_ns,
    struct ds_taken *taken)
{
	const _Atomic uint32_t *word = &p->board->places[p->place].wake;
	uint32_t seen;
	int rc;

	atomic_store_explicit(&p->seat->waits, unit, memory_order_seq_cst);
	for (;;) {
		/* acquire: pairs with the release in futex_wake() */
		seen = atomic_load_explicit(word, memory_order_acquire);
		rc = try_to_take(p, unit, taken);
		if (rc != DS_TAKE_WAIT || clock_now_ns() >= deadline_ns)
			return rc;
		rc = pass_sleep(p, word, seen, deadline_ns);
		if (rc < 0)
			return rc;
	}
}

static int
check_take(struct ds_pass *p, uint64_t unit, struct ds_err *err)
{
	int rc = pass_check(p, err);

	if (rc < 0)
		return rc;
	if (p->is != MEMBER && p->is_detached) {
		ds_pass_end(p);		/* if that is owed still */
		return DS_TAKE_DETACHED;
	}
	if (p->is != MEMBER)
		return err_fail(err, -EINVAL, "a pass is begun before units "
		    "are taken");
	if (unit < p->taken || unit >= p->end)
		return err_fail(err, -EINVAL, "units are taken in ascending "
		    "order, to the end of the pass");
	return 0;
}

int
ds_pass_take(struct ds_pass *pass, uint64_t unit, unsigned wait_ms,
    struct ds_taken *taken, struct ds_err *err)
{
	int rc = check_take(pass, unit, err);

	if (rc != 0)
		return rc;
	rc = try_to_take(pass, unit, taken);
	if (rc == DS_TAKE_WAIT && wait_ms > 0)
		rc = wait_and_take(pass, unit,
		    clock_now_ns() + wait_ms * NS_PER_MS, taken);
	return rc < 0 ? pass_check(pass, err) : rc;
}

/*--- made by itself ------------------------------------------------------*/

void
ds_pass_skip(struct ds_pass *pass, uint64_t unit)
{
	struct pass_news n;

	if (pass_check(pass, NULL) < 0 || pass->is != MEMBER ||
	    unit < pass->taken || unit >= pass->end)
		return;
	pass_news_init(&n, pass);
	/* relaxed, here and below: a figure */
	atomic_fetch_add_explicit(&pass->seat->own, 1, memory_order_relaxed);
	desk_lock(pass->stage->desk);
	pass_advance(pass, unit + 1, &n);
	desk_unlock(pass->stage->desk);
	pass_tell(&n);
}

void
ds_pass_delivered(struct ds_pass *pass, uint64_t samples)
{
	must_be(pass, ATTENDED_MAGIC);
	if (desk_is_mine(pass->stage->desk))
		atomic_fetch_add_explicit(&pass->seat->samples, samples,
		    memory_order_relaxed);
}
