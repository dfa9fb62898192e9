/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_taker.c: the thread of a process that takes, in the model of the
 * stage.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <string.h>

#include "base/must.h"

static uint8_t
all_units(const struct stage_turn *t)
{
	return (uint8_t)(bit_of(t->cfg->units) - 1);
}

static bool
is_live_anywhere(const struct m_person *m)
{
	return m->seat[0].phase == MEMBER || m->seat[1].phase == MEMBER;
}

bool
has_finished(const struct m_person *m)
{
	return m->life != ALIVE ||
	    (m->seat[0].phase == DONE && m->seat[1].phase == DONE);
}

/* From which seat it takes next; SEATS: it has all, or waits for the other
 * processes of its job. */
static unsigned
turn_of(const struct stage_world *w, const struct stage_turn *t, unsigned p)
{
	const char *pattern = t->cfg->person[p].pattern;
	const struct m_person *m = &w->person[p];
	unsigned s = 0;

	if (has_finished(m))
		return SEATS;
	for (unsigned q = 0; q < w->people && t->cfg->lockstep; q++)
		if (t->cfg->person[q].job == t->cfg->person[p].job &&
		    !has_finished(&w->person[q]) &&
		    w->person[q].steps < m->steps)
			return SEATS;
	if (pattern != NULL)
		s = (unsigned)(pattern[m->steps % strlen(pattern)] - '0');
	return m->seat[s].phase == DONE ? 1 - s : s;
}

static bool
is_turn(const struct stage_world *w, const struct stage_turn *t, unsigned p,
    unsigned s)
{
	return can_run(w, p) && !t->cfg->person[p].no_member &&
	    turn_of(w, t, p) == s;
}

/* A unit comes to the job. */
static void
deliver(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s,
    unsigned unit)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (seat->got & bit_of(unit))
		t->step->broken = "5: a unit comes twice";
	else if (seat->next != unit)
		t->step->broken = "5: a unit comes out of order";
	seat->got |= bit_of(unit);
	seat->next = (uint8_t)((unit + 1) % t->cfg->units);
	if (t->cfg->person[p].pattern != NULL || t->cfg->lockstep)
		w->person[p].steps++;
}

/* Nothing in the stage is of any use to it now. */
void
clear_seat(struct m_seat *seat)
{
	memset(seat->held, 0, sizeof seat->held);
	seat->taking = READY;
	seat->woken = seat->self = seat->saw = 0;
	seat->waits = NEVER;
}

static void
finish_if_all(struct stage_turn *t, struct m_seat *seat)
{
	if (seat->got != all_units(t))
		return;
	seat->phase = DONE;
	seat->next = seat->at = 0;
}

/* Is no member from now on; what it holds is its own. */
static bool
tell_end(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (!push(&w->person[p], END, s, 0, 0, 0))
		return false;
	clear_seat(seat);
	seat->phase = ALONE;
	finish_if_all(t, seat);
	return true;
}

/*--- coming and going ----------------------------------------------------*/

static bool
attach(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s,
    bool live)
{
	struct m_person *m = &w->person[p];

	if (!can_run(w, p) || m->seat[s].phase != OUT ||
	    m->queue[0].what != NOTHING || is_live_anywhere(m) != live)
		return false;
	say(t, "%c attaches to pass %u", name_of(p), pass_of(t, p, s));
	m->seat[s].phase = ATTACHED;
	if (!hub_attach(w, t, p, s))
		return false;
	if (t->cfg->person[p].no_member)
		m->seat[s].phase = DONE;
	return true;
}

