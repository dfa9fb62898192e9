/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_cgroup.c: the observer of the job's control groups: how much memory it
 * uses and may use, how much of that is page cache, and how long its quota kept
 * it from processors.  Runs in the command only.
 *
 * The groups are those of the first process of the job.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/say.h"

enum { USED, LIMIT, CACHE, CPUS, PERIODS, THROTTLED, THROTTLED_TIME };

static const struct metric metrics[] = {
	[USED] = { .name = "memory", .unit = "bytes", .kind = METRIC_LEVEL },
	[LIMIT] = { .name = "memory_limit", .unit = "bytes",
	    .kind = METRIC_LEVEL },
	[CACHE] = { .name = "page_cache", .unit = "bytes",
	    .kind = METRIC_LEVEL },
	[CPUS] = { .name = "cpu_limit", .unit = "1", .kind = METRIC_LEVEL },
	[PERIODS] = { .name = "cpu_periods", .unit = "1" },
	[THROTTLED] = { .name = "cpu_periods_throttled", .unit = "1" },
	[THROTTLED_TIME] = { .name = "cpu_throttled", .unit = "ns" },
	{ .name = NULL },
};

struct groups {
	bool	has_memory, has_cpu;
	struct cgroup memory, cpu;
};

static int
open_groups(struct watch *w, struct ds_err *err)
{
	const struct observe *o = w->o;
	struct groups *g;
	int rc;

	if (o->job == 0)
		return OBSERVER_LATER;
	g = calloc(1, sizeof *g);
	if (g == NULL)
		say_no_memory();
	g->has_cpu = cgroup_find_of(&g->cpu, o->root, o->job, "cpu", err) == 0;
	rc = g->has_cpu ? 0 : err->code;
	g->has_memory = cgroup_find_of(&g->memory, o->root, o->job, "memory",
	    err) == 0;
	if (!g->has_memory && !g->has_cpu) {
		free(g);
		return rc;
	}
	if (!g->has_memory || !g->has_cpu)
		gap_add(&w->gap, "%s", err->text);
	w->own = g;
	return 0;
}

static double
find_cache(const struct cgroup *g)
{
	char text[8192];

	if (cgroup_read(g, strlen(g->dir), "memory.stat", text,
	    sizeof text) < 0)
		return NAN;
	return number_of(text, g->version == 2 ? "file " : "total_cache ");
}

static int
read_memory(const struct cgroup *g, double *value, struct ds_err *err)
{
	struct cgroup_memory m;
	int rc = cgroup_memory(g, &m, err);

	if (rc < 0)
		return rc;
	/* The kernel does not count the group at the root. */
	if (m.used_bytes > 0)
		value[USED] = (double)m.used_bytes;
	if (m.limit_bytes != CGROUP_NO_LIMIT)
		value[LIMIT] = (double)m.limit_bytes;
	value[CACHE] = find_cache(g);
	return 0;
}

static int
read_cpu(const struct cgroup *g, double *value, struct ds_err *err)
{
	char text[1024];
	double cpus;
	int rc = cgroup_cpus(g, &cpus, err);

	if (rc < 0)
		return rc;
	if (cpus > 0)
		value[CPUS] = cpus;
	if (cgroup_read(g, strlen(g->dir), "cpu.stat", text, sizeof text) < 0)
		return 0;	/* the root has none */
	value[PERIODS] = number_of(text, "nr_periods ");
	value[THROTTLED] = number_of(text, "nr_throttled ");
	value[THROTTLED_TIME] = g->version == 2 ?
	    1000 * number_of(text, "throttled_usec ") :
	    number_of(text, "throttled_time ");
	return 0;
}

static int
read_groups(struct watch *w, struct subject *s, double *value,
    struct ds_err *err)
{
	const struct groups *g = w->own;
	int memory = 0, cpu = 0;

	(void)s;
	if (g->has_memory)
		memory = read_memory(&g->memory, value, err);
	if (g->has_cpu)
		cpu = read_cpu(&g->cpu, value, err);
	return memory < 0 ? memory : cpu;
}

static void
close_groups(struct watch *w)
{
	free(w->own);
}

const struct observer obs_cgroup = {
	.name = "cgroup",
	.what = "the job's control group",
	.scope = SCOPE_JOB,
	.metrics = metrics,
	.open = open_groups,
	.read = read_groups,
	.close = close_groups,
};
