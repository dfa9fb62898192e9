/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_world.c: the world of the model of the stage: its beginning, and what
 * must hold in it, by the numbers of stage_world.h.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

static_assert(sizeof(struct m_person) % 8 == 0 &&
    offsetof(struct stage_world, person) % 8 == 0 &&
    sizeof(struct stage_world) <= EXPLORE_STATE_MAX, "hashed by words");

const char *const stage_break_names[STAGE_BREAKS] = {
	"nothing", "retire-early", "no-quarantine", "no-generation",
	"wait-own-job", "no-cycle", "reuse-late-slot", "pin-none", "lost-wake",
	"no-recheck", "look-order", "no-private", "wake-no-maker", "away",
	"stopped-maker",
};

bool
breaks(const struct stage_turn *t, enum stage_break rule)
{
	return t->cfg->broken == rule;
}

void
say(struct stage_turn *t, const char *fmt, ...)
{
	size_t len = strlen(t->step->words);
	va_list ap;

	if (!t->step->tell)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(t->step->words + len, sizeof t->step->words - len, fmt,
	    ap);
	va_end(ap);
}

bool
can_run(const struct stage_world *w, unsigned p)
{
	return w->person[p].life == ALIVE && !w->person[p].stopped;
}

unsigned
pass_of(const struct stage_turn *t, unsigned p, unsigned s)
{
	return t->cfg->person[p].seats[s] - 1u;
}

unsigned
ring_of(const struct stage_config *cfg)
{
	return cfg->window <= 2 ? cfg->window : RING;
}

unsigned
seat_of(const struct stage_config *cfg, unsigned p, unsigned thread)
{
	return cfg->person[p].seats[1] != 0 ? thread % SEATS : 0;
}

struct m_unit *
entry_of(struct stage_world *w, const struct stage_turn *t, unsigned pass,
    unsigned unit)
{
	struct m_pass *pa = &w->pass[pass];
	unsigned ring = ring_of(t->cfg);

	return unit >= pa->base && unit < pa->base + ring ?
	    &pa->unit[unit % ring] : NULL;
}

bool
push(struct m_person *person, enum telling what, unsigned s, unsigned unit,
    unsigned generation, unsigned slot)
{
	unsigned i = 0;

	while (i < QUEUE && person->queue[i].what != NOTHING) {
		if (what == NEWS && person->queue[i].what == NEWS &&
		    person->queue[i].seat == s)
			return true;
		i++;
	}
	if (i == QUEUE)
		return false;
	person->queue[i] = (struct m_message){
		(uint8_t)what, (uint8_t)s, (uint8_t)unit, (uint8_t)generation,
		(uint8_t)slot,
	};
	return true;
}

/* Memory that is to go counts until nobody maps it. */
void
free_if_unused(struct stage_turn *t, struct m_slot *slot)
{
	uint8_t mapped = slot->mapped;

	if (slot->in != GONE || (mapped != 0 && !breaks(t, BREAK_NO_QUARANTINE)))
		return;
	memset(slot, 0, sizeof *slot);
	slot->mapped = mapped;
}

static void
start_person(const struct stage_config *cfg, unsigned p, struct m_person *m)
{
	const struct stage_person *c = &cfg->person[p];

	for (unsigned s = 0; s < SEATS; s++) {
		struct m_seat *seat = &m->seat[s];

		seat->place = NOBODY;
		seat->waits = NEVER;
		seat->phase = c->seats[s] != 0 ? OUT : DONE;
		seat->at = c->at;
		if (c->at == AT_ANY || seat->phase == DONE)
			continue;
		/* It was restored: what is before this it has. */
		seat->next = (uint8_t)(c->at - 1);
		seat->got = (uint8_t)(bit_of(seat->next) - 1);
	}
}

void
stage_start(const struct stage_config *cfg, struct stage_world *w)
{
	struct step step = { .tell = false };
	struct stage_turn t = { cfg, &step };

	memset(w, 0, sizeof *w);
	w->lates = cfg->lates;
	w->fails = cfg->fails;
	w->people = (uint8_t)stage_people(cfg);
	for (unsigned p = 0; p < w->people; p++)
		start_person(cfg, p, &w->person[p]);
	for (unsigned p = 0; p < cfg->joined; p++)
		client_join(w, &t, p);
}

unsigned
stage_people(const struct stage_config *cfg)
{
	unsigned nr = 0;

	while (nr < PEOPLE && cfg->person[nr].job != 0)
		nr++;
	return nr;
}

unsigned
stage_passes(const struct stage_config *cfg)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < PEOPLE * SEATS; i++)
		if (nr < cfg->person[i / SEATS].seats[i % SEATS])
			nr = cfg->person[i / SEATS].seats[i % SEATS];
	return nr;
}

/*--- normal form ---------------------------------------------------------*/

