/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_set.c: the samples that all blocks of a profile have in common.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include "loader/steer.h"

#include <errno.h>
#include <stdlib.h>

#include "cache/data.h"
#include "loader/loader.h"

void
steer_free_set(struct steer *s)
{
	free(s->set.runs);
	free(s->set.items);
	s->set = (struct steer_set){ .nr = 0 };
}

/* Full batches, the last ones of the epoch; or, of an epoch that has none, all
 * of it. */
static uint32_t
clip(const struct plan *p, uint32_t batches)
{
	uint64_t most = p->turns / p->batch;

	most = most > 0 ? most : 1;
	batches = batches > 0 ? batches : 1;
	return batches < most ? batches : (uint32_t)most;
}

static void
fill_runs(struct ds_loader *l, struct steer_set *set)
{
	const struct plan *p = &l->plan;
	uint64_t count = p->turns < p->batch ? p->turns : p->batch;
	uint64_t turn = p->turns - set->nr * count;

	for (uint32_t k = 0; k < set->nr; k++) {
		set->runs[k] = (struct plan_run){
			.at = { .epoch = l->given.epoch, .turn = turn },
			.number = turn / p->batch, .count = (uint32_t)count };
		turn += count;
	}
}

static void
fill_items(struct ds_loader *l, struct steer_set *set)
{
	const struct plan *p = &l->plan;

	loader_turn_to(l, l->given.epoch);
	for (uint64_t i = 0; i < set->nr_items; i++) {
		uint64_t turn = set->runs[0].at.turn + i;

		set->items[i] = l->items[plan_sample(p,
		    plan_position(p, turn))];
	}
}

static void
tell_set(struct ds_loader *l)
{
	struct steer_set *set = &l->steer->set;
	bool is_known = l->data->source->ops->scheme == NULL;
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < set->nr_items; i++)
		bytes += data_key(l->data, set->items[i])->size;
	steer_tell(l->steer, JOURNAL_SET, (const uint64_t[7]){ set->nr,
	    set->nr_items, is_known ? set->nr_items : 0, bytes,
	    is_known ? 0 : set->nr_items }, NULL);
	if (!is_known)
		steer_note(l->steer, "%s: samples are parts of shards: what is "
		    "in memory is not arranged", source_uri(l->data->source));
	if (l->data->index.index != NULL)
		steer_note(l->steer, "%s: it is cached by the hub: what is in "
		    "its cache is not read from storage",
		    source_uri(l->data->source));
}

int
steer_choose(struct ds_loader *l, uint32_t batches, struct ds_err *err)
{
	struct steer_set *set = &l->steer->set;
	uint32_t nr = clip(&l->plan, batches);

	steer_free_set(l->steer);
	set->runs = calloc(nr, sizeof *set->runs);
	set->items = calloc((size_t)nr * l->plan.batch, sizeof *set->items);
	if (set->runs == NULL || set->items == NULL) {
		steer_free_set(l->steer);
		return err_fail(err, -ENOMEM, "no memory for a set of %u "
		    "batches", nr);
	}
	set->nr = nr;
	fill_runs(l, set);
	set->nr_items = (uint64_t)nr * set->runs[0].count;
	fill_items(l, set);
	tell_set(l);
	if (l->data->source->ops->scheme == NULL)
		steer_tell_beside(l);
	return 0;
}

uint64_t
steer_items(const struct steer *s, uint32_t batches)
{
	const struct steer_set *set = &s->set;

	if (set->nr == 0)
		return 0;
	if (batches == 0 || batches > set->nr)
		batches = set->nr;
	return (uint64_t)batches * set->runs[0].count;
}
