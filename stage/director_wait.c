/* SPDX-License-Identifier: Apache-2.0
 *
 * director_wait.c: how long anybody waits for anybody, and who is detached.
 * Runs in the hub only: at each tick, and when a window is found full.
 *
 *  1. A member waits for another only where the window has no room: for those
 *     who have not released its first unit.
 *  2. Whoever is waited for by its own job, or in a cycle of jobs, is detached
 *     at once; else when the policy of one who waits for it says so.
 *  3. One who only waits for itself is asked for room (director_show.c), and
 *     detached if it gives none: it can go on alone.
 */

#include <config.h>

#include "stage/director.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"

/*--- who waits for whom --------------------------------------------------*/

static bool
is_blocked(const struct pass *p, uint32_t place)
{
	return p->line.place[place].state == PLACE_LIVE &&
	    line_is_blocked(&p->line, place);
}

uint32_t
director_waits_for(const struct pass *p, uint32_t place)
{
	uint32_t b;

	if (!is_blocked(p, place))
		return LINE_NOBODY;
	b = line_blocker(&p->line, LINE_NOBODY);
	return b == place ? line_blocker(&p->line, b) : b;
}

/* A blocker that waits here itself only keeps what it has taken: it has been
 * asked for room, and makes it where it waits. */
static uint32_t
add_edges(const struct pass *p, uint32_t from, struct wait_edge *edges,
    uint32_t nr)
{
	const struct line *l = &p->line;
	uint32_t b;

	for (b = line_blocker(l, LINE_NOBODY);
	    b != LINE_NOBODY && nr < DIRECTOR_EDGES; b = line_blocker(l, b)) {
		if (b != from && !is_blocked(p, b))
			edges[nr++] = (struct wait_edge){
				.from = p->seated[from]->job,
				.to = p->seated[b]->job,
				.pass = p->id, .place = b,
			};
	}
	return nr;
}

/* More than DIRECTOR_EDGES are left to the policies. */
static uint32_t
gather_edges(struct director *d)
{
	const struct pass *p;
	uint32_t nr = 0;

	for (p = d->passes; p != NULL; p = p->next) {
		for (uint32_t i = 0; i < p->high && nr < DIRECTOR_EDGES; i++) {
			if (is_blocked(p, i))
				nr = add_edges(p, i, d->edges, nr);
		}
	}
	return nr;
}

/*--- detaching -----------------------------------------------------------*/

/* p->line has one blocker less: whoever is idle can go on. */
static void
detach(struct pass *p, uint32_t place, const char *why, uint64_t now_ns)
{
	log_line(hub_log(p->director->hub), LOG_INFO, "pass %u: %s is "
	    "detached at unit %" PRIu64 ": %s", p->id, p->seated[place]->name,
	    p->line.place[place].taken, why);
	line_detach(&p->line, place);
	director_note_wait(p, place, now_ns);
	director_show_place(p, place);
	director_show_members(p);
	director_wake(p, place);
	director_settle(p, now_ns);
}

static void
break_cycles(struct director *d, uint64_t now_ns)
{
	uint32_t nr;
	int64_t i;

	while ((nr = gather_edges(d)) > 0 &&
	    (i = waits_cycle(d->edges, nr, d->marks)) >= 0) {
		const struct wait_edge *e = &d->edges[i];

		detach(director_pass(d, e->pass), e->place, e->from == e->to ?
		    "its own job waits for it" :
		    "jobs wait for each other in a circle", now_ns);
	}
}

/* What all makers of a job have shown. */
static struct making
making_of(const struct pass *p, uint32_t place)
{
	const struct seated *s = p->seated[place];
	struct making sum = { .makers = s->making.makers };

	for (uint32_t i = 0; i < p->high; i++) {
		const struct seated *o = p->seated[i];

		if (o != NULL && o->job == s->job) {
			sum.samples += o->making.samples;
			sum.ns += o->making.ns;
		}
	}
	return sum;
}

static bool
is_over(const struct pass *p, uint32_t waiter, uint32_t blocker,
    uint64_t now_ns)
{
	const struct seated *w = p->seated[waiter], *b = p->seated[blocker];
	const struct lag own = { STAGE_LAG_DETACH, LAG_DETACH_NS };
	struct making making = making_of(p, waiter);
	struct lag_case c = {
		.now_ns = now_ns,
		.waits_since_ns = w->waits_since_ns,
		.blocker_took_ns = b->took_ns,
		.pace = &w->pace,
		.making = &making,
	};

	return lag_is_over(waiter == blocker ? &own : &w->lag, &c);
}

static const char *const lag_names[] = { "auto", "wait", "detach" };

static void
detach_by_policy(struct pass *p, uint32_t waiter, uint32_t blocker,
    uint64_t now_ns)
{
	const struct seated *w = p->seated[waiter];
	char waited[TEXT_FIGURE], why[256];

	text_duration(waited, now_ns - w->waits_since_ns);
	if (waiter == blocker)
		(void)snprintf(why, sizeof why, "it keeps its batches, and has "
		    "waited for room for %s", waited);
	else
		(void)snprintf(why, sizeof why, "%s, whose policy is %s, has "
		    "waited for it for %s", w->name, lag_names[w->lag.kind],
		    waited);
	detach(p, blocker, why, now_ns);
}

static void
judge(struct pass *p, uint32_t waiter, uint64_t now_ns)
{
	const struct line *l = &p->line;
	uint32_t b, next;

	for (b = line_blocker(l, LINE_NOBODY);
	    b != LINE_NOBODY && is_blocked(p, waiter); b = next) {
		next = line_blocker(l, b);
		if (p->seated[waiter]->waits_since_ns != 0 &&
		    is_over(p, waiter, b, now_ns))
			detach_by_policy(p, waiter, b, now_ns);
	}
}

void
director_wait(struct director *d, uint64_t now_ns)
{
	struct pass *p;

	break_cycles(d, now_ns);
	for (p = d->passes; p != NULL; p = p->next) {
		for (uint32_t i = 0; i < p->high; i++) {
			if (is_blocked(p, i))
				judge(p, i, now_ns);
		}
	}
}

/*--- late leases ---------------------------------------------------------*/

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
