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
#include <stdlib.h>

#include "base/text.h"

/* In one turn; more are left to the next: each is a line of the log, and a few
 * looks at all members. */
#define DETACHED_MOST	64u
#define CYCLES_MOST	8u

/*--- who waits for whom --------------------------------------------------*/

uint32_t
director_waits_for(const struct pass *p, uint32_t place)
{
	uint32_t b;

	if (!line_is_blocked(&p->line, place))
		return LINE_NOBODY;
	b = line_blocker(&p->line, LINE_NOBODY);
	return b == place ? line_blocker(&p->line, b) : b;
}

static int
compare_jobs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The jobs that wait for room in this pass, behind the nr there are. */
static uint32_t
add_waiting(struct pass *p, uint32_t nr)
{
	uint64_t first = line_first(&p->line);

	for (uint32_t i = 0; i < p->high && nr < DIRECTOR_EDGES; i++) {
		if (line_is_blocked_at(&p->line, i, first))
			p->director->waiting[nr++] = p->seated[i]->job;
	}
	return nr;
}

static void
sort_waiting(struct director *d, uint32_t nr)
{
	qsort(d->waiting, nr, sizeof d->waiting[0], compare_jobs);
}

/* Those who are waited for, and whose job is one of those that wait: only they
 * can close a circle.  A blocker that waits here itself only keeps what it has taken: it
 * has been asked for room, and makes it where it waits. */
static uint32_t
gather_suspects(const struct pass *p, uint64_t first, uint32_t nr_waiting,
    uint32_t places[LINE_PLACES])
{
	const struct director *d = p->director;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->high; i++) {
		if (line_blocks_at(&p->line, i, first) &&
		    !line_is_blocked_at(&p->line, i, first) &&
		    bsearch(&p->seated[i]->job, d->waiting, nr_waiting,
		    sizeof d->waiting[0], compare_jobs) != NULL)
			places[nr++] = i;
	}
	return nr;
}

static uint32_t
add_edges(struct pass *p, uint32_t nr_waiting, uint32_t nr)
{
	struct wait_edge *edges = p->director->edges;
	uint64_t first = line_first(&p->line);
	uint32_t to[LINE_PLACES];
	uint32_t nr_to = gather_suspects(p, first, nr_waiting, to);

	for (uint32_t i = 0; i < p->high && nr_to > 0; i++) {
		if (!line_is_blocked_at(&p->line, i, first))
			continue;
		for (uint32_t k = 0; k < nr_to && nr < DIRECTOR_EDGES; k++)
			edges[nr++] = (struct wait_edge){
				.from = p->seated[i]->job,
				.to = p->seated[to[k]]->job,
				.pass = p->id, .place = to[k],
			};
	}
	return nr;
}

/* More than DIRECTOR_EDGES are left to the policies. */
static uint32_t
gather_edges(struct director *d)
{
	uint32_t nr_waiting = 0, nr = 0;
	struct pass *p;

	for (p = d->passes; p != NULL; p = p->next)
		nr_waiting = add_waiting(p, nr_waiting);
	sort_waiting(d, nr_waiting);
	for (p = d->passes; p != NULL && nr_waiting > 0; p = p->next)
		nr = add_edges(p, nr_waiting, nr);
	return nr;
}

/*--- detaching -----------------------------------------------------------*/

/* p->line has one blocker less; director_settle() is the caller's to call. */
static void
detach(struct pass *p, uint32_t place, const char *why, uint64_t now_ns)
{
	log_line(hub_log(p->director->hub), LOG_INFO, "pass %u: %s is "
	    "detached at unit %" PRIu64 ": %s", p->id, p->seated[place]->name,
	    p->line.place[place].taken, why);
	line_detach(&p->line, place);
	director_note_wait(p, place, now_ns);
	director_show_place(p, place);
	director_wake(p, place);
}

/* Whoever is idle can go on. */
static void
show_detached(struct pass *p, uint64_t now_ns)
{
	director_show_members(p);
	director_settle(p, now_ns);
}

/* All of a pass that block others of their own job; true: there may be more. */
static bool
detach_own(struct pass *p, uint64_t now_ns)
{
	uint32_t places[LINE_PLACES], nr = add_waiting(p, 0);

	sort_waiting(p->director, nr);
	nr = gather_suspects(p, line_first(&p->line), nr, places);
	if (nr > DETACHED_MOST)
		nr = DETACHED_MOST;
	for (uint32_t i = 0; i < nr; i++)
		detach(p, places[i], "its own job waits for it", now_ns);
	if (nr > 0)
		show_detached(p, now_ns);
	return nr > 0 && nr < DETACHED_MOST;
}

static void
break_cycles(struct director *d, uint64_t now_ns)
{
	unsigned left = CYCLES_MOST;
	struct pass *p;
	uint32_t nr;
	int64_t i;

	for (p = d->passes; p != NULL; p = p->next) {
		while (left > 0 && detach_own(p, now_ns))
			left--;
	}
	while (left-- > 0 && (nr = gather_edges(d)) > 0 &&
	    (i = waits_cycle(d->edges, nr, d->marks)) >= 0) {
		p = director_pass(d, d->edges[i].pass);
		detach(p, d->edges[i].place,
		    "jobs wait for each other in a circle", now_ns);
		show_detached(p, now_ns);
	}
}

