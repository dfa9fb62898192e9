/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_next.c: the next batch, in the job's thread: it opens those that the
 * pipeline is to work on, and finishes the one that the job gets.
 * Runs in clients.
 */

#include <config.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "cache/data.h"
#include "loader/loader.h"
#include "prep/kernels.h"
#include "prep/prep.h"

/*--- opening batches -----------------------------------------------------*/

static_assert(DS_TYPE_UINT8 == (int)SAMPLE_U8 &&
    DS_TYPE_FP16 == (int)SAMPLE_F16 && DS_TYPE_BF16 == (int)SAMPLE_BF16 &&
    DS_TYPE_FP32 == (int)SAMPLE_F32, "the job's names of types are ours");

static void
set_shape(const struct ds_loader *l, struct ds_batch *b)
{
	const struct settings *s = prep_settings(l->prep);
	bool planes = s->layout == SAMPLE_NCHW;

	b->type = s->type;
	b->shape[0] = planes ? 3 : s->height;
	b->shape[1] = planes ? s->height : s->width;
	b->shape[2] = planes ? s->width : 3;
}

static void
fill_batch(struct ds_loader *l, struct batch *b, const struct plan_run *run)
{
	b->nr = run->count;
	b->given.epoch = run->at.epoch;
	b->given.number = run->number;
	set_shape(l, &b->given);
	for (uint32_t i = 0; i < run->count; i++) {
		uint64_t turn = plan_turn(&l->plan, &run->at, run->at.turn + i);
		uint64_t position = plan_position(&l->plan, turn);
		uint64_t sample = plan_sample(&l->plan, position);
		bool cached = data_is_ready(l->data, l->items[sample]);

		b->positions[i] = position;
		b->items[i] = l->items[sample];
		b->labels[i] = labels_of(l->labels, sample);
		b->cells[i].state = cached ? CELL_CACHED : CELL_WANTED;
	}
}

static int
open_batch(struct ds_loader *l, const struct plan_run *run, struct ds_err *err)
{
	struct batch *b = shelf_take(&l->shelf);

	if (b == NULL)
		return err_fail(err, -ENOMEM, "no memory for a batch of %u "
		    "samples of %zu bytes", l->shelf.room,
		    l->shelf.sample_bytes);
	if (plan_epoch(&l->plan, run->at.epoch))
		ds_data_epoch(l->data);
	fill_batch(l, b, run);
	pipeline_add(&l->pipeline, b);
	return 0;
}

/* Until so many are in the pipeline; the end of an epoch is no end here. */
static int
open_ahead(struct ds_loader *l, uint64_t nr, struct ds_err *err)
{
	struct plan_place place = l->opened;
	struct plan_run run;
	int rc;

	while (l->pipeline.nr_batches < nr) {
		switch (plan_step(&l->plan, &place, &run)) {
		case PLAN_OVER:
			return 0;
		case PLAN_EPOCH_ENDS:
			break;
		case PLAN_RUN:
			rc = open_batch(l, &run, err);
			if (rc < 0)
				return rc;
			break;
		}
		l->opened = place;
	}
	return 0;
}

/*--- finishing one -------------------------------------------------------*/

/* The first sample that the policy does not cover. */
static const struct cell *
find_failure(const struct ds_loader *l, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		const struct cell *s = &b->cells[i];

		if (s->rc < 0 && (!s->is_bad ||
		    l->options.on_bad == ON_BAD_FAIL))
			return s;
	}
	return NULL;
}

/* -ENOENT would say that there are no more epochs. */
static int
fail_sample(const struct cell *s, struct ds_err *err)
{
	int rc = s->rc == -ENOENT ? -ESTALE : s->rc;

	return err_fail(err, rc, "%s", s->why != NULL ? s->why :
	    strerrordesc_np(-s->rc));
}

/* Those that failed: the job can ask about them. */
static void
remember_bad(struct ds_loader *l, struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		struct cell *s = &b->cells[i];

		if (s->rc >= 0)
			continue;
		bad_add(&l->bad, &(struct ds_bad){ .item = b->items[i],
		    .epoch = b->given.epoch, .position = b->positions[i],
		    .code = s->rc }, s->why);
		s->why = NULL;
	}
}

