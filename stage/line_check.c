/* SPDX-License-Identifier: Apache-2.0
 *
 * line_check.c: the rules of a pass, counted again.  Runs in the hub only.
 *
 * What line.c counts, it counts over units and places: here is the sum.
 */

#include <config.h>

#include "stage/line.h"

#include <stddef.h>

struct sums {
	uint32_t	leases, holes, overdue;
	uint32_t	members;
	uint32_t	of_places;	/* leases */
};

static const char *
check_bounds(const struct line *l)
{
	if (l->ring == 0 || (l->ring & (l->ring - 1)) != 0 ||
	    l->window == 0 || l->window > l->ring)
		return "the window does not fit its ring";
	if (l->base > l->front || l->front > l->units ||
	    l->front - l->base > l->ring)
		return "base, front and units are out of order";
	if (l->used > l->nr_places)
		return "more places are used than there are";
	return NULL;
}

static const char *
check_unit(const struct line *l, uint64_t unit, struct sums *n)
{
	const struct line_unit *u = &l->unit[unit & (l->ring - 1)];

	if (u->state > UNIT_ALONE)
		return "a unit is in no state";
	if (unit >= l->front && u->state != UNIT_FREE)
		return "a unit that was never leased is not FREE";
	if ((u->state == UNIT_LEASED) != (u->maker != LINE_NOBODY))
		return "rule 1: a unit has a holder without a lease";
	if (u->state == UNIT_LEASED && (u->maker >= l->used ||
	    l->place[u->maker].state == PLACE_NONE))
		return "rule 1: a lease is held by nobody";
	if ((u->state == UNIT_STAGED) != (u->slot != LINE_NO_SLOT))
		return "rule 4: a unit is STAGED nowhere";
	if (u->is_late > (u->state == UNIT_LEASED))
		return "a unit is late that nobody makes";
	n->leases += u->state == UNIT_LEASED;
	n->holes += u->state == UNIT_FREE && unit < l->front;
	n->overdue += u->is_late;
	return NULL;
}

static const char *
check_member(const struct line *l, const struct line_place *p)
{
	if (p->start > p->released || p->released > p->taken ||
	    p->taken > p->end || p->end > l->units)
		return "rule 6: a member is not between its start and its end";
	if (p->state == PLACE_DETACHED)
		return p->waits != LINE_ANY ? "a DETACHED place waits" : NULL;
	if (p->released < l->base)
		return "rule 4: a unit was retired that a member has not "
		    "released";
	if (p->waits != LINE_ANY && (p->waits < p->taken || p->waits >= p->end))
		return "a member waits for what it is not owed";
	return l->begun ? NULL : "there is a member, and never was one";
}

static const char *
check_place(const struct line *l, const struct line_place *p, struct sums *n)
{
	n->of_places += p->leases;
	switch (p->state) {
	case PLACE_NONE:
		return p->leases > 0 ? "rule 1: nobody holds leases" : NULL;
	case PLACE_MAKER:
		return p->waits != LINE_ANY ? "no member, but it waits" : NULL;
	case PLACE_LIVE:
		n->members++;
		return check_member(l, p);
	case PLACE_DETACHED:
		return check_member(l, p);
	default:
		return "a place is in no state";
	}
}

static const char *
check_sums(const struct line *l, const struct sums *n)
{
	if (n->leases != l->leases || n->of_places != l->leases)
		return "rule 1: leases are not those of the units";
	if (n->members != l->members)
		return "members are not those of the places";
	if (n->holes != l->holes)
		return "holes are not the FREE units before front";
	if (n->overdue != l->overdue)
		return "overdue are not the late units";
	return NULL;
}

const char *
line_broken(const struct line *l)
{
	const char *broken = check_bounds(l);
	struct sums n = { 0 };

	if (broken != NULL)
		return broken;
	for (uint32_t i = 0; i < l->ring && broken == NULL; i++)
		broken = check_unit(l, l->base + i, &n);
	for (uint32_t p = 0; p < l->nr_places && broken == NULL; p++) {
		if (p >= l->used && l->place[p].state != PLACE_NONE)
			return "a place in use is not seen";
		broken = check_place(l, &l->place[p], &n);
	}
	return broken != NULL ? broken : check_sums(l, &n);
}
