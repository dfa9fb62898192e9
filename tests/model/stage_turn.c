/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_turn.c: a turn of the hub in the model of the stage: who is woken, whose
 * memory it is, and what the board shows at its end.
 */

#include <config.h>

#include "tests/model/stage_turn.h"

#include <string.h>

/*--- waking --------------------------------------------------------------*/

bool
is_seat_of(const struct hub_turn *h, unsigned p, unsigned s)
{
	return h->t->cfg->person[p].seats[s] == h->pass + 1 &&
	    h->w->person[p].seat[s].place != NOBODY;
}

void
wake_taker(struct hub_turn *h, unsigned p, unsigned s)
{
	struct m_seat *seat = &h->w->person[p].seat[s];

	if (seat->taking >= STORED && !seat->woken) {
		say(h->t, ", %c is woken", name_of(p));
		seat->woken = 1;
	}
}

/* Those who say that they wait for a unit. */
static void
wake_waiting(struct hub_turn *h, unsigned unit)
{
	for (unsigned p = 0; p < h->w->people; p++)
		for (unsigned s = 0; s < SEATS; s++)
			if (is_seat_of(h, p, s) &&
			    h->w->person[p].seat[s].waits == unit)
				wake_taker(h, p, s);
}

static bool
is_idle(const struct hub_turn *h, unsigned p, unsigned i)
{
	const struct m_thread *th = &h->w->person[p].thread[i];

	return th->making == WAITS && !th->woken &&
	    is_seat_of(h, p, seat_of(h->t->cfg, p, i));
}

/* The first of the idle makers, or of those who were told that there is no
 * memory.  False: there is none. */
bool
wake_maker(struct hub_turn *h, bool no_room)
{
	for (unsigned p = 0; p < h->w->people; p++)
		for (unsigned i = 0; i < THREADS; i++) {
			struct m_thread *th = &h->w->person[p].thread[i];

			if (!is_idle(h, p, i) || th->no_room != no_room)
				continue;
			say(h->t, ", a maker of %c is woken", name_of(p));
			th->woken = 1;
			return true;
		}
	return false;
}

/* Everywhere, whoever waits for memory. */
void
wake_for_room(struct stage_world *w)
{
	for (unsigned p = 0; p < w->people; p++)
		for (unsigned i = 0; i < THREADS; i++)
			if (w->person[p].thread[i].making == WAITS &&
			    w->person[p].thread[i].no_room)
				w->person[p].thread[i].woken = 1;
}

/*--- slots ---------------------------------------------------------------*/

void
put_slot(struct stage_world *w, struct stage_turn *t, struct m_slot *slot)
{
	slot->in = slot->owner_gone ? GONE : FREE;
	slot->pass = slot->unit = slot->generation = 0;
	slot->has_pass = slot->has_unit = slot->has_half = 0;
	free_if_unused(t, slot);
	wake_for_room(w);
}

/* What was held back for one who was DETACHED, and is not any more. */
static void
put_unpinned(struct hub_turn *h)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct m_slot *slot = &h->w->slot[i];

		if (slot->in == HELD && slot->pass == h->pass &&
		    !line_pinned(&h->v.line, slot->unit))
			put_slot(h->w, h->t, slot);
	}
}

static struct m_slot *
find_slot(struct stage_world *w, enum slot_in in, unsigned owner, bool other)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct m_slot *slot = &w->slot[i];

		if (slot->in == in && (in == NO_SLOT ? slot->mapped == 0 :
		    (slot->owner == owner) != other))
			return slot;
	}
	return NULL;
}

static unsigned
count_slots(const struct stage_world *w)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		nr += w->slot[i].in != NO_SLOT;
	return nr;
}

/* Its own one that is FREE, a new one, one that is FREE after retiring, or,
 * later, what becomes of another's. */
struct m_slot *
get_slot(struct hub_turn *h, unsigned p)
{
	struct m_slot *slot;

	do {
		slot = find_slot(h->w, FREE, p, false);
		if (slot == NULL && count_slots(h->w) < h->t->cfg->budget)
			slot = find_slot(h->w, NO_SLOT, p, false);
		if (slot != NULL)
			return slot;
	} while (line_retire(&h->v.line));
	slot = find_slot(h->w, FREE, p, true);
	if (slot != NULL) {
		say(h->t, ", a slot of %c is to go", name_of(slot->owner));
		slot->in = GONE;
		free_if_unused(h->t, slot);
	}
	return slot != NULL && slot->in == NO_SLOT ? get_slot(h, p) : NULL;
}

/*--- a turn --------------------------------------------------------------*/

static void
note_changed(void *arg, uint64_t unit)
{
	struct hub_turn *h = arg;
	const struct line_unit *u = &h->v.unit[unit & (h->v.line.ring - 1)];

	if (u->state == UNIT_STAGED || u->state == UNIT_ALONE)
		wake_waiting(h, (unsigned)unit);
}

