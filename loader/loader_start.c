/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_start.c: starting the threads of a loader, and ending them.
 * Runs in clients.
 */

#include <config.h>

#include <errno.h>

#include "base/cpus.h"
#include "base/must.h"
#include "loader/loader.h"
#include "prep/prep.h"

#define SPARE_BATCHES	2u	/* that stay beside those prefetched */

static int
open_ledger(struct ds_loader *l, struct ds_err *err)
{
	int rc;

	if (l->options.ledger[0] == '\0')
		return 0;
	rc = ledger_open(&l->ledger, l->options.ledger, l->is_restored, err);
	if (rc == 0 && l->is_restored)
		rc = ledger_resume(l->ledger, l->given.epoch,
		    plan_position(&l->plan, l->given.turn), err);
	return rc;
}

static int
start_workers(struct ds_loader *l, struct ds_err *err)
{
	const struct loader_options *o = &l->options;
	unsigned makers = o->threads > 0 ? (unsigned)o->threads :
	    cpus_granted("/");

	l->pipeline.seed = o->seed;
	l->pipeline.bytes_most = prep_settings(l->prep)->limits.bytes;
	l->pipeline.substitutes = o->on_bad == ON_BAD_SUBSTITUTE;
	return workers_start(&l->workers, &l->pipeline, l->prep, makers,
	    (unsigned)o->readers, err);
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
		rc = start_workers(l, err);
	if (rc < 0) {
		(void)ledger_close(&l->ledger, NULL);
		return rc;
	}
	shelf_set(&l->shelf, (uint32_t)l->options.batch, (size_t)bytes,
	    (unsigned)l->options.prefetch + SPARE_BATCHES);
	l->is_started = true;
	return 0;
}

void
loader_end(struct ds_loader *l)
{
	if (l->workers == NULL)
		return;
	pipeline_stop(&l->pipeline);
	workers_end(&l->workers);
	pipeline_drop(&l->pipeline);
}
