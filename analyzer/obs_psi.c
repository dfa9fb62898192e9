/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_psi.c: the observer of pressure: how long some tasks, or all of them, could
 * not go on for lack of processors, storage or memory.
 * Runs in the command only.
 *
 * Of the job's own control group where there are such files (version 2), else of
 * the whole machine.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/say.h"

static const char *const kinds[] = { "cpu", "io", "memory" };

#define KINDS	(sizeof kinds / sizeof *kinds)

/* Two for each kind, in its order: some, full. */
static const struct metric metrics[] = {
	{ .name = "cpu_some", .unit = "ns" },
	{ .name = "cpu_full", .unit = "ns" },
	{ .name = "io_some", .unit = "ns" },
	{ .name = "io_full", .unit = "ns" },
	{ .name = "memory_some", .unit = "ns" },
	{ .name = "memory_full", .unit = "ns" },
	{ .name = NULL },
};

struct pressure {
	struct cgroup group[KINDS];	/* version 2, or 0: the machine's */
};

static ssize_t
read_group(const struct cgroup *g, const char *kind, char *text, size_t size)
{
	char name[32];

	(void)snprintf(name, sizeof name, "%s.pressure", kind);
	return cgroup_read(g, strlen(g->dir), name, text, size);
}

static ssize_t
read_machine(const struct observe *o, const char *kind, char *text,
    size_t size, struct ds_err *err)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/pressure/%s", kind);
	return observe_read(o, path, text, size, err);
}

static int
open_pressure(struct watch *w, struct ds_err *err)
{
	const struct observe *o = w->o;
	struct pressure *p;
	char text[256];

	(void)err;
	if (o->job == 0)
		return OBSERVER_LATER;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		say_no_memory();
	for (unsigned i = 0; i < KINDS; i++) {
		if (cgroup_find_of(&p->group[i], o->root, o->job, kinds[i],
		    NULL) < 0 || p->group[i].version != 2 ||
		    read_group(&p->group[i], kinds[i], text, sizeof text) < 0)
			p->group[i].version = 0;
	}
	w->own = p;
	return 0;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds; "full"
 * is not there for processors on old kernels. */
static double
find_total(const char *text, const char *line)
{
	const char *at = strstr(text, line), *total;

	total = at != NULL ? strstr(at, " total=") : NULL;
	if (total == NULL || memchr(at, '\n', (size_t)(total - at)) != NULL)
		return NAN;
	return 1000 * number_at(total + strlen(" total="));
}

static int
read_kind(struct watch *w, unsigned i, double *value, struct ds_err *err)
{
	const struct pressure *p = w->own;
	char text[256];
	ssize_t n;

	n = p->group[i].version == 2 ?
	    read_group(&p->group[i], kinds[i], text, sizeof text) :
	    read_machine(w->o, kinds[i], text, sizeof text, err);
	if (n < 0)
		return p->group[i].version == 2 ? err_fail(err, (int)n,
		    "%s.pressure: %s", kinds[i], strerror((int)-n)) : (int)n;
	value[0] = find_total(text, "some ");
	value[1] = find_total(text, "full ");
	return isnan(value[0]) ? err_fail(err, -EBADMSG,
	    "pressure of %s: no total", kinds[i]) : 0;
}

static int
read_pressure(struct watch *w, struct subject *s, double *value,
    struct ds_err *err)
{
	int rc, worst = 0;

	(void)s;
	for (unsigned i = 0; i < KINDS; i++) {
		rc = read_kind(w, i, value + 2 * i, err);
		worst = rc < 0 && worst == 0 ? rc : worst;
	}
	return worst;
}

static void
close_pressure(struct watch *w)
{
	free(w->own);
}

const struct observer obs_psi = {
	.name = "psi",
	.what = "pressure (PSI)",
	.scope = SCOPE_JOB,
	.pause_ns = AT_CHANGES,
	.metrics = metrics,
	.open = open_pressure,
	.read = read_pressure,
	.close = close_pressure,
};
