/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_check.c: what must hold in every state of the model of the stage, by the
 * numbers of stage_world.h.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <stddef.h>

#include "base/must.h"

static void
view_place(struct view *v, const struct stage_config *cfg,
    const struct stage_world *w, const struct m_place *p, unsigned i)
{
	const struct m_seat *page;

	if (p->state == PLACE_NONE)
		return;
	v->place[i] = (struct line_place){
		.state = p->state, .leases = p->leases,
		.job = cfg->person[p->owner / SEATS].job, .waits = LINE_ANY,
	};
	v->line.used = i + 1;
	if (p->state == PLACE_MAKER)
		return;
	page = &w->person[p->owner / SEATS].seat[p->owner % SEATS];
	v->place[i].start = v->place[i].taken = v->place[i].released = p->start;
	v->place[i].end = cfg->units;
	v->place[i].pin_end = p->pin_end;
	v->line.members += p->state == PLACE_LIVE;
	must(line_progress(&v->line, i, page->taken,
	    cfg->broken == BREAK_RETIRE_EARLY ? page->taken : page->released,
	    page->waits == NEVER ? LINE_ANY : page->waits) == 0);
}

/* As the hub sees it once it has read all seats. */
void
view_open(struct view *v, const struct stage_config *cfg,
    const struct stage_world *w, unsigned pass)
{
	const struct m_pass *m = &w->pass[pass];

	line_init(&v->line, cfg->units, cfg->window, m->base, v->unit,
	    ring_of(cfg), v->place, PLACES);
	v->line.ahead = cfg->ahead;
	v->line.front = m->front;
	v->line.begun = m->begun;
	for (unsigned i = 0; i < ring_of(cfg); i++) {
		const struct m_unit *u = &m->unit[i];

		v->unit[i] = (struct line_unit){
			.state = u->state, .generation = u->generation,
			.maker = u->state == UNIT_LEASED ? u->maker :
			    LINE_NOBODY,
			.slot = u->state == UNIT_STAGED ? u->slot + 1u :
			    LINE_NO_SLOT,
			.is_late = u->is_late,
		};
		v->line.leases += u->state == UNIT_LEASED;
		v->line.overdue += u->is_late;
	}
	for (unsigned u = m->base; u < m->front; u++)
		v->line.holes += m->unit[u % ring_of(cfg)].state == UNIT_FREE;
	for (unsigned i = 0; i < PLACES; i++)
		view_place(v, cfg, w, &m->place[i], i);
}

/* Does somebody write to it, or may yet? */
static bool
has_writer(const struct stage_world *w, unsigned slot)
{
	for (unsigned p = 0; p < w->people; p++)
		for (unsigned i = 0; i < THREADS; i++) {
			const struct m_thread *th = &w->person[p].thread[i];

			if (th->making == WRITING_IT && th->slot == slot)
				return true;
		}
	return false;
}

static const char *
check_held(const struct stage_config *cfg, const struct stage_world *w,
    unsigned p, unsigned s)
{
	const struct m_seat *seat = &w->person[p].seat[s];

	for (unsigned u = 0; u < cfg->units; u++) {
		const struct m_slot *slot;

		if (seat->held[u] == 0)
			continue;
		slot = &w->slot[seat->held[u] - 1];
		if (slot->has_pass != cfg->person[p].seats[s] - 1 ||
		    slot->has_unit != u || slot->has_half)
			return "2: what was taken has other bytes now";
		if (has_writer(w, seat->held[u] - 1u))
			return "2: what was taken is being written";
	}
	return NULL;
}

static bool
is_staged(const struct stage_config *cfg, const struct stage_world *w,
    unsigned slot)
{
	const struct m_slot *s = &w->slot[slot];
	const struct m_pass *pass = &w->pass[s->pass];
	const struct m_unit *u = &pass->unit[s->unit % ring_of(cfg)];

	return s->unit >= pass->base && u->state == UNIT_STAGED &&
	    u->slot == slot;
}

static const char *
check_slot(const struct stage_config *cfg, const struct stage_world *w,
    unsigned i)
{
	const struct m_slot *s = &w->slot[i];

	switch (s->in) {
	case NO_SLOT:
		return s->mapped != 0 ? "4: memory is mapped that is not "
		    "counted" : NULL;
	case FREE:
		return has_writer(w, i) ? "3: a FREE slot is written" : NULL;
	case STAGED:
		return is_staged(cfg, w, i) ? NULL :
		    "3: a slot is STAGED, and its unit is not there";
	default:
		return NULL;
	}
}

static const char *
check_slots(const struct stage_config *cfg, const struct stage_world *w)
{
	const char *broken = NULL;
	unsigned nr = 0, staged = 0;

	for (unsigned i = 0; i < SLOTS && broken == NULL; i++) {
		nr += w->slot[i].in != NO_SLOT;
		staged += w->slot[i].in == STAGED;
		broken = check_slot(cfg, w, i);
	}
	if (broken != NULL)
		return broken;
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (unsigned i = 0; i < ring_of(cfg); i++)
			staged -= w->pass[pass].unit[i].state == UNIT_STAGED;
	if (staged != 0)
		return "3: units and slots that are STAGED do not agree";
	return nr > cfg->budget ? "4: more is counted than the budget" : NULL;
}

/* Is it over for this process, and does the hub know? */
static bool
is_over(const struct m_person *m)
{
	if (m->life == REAPED)
		return true;
	if (m->life == DEAD || m->queue[0].what != NOTHING)
		return false;
	for (unsigned i = 0; i < THREADS; i++)
		if (m->thread[i].making == WRITING_IT)
			return false;
	for (unsigned s = 0; s < SEATS; s++)
		if (m->seat[s].phase != DONE)
			return false;
	return true;
}

static const char *
check_end(const struct stage_world *w)
{
	for (unsigned p = 0; p < w->people; p++)
		if (!is_over(&w->person[p]))
			return NULL;
	for (unsigned i = 0; i < SLOTS; i++)
		if (w->slot[i].in == WRITING || w->slot[i].in == HELD)
			return "9: all are done, and a slot is in use";
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (unsigned i = 0; i < PLACES; i++)
			if (w->pass[pass].place[i].state > PLACE_MAKER ||
			    w->pass[pass].place[i].leases != 0)
				return "9: all are done, and one is a member";
	return NULL;
}

const char *
stage_check(const struct stage_config *cfg, const struct stage_world *w)
{
	const char *broken = check_slots(cfg, w);
	struct view v;

	for (unsigned pass = 0; pass < PASSES && broken == NULL; pass++)
		if (w->pass[pass].lives) {
			view_open(&v, cfg, w, pass);
			broken = line_broken(&v.line);
		}
	for (unsigned p = 0; p < w->people && broken == NULL; p++)
		for (unsigned s = 0; s < SEATS && broken == NULL; s++)
			if (w->person[p].life == ALIVE)
				broken = check_held(cfg, w, p, s);
	return broken != NULL ? broken : check_end(w);
}

unsigned
stage_blocked(const struct stage_config *cfg, const struct stage_world *w)
{
	unsigned blocked = 0;

	(void)cfg;
	for (unsigned p = 0; p < w->people; p++)
		for (unsigned s = 0; s < SEATS && can_run(w, p); s++)
			if (w->person[p].seat[s].taking == ASLEEP &&
			    !w->person[p].seat[s].woken)
				blocked |= bit_of(p);
	return blocked;
}
