/* SPDX-License-Identifier: Apache-2.0
 *
 * observe_sums.c: what was seen in a phase, added up, and as it goes into a
 * result.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/say.h"

#define NAME_ROOM	96u

/*--- adding up -----------------------------------------------------------*/

size_t
sums_find(struct observe *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->nr_phases; i++) {
		if (strcmp(o->phases[i].name, name) == 0)
			return i;
	}
	o->phases = list_grow(o->phases, o->nr_phases, sizeof *o->phases);
	o->phases[i] = (struct sums){ .name = strdup(name) };
	if (o->phases[i].name == NULL)
		say_no_memory();
	o->nr_phases++;
	return i;
}

static void
make_room(struct sums *p, unsigned observer, size_t nr_who)
{
	size_t had = p->nr_who[observer];
	struct cell *cells;

	if (nr_who <= had)
		return;
	cells = reallocarray(p->cells[observer], nr_who * METRICS_MAX,
	    sizeof *cells);
	if (cells == NULL)
		say_no_memory();
	memset(cells + had * METRICS_MAX, 0,
	    (nr_who - had) * METRICS_MAX * sizeof *cells);
	p->cells[observer] = cells;
	p->nr_who[observer] = nr_who;
}

static void
add_value(struct cell *c, enum metric_kind kind, double value, double ns,
    double part)
{
	c->sum += kind == METRIC_LEVEL ? value * ns * part : value * part;
	c->max = value > c->max ? value : c->max;
	c->ns += ns * part;
}

void
sums_add(struct sums *p, const struct watch *w, const struct glance *g,
    double ns, double part)
{
	const struct metric *m = w->is->metrics;
	struct cell *cells;

	if (!(ns * part > 0))
		return;
	make_room(p, w->index, g->nr_who);
	for (size_t who = 0; who < g->nr_who; who++) {
		cells = p->cells[w->index] + who * METRICS_MAX;
		for (unsigned i = 0; m[i].name != NULL; i++) {
			if (!isnan(g->value[who][i]))
				add_value(&cells[i], m[i].kind,
				    g->value[who][i], ns, part);
		}
	}
}

void
sums_fini(struct sums *p)
{
	for (unsigned i = 0; i < OBSERVERS; i++)
		free(p->cells[i]);
	free(p->name);
}

/*--- the result ----------------------------------------------------------*/

static void
make_name(char out[NAME_ROOM], const struct watch *w, size_t who,
    const char *name, const char *end)
{
	if (w->is->scope == SCOPE_JOB)
		(void)snprintf(out, NAME_ROOM, "%s%s%s%s", w->label,
		    w->label[0] != '\0' ? "." : "", name, end);
	else if (who >= WHO_WORKER)
		(void)snprintf(out, NAME_ROOM, "worker.%zu.%s%s",
		    who - WHO_WORKER, name, end);
	else
		(void)snprintf(out, NAME_ROOM, "%s.%s%s",
		    who == WHO_MAIN ? "main" : "workers", name, end);
}

/* NAN where it was not seen. */
static double
find_value(const struct cell *cells, const struct metric *m, unsigned i)
{
	const struct cell *c = &cells[i];

	if (m[i].kind == METRIC_RATIO) {
		if (!(cells[m[i].of].ns > 0) || !(cells[m[i].by].sum > 0))
			return NAN;
		return m[i].times * cells[m[i].of].sum / cells[m[i].by].sum;
	}
	if (!(c->ns > 0))
		return NAN;
	return m[i].kind == METRIC_LEVEL ? c->sum / c->ns : c->sum;
}

static void
put_who(const struct sums *p, const struct watch *w, size_t who,
    struct result *r)
{
	const struct cell *cells = p->cells[w->index] + who * METRICS_MAX;
	const struct metric *m = w->is->metrics;
	char name[NAME_ROOM];
	double value;

	for (unsigned i = 0; m[i].name != NULL; i++) {
		value = find_value(cells, m, i);
		if (isnan(value))
			continue;
		make_name(name, w, who, m[i].name, "");
		result_add_seen(r, p->name, w->is->name, name, m[i].unit, value);
		if (m[i].kind != METRIC_LEVEL)
			continue;
		make_name(name, w, who, m[i].name, ".max");
		result_add_seen(r, p->name, w->is->name, name, m[i].unit,
		    cells[i].max);
	}
}

/* Of one that was ended before the phase was. */
static void
put_time(const struct sums *p, const struct watch *w, struct result *r)
{
	double ns = 0;

	for (size_t i = 0; i < p->nr_who[w->index] * METRICS_MAX; i++)
		ns = fmax(ns, p->cells[w->index][i].ns);
	if (w->state == WATCH_ENDED && ns > 0)
		result_add_seen(r, p->name, w->is->name, "time", "ns", ns);
}

void
sums_put(const struct sums *p, const struct observe *o, struct result *r)
{
	if (p->ns > 0)
		result_add_seen(r, p->name, "phase", "time", "ns", p->ns);
	for (unsigned i = 0; i < OBSERVERS; i++) {
		put_time(p, &o->watches[i], r);
		for (size_t who = 0; who < p->nr_who[i]; who++)
			put_who(p, &o->watches[i], who, r);
	}
}
