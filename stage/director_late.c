/* SPDX-License-Identifier: Apache-2.0
 *
 * director_late.c: leases whose holders take too long while a member waits.
 * Runs in the hub only.
 */

#include <config.h>

#include "stage/director.h"

#include <inttypes.h>

#include "base/text.h"

static bool
is_waited_for(const struct pass *p, uint64_t unit)
{
	const struct line_place *place = p->line.place;

	for (uint32_t i = 0; i < p->high; i++) {
		if (place[i].state == PLACE_LIVE && place[i].waits == unit)
			return true;
	}
	return false;
}

/* Twice as much each time: a unit that takes far longer than others is made in
 * the end, however often it was given to another. */
static uint64_t
patience(const struct pass *p, uint64_t unit)
{
	uint64_t ns = p->make_mean_ns * LATE_TIMES;

	if (p->make_mean_ns == 0)
		ns = LATE_FIRST_NS;
	return (ns > LATE_MIN_NS ? ns : LATE_MIN_NS) <<
	    p->lates[unit % LINE_RING];
}

bool
director_is_overdue(const struct pass *p, const struct stage_lease *l,
    uint64_t now_ns)
{
	return now_ns > l->granted_ns && now_ns - l->granted_ns >
	    patience(p, l->unit);
}

void
director_late(struct pass *p, uint64_t now_ns)
{
	const struct stage_lease *l;
	char took[TEXT_FIGURE];

	for (l = p->leases; l != NULL; l = l->next) {
		const struct line_unit *u =
		    &p->line.unit[l->unit % p->line.ring];

		if (!director_is_overdue(p, l, now_ns) ||
		    !line_holds(&p->line, l->unit, l->place, l->generation) ||
		    u->is_late || !is_waited_for(p, l->unit) ||
		    line_call_late(&p->line, l->unit) < 0)
			continue;
		if (p->lates[l->unit % LINE_RING] < LATE_DOUBLINGS)
			p->lates[l->unit % LINE_RING]++;
		log_line(hub_log(p->director->hub), LOG_INFO, "pass %u: unit %"
		    PRIu64 " is not there after %s: another may make it "
		    "instead of %s", p->id, l->unit,
		    text_duration(took, now_ns - l->granted_ns),
		    p->seated[l->place]->name);
	}
}
