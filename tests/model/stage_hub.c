/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_hub.c: what the hub does in the model of the stage when it is asked or
 * told something, over the real rules of stage/line.c.
 */

#include <config.h>

#include "tests/model/stage_turn.h"

#include <string.h>

/*--- requests ------------------------------------------------------------*/

bool
hub_attach(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];
	unsigned pass = pass_of(t, p, s);
	struct m_pass *m = &w->pass[pass];
	struct hub_turn h;
	int place;

	if (!m->lives) {
		m->lives = 1;
		m->need_taken = m->need_released = NEVER;
		m->base = m->front = seat->next;
	}
	begin_turn(&h, w, t, pass);
	place = line_attach(&h.v.line, t->cfg->person[p].job);
	if (place < 0)
		return false;
	m->place[place].owner = (uint8_t)(p * SEATS + s);
	seat->place = (uint8_t)place;
	settle(&h);
	return true;
}

int
hub_begin(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s,
    unsigned at)
{
	struct m_seat *seat = &w->person[p].seat[s];
	struct hub_turn h;
	uint64_t start;
	int rc;

	seat->taken = seat->released = 0;
	seat->waits = NEVER;
	begin_turn(&h, w, t, pass_of(t, p, s));
	rc = line_begin(&h.v.line, seat->place, at == AT_ANY ? LINE_ANY :
	    at - 1, t->cfg->units, &start);
	settle(&h);
	return rc < 0 ? -1 : (int)start;
}

static void
check_lease(struct hub_turn *h, uint64_t unit, uint64_t lead)
{
	const struct line *l = &h->v.line;

	if (unit < l->base || unit - l->base >= l->window || unit >= l->units)
		h->t->step->broken = "6: a unit is leased outside the window";
	if (unit >= lead + l->ahead)
		h->t->step->broken = "6: a unit is leased too far ahead";
}

/* In the passes that had no turn, too. */
static void
show_need_of_room(struct stage_world *w, struct stage_turn *t, unsigned but)
{
	struct hub_turn h;

	for (unsigned pass = 0; pass < PASSES; pass++)
		if (pass != but && w->pass[pass].lives) {
			begin_turn(&h, w, t, pass);
			settle(&h);
		}
}

/* There is no memory: those of the same job at this pass may have to make what
 * they wait for. */
static void
refuse_room(struct hub_turn *h, unsigned p, struct m_thread *th)
{
	say(h->t, ", but there is no memory");
	th->making = WAITS;
	th->no_room = 1;
	for (unsigned q = 0; q < h->w->people; q++)
		for (unsigned s = 0; s < SEATS; s++)
			if (is_seat_of(h, q, s) && h->t->cfg->person[q].job ==
			    h->t->cfg->person[p].job) {
				h->w->person[q].seat[s].self = 1;
				wake_taker(h, q, s);
			}
}

static void
grant_lease(struct hub_turn *h, unsigned p, struct m_thread *th, unsigned place,
    unsigned unit)
{
	const struct line_unit *u = &h->v.unit[unit & (h->v.line.ring - 1)];
	struct m_slot *slot = get_slot(h, p);

	if (slot == NULL) {
		(void)line_give_up(&h->v.line, unit, place, u->generation,
		    false);
		refuse_room(h, p, th);
		return;
	}
	slot->in = WRITING;
	slot->owner = (uint8_t)p;
	slot->pass = (uint8_t)h->pass;
	slot->unit = (uint8_t)unit;
	slot->generation = (uint8_t)u->generation;
	slot->has_pass = (uint8_t)h->pass;
	slot->has_unit = (uint8_t)unit;
	slot->has_half = 1;
	if (h->t->cfg->maps)
		slot->mapped |= bit_of(p);
	*th = (struct m_thread){
		.making = WRITING_IT, .unit = (uint8_t)unit,
		.generation = (uint8_t)u->generation,
		.slot = (uint8_t)(slot - h->w->slot),
	};
	say(h->t, ": unit %u, lease %u, in slot %u", unit, u->generation,
	    th->slot);
}

/* The slot of a lease that is out, or was. */
static struct m_slot *
slot_of_lease(struct stage_world *w, unsigned pass, unsigned unit,
    unsigned generation)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct m_slot *slot = &w->slot[i];

		if (slot->in == WRITING && slot->pass == pass &&
		    slot->unit == unit && slot->generation == generation)
			return slot;
	}
	return NULL;
}

void
hub_lease(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned thread)
{
	unsigned s = seat_of(t->cfg, p, thread);
	unsigned place = w->person[p].seat[s].place;
	struct m_thread *th = &w->person[p].thread[thread];
	enum line_answer answer;
	struct m_slot *old;
	struct hub_turn h;
	uint64_t unit, revoked, lead;

	begin_turn(&h, w, t, pass_of(t, p, s));
	lead = line_lead(&h.v.line);
	revoked = h.v.line.revoked;
	answer = line_lease(&h.v.line, place, &unit);
	if (answer == LINE_LEASED && h.v.line.revoked == revoked)
		check_lease(&h, unit, lead);
	memset(th, 0, sizeof *th);
	if (answer == LINE_LEASED) {
		old = slot_of_lease(w, h.pass, (unsigned)unit,
		    h.v.unit[unit & (h.v.line.ring - 1)].generation - 1);
		if (old != NULL && breaks(t, BREAK_REUSE_LATE_SLOT))
			put_slot(w, t, old);
		grant_lease(&h, p, th, place, (unsigned)unit);
	} else {
		th->making = WAITS;
		say(t, ": %s", answer == LINE_FULL ? "the window is full" :
		    answer == LINE_OVER ? "all is made" : "not yet");
	}
	settle(&h);
	if (th->no_room)
		show_need_of_room(w, t, h.pass);
}