static bool
begin(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s,
    bool live)
{
	struct m_person *m = &w->person[p];
	struct m_seat *seat = &m->seat[s];
	int start;

	if (!can_run(w, p) || seat->phase != ATTACHED ||
	    (turn_of(w, t, p) != s && t->cfg->person[p].pattern == NULL) ||
	    m->queue[0].what != NOTHING || is_live_anywhere(m) != live)
		return false;
	start = hub_begin(w, t, p, s, seat->at == AT_ANY ? AT_ANY :
	    AT(seat->next));
	if (start < 0) {
		say(t, "%c cannot begin, and makes unit %u itself", name_of(p),
		    seat->next);
		deliver(w, t, p, s, seat->next);
		finish_if_all(t, seat);
		return true;
	}
	say(t, "%c begins pass %u at unit %d", name_of(p), pass_of(t, p, s),
	    start);
	seat->phase = MEMBER;
	seat->next = (uint8_t)(start % t->cfg->units);
	seat->taken = seat->released = (uint8_t)start;
	seat->waits = NEVER;
	return true;
}

/* One that is away may come or not; one that is waited for elsewhere goes on. */
static bool
come_attach(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s)
{
	return attach(w, t, p, s, false);
}

static bool
go_on_attach(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s)
{
	return attach(w, t, p, s, true);
}

static bool
come_begin(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	return begin(w, t, p, s, false);
}

static bool
go_on_begin(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s)
{
	return begin(w, t, p, s, true);
}

/* At the beginning of time: at its first seat, or at all that it takes from in
 * turns. */
void
client_join(struct stage_world *w, struct stage_turn *t, unsigned p)
{
	const struct stage_person *c = &t->cfg->person[p];

	for (unsigned s = 0; s < SEATS && c->seats[s] != 0; s++) {
		if (s > 0 && c->pattern == NULL)
			break;
		must(attach(w, t, p, s, s > 0));
		must(c->no_member || begin(w, t, p, s, s > 0));
	}
}

static bool
end(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (!can_run(w, p) || seat->phase != MEMBER ||
	    seat->taken != t->cfg->units)
		return false;
	say(t, "%c ends pass %u", name_of(p), pass_of(t, p, s));
	return tell_end(w, t, p, s);
}

/* It was detached, or began late: the rest it makes itself. */
static bool
go_on_alone(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (!is_turn(w, t, p, s) || seat->phase != ALONE)
		return false;
	say(t, "%c makes unit %u for itself", name_of(p), seat->next);
	deliver(w, t, p, s, seat->next);
	finish_if_all(t, seat);
	return true;
}

/* An iterator that is dropped before its end. */
static bool
quit(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (!is_turn(w, t, p, s) || seat->phase != MEMBER ||
	    seat->taking != READY || !t->cfg->person[p].quits)
		return false;
	say(t, "%c drops pass %u", name_of(p), pass_of(t, p, s));
	seat->got = all_units(t);
	return tell_end(w, t, p, s);
}

static bool
leave(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_person *m = &w->person[p];
	struct m_seat *seat = &m->seat[s];

	if (!can_run(w, p) || seat->phase != DONE || seat->place == NOBODY ||
	    !t->cfg->person[p].leaves)
		return false;
	for (unsigned i = 0; i < THREADS; i++)
		if (seat_of(t->cfg, p, i) == s && m->thread[i].making == WRITING_IT)
			return false;
	for (unsigned i = 0; i < QUEUE; i++)
		if (m->queue[i].what == LEAVE && m->queue[i].seat == s)
			return false;
	say(t, "%c leaves pass %u", name_of(p), pass_of(t, p, s));
	for (unsigned i = 0; i < THREADS; i++)
		if (seat_of(t->cfg, p, i) == s)
			memset(&m->thread[i], 0, sizeof m->thread[i]);
	return push(m, LEAVE, s, 0, 0, 0);
}

/*--- releasing -----------------------------------------------------------*/

static bool
set_released(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s)
{
	const struct m_pass *pass = &w->pass[pass_of(t, p, s)];
	struct m_seat *seat = &w->person[p].seat[s];
	unsigned old = seat->released, now = old;

	while (now < seat->taken && seat->held[now] == 0)
		now++;
	seat->released = (uint8_t)now;
	if (pass->need_released != NEVER && old <= pass->need_released &&
	    now > pass->need_released) {
		say(t, " and tells the hub");
		return push(&w->person[p], NEWS, s, 0, 0, 0);
	}
	return true;
}

