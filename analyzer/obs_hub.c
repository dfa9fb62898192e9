/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_hub.c: the observer of the cache and the stage: their own counters, where a
 * hub runs.  Runs in the command only.
 *
 * The analyzer does not know the hub; who does asks it for us (observe.h).
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>

static const struct metric metrics[] = {
	[HUB_HITS] = { .name = "cache_hits", .unit = "1" },
	[HUB_MISSES] = { .name = "cache_misses", .unit = "1" },
	[HUB_STORAGE_READS] = { .name = "storage_reads", .unit = "1" },
	[HUB_STORAGE_BYTES] = { .name = "storage_read", .unit = "bytes" },
	[HUB_MADE] = { .name = "stage_made", .unit = "1" },
	[HUB_DELIVERED] = { .name = "stage_delivered", .unit = "1" },
	[HUB_ALONE] = { .name = "stage_alone", .unit = "1" },
	{ .name = NULL },
};

/* Without a hub there is nothing that could be missed: it may come yet. */
static int
open_hub(struct watch *w, struct ds_err *err)
{
	int rc = w->o->hub->open(&w->own, err);

	return rc == -ENOENT ? OBSERVER_LATER : rc;
}

static int
read_hub(struct watch *w, struct subject *s, double *value, struct ds_err *err)
{
	uint64_t count[HUB_COUNTS];
	int rc = w->o->hub->read(w->own, count, err);

	(void)s;
	for (unsigned i = 0; rc == 0 && i < HUB_COUNTS; i++)
		value[i] = (double)count[i];
	return rc;
}

static void
close_hub(struct watch *w)
{
	w->o->hub->close(w->own);
}

const struct observer obs_hub = {
	.name = "hub",
	.what = "counters of the cache and the stage",
	.scope = SCOPE_JOB,
	.pause_ns = NS_PER_S,	/* a question for each job and stream */
	.metrics = metrics,
	.open = open_hub,
	.read = read_hub,
	.close = close_hub,
};
