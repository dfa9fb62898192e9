/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_start.c: starting the threads of a loader, and ending them.
 * Runs in clients.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "base/must.h"
#include "loader/loader.h"
#include "prep/prep.h"

#define SPARE_BATCHES	2u	/* that stay beside those prefetched */

/* Of a batch, in samples: no more than an epoch has. */
static uint32_t
room_of(const struct ds_loader *l)
{
	uint64_t most = plan_samples(&l->plan);

	return (uint32_t)(l->options.batch < most ? l->options.batch : most);
}

/* Its last line must be of this very order: another job's is not cut. */
static int
resume_ledger(struct ds_loader *l, struct ds_err *err)
{
	struct ds_info info = { .name = NULL };
	struct ledger_end end;
	uint64_t item;
	int rc;

	rc = ledger_find(l->ledger, &l->plan, &l->given, &end, err);
	if (rc < 0)
		return rc;
	if (end.has_last && end.position < l->plan.turns) {
		(void)plan_epoch(&l->plan, end.epoch);
		item = l->items[plan_sample(&l->plan,
		    plan_position(&l->plan, end.position))];
		(void)ds_data_info(l->data, item, &info);
		if (ledger_ends_with(&end, info.name, item))
			end.has_last = false;
	}
	if (end.has_last)
		return err_fail(err, -EBADMSG, "ledger %s: its last sample "
		    "before the position, %s, is another job's",
		    l->options.ledger, end.sample);
	return ledger_cut(l->ledger, &end, err);
}

static int
open_ledger(struct ds_loader *l, struct ds_err *err)
{
	int rc;

	if (l->options.ledger[0] == '\0')
		return 0;
	l->skips = calloc(room_of(l), sizeof *l->skips);
	if (l->skips == NULL)
		return err_fail(err, -ENOMEM, "no memory for the ledger");
	rc = ledger_open(&l->ledger, l->options.ledger, l->is_restored,
	    l->options.ranks, err);
	if (rc == 0 && l->is_restored)
		rc = resume_ledger(l, err);
	return rc;
}

static int
start_workers(struct ds_loader *l, struct ds_err *err)
{
	const struct loader_options *o = &l->options;
	unsigned makers = o->threads > 0 ? (unsigned)o->threads :
	    cpus_granted("/");

	l->pipeline.seed = o->seed;
	free(l->pipeline.sound);
	l->pipeline.sound = calloc(ds_data_count(l->data), 1);
	if (l->pipeline.sound == NULL)
		return err_fail(err, -ENOMEM, "no memory for a mark of each "
		    "item");
	l->pipeline.bytes_most = prep_settings(l->prep)->limits.bytes;
	l->pipeline.substitutes = o->on_bad == ON_BAD_SUBSTITUTE;
	return workers_start(&l->workers, &l->pipeline, l->prep, makers,
	    (unsigned)o->readers, err);
}

/* Before the threads, whose stacks take what address space there is: a job that has
 * little of it can do with fewer of them, and not without a batch. */
static int
reserve_batch(struct ds_loader *l, size_t sample_bytes, struct ds_err *err)
{
	struct batch *b;

	shelf_set(&l->shelf, room_of(l), sample_bytes,
	    (unsigned)l->options.prefetch + SPARE_BATCHES, false);
	b = shelf_take(&l->shelf);
	if (b == NULL)
		return loader_no_batch(l, err);
	shelf_put(&l->shelf, b);
	return 0;
}

static void
undo_start(struct ds_loader *l)
{
	(void)ledger_close(&l->ledger, NULL);
	free(l->skips);
	l->skips = NULL;
	shelf_fini(&l->shelf);
	shelf_init(&l->shelf);
}

int
loader_start(struct ds_loader *l, struct ds_err *err)
{
	int64_t bytes;
	int rc;

	if (l->is_started)
		return 0;
	rc = loader_ready(l, err);
	if (rc == 0)
		rc = loader_begin(l, err);
	if (rc < 0)
		return rc;
	bytes = ds_prep_bytes(l->prep, err);
	if (bytes < 0)
		return (int)bytes;
	rc = open_ledger(l, err);
	if (rc == 0)
		rc = reserve_batch(l, (size_t)bytes, err);
	if (rc == 0)
		rc = start_workers(l, err);
	if (rc < 0) {
		undo_start(l);
		return rc;
	}
	steer_start(l);
	if (steer_shares(l))
		share_start(l);
	else
		share_say(&l->share, false, "it is profiled");
	l->is_started = true;
	return 0;
}

void
loader_end(struct ds_loader *l)
{
	if (l->workers == NULL)
		return;
	steer_stop(l);
	share_stop(l);
	pipeline_stop(&l->pipeline);
	workers_end(&l->workers);
	pipeline_drop(&l->pipeline);
}