static unsigned
count_held(const struct m_seat *seat)
{
	unsigned nr = 0;

	for (unsigned u = 0; u < UNITS; u++)
		nr += seat->held[u] != 0;
	return nr;
}

/* How many it may hold, and take one more. */
static unsigned
may_hold(const struct stage_turn *t, unsigned p)
{
	static const unsigned most[] = { 0, 1, 2, UNITS };

	return most[t->cfg->person[p].keeps];
}

static bool
release(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned b)
{
	unsigned s = b / UNITS, u = b % UNITS;
	struct m_seat *seat = &w->person[p].seat[s];
	unsigned keeps = t->cfg->person[p].keeps, first = 0;

	if (!can_run(w, p) || seat->held[u] == 0 || keeps == KEEPS_ALL ||
	    w->person[p].seat[0].taking != READY ||
	    w->person[p].seat[1].taking != READY)
		return false;
	while (seat->held[first] == 0)
		first++;
	if (keeps == KEEPS_FIRST ? u == first : u != first)
		return false;
	if (keeps != RELEASES_FIRST && count_held(seat) < 2)
		return false;
	say(t, "%c releases unit %u", name_of(p), u);
	seat->held[u] = 0;
	return set_released(w, t, p, s);
}

static bool
must_make_private(const struct stage_world *w, const struct stage_turn *t,
    unsigned p, unsigned s)
{
	const struct m_pass *pass = &w->pass[pass_of(t, p, s)];
	const struct m_seat *seat = &w->person[p].seat[s];

	if (breaks(t, BREAK_NO_PRIVATE))
		return false;
	for (unsigned u = 0; u < UNITS && u < pass->wants_room; u++)
		if (seat->held[u] != 0)
			return true;
	return false;
}

/* At its next take, or while it waits in one. */
static bool
make_private(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (!is_turn(w, t, p, s) || seat->phase != MEMBER ||
	    (seat->taking == ASLEEP && !seat->woken) ||
	    !must_make_private(w, t, p, s))
		return false;
	say(t, "%c makes private what it keeps", name_of(p));
	for (unsigned u = 0; u < w->pass[pass_of(t, p, s)].wants_room; u++)
		seat->held[u] = 0;
	return set_released(w, t, p, s);
}

static bool
unmap(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned i)
{
	struct m_slot *slot = &w->slot[i];

	if (!can_run(w, p) || slot->in != GONE ||
	    (slot->mapped & bit_of(p)) == 0)
		return false;
	for (unsigned s = 0; s < SEATS; s++)
		for (unsigned u = 0; u < UNITS; u++)
			if (w->person[p].seat[s].held[u] == i + 1)
				return false;
	say(t, "%c unmaps slot %u", name_of(p), i);
	slot->mapped &= (uint8_t)~bit_of(p);
	free_if_unused(t, slot);
	if (slot->in == NO_SLOT)
		for (unsigned q = 0; q < w->people; q++)
			for (unsigned n = 0; n < THREADS; n++)
				w->person[q].thread[n].woken |=
				    w->person[q].thread[n].no_room;
	return true;
}

/*--- taking --------------------------------------------------------------*/

static bool
set_taken(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	const struct m_pass *pass = &w->pass[pass_of(t, p, s)];
	struct m_seat *seat = &w->person[p].seat[s];

	deliver(w, t, p, s, seat->taken);
	seat->taken++;
	seat->taking = READY;
	seat->woken = seat->self = seat->saw = 0;
	seat->waits = NEVER;
	if (pass->need_taken == seat->taken) {
		say(t, " and tells the hub");
		if (!push(&w->person[p], NEWS, s, 0, 0, 0))
			return false;
	}
	return set_released(w, t, p, s);
}

