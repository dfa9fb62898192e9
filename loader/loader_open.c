/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_open.c: which samples a batch has, and which batches the pipeline is
 * to work on.  Runs in clients.
 */

#include <config.h>

#include <assert.h>
#include <errno.h>

#include "cache/data.h"
#include "loader/loader.h"
#include "prep/kernels.h"
#include "prep/prep.h"

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

void
loader_number(const struct ds_loader *l, const struct plan *p,
    struct batch *b, const struct plan_run *run)
{
	b->nr = run->count;
	b->given.epoch = run->at.epoch;
	b->given.number = run->number;
	set_shape(l, &b->given);
	for (uint32_t i = 0; i < run->count; i++) {
		uint64_t turn = plan_turn(p, &run->at, run->at.turn + i);
		uint64_t position = plan_position(p, turn);
		uint64_t sample = plan_sample(p, position);

		b->positions[i] = position;
		b->items[i] = l->items[sample];
		b->labels[i] = labels_of(l->labels, sample);
	}
}

void
loader_want(const struct ds_loader *l, struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		bool cached = data_is_ready(l->data, b->items[i]);

		b->cells[i].state = cached ? CELL_CACHED : CELL_WANTED;
	}
}

void
loader_turn_to(struct ds_loader *l, uint64_t epoch)
{
	if (plan_epoch(&l->plan, epoch))
		ds_data_epoch(l->data);
}

int
loader_no_batch(const struct ds_loader *l, struct ds_err *err)
{
	return err_fail(err, -ENOMEM, "no memory for a batch of %u samples of "
	    "%zu bytes", l->shelf.room, l->shelf.sample_bytes);
}

int
loader_new_batch(struct ds_loader *l, const struct plan_run *run,
    struct batch **out, struct ds_err *err)
{
	struct batch *b = shelf_take(&l->shelf);

	if (b == NULL)
		return loader_no_batch(l, err);
	loader_turn_to(l, run->at.epoch);
	loader_number(l, &l->plan, b, run);
	loader_want(l, b);
	*out = b;
	return 0;
}

static int
open_batch(struct ds_loader *l, const struct plan_run *run, struct ds_err *err)
{
	struct batch *b;
	int rc = loader_new_batch(l, run, &b, err);

	if (rc == 0)
		pipeline_add(&l->pipeline, b);
	return rc;
}

int
loader_open_ahead(struct ds_loader *l, uint64_t nr, enum loader_ahead how,
    struct ds_err *err)
{
	struct plan_place place = l->opened;
	struct plan_run run;
	int rc;

	if (steer_fills(l))
		return steer_open_ahead(l, nr, err);
	while (l->pipeline.nr_batches < nr && how != AHEAD_NOT) {
		switch (plan_step(&l->plan, &place, &run)) {
		case PLAN_OVER:
			return 0;
		case PLAN_EPOCH_ENDS:
			if (how == AHEAD_EPOCH)
				return 0;
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
