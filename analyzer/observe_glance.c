/* SPDX-License-Identifier: Apache-2.0
 *
 * observe_glance.c: one look of an observer at all that it observes, by whose it
 * is.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <math.h>

static void
see(struct glance *g, size_t who, unsigned metric, double value)
{
	double *at = &g->value[who][metric];

	*at = isnan(*at) ? value : *at + value;
}

/* Counts are told as what they grew by.  One that shrank began anew. */
static void
see_all(struct watch *w, struct subject *s, const double *value,
    struct glance *g, size_t who)
{
	const struct metric *m = w->is->metrics;
	double *last = s->last[w->index], now;

	for (unsigned i = 0; m[i].name != NULL; i++) {
		if (isnan(value[i]) || m[i].kind == METRIC_RATIO)
			continue;
		w->has_seen = true;
		now = value[i];
		if (m[i].kind == METRIC_COUNT) {
			now = isnan(last[i]) || value[i] < last[i] ? 0 :
			    value[i] - last[i];
			last[i] = value[i];
		}
		see(g, who < WHO_WORKER ? who : WHO_WORKERS, i, now);
		if (who >= WHO_WORKER && who < g->nr_who)
			see(g, who, i, now);
	}
}

/* A file may be missing because the process is. */
static void
miss(struct watch *w, struct subject *s, struct watched *p,
    const struct ds_err *err)
{
	if (s->is_gone || (p != NULL && p->is.is_gone))
		return;
	if (p != NULL && (err->code == -ENOENT || err->code == -ESRCH) &&
	    watched_lacks(w->o, p, s->tid))
		s->is_gone = true;
	else
		gap_add(&w->gap, "%s", err->text);
}

static void
look_at(struct watch *w, struct subject *s, struct watched *p, size_t who,
    struct glance *g)
{
	double value[METRICS_MAX];
	struct ds_err err;
	int rc;

	for (unsigned i = 0; i < METRICS_MAX; i++)
		value[i] = NAN;
	err.code = 0;
	rc = w->is->read(w, s, value, &err);
	if (rc < 0)
		miss(w, s, p, &err);
	see_all(w, s, value, g, who);
	if (rc == OBSERVER_GONE)
		s->is_gone = true;
}

static size_t
find_who(const struct watch *w, const struct watched *p)
{
	if (!p->is_worker)
		return WHO_MAIN;
	return w->is->per_worker && p->worker < OBSERVE_WORKERS ?
	    WHO_WORKER + p->worker : WHO_WORKERS;
}

static void
look_at_process(struct watch *w, struct watched *p, struct glance *g)
{
	size_t who = find_who(w, p);

	if (w->is->scope == SCOPE_PROCESS) {
		look_at(w, &p->is, p, who, g);
		return;
	}
	for (size_t i = 0; i < p->nr_threads; i++)
		look_at(w, p->threads[i], p, who, g);
}

static size_t
count_who(const struct watch *w)
{
	size_t nr = w->is->scope == SCOPE_JOB ? 1 : WHO_WORKER, who;

	for (size_t i = 0; w->is->per_worker && i < w->o->nr_processes; i++) {
		who = find_who(w, w->o->processes[i]);
		nr = who >= nr ? who + 1 : nr;
	}
	return nr;
}

void
glance_take(struct glance *g, struct watch *w)
{
	g->nr_who = count_who(w);
	for (size_t who = 0; who < g->nr_who; who++) {
		for (unsigned i = 0; i < METRICS_MAX; i++)
			g->value[who][i] = NAN;
	}
	if (w->is->scope == SCOPE_JOB) {
		look_at(w, w->o->whole, NULL, WHO_MAIN, g);
		return;
	}
	for (size_t i = 0; i < w->o->nr_processes; i++)
		look_at_process(w, w->o->processes[i], g);
}
