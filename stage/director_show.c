/* SPDX-License-Identifier: Apache-2.0
 *
 * director_show.c: what the board says of a pass, and who is woken by it.
 * Runs in the hub only.
 *
 * The partners of these stores and loads are the client's, in taking and in
 * waiting (stage/pass_take.c); their order is that of board.h, 1, 3 and 4.
 */

#include <config.h>

#include "stage/director.h"

/* Relaxed: each stands for itself, or is published by an entry's word. */
#define SHOW(where, n) \
	atomic_store_explicit(&(where), (n), memory_order_relaxed)

#define LOOKS_MOST	4u	/* in a row, at members who are fast; then the
				 * tick sees what was missed */

/*--- showing -------------------------------------------------------------*/

static uint32_t
client_at(const struct pass *p, uint32_t place)
{
	return place < LINE_PLACES && p->seated[place] != NULL ?
	    p->seated[place]->client : 0;
}

static void
note_news(struct pass *p, uint64_t unit)
{
	if (p->news_from > p->news_to) {
		p->news_from = p->news_to = unit;
		return;
	}
	if (unit < p->news_from)
		p->news_from = unit;
	if (unit > p->news_to)
		p->news_to = unit;
}

void
director_show_unit(void *pass, uint64_t unit)
{
	struct pass *p = pass;
	const struct line_unit *u = &p->line.unit[unit % p->line.ring];
	struct board_entry *e = &p->board->entries[unit % BOARD_RING];

	/* The entry may still say STAGED, of a unit that has left the window.
	 * relaxed: this word is ours; release: pairs with the acquire of who
	 * finds the number there, and looks at the word again.  What is stored
	 * in the rest comes behind the emptied word for everyone by the fence
	 * of director_settle(): a unit is STAGED in a later turn than LEASED */
	if (atomic_load_explicit(&e->unit, memory_order_relaxed) != unit)
		SHOW(e->word, board_word(UNIT_FREE, 0, 0));
	atomic_store_explicit(&e->unit, unit, memory_order_release);
	if (u->state == UNIT_STAGED) {
		SHOW(e->slot, u->slot);
		SHOW(e->bytes, p->publishing.bytes);
		SHOW(e->hash, p->publishing.hash);
		SHOW(e->job, p->publishing.job);
	}
	/* release: pairs with the acquire of who looks at the entry */
	atomic_store_explicit(&e->word, board_word(u->state, u->generation,
	    client_at(p, u->maker)), memory_order_release);
	if (u->state == UNIT_STAGED || u->state == UNIT_ALONE)
		note_news(p, unit);
}

void
director_show_place(struct pass *p, uint32_t place)
{
	SHOW(p->board->places[place].state, p->line.place[place].state);
}

void
director_show_members(struct pass *p)
{
	SHOW(p->board->nr_members, p->line.members);
	SHOW(p->board->nr_jobs, director_count_jobs(p));
}

/* Units that have come into the window are FREE, whatever was there before. */
static void
show_window(struct pass *p)
{
	const struct line *l = &p->line;
	uint64_t end = l->base + l->window;

	if (end > l->units)
		end = l->units;
	if (p->shown_end < l->base)
		p->shown_end = l->base;
	for (; p->shown_end < end; p->shown_end++) {
		if (l->unit[p->shown_end % l->ring].state == UNIT_FREE)
			director_show_unit(p, p->shown_end);
	}
	SHOW(p->board->window, l->window);
	SHOW(p->board->base, l->base);
}

/*--- what to be told -----------------------------------------------------*/

static bool
has_idle(const struct pass *p)
{
	for (uint32_t i = 0; i < p->high; i++) {
		if (p->seated[i] != NULL && (p->seated[i]->is_idle ||
		    p->seated[i]->may_be_idle))
			return true;
	}
	return false;
}

static bool
has_poor(const struct pass *p)
{
	for (uint32_t i = 0; i < p->high; i++) {
		if (p->seated[i] != NULL && p->seated[i]->is_idle &&
		    p->seated[i]->lacks_room)
			return true;
	}
	return false;
}

/* Units that could be made now, or a few more. */
static uint64_t
count_free(const struct pass *p)
{
	const struct line *l = &p->line;
	uint64_t first = line_first(l), u, nr = 0;
	uint64_t end = line_lead(l) + l->ahead;

	if (end > first + l->window)
		end = first + l->window;
	if (end > l->units)
		end = l->units;
	for (u = first; u < end && u < l->front; u++)
		nr += l->unit[u % l->ring].state == UNIT_FREE;
	return u < end ? nr + end - u : nr;
}

/* What there is to make is too far ahead. */
static uint64_t
wanted_taken(const struct pass *p)
{
	return p->line.members > 0 && has_idle(p) &&
	    line_would_lease(&p->line) == LINE_WAIT ?
	    line_lead(&p->line) + 1 : BOARD_NEVER;
}