/*--- policies ------------------------------------------------------------*/

/* What is needed to judge, gathered once: a pass may have hundreds of members,
 * and each may wait for each. */
struct court {
	struct pass	*pass;
	uint64_t	now_ns;
	uint64_t	first;		/* line_first() */
	uint32_t	slowest[2];	/* of those who are waited for, who took
					 * something longest ago; LINE_NOBODY */
	uint32_t	detached;
	struct shown {			/* by all makers of a job */
		uint64_t job, samples, ns;
	} shown[LINE_PLACES];		/* by job */
	uint32_t	nr_shown;
};

static void
find_slowest(struct court *c)
{
	struct seated *const *seated = c->pass->seated;

	c->first = line_first(&c->pass->line);
	c->slowest[0] = c->slowest[1] = LINE_NOBODY;
	for (uint32_t i = 0; i < c->pass->high; i++) {
		if (!line_blocks_at(&c->pass->line, i, c->first))
			continue;
		if (c->slowest[0] == LINE_NOBODY || seated[i]->took_ns <
		    seated[c->slowest[0]]->took_ns) {
			c->slowest[1] = c->slowest[0];
			c->slowest[0] = i;
		} else if (c->slowest[1] == LINE_NOBODY || seated[i]->took_ns <
		    seated[c->slowest[1]]->took_ns) {
			c->slowest[1] = i;
		}
	}
}

/* Of struct shown, whose job comes first. */
static void
sum_shown(struct court *c)
{
	const struct pass *p = c->pass;
	uint32_t nr = 0, n = 0;

	for (uint32_t i = 0; i < p->high; i++) {
		const struct seated *s = p->seated[i];

		if (s != NULL)
			c->shown[nr++] = (struct shown){ s->job,
			    s->making.samples, s->making.ns };
	}
	qsort(c->shown, nr, sizeof c->shown[0], compare_jobs);
	for (uint32_t i = 0; i < nr; i++) {
		if (n > 0 && c->shown[n - 1].job == c->shown[i].job) {
			c->shown[n - 1].samples += c->shown[i].samples;
			c->shown[n - 1].ns += c->shown[i].ns;
		} else {
			c->shown[n++] = c->shown[i];
		}
	}
	c->nr_shown = n;
}

static struct making
making_of(const struct court *c, const struct seated *s)
{
	const struct shown *sum = bsearch(&s->job, c->shown, c->nr_shown,
	    sizeof c->shown[0], compare_jobs);

	return (struct making){
		.samples = sum->samples, .ns = sum->ns,
		.makers = s->making.makers,
	};
}

static bool
is_over(const struct court *c, uint32_t waiter, uint32_t blocker)
{
	const struct seated *w = c->pass->seated[waiter];
	const struct lag own = { STAGE_LAG_DETACH, LAG_DETACH_NS };
	struct making making = making_of(c, w);
	struct lag_case lc = {
		.now_ns = c->now_ns,
		.waits_since_ns = w->waits_since_ns,
		.blocker_took_ns = c->pass->seated[blocker]->took_ns,
		.pace = &w->pace,
		.making = &making,
	};

	return lag_is_over(waiter == blocker ? &own : &w->lag, &lc);
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

/* Whom one who waits need not wait for any more, or LINE_NOBODY.  If it is not
 * the one who took something longest ago, it is no other (lag.h). */
static uint32_t
find_over(const struct court *c, uint32_t waiter)
{
	uint32_t b = c->slowest[c->slowest[0] == waiter];

	if (line_blocks_at(&c->pass->line, waiter, c->first) &&
	    is_over(c, waiter, waiter))
		return waiter;
	return b != LINE_NOBODY && is_over(c, waiter, b) ? b : LINE_NOBODY;
}

static void
judge(struct court *c, uint32_t waiter)
{
	uint32_t b;

	while (c->detached < DETACHED_MOST &&
	    line_is_blocked_at(&c->pass->line, waiter, c->first) &&
	    c->pass->seated[waiter]->waits_since_ns != 0 &&
	    (b = find_over(c, waiter)) != LINE_NOBODY) {
		detach_by_policy(c->pass, waiter, b, c->now_ns);
		c->detached++;
		find_slowest(c);
	}
}

static void
judge_all(struct pass *p, uint64_t now_ns)
{
	struct court c;

	if (add_waiting(p, 0) == 0)
		return;
	c.pass = p;
	c.now_ns = now_ns;
	c.detached = 0;
	find_slowest(&c);
	sum_shown(&c);
	for (uint32_t i = 0; i < p->high; i++)
		judge(&c, i);
	if (c.detached > 0)
		show_detached(p, now_ns);
}

void
director_wait(struct director *d, uint64_t now_ns)
{
	struct pass *p;

	break_cycles(d, now_ns);
	for (p = d->passes; p != NULL; p = p->next)
		judge_all(p, now_ns);
}