/*--- messages ------------------------------------------------------------*/

static void
end_pass(struct stage_world *w, struct stage_turn *t, unsigned pass)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (w->pass[pass].place[i].state != PLACE_NONE)
			return;
	say(t, ", pass %u is over", pass);
	for (unsigned i = 0; i < SLOTS; i++)
		if ((w->slot[i].in == STAGED || w->slot[i].in == HELD) &&
		    w->slot[i].pass == pass)
			put_slot(w, t, &w->slot[i]);
	memset(&w->pass[pass], 0, sizeof w->pass[pass]);
}

static void
leave(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];
	unsigned pass = pass_of(t, p, s);
	struct hub_turn h;

	begin_turn(&h, w, t, pass);
	line_leave(&h.v.line, seat->place);
	seat->place = NOBODY;
	if (breaks(t, BREAK_WAKE_NO_MAKER))
		end_turn(&h);
	else
		settle(&h);
	end_pass(w, t, pass);
}

static void
handle_publish(struct hub_turn *h, unsigned place, const struct m_message *m)
{
	const struct line_unit *u = &h->v.unit[m->unit & (h->v.line.ring - 1)];
	uint32_t generation = m->generation, maker = place;
	struct m_slot *slot = &h->w->slot[m->slot], *now;

	if (breaks(h->t, BREAK_NO_GENERATION) && u->state == UNIT_LEASED) {
		generation = u->generation;
		maker = u->maker;
		now = slot_of_lease(h->w, h->pass, m->unit, generation);
		slot = now != NULL ? now : slot;
	}
	if (line_publish(&h->v.line, m->unit, maker, generation,
	    (uint32_t)(slot - h->w->slot) + 1) == 0) {
		slot->in = STAGED;
		slot->generation = 0;
		say(h->t, ": staged");
	} else {
		say(h->t, ": too late");
		if (slot->in == WRITING)
			put_slot(h->w, h->t, slot);
	}
}

static void
handle_one(struct stage_world *w, struct stage_turn *t, unsigned p,
    const struct m_message *m)
{
	static const char *const names[] = {
		"", "PUBLISH", "GIVE_UP", "GIVE_UP as ALONE", "NEWS", "END"
	};
	struct m_seat *seat = &w->person[p].seat[m->seat];
	struct hub_turn h;

	begin_turn(&h, w, t, pass_of(t, p, m->seat));
	say(t, "%s", names[m->what]);
	if (m->what == PUBLISH) {
		say(t, " of unit %u, lease %u", m->unit, m->generation);
		handle_publish(&h, seat->place, m);
	} else if (m->what == LATER || m->what == FAILED) {
		say(t, " of unit %u, lease %u", m->unit, m->generation);
		(void)line_give_up(&h.v.line, m->unit, seat->place,
		    m->generation, m->what == FAILED);
		put_slot(w, t, &w->slot[m->slot]);
	} else if (m->what == END && !breaks(t, BREAK_AWAY)) {
		line_end(&h.v.line, seat->place);
		seat->taken = seat->released = 0;
	}
	settle(&h);
}

bool
hub_handle(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned b)
{
	struct m_message *queue = w->person[p].queue, m = queue[0];

	(void)b;
	if (m.what == NOTHING || w->person[p].life == REAPED)
		return false;
	memmove(queue, queue + 1, (QUEUE - 1) * sizeof m);
	memset(&queue[QUEUE - 1], 0, sizeof m);
	say(t, "%sthe hub hears %c: ", t->cfg->quick ? "; " : "",
	    name_of(p));
	if (m.what == LEAVE) {
		say(t, "LEAVE");
		leave(w, t, p, m.seat);
	} else {
		handle_one(w, t, p, &m);
	}
	return true;
}

static bool
reap(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned b)
{
	struct m_person *m = &w->person[p];

	(void)b;
	if (m->life != DEAD)
		return false;
	say(t, "the hub sees that %c is dead", name_of(p));
	for (unsigned s = 0; s < SEATS; s++)
		if (m->seat[s].place != NOBODY)
			leave(w, t, p, s);
	for (unsigned i = 0; i < SLOTS; i++) {
		struct m_slot *slot = &w->slot[i];

		if (slot->in != NO_SLOT && slot->owner == p) {
			slot->owner_gone = 1;
			if (slot->in == WRITING || slot->in == FREE)
				put_slot(w, t, slot);
		}
		free_if_unused(t, slot);
	}
	wake_for_room(w);
	memset(m, 0, sizeof *m);
	m->life = REAPED;
	for (unsigned s = 0; s < SEATS; s++)
		m->seat[s].place = NOBODY;
	return true;
}

const struct stage_rule hub_rules[] = {
	{ hub_handle, PEOPLE, 1, true },
	{ reap, PEOPLE, 1, true },
	{ NULL, 0, 0, false },
};
