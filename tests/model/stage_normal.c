/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_normal.c: the normal form of a world of the model of the stage.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <string.h>

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
