/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_maker.c: the threads of a process that make, in the model of the stage,
 * and what may happen to processes.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <string.h>

/* The other half is written, whatever became of the lease meanwhile. */
static bool
publish(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned i)
{
	struct m_thread *th = &w->person[p].thread[i];
	struct m_slot *slot = &w->slot[th->slot];
	unsigned s = seat_of(t->cfg, p, i);

	if (!can_run(w, p) || th->making != WRITING_IT ||
	    !push(&w->person[p], PUBLISH, s, th->unit, th->generation,
	    th->slot))
		return false;
	say(t, "%c has filled slot %u and publishes unit %u, lease %u",
	    name_of(p), th->slot, th->unit, th->generation);
	slot->has_pass = (uint8_t)pass_of(t, p, s);
	slot->has_unit = th->unit;
	slot->has_half = 0;
	memset(th, 0, sizeof *th);
	return true;
}

static bool
ask(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned i)
{
	struct m_thread *th = &w->person[p].thread[i];
	const struct m_seat *seat = &w->person[p].seat[seat_of(t->cfg, p, i)];

	if (!can_run(w, p) || i >= t->cfg->person[p].threads ||
	    seat->place == NOBODY || w->person[p].queue[0].what != NOTHING ||
	    !(th->making == IDLE || (th->making == WAITS && th->woken)))
		return false;
	say(t, "a maker of %c asks for a lease", name_of(p));
	hub_lease(w, t, p, i);
	if (!t->cfg->quick || th->making != WRITING_IT)
		return true;
	say(t, "; ");
	return publish(w, t, p, i);
}

static bool
give_up(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned b)
{
	unsigned i = b / 2, failed = b % 2;
	struct m_thread *th = &w->person[p].thread[i];

	if (!can_run(w, p) || th->making != WRITING_IT || w->fails == 0 ||
	    !push(&w->person[p], failed ? FAILED : LATER,
	    seat_of(t->cfg, p, i), th->unit, th->generation, th->slot))
		return false;
	say(t, "%c gives up unit %u, lease %u", name_of(p), th->unit,
	    th->generation);
	w->fails--;
	memset(th, 0, sizeof *th);
	return true;
}

/*--- faults --------------------------------------------------------------*/

/* What it sent is still there. */
static bool
die(struct stage_world *w, struct stage_turn *t, unsigned p, unsigned b)
{
	struct m_person *m = &w->person[p];

	(void)b;
	if (m->life != ALIVE || !t->cfg->person[p].mortal ||
	    (m->seat[0].phase == OUT && m->seat[1].phase == OUT) ||
	    (m->seat[0].place == NOBODY && m->seat[1].place == NOBODY))
		return false;
	say(t, "%c dies", name_of(p));
	m->life = DEAD;
	m->stopped = 0;
	memset(m->thread, 0, sizeof m->thread);
	for (unsigned s = 0; s < SEATS; s++) {
		uint8_t waits = m->seat[s].waits;

		clear_seat(&m->seat[s]);
		m->seat[s].waits = waits;
		m->seat[s].got = m->seat[s].next = m->seat[s].at = 0;
	}
	m->steps = 0;
	for (unsigned i = 0; i < SLOTS; i++)
		w->slot[i].mapped &= (uint8_t)~bit_of(p);
	return true;
}

static bool
stop_or_go_on(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned stop)
{
	struct m_person *m = &w->person[p];

	if (m->life != ALIVE || !t->cfg->person[p].stops ||
	    m->stopped == stop ||
	    (has_finished(m) && !t->cfg->person[p].no_member) ||
	    (m->seat[0].phase == OUT && m->seat[1].phase == OUT))
		return false;
	say(t, "%c %s", name_of(p), stop ? "is stopped" : "goes on");
	m->stopped = (uint8_t)stop;
	return true;
}

const struct stage_rule maker_rules[] = {
	{ ask, PEOPLE, THREADS, true },
	{ publish, PEOPLE, THREADS, true },
	{ give_up, PEOPLE, THREADS * 2, false },
	{ NULL, 0, 0, false },
};

const struct stage_rule fault_rules[] = {
	{ die, PEOPLE, 1, false },
	{ stop_or_go_on, PEOPLE, 2, false },
	{ NULL, 0, 0, false },
};
