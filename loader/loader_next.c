/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_next.c: the next batch.  Runs in clients, in the job's thread.
 */

#include <config.h>

#include <errno.h>

#include "base/clock.h"
#include "base/must.h"
#include "loader/loader.h"

/*--- giving it -----------------------------------------------------------*/

/* What the file is to blame for is behind; what we are is tried once more. */
static int
give_failure(struct ds_loader *l, struct batch *b, const struct cell *failed,
    const struct plan_place *behind, struct ds_err *err)
{
	bool is_bad = failed->is_bad;
	int rc = loader_fail_sample(failed, err);

	if (!is_bad) {
		pipeline_put_back(&l->pipeline, b);
		return rc;
	}
	l->given = *behind;
	shelf_put(&l->shelf, b);
	return rc;
}

/* A failure leaves the place where it is, unless it is that of a bad sample. */
int
loader_give_own(struct ds_loader *l, const struct plan_place *behind,
    enum loader_ahead how, struct ds_batch **out, struct ds_err *err)
{
	uint64_t prefetch = l->options.prefetch;
	struct ds_err why = { 0 };
	const struct cell *failed;
	struct batch *b;
	int rc;

	rc = loader_open_ahead(l, prefetch > 0 ? prefetch : 1, how, &why);
	if (rc < 0 && l->pipeline.nr_batches == 0)
		return err_fail(err, rc, "%s", why.text);
	b = pipeline_take(&l->pipeline);
	/* Those that cannot be opened now are missed later, and told then. */
	(void)loader_open_ahead(l, prefetch, how, NULL);
	failed = loader_failure(l, b);
	if (failed != NULL)
		return give_failure(l, b, failed, behind, err);
	rc = loader_finish(l, b, err);
	if (rc < 0) {
		shelf_put(&l->shelf, b);
		return rc;
	}
	l->given = *behind;
	*out = &b->given;
	return 1;
}

int
loader_end_epoch(struct ds_loader *l, const struct plan_place *behind)
{
	share_end_epoch(l);
	l->given = *behind;
	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	l->pipeline.counts.epochs++;
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
	return 0;
}

/* By way of the stage, or by itself.  Sharing takes memory that a job may need
 * for itself: then it goes on as if there were no stage. */
static int
give_shared(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct ds_err why = { 0 };
	struct plan_place behind;
	struct plan_run run;
	int rc = share_next(l, out, &why);

	if (rc == -ENOMEM) {
		share_say(&l->share, false, "too little memory to share: %s",
		    why.text);
		share_quit(l);
		behind = l->given;
		must(plan_step(&l->plan, &behind, &run) == PLAN_RUN);
		return loader_give_own(l, &behind, AHEAD_ALL, out, err);
	}
	return rc < 0 ? err_fail(err, rc, "%s", why.text) : rc;
}

int
loader_give(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct plan_place place = l->given;
	struct plan_run run;
	int rc = 0;

	if (l->ledger != NULL)
		rc = ledger_failed(l->ledger, err);
	if (rc < 0)
		return rc;
	switch (plan_step(&l->plan, &place, &run)) {
	case PLAN_OVER:
		rc = err_fail(err, -ENOENT, "there are no more epochs");
		break;
	case PLAN_EPOCH_ENDS:
		rc = loader_end_epoch(l, &place);
		break;
	case PLAN_RUN:
		rc = l->share.is_on ? give_shared(l, out, err) :
		    loader_give_own(l, &place, AHEAD_ALL, out, err);
		break;
	}
	return rc;
}

/* As in fail_sample(): a list of labels that is missing is no end. */
static int
start(struct ds_loader *l, struct ds_err *err)
{
	int rc = loader_start(l, err);

	if (rc != -ENOENT)
		return rc;
	if (err != NULL)
		err->code = -EINVAL;
	return -EINVAL;
}

static void
count_wait(struct ds_loader *l, uint64_t ns)
{
	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	l->pipeline.counts.wait_ns += ns;
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
}

int
ds_loader_next(struct ds_loader *loader, struct ds_batch **batch,
    struct ds_err *err)
{
	uint64_t begin_ns = clock_now_ns();
	int rc = loader_check_process(loader, err);

	if (rc < 0)
		return rc;
	must(pthread_mutex_lock(&loader->turn) == 0);
	rc = start(loader, err);
	if (rc == 0)
		rc = loader->steer != NULL ? steer_next(loader, batch, err) :
		    loader_give(loader, batch, err);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	count_wait(loader, clock_now_ns() - begin_ns);
	return rc;
}

/* Whoever waits looks at it a few times a second; while a hub stands still, when
 * that is given up (hub/link.h). */
void
ds_loader_interrupt(struct ds_loader *loader)
{
	must_be(loader, LOADER_MAGIC);
	/* relaxed: it speaks for nothing else */
	atomic_store_explicit(&loader->is_interrupted, true,
	    memory_order_relaxed);
}

void
ds_loader_release(struct ds_loader *loader, struct ds_batch **batch)
{
	struct ds_batch *b = *batch;

	must_be(loader, LOADER_MAGIC);
	*batch = NULL;
	if (b != NULL && loader_check_process(loader, NULL) == 0 &&
	    !steer_put(loader, batch_of(b)))
		share_put(loader, batch_of(b));
}
