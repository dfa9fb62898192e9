/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c: the rules of a pass.  Runs in the hub only, in its loop.
 *
 * The rules are those of line.h, by their numbers.  The ring has an entry for
 * each unit from base to base + ring - 1, so that the window can be made
 * smaller or larger at any time; those from front on are FREE.  An entry keeps
 * its generation when it becomes another unit's, so that no two leases look the
 * same on the board.
 *
 * Nothing here takes longer than one look at each unit of the window and at
 * each place in use.
 */

#include <config.h>

#include "stage/line.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/must.h"

static uint64_t
min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a + b, or as much as there is. */
static uint64_t
add(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

void
line_init(struct line *l, uint64_t units, uint64_t window, uint64_t at,
    struct line_unit *unit, uint32_t ring, struct line_place *place,
    uint32_t nr_places)
{
	must(ring > 0 && (ring & (ring - 1)) == 0);
	must(window > 0 && window <= ring && at <= units);
	must(units < LINE_ANY);
	*l = (struct line){
		.units = units, .window = window, .ahead = window,
		.base = at, .front = at, .ring = ring, .nr_places = nr_places,
		.unit = unit, .place = place,
	};
	memset(unit, 0, ring * sizeof unit[0]);
	memset(place, 0, nr_places * sizeof place[0]);
	for (uint32_t i = 0; i < ring; i++)
		unit[i].maker = LINE_NOBODY;
}

static struct line_unit *
unit_at(const struct line *l, uint64_t unit)
{
	return &l->unit[unit & (l->ring - 1)];
}

static bool
is_kept(const struct line *l, uint64_t unit)
{
	return unit >= l->base && unit - l->base < l->ring && unit < l->units;
}

static struct line_place *
place_at(const struct line *l, uint32_t p)
{
	must(p < l->nr_places);
	return &l->place[p];
}

static bool
is_live(const struct line *l, uint32_t p)
{
	return l->place[p].state == PLACE_LIVE;
}

/*--- over all members ----------------------------------------------------*/

uint64_t
line_lead(const struct line *l)
{
	uint64_t lead = l->base;

	for (uint32_t p = 0; p < l->used; p++)
		if (is_live(l, p))
			lead = max(lead, l->place[p].taken);
	return lead;
}

/* What the last of the members takes next; base, if there is none. */
static uint64_t
find_tail(const struct line *l)
{
	uint64_t tail = l->members > 0 ? l->units : l->base;

	for (uint32_t p = 0; p < l->used; p++)
		if (is_live(l, p))
			tail = min(tail, l->place[p].taken);
	return tail;
}

/* What base may become; where there is no member it stays. */
uint64_t
line_first(const struct line *l)
{
	uint64_t first = l->members > 0 ? l->units : l->base;

	for (uint32_t p = 0; p < l->used; p++)
		if (is_live(l, p))
			first = min(first, l->place[p].released);
	return first;
}

/*--- transitions of a unit -----------------------------------------------*/

static void
tell_changed(struct line *l, uint64_t unit)
{
	if (l->changed != NULL)
		l->changed(l->arg, unit);
}

/* LEASED ends, whatever it becomes. */
static void
end_lease(struct line *l, struct line_unit *u)
{
	must(u->state == UNIT_LEASED && l->leases > 0);
	must(place_at(l, u->maker)->leases > 0);
	l->leases--;
	l->place[u->maker].leases--;
	l->overdue -= u->is_late;
	u->is_late = 0;
	u->maker = LINE_NOBODY;
}

static void
set_free(struct line *l, uint64_t unit)
{
	struct line_unit *u = unit_at(l, unit);

	end_lease(l, u);
	u->state = UNIT_FREE;
	l->holes++;
	tell_changed(l, unit);
}

/* base leaves; its entry is that of unit base + ring now. */
static void
retire_first(struct line *l)
{
	uint64_t unit = l->base++;
	struct line_unit *u = unit_at(l, unit);
	uint32_t slot = u->slot;

	if (u->state == UNIT_LEASED) {
		end_lease(l, u);
		l->revoked++;
	} else if (u->state == UNIT_FREE && unit < l->front) {
		l->holes--;
	}
	l->front = max(l->front, l->base);
	u->state = UNIT_FREE;
	u->slot = LINE_NO_SLOT;
	if (l->retired != NULL)
		l->retired(l->arg, unit, slot);
}

/* The window begins at `base` now.  Of what was never leased nobody knows. */
static void
advance(struct line *l, uint64_t base)
{
	while (l->base < min(base, l->front))
		retire_first(l);
	if (l->base < base)
		l->base = l->front = base;
}

bool
line_retire(struct line *l)
{
	if (!l->begun || l->base >= l->front)
		return false;
	if (l->members > 0 && line_first(l) <= l->base)
		return false;
	retire_first(l);
	return true;
}

/*--- places --------------------------------------------------------------*/

int
line_attach(struct line *l, uint64_t job)
{
	for (uint32_t p = 0; p < l->nr_places; p++) {
		if (l->place[p].state != PLACE_NONE)
			continue;
		l->place[p] = (struct line_place){
			.state = PLACE_MAKER, .job = job, .waits = LINE_ANY,
		};
		l->used = (uint32_t)max(l->used, p + 1);
		return (int)p;
	}
	return -EUSERS;
}

/* Moves the window for somebody who begins at `at`, as far as it may. */
static void
make_way(struct line *l, uint64_t at)
{
	if (at - l->base < l->window)
		return;
	if (l->members == 0 && l->leases == 0)
		advance(l, at);
	else
		advance(l, min(line_first(l), at - l->window + 1));
}

static uint64_t
find_start(const struct line *l, uint64_t end)
{
	uint64_t lead = line_lead(l), start = l->base;

	if (lead - l->base > l->window / 2)
		start = max(l->base, lead - l->window / 4);
	return min(start, end);
}

int
line_begin(struct line *l, uint32_t p, uint64_t at, uint64_t end,
    uint64_t *start)
{
	struct line_place *pl = place_at(l, p);

	if (pl->state != PLACE_MAKER || end > l->units ||
	    (at != LINE_ANY && at > end))
		return -EINVAL;
	if (at == LINE_ANY) {
		at = find_start(l, end);
	} else if (at >= l->base) {
		make_way(l, at);
		if (at - l->base >= l->window)
			return -EAGAIN;
	}
	if (at < l->base)
		return -EAGAIN;
	pl->state = PLACE_LIVE;
	pl->start = pl->taken = pl->released = at;
	pl->end = end;
	l->members++;
	l->begun = true;
	*start = at;
	return 0;
}

/* No member any more, or none that counts. */
static void
stop_counting(struct line *l, struct line_place *pl)
{
	if (pl->state != PLACE_LIVE)
		return;
	must(l->members > 0);
	l->members--;
	pl->waits = LINE_ANY;
}

void
line_end(struct line *l, uint32_t p)
{
	struct line_place *pl = place_at(l, p);

	if (pl->state != PLACE_LIVE && pl->state != PLACE_DETACHED)
		return;
	stop_counting(l, pl);
	*pl = (struct line_place){
		.state = PLACE_MAKER, .leases = pl->leases, .job = pl->job,
		.waits = LINE_ANY,
	};
}

void
line_detach(struct line *l, uint32_t p)
{
	struct line_place *pl = place_at(l, p);
	uint64_t pin_end = pl->released;

	if (pl->state != PLACE_LIVE)
		return;
	for (uint64_t u = max(l->base, pl->released); u < l->front; u++)
		if (unit_at(l, u)->state == UNIT_STAGED)
			pin_end = u + 1;
	stop_counting(l, pl);
	pl->state = PLACE_DETACHED;
	pl->pin_end = pin_end;
	l->detached++;
}

void
line_revoke(struct line *l, uint32_t p)
{
	const struct line_place *pl = place_at(l, p);

	for (uint64_t u = l->base; u < l->front && pl->leases > 0; u++)
		if (unit_at(l, u)->maker == p) {
			set_free(l, u);
			l->revoked++;
		}
}

void
line_leave(struct line *l, uint32_t p)
{
	struct line_place *pl = place_at(l, p);

	stop_counting(l, pl);
	line_revoke(l, p);
	memset(pl, 0, sizeof *pl);
	while (l->used > 0 && l->place[l->used - 1].state == PLACE_NONE)
		l->used--;
}

int
line_progress(struct line *l, uint32_t p, uint64_t taken, uint64_t released,
    uint64_t waits)
{
	struct line_place *pl = place_at(l, p);

	if (pl->state != PLACE_LIVE && pl->state != PLACE_DETACHED)
		return 0;
	if (pl->taken == pl->start && taken < pl->start) {
		taken = released = pl->start;
		waits = LINE_ANY;
	}
	if (taken < pl->taken || taken > pl->end ||
	    released < pl->released || released > taken)
		return -EBADMSG;
	if (waits != LINE_ANY && (waits < taken || waits >= pl->end))
		return -EBADMSG;
	pl->taken = taken;
	pl->released = released;
	if (pl->state == PLACE_LIVE)
		pl->waits = waits;
	return 0;
}

/*--- leases --------------------------------------------------------------*/

/* A late unit that a member waits for, the lowest; LINE_ANY: none. */
static uint64_t
find_late(const struct line *l)
{
	uint64_t found = LINE_ANY;

	for (uint32_t p = 0; p < l->used && l->overdue > 0; p++) {
		uint64_t unit = l->place[p].waits;

		if (is_live(l, p) && is_kept(l, unit) && unit < found &&
		    unit_at(l, unit)->is_late)
			found = unit;
	}
	return found;
}

/* The first FREE unit that a member has not passed; may be past the end. */
static uint64_t
find_free(const struct line *l)
{
	uint64_t tail = max(find_tail(l), l->base), unit = tail;

	while (l->holes > 0 && unit < l->front &&
	    unit_at(l, unit)->state != UNIT_FREE)
		unit++;
	return l->holes > 0 && unit < l->front ? unit : max(tail, l->front);
}

/* May a FREE unit be leased, if what can be retired is? */
static enum line_answer
judge(const struct line *l, uint64_t unit)
{
	if (unit >= l->units)
		return LINE_OVER;
	if (unit >= add(line_lead(l), l->ahead))
		return LINE_WAIT;
	if (unit >= add(line_first(l), l->window))
		return l->members > 0 ? LINE_FULL : LINE_WAIT;
	return LINE_LEASED;
}

static void
grant(struct line *l, uint64_t unit, uint32_t p)
{
	struct line_unit *u = unit_at(l, unit);

	must(u->state == UNIT_FREE);
	if (unit < l->front) {
		l->holes--;
	} else {
		l->holes += (uint32_t)(unit - l->front);
		l->front = unit + 1;
	}
	u->state = UNIT_LEASED;
	u->generation = (u->generation + 1) % LINE_GENERATIONS;
	u->maker = p;
	l->leases++;
	l->place[p].leases++;
	tell_changed(l, unit);
}

enum line_answer
line_lease(struct line *l, uint32_t p, uint64_t *unit)
{
	enum line_answer answer;
	uint64_t found;

	must(place_at(l, p)->state != PLACE_NONE);
	found = find_late(l);
	if (found != LINE_ANY) {
		set_free(l, found);
		l->revoked++;
	} else {
		found = find_free(l);
		answer = judge(l, found);
		if (answer != LINE_LEASED)
			return answer;
		if (found - l->base >= l->window)
			advance(l, found - l->window + 1);
	}
	grant(l, found, p);
	*unit = found;
	return LINE_LEASED;
}

enum line_answer
line_would_lease(const struct line *l)
{
	return find_late(l) != LINE_ANY ? LINE_LEASED : judge(l, find_free(l));
}

bool
line_can_lease(const struct line *l)
{
	return line_would_lease(l) == LINE_LEASED;
}

bool
line_holds(const struct line *l, uint64_t unit, uint32_t p,
    uint32_t generation)
{
	const struct line_unit *u = unit_at(l, unit);

	return is_kept(l, unit) && u->state == UNIT_LEASED && u->maker == p &&
	    u->generation == generation;
}

int
line_publish(struct line *l, uint64_t unit, uint32_t p, uint32_t generation,
    uint32_t slot)
{
	struct line_unit *u = unit_at(l, unit);

	must(slot != LINE_NO_SLOT);
	if (!line_holds(l, unit, p, generation)) {
		l->late++;
		return -ESTALE;
	}
	end_lease(l, u);
	u->state = UNIT_STAGED;
	u->slot = slot;
	l->made++;
	tell_changed(l, unit);
	return 0;
}

int
line_give_up(struct line *l, uint64_t unit, uint32_t p, uint32_t generation,
    bool alone)
{
	if (!line_holds(l, unit, p, generation))
		return -ESTALE;
	if (!alone) {
		set_free(l, unit);
		return 0;
	}
	end_lease(l, unit_at(l, unit));
	unit_at(l, unit)->state = UNIT_ALONE;
	l->alone++;
	tell_changed(l, unit);
	return 0;
}

int
line_call_late(struct line *l, uint64_t unit)
{
	struct line_unit *u = unit_at(l, unit);

	if (!is_kept(l, unit) || u->state != UNIT_LEASED)
		return -ESTALE;
	l->overdue += !u->is_late;
	u->is_late = 1;
	return 0;
}

bool
line_pinned(const struct line *l, uint64_t unit)
{
	for (uint32_t p = 0; p < l->used; p++) {
		const struct line_place *pl = &l->place[p];

		if (pl->state == PLACE_DETACHED && unit >= pl->released &&
		    unit < pl->pin_end)
			return true;
	}
	return false;
}

/*--- waiting -------------------------------------------------------------*/

bool
line_is_blocked_at(const struct line *l, uint32_t p, uint64_t first)
{
	const struct line_place *pl = place_at(l, p);

	return pl->state == PLACE_LIVE && pl->waits != LINE_ANY &&
	    pl->waits >= add(first, l->window);
}

bool
line_is_blocked(const struct line *l, uint32_t p)
{
	return line_is_blocked_at(l, p, line_first(l));
}

bool
line_blocks_at(const struct line *l, uint32_t p, uint64_t first)
{
	const struct line_place *pl = place_at(l, p);

	return pl->state == PLACE_LIVE && pl->released <= first;
}

uint32_t
line_blocker(const struct line *l, uint32_t after)
{
	uint64_t first = line_first(l);
	uint32_t p = after == LINE_NOBODY ? 0 : after + 1;

	for (; p < l->used; p++)
		if (line_blocks_at(l, p, first))
			return p;
	return LINE_NOBODY;
}

bool
line_keeps(const struct line *l, uint32_t p)
{
	const struct line_place *pl = place_at(l, p);
	uint64_t first = line_first(l);

	return pl->state == PLACE_LIVE && pl->waits != LINE_ANY &&
	    pl->released <= first && pl->taken > first;
}