static void
note_retired(void *arg, uint64_t unit, uint32_t slot)
{
	struct hub_turn *h = arg;

	say(h->t, ", unit %u is retired", (unsigned)unit);
	if (slot == LINE_NO_SLOT)
		return;
	if (line_pinned(&h->v.line, unit) && !breaks(h->t, BREAK_PIN_NONE))
		h->w->slot[slot - 1].in = HELD;
	else
		put_slot(h->w, h->t, &h->w->slot[slot - 1]);
}

void
begin_turn(struct hub_turn *h, struct stage_world *w, struct stage_turn *t,
    unsigned pass)
{
	h->w = w;
	h->t = t;
	h->pass = pass;
	view_open(&h->v, t->cfg, w, pass);
	h->v.line.changed = note_changed;
	h->v.line.retired = note_retired;
	h->v.line.arg = h;
}

static void
keep_place(const struct hub_turn *h, unsigned i, struct m_place *m)
{
	const struct line_place *pl = &h->v.place[i];

	m->state = (uint8_t)pl->state;
	m->leases = (uint8_t)pl->leases;
	m->start = (uint8_t)pl->start;
	m->pin_end = (uint8_t)pl->pin_end;
	if (pl->state == PLACE_NONE)
		memset(m, 0, sizeof *m);
}

/* The board shows what the line says. */
void
end_turn(struct hub_turn *h)
{
	struct m_pass *m = &h->w->pass[h->pass];

	m->base = (uint8_t)h->v.line.base;
	m->front = (uint8_t)h->v.line.front;
	m->begun = h->v.line.begun;
	for (unsigned i = 0; i < h->v.line.ring; i++) {
		const struct line_unit *u = &h->v.unit[i];

		m->unit[i] = (struct m_unit){
			.state = (uint8_t)u->state,
			.generation = (uint8_t)u->generation,
			.maker = u->state == UNIT_LEASED ? (uint8_t)u->maker :
			    0,
			.slot = u->state == UNIT_STAGED ?
			    (uint8_t)(u->slot - 1) : 0,
			.is_late = (uint8_t)u->is_late,
		};
	}
	for (unsigned i = 0; i < PLACES; i++)
		keep_place(h, i, &m->place[i]);
}

static bool
has_idle(const struct hub_turn *h, bool no_room)
{
	for (unsigned p = 0; p < h->w->people; p++)
		for (unsigned i = 0; i < THREADS; i++)
			if (is_idle(h, p, i) &&
			    h->w->person[p].thread[i].no_room == no_room)
				return true;
	return false;
}

bool
somebody_needs_room(const struct stage_world *w)
{
	for (unsigned p = 0; p < w->people; p++)
		for (unsigned i = 0; i < THREADS; i++)
			if (w->person[p].thread[i].making == WAITS &&
			    w->person[p].thread[i].no_room)
				return true;
	return false;
}

/* Those who wait and keep what is to make room. */
static void
ask_for_private(struct hub_turn *h, unsigned first)
{
	struct m_pass *m = &h->w->pass[h->pass];

	if (m->wants_room < first + 1)
		m->wants_room = (uint8_t)(first + 1);
	for (unsigned p = 0; p < h->w->people; p++)
		for (unsigned s = 0; s < SEATS; s++) {
			const struct m_seat *seat = &h->w->person[p].seat[s];

			if (is_seat_of(h, p, s) && seat->released <= first &&
			    seat->released < seat->taken)
				wake_taker(h, p, s);
		}
}

void
show_needs(struct hub_turn *h, unsigned taken, unsigned released)
{
	struct m_pass *m = &h->w->pass[h->pass];

	if (released != NEVER)
		ask_for_private(h, released);
	m->need_taken = (uint8_t)taken;
	m->need_released = (uint8_t)released;
	m->recheck = m->to_take = m->to_release = 0;
}

/* What the idle makers need to go on: that is to be told.  It is shown at once,
 * or after seats may have changed. */
static void
find_needs(struct hub_turn *h)
{
	struct m_pass *m = &h->w->pass[h->pass];
	enum line_answer answer = line_would_lease(&h->v.line);
	unsigned taken = NEVER, released = NEVER;

	if (has_idle(h, false) && answer == LINE_WAIT)
		taken = (unsigned)line_lead(&h->v.line) + 1;
	if ((has_idle(h, false) && answer == LINE_FULL) ||
	    somebody_needs_room(h->w))
		released = (unsigned)line_first(&h->v.line);
	if (!h->t->cfg->splits || (taken == NEVER && released == NEVER) ||
	    (taken == m->need_taken && released == m->need_released)) {
		show_needs(h, taken, released);
		return;
	}
	m->recheck = 1;
	m->to_take = (uint8_t)taken;
	m->to_release = (uint8_t)released;
}

/* The end of every turn that may have changed something. */
void
settle(struct hub_turn *h)
{
	put_unpinned(h);
	if (line_can_lease(&h->v.line))
		(void)wake_maker(h, false);
	find_needs(h);
	end_turn(h);
}