/* Finds its unit on the board as `state`. */
static bool
take_or_wait(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s, enum unit_state state)
{
	struct m_seat *seat = &w->person[p].seat[s];
	unsigned pass = pass_of(t, p, s), unit = seat->taken;
	const struct m_unit *u = entry_of(w, t, pass, unit);

	if (state == UNIT_STAGED && u != NULL && u->state == UNIT_STAGED) {
		say(t, "%c takes unit %u of pass %u", name_of(p), unit, pass);
		seat->held[unit] = (uint8_t)(u->slot + 1);
		if (t->cfg->maps)
			w->slot[u->slot].mapped |= bit_of(p);
		return set_taken(w, t, p, s);
	}
	if (state == UNIT_ALONE || seat->self) {
		say(t, "%c makes unit %u itself", name_of(p), unit);
		return set_taken(w, t, p, s);
	}
	if (seat->taking == STORED) {
		say(t, "%c goes to sleep", name_of(p));
		seat->taking = ASLEEP;
	} else {
		say(t, "%c waits for unit %u of pass %u", name_of(p), unit,
		    pass);
		seat->waits = (uint8_t)unit;
		seat->woken = 0;
		seat->taking = breaks(t, BREAK_LOST_WAKE) ? ASLEEP : STORED;
	}
	return true;
}

/* For faults that are to be found: a look that is used in a later step. */
static bool
look_too_early(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s, bool detached, enum unit_state state)
{
	struct m_seat *seat = &w->person[p].seat[s];

	if (seat->taking == CHECKED ||
	    (!breaks(t, BREAK_LOST_WAKE) && !breaks(t, BREAK_LOOK_ORDER)))
		return false;
	seat->saw = (uint8_t)(detached ? NEVER : state);
	seat->taking = CHECKED;
	seat->woken = 0;
	say(t, "%c looks", name_of(p));
	return true;
}

static bool
look(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned s)
{
	struct m_seat *seat = &w->person[p].seat[s];
	unsigned pass = pass_of(t, p, s);
	enum unit_state state = UNIT_FREE;
	const struct m_unit *u;
	bool detached;

	if (!is_turn(w, t, p, s) || seat->phase != MEMBER ||
	    seat->taken == t->cfg->units || count_held(seat) > may_hold(t, p) ||
	    (seat->taking == ASLEEP && !seat->woken) ||
	    must_make_private(w, t, p, s))
		return false;
	u = entry_of(w, t, pass, seat->taken);
	if (u != NULL)
		state = u->state;
	detached = w->pass[pass].place[seat->place].state == PLACE_DETACHED;
	if (seat->taking == ASLEEP)
		seat->taking = READY;
	if (look_too_early(w, t, p, s, detached, state))
		return true;
	if (seat->taking == CHECKED) {
		detached = seat->saw == NEVER;
		if (breaks(t, BREAK_LOST_WAKE) && !detached)
			state = seat->saw;
		seat->saw = 0;
	}
	if (detached) {
		say(t, "%c finds that it was detached", name_of(p));
		return tell_end(w, t, p, s);
	}
	return take_or_wait(w, t, p, s, state);
}

const struct stage_rule taker_rules[] = {
	{ come_attach, PEOPLE, SEATS, false },
	{ go_on_attach, PEOPLE, SEATS, true },
	{ come_begin, PEOPLE, SEATS, false },
	{ go_on_begin, PEOPLE, SEATS, true },
	{ look, PEOPLE, SEATS, true },
	{ release, PEOPLE, SEATS * UNITS, true },
	{ make_private, PEOPLE, SEATS, true },
	{ end, PEOPLE, SEATS, true },
	{ go_on_alone, PEOPLE, SEATS, true },
	{ unmap, PEOPLE, SLOTS, true },
	{ quit, PEOPLE, SEATS, false },
	{ leave, PEOPLE, SEATS, false },
	{ NULL, 0, 0, false },
};