struct ref {			/* to a lease, by one who may use it yet */
	unsigned pass, unit;
	uint8_t	*generation;
};

struct refs {
	unsigned nr;
	struct ref at[PEOPLE * (THREADS + QUEUE) + SLOTS];
};

static void
add_ref(struct refs *r, unsigned pass, unsigned unit, uint8_t *generation)
{
	r->at[r->nr++] = (struct ref){ pass, unit, generation };
}

static void
find_refs(const struct stage_config *cfg, struct stage_world *w, unsigned p,
    struct refs *r)
{
	struct m_person *m = &w->person[p];
	const uint8_t *seats = cfg->person[p].seats;

	for (unsigned i = 0; i < THREADS; i++)
		if (m->thread[i].making == WRITING_IT)
			add_ref(r, seats[seat_of(cfg, p, i)] - 1u,
			    m->thread[i].unit, &m->thread[i].generation);
	for (unsigned i = 0; i < QUEUE; i++)
		if (m->queue[i].what >= PUBLISH && m->queue[i].what <= FAILED)
			add_ref(r, seats[m->queue[i].seat] - 1u,
			    m->queue[i].unit, &m->queue[i].generation);
}

static void
normalise_unit(struct m_unit *u, unsigned pass, unsigned unit, struct refs *r)
{
	for (unsigned i = 0; i < r->nr; i++)
		if (r->at[i].pass == pass && r->at[i].unit == unit &&
		    *r->at[i].generation != u->generation)
			return;
	for (unsigned i = 0; i < r->nr; i++)
		if (r->at[i].pass == pass && r->at[i].unit == unit)
			*r->at[i].generation = 1;
	u->generation = u->state == UNIT_LEASED;
}

/* Slots have no names but those that others call them by. */
static void
rename_slots(struct stage_world *w, const uint8_t *name)
{
	for (unsigned i = 0; i < PASSES * RING; i++) {
		struct m_unit *u = &w->pass[i / RING].unit[i % RING];

		if (u->state == UNIT_STAGED)
			u->slot = name[u->slot];
	}
	for (unsigned p = 0; p < w->people; p++) {
		struct m_person *m = &w->person[p];

		for (unsigned i = 0; i < THREADS; i++)
			if (m->thread[i].making == WRITING_IT)
				m->thread[i].slot = name[m->thread[i].slot];
		for (unsigned i = 0; i < QUEUE; i++)
			if (m->queue[i].what >= PUBLISH &&
			    m->queue[i].what <= FAILED)
				m->queue[i].slot = name[m->queue[i].slot];
		for (unsigned i = 0; i < SEATS * UNITS; i++) {
			uint8_t *held = &m->seat[i / UNITS].held[i % UNITS];

			if (*held != 0)
				*held = (uint8_t)(name[*held - 1] + 1);
		}
	}
}

static void
sort_slots(struct stage_world *w)
{
	uint8_t at[SLOTS], name[SLOTS];	/* which is there; where it is */
	struct m_slot sorted[SLOTS];
	bool moved = false;

	for (unsigned i = 0; i < SLOTS; i++) {
		unsigned n = i;

		for (; n > 0 && memcmp(&w->slot[at[n - 1]], &w->slot[i],
		    sizeof w->slot[i]) < 0; n--)
			at[n] = at[n - 1];
		at[n] = (uint8_t)i;
		moved |= n != i;
	}
	if (!moved)
		return;
	for (unsigned i = 0; i < SLOTS; i++) {
		name[at[i]] = (uint8_t)i;
		sorted[i] = w->slot[at[i]];
	}
	memcpy(w->slot, sorted, sizeof sorted);
	rename_slots(w, name);
}

/* The generation of a unit becomes a small number, where nobody knows an older
 * one; of a unit that is retired it does not matter. */
void
stage_normalise(const struct stage_config *cfg, struct stage_world *w)
{
	unsigned ring = ring_of(cfg);
	struct refs r = { .nr = 0 };

	for (unsigned p = 0; p < w->people; p++)
		find_refs(cfg, w, p, &r);
	for (unsigned i = 0; i < SLOTS; i++)
		if (w->slot[i].in == WRITING)
			add_ref(&r, w->slot[i].pass, w->slot[i].unit,
			    &w->slot[i].generation);
	for (unsigned i = 0; i < r.nr; i++)
		if (r.at[i].unit < w->pass[r.at[i].pass].base)
			*r.at[i].generation = 0;
	for (unsigned pass = 0; pass < PASSES; pass++) {
		unsigned base = w->pass[pass].base;

		for (unsigned u = base; u < base + ring; u++)
			normalise_unit(&w->pass[pass].unit[u % ring], pass, u,
			    &r);
	}
	sort_slots(w);
}

/*--- every state ---------------------------------------------------------*/

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
