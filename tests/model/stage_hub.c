/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_hub.c: what the hub does in the model of the stage: a turn of its loop
 * each, over the real rules of stage/line.c and stage/waits.c.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <errno.h>
#include <string.h>

#include "stage/waits.h"

struct hub_turn {
	struct view	v;
	struct stage_world *w;
	struct stage_turn *t;
	unsigned	pass;
};

/*--- waking --------------------------------------------------------------*/

static bool
is_seat_of(const struct hub_turn *h, unsigned p, unsigned s)
{
	return h->t->cfg->person[p].seats[s] == h->pass + 1 &&
	    h->w->person[p].seat[s].place != NOBODY;
}

static void
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
static bool
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
static void
wake_for_room(struct stage_world *w)
{
	for (unsigned p = 0; p < w->people; p++)
		for (unsigned i = 0; i < THREADS; i++)
			if (w->person[p].thread[i].making == WAITS &&
			    w->person[p].thread[i].no_room)
				w->person[p].thread[i].woken = 1;
}

/*--- slots ---------------------------------------------------------------*/

static void
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
static struct m_slot *
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

static void
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
static void
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

static bool
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

static void
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
static void
settle(struct hub_turn *h)
{
	put_unpinned(h);
	if (line_can_lease(&h->v.line))
		(void)wake_maker(h, false);
	find_needs(h);
	end_turn(h);
}

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

/*--- time passes ---------------------------------------------------------*/

static bool
recheck(struct stage_world *w, struct stage_turn *t, unsigned pass, unsigned b)
{
	struct m_pass *m = &w->pass[pass];
	struct hub_turn h;

	(void)b;
	if (!m->recheck)
		return false;
	say(t, "the hub shows what it needs in pass %u", pass);
	begin_turn(&h, w, t, pass);
	show_needs(&h, m->to_take, m->to_release);
	if (!breaks(t, BREAK_NO_RECHECK)) {
		say(t, " and looks at the seats once more");
		settle(&h);
	}
	return true;
}

/* For memory, in whichever pass it can be had. */
static bool
make_room(struct stage_world *w, struct stage_turn *t, unsigned pass,
    unsigned b)
{
	struct hub_turn h;

	(void)b;
	if (!w->pass[pass].lives || !somebody_needs_room(w))
		return false;
	say(t, "the hub makes room in pass %u", pass);
	begin_turn(&h, w, t, pass);
	if (!line_retire(&h.v.line))
		return false;
	settle(&h);
	return true;
}

static bool
is_stopped(const struct stage_world *w, unsigned pass, unsigned place)
{
	return w->person[w->pass[pass].place[place].owner / SEATS].stopped;
}

/* A lease takes long, and a member waits for it. */
static bool
call_late(struct stage_world *w, struct stage_turn *t, unsigned pass,
    unsigned i)
{
	struct m_unit *u = &w->pass[pass].unit[i];
	unsigned ring = ring_of(t->cfg), unit = w->pass[pass].base;
	bool stopped, waits = false;
	struct hub_turn h;

	if (i >= ring || u->state != UNIT_LEASED || u->is_late)
		return false;
	stopped = is_stopped(w, pass, u->maker);
	if (!stopped && w->lates == 0)
		return false;
	while (unit % ring != i)
		unit++;
	begin_turn(&h, w, t, pass);
	for (unsigned p = 0; p < h.v.line.used; p++)
		waits |= h.v.place[p].state == PLACE_LIVE &&
		    h.v.place[p].waits == unit;
	if (!waits)
		return false;
	say(t, "unit %u of pass %u is late", unit, pass);
	w->lates -= !stopped;
	(void)line_call_late(&h.v.line, unit);
	settle(&h);
	return true;
}

/* A maker was woken for a unit that a member waits for, and does not ask: the
 * others are woken, too. */
