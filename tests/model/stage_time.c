/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_time.c: what the hub does in the model of the stage by itself, as time
 * passes, over the real rules of stage/line.c and stage/waits.c.
 */

#include <config.h>

#include "tests/model/stage_turn.h"

#include "stage/waits.h"

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

const struct stage_rule time_rules[] = {
	{ recheck, PASSES, 1, true },
	{ make_room, PASSES, 1, true },
	{ call_late, PASSES, RING, true },
	{ wake_another, PASSES, 1, true },
	{ judge, 1, 1, true },
	{ lose_patience, PASSES, PLACES, true },
	{ NULL, 0, 0, false },
};
