/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_world.c: the world of the model of the stage: its beginning, and
 * words that all rules use.
 */

#include <config.h>

#include "tests/model/stage_world.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/must.h"

static_assert(sizeof(struct m_person) % 8 == 0 &&
    offsetof(struct stage_world, person) % 8 == 0 &&
    sizeof(struct stage_world) <= EXPLORE_STATE_MAX, "hashed by words");

const char *const stage_break_names[STAGE_BREAKS] = {
	"nothing", "retire-early", "no-quarantine", "no-generation",
	"wait-own-job", "no-cycle", "reuse-late-slot", "pin-none", "lost-wake",
	"no-recheck", "look-order", "no-private", "wake-no-maker", "away",
	"stopped-maker", "late-once",
};

bool
breaks(const struct stage_turn *t, enum stage_break rule)
{
	return t->cfg->broken == rule;
}

void
say(struct stage_turn *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	step_tell(t->step, fmt, ap);
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