/* The window has no room, or memory has none. */
static uint64_t
wanted_released(const struct pass *p)
{
	return p->line.members > 0 && has_idle(p) && (has_poor(p) ||
	    line_would_lease(&p->line) == LINE_FULL) ?
	    line_first(&p->line) : BOARD_NEVER;
}

/* True if they are others than before. */
static bool
show_needs(struct pass *p)
{
	uint64_t taken = wanted_taken(p), released = wanted_released(p);

	if (taken == p->need_taken && released == p->need_released)
		return false;
	p->need_taken = taken;
	p->need_released = released;
	SHOW(p->board->need_taken, taken);
	SHOW(p->board->need_released, released);
	return true;
}

/* How much of what it holds a member that stands in the way of `first` should
 * make private: what it keeps, and has not only not yet got to release. */
static uint64_t
kept_by(const struct pass *p, uint32_t place, uint64_t first)
{
	const struct line_place *b = &p->line.place[place];
	uint64_t kept = b->taken > first ? b->taken - first : 0;

	return line_blocks_at(&p->line, place, first) &&
	    (kept > p->line.window / 2 ||
	    line_is_blocked_at(&p->line, place, first)) ? (kept + 1) / 2 : 0;
}

static void
want_room(struct pass *p)
{
	uint64_t first = p->need_released, most = 0, kept;

	if (first == BOARD_NEVER)
		return;
	for (uint32_t i = 0; i < p->high; i++) {
		kept = kept_by(p, i, first);
		most = kept > most ? kept : most;
	}
	/* relaxed: our own store */
	if (most == 0 || first + most <= atomic_load_explicit(
	    &p->board->wants_room, memory_order_relaxed))
		return;
	SHOW(p->board->wants_room, first + most);
	for (uint32_t i = 0; i < p->high; i++) {
		if (kept_by(p, i, first) > 0)
			director_wake(p, i);
	}
}

/*--- waking --------------------------------------------------------------*/

void
director_wake(struct pass *p, uint32_t place)
{
	board_wake(&p->board->places[place].wake);
}

static void
wake_members(struct pass *p)
{
	for (uint32_t i = 0; p->news_from <= p->news_to && i < p->high; i++) {
		const struct seat *seat;
		uint64_t waits;

		if (p->line.place[i].state != PLACE_LIVE)
			continue;
		seat = p->seated[i]->seat.base;
		/* relaxed, behind the fence: board.h, 3 */
		waits = atomic_load_explicit(&seat->waits,
		    memory_order_relaxed);
		if (waits >= p->news_from && waits <= p->news_to)
			director_wake(p, i);
	}
	p->news_from = 1;
	p->news_to = 0;
}

static void
wake_maker(struct pass *p, uint32_t place)
{
	struct seated *s = p->seated[place];

	s->is_idle = s->may_be_idle = s->lacks_room = false;
	board_wake(&p->board->places[place].work);
}

static bool
may_wake(const struct seated *s)
{
	return s != NULL && (s->may_be_idle || (s->is_idle && !s->lacks_room));
}

static uint32_t
next_idle(const struct pass *p)
{
	uint32_t next = LINE_NOBODY;

	for (uint32_t i = 0; i < p->high; i++) {
		if (may_wake(p->seated[i]) && (next == LINE_NOBODY ||
		    p->seated[i]->idle_order < p->seated[next]->idle_order))
			next = i;
	}
	return next;
}

static void
wake_makers(struct pass *p)
{
	uint32_t left, place;
	uint64_t nr;

	if (!line_can_lease(&p->line) || !director_may_make(p, 1, &left))
		return;
	nr = count_free(p);
	nr = nr < left ? nr : left;
	do {
		place = next_idle(p);
		if (place == LINE_NOBODY)
			return;
		if (p->seated[place]->may_be_idle)
			nr++;	/* it may not hear it */
		wake_maker(p, place);
	} while (nr-- > 1);
}

/* Called where a line may be in the midst of something: it is not asked. */
void
director_room_grew(void *director)
{
	struct director *d = director;
	struct pass *p;

	for (p = d->passes; p != NULL; p = p->next) {
		for (uint32_t i = 0; i < p->high; i++) {
			const struct seated *s = p->seated[i];

			if (s != NULL && s->is_idle && s->lacks_room)
				wake_maker(p, i);
		}
	}
}

void
director_settle(struct pass *p, uint64_t now_ns)
{
	unsigned looks = 0;

	director_fit(p);
	show_window(p);
	(void)show_needs(p);
	do {
		/* pairs with the fence of those who wait, or have taken or
		 * released: board.h, 3 and 4 */
		atomic_thread_fence(memory_order_seq_cst);
		director_look(p, now_ns);
		/* Who had said that before it could see the needs does not say
		 * it again: what is needed may be something else by now. */
	} while (show_needs(p) && ++looks < LOOKS_MOST);
	wake_members(p);
	want_room(p);
	wake_makers(p);
}