static bool
wake_another(struct stage_world *w, struct stage_turn *t, unsigned pass,
    unsigned b)
{
	bool relied = false;
	struct hub_turn h;

	(void)b;
	if (!w->pass[pass].lives || breaks(t, BREAK_STOPPED_MAKER))
		return false;
	begin_turn(&h, w, t, pass);
	for (unsigned p = 0; p < w->people; p++)
		for (unsigned i = 0; i < THREADS; i++)
			relied |= w->person[p].stopped &&
			    w->person[p].thread[i].woken &&
			    is_seat_of(&h, p, seat_of(t->cfg, p, i));
	say(t, "a maker of pass %u was woken, and does not ask", pass);
	if (!relied || !line_can_lease(&h.v.line) || !wake_maker(&h, false))
		return false;
	settle(&h);
	return true;
}

static void
detach(struct stage_world *w, struct stage_turn *t, unsigned pass,
    unsigned place)
{
	unsigned owner = w->pass[pass].place[place].owner;
	struct hub_turn h;

	begin_turn(&h, w, t, pass);
	say(t, "%c is detached from pass %u", name_of(owner / SEATS), pass);
	line_detach(&h.v.line, place);
	wake_taker(&h, owner / SEATS, owner % SEATS);
	settle(&h);
}

#define EDGES	(PASSES * PLACES * PLACES)

/* Who waits for whom in a pass, those who only keep something included? */
static void
find_edges(struct stage_world *w, struct stage_turn *t, unsigned pass,
    bool keepers, struct wait_edge *edges, uint32_t *nr)
{
	struct hub_turn h;
	uint32_t q;

	if (!w->pass[pass].lives)
		return;
	begin_turn(&h, w, t, pass);
	for (uint32_t p = 0; p < h.v.line.used; p++) {
		if (!line_is_blocked(&h.v.line, p))
			continue;
		for (q = line_blocker(&h.v.line, LINE_NOBODY);
		    q != LINE_NOBODY; q = line_blocker(&h.v.line, q)) {
			bool own = h.v.place[p].job == h.v.place[q].job;

			if ((own && breaks(t, BREAK_WAIT_OWN_JOB)) ||
			    (!keepers && line_keeps(&h.v.line, q)))
				continue;
			edges[(*nr)++] = (struct wait_edge){
				h.v.place[p].job, h.v.place[q].job, pass, q
			};
		}
	}
}

static bool
judge(struct stage_world *w, struct stage_turn *t, unsigned a, unsigned b)
{
	struct wait_edge edges[EDGES];
	uint32_t mark[EDGES], nr = 0;
	int64_t found;

	(void)a;
	(void)b;
	for (unsigned pass = 0; pass < PASSES; pass++)
		find_edges(w, t, pass, false, edges, &nr);
	found = waits_cycle(edges, nr, mark);
	if (found < 0)
		return false;
	if (breaks(t, BREAK_NO_CYCLE) && edges[found].from != edges[found].to)
		return false;
	say(t, "jobs wait in a circle: ");
	detach(w, t, edges[found].pass, edges[found].place);
	return true;
}

/* The patience of one who waits is at its end. */
static bool
lose_patience(struct stage_world *w, struct stage_turn *t, unsigned pass,
    unsigned place)
{
	struct wait_edge edges[EDGES];
	uint32_t nr = 0;

	if (t->cfg->lag == 0)
		return false;
	find_edges(w, t, pass, true, edges, &nr);
	for (uint32_t i = 0; i < nr; i++) {
		if (edges[i].place != place ||
		    (t->cfg->lag == 1 && !is_stopped(w, pass, place)))
			continue;
		detach(w, t, pass, place);
		return true;
	}
	return false;
}

const struct stage_rule turn_rules[] = {
	{ hub_handle, PEOPLE, 1, true },
	{ reap, PEOPLE, 1, true },
	{ recheck, PASSES, 1, true },
	{ make_room, PASSES, 1, true },
	{ call_late, PASSES, RING, true },
	{ wake_another, PASSES, 1, true },
	{ judge, 1, 1, true },
	{ lose_patience, PASSES, PLACES, true },
	{ NULL, 0, 0, false },
};