static void
count_batch(struct ds_loader *l, const struct batch *b)
{
	struct ds_loader_counts *c = &l->pipeline.counts;

	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	c->batches++;
	c->samples += b->given.count;
	c->skipped += b->given.skipped;
	for (uint32_t i = 0; i < b->given.count; i++) {
		c->substituted += b->states[i] == DS_SAMPLE_SUBSTITUTE;
		c->cut_short += b->states[i] == DS_SAMPLE_CUT_SHORT;
	}
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
}

/* The numbers of those that are left out are overwritten by finishing. */
static int
finish_and_write(struct ds_loader *l, struct batch *b, bool substitutes,
    struct ds_err *err)
{
	struct ledger_skip *skips = l->skips;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < b->nr && !substitutes; i++) {
		if (b->cells[i].rc >= 0)
			continue;
		skips[nr] = (struct ledger_skip){ b->items[i], b->positions[i],
		    i - nr };
		nr++;
	}
	batch_finish(b, substitutes);
	return ledger_batch(l->ledger, &b->given, l->data, skips, nr, err);
}

static int
finish(struct ds_loader *l, struct batch *b, struct ds_err *err)
{
	bool substitutes = l->options.on_bad == ON_BAD_SUBSTITUTE;
	int rc = 0;

	remember_bad(l, b);
	if (l->ledger != NULL)
		rc = finish_and_write(l, b, substitutes, err);
	else
		batch_finish(b, substitutes);
	if (rc == 0)
		count_batch(l, b);
	return rc;
}

/*--- giving it -----------------------------------------------------------*/

/* What the file is to blame for is behind; what we are is tried once more. */
static int
give_failure(struct ds_loader *l, struct batch *b, const struct cell *failed,
    const struct plan_place *behind, struct ds_err *err)
{
	bool is_bad = failed->is_bad;
	int rc = fail_sample(failed, err);

	if (!is_bad) {
		pipeline_put_back(&l->pipeline, b);
		return rc;
	}
	l->given = *behind;
	shelf_put(&l->shelf, b);
	return rc;
}

/* A failure leaves the place where it is, unless it is that of a bad sample. */
static int
give_batch(struct ds_loader *l, const struct plan_place *behind,
    struct ds_batch **out, struct ds_err *err)
{
	uint64_t prefetch = l->options.prefetch;
	struct ds_err why = { 0 };
	const struct cell *failed;
	struct batch *b;
	int rc;

	rc = open_ahead(l, prefetch > 0 ? prefetch : 1, &why);
	if (rc < 0 && l->pipeline.nr_batches == 0)
		return err_fail(err, rc, "%s", why.text);
	b = pipeline_take(&l->pipeline);
	/* Those that cannot be opened now are missed later, and told then. */
	(void)open_ahead(l, prefetch, NULL);
	failed = find_failure(l, b);
	if (failed != NULL)
		return give_failure(l, b, failed, behind, err);
	rc = finish(l, b, err);
	if (rc < 0) {
		shelf_put(&l->shelf, b);
		return rc;
	}
	l->given = *behind;
	*out = &b->given;
	return 1;
}

static int
end_epoch(struct ds_loader *l, const struct plan_place *behind)
{
	l->given = *behind;
	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	l->pipeline.counts.epochs++;
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
	return 0;
}

static int
give(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
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
		rc = end_epoch(l, &place);
		break;
	case PLAN_RUN:
		rc = give_batch(l, &place, out, err);
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
		rc = give(loader, batch, err);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	count_wait(loader, clock_now_ns() - begin_ns);
	return rc;
}

void
ds_loader_release(struct ds_loader *loader, struct ds_batch **batch)
{
	struct ds_batch *b = *batch;

	must_be(loader, LOADER_MAGIC);
	*batch = NULL;
	if (b != NULL && loader_check_process(loader, NULL) == 0)
		shelf_put(&loader->shelf, batch_of(b));
}
