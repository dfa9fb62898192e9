/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c: which sample comes when.  Runs in clients; one thread at a time.
 */

#include <config.h>

#include "loader/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/must.h"
#include "loader/order.h"

static int
check(const struct plan *p, struct ds_err *err)
{
	if (p->nr == 0)
		return err_fail(err, -ENODATA, "there is no picture in it");
	if (p->nr > ORDER_MAX)
		return err_fail(err, -E2BIG, "more than %" PRIu64 " pictures",
		    ORDER_MAX);
	if (p->rank >= p->ranks)
		return err_fail(err, -EINVAL, "rank=%" PRIu64 " is not below "
		    "ranks=%" PRIu64, p->rank, p->ranks);
	if (plan_samples(p) == 0)
		return err_fail(err, -EINVAL, "drop-last leaves nothing of %"
		    PRIu64 " pictures: batch=%" PRIu64 " and ranks=%" PRIu64,
		    p->nr, p->batch, p->ranks);
	return 0;
}

int
plan_init(struct plan *p, const struct loader_options *o, uint64_t nr,
    struct ds_err *err)
{
	int rc;

	*p = (struct plan){ .nr = nr, .batch = o->batch, .epochs = o->epochs,
	    .seed = o->seed, .rank = o->rank, .ranks = o->ranks,
	    .drop_last = o->drop_last };
	p->turns = nr / o->ranks;
	if (!o->drop_last && nr % o->ranks != 0)
		p->turns++;
	rc = check(p, err);
	if (rc < 0 || o->order == ORDER_LISTED)
		return rc;
	p->order = calloc((size_t)nr, sizeof *p->order);
	if (p->order == NULL)
		return err_fail(err, -ENOMEM, "no memory for the order of %"
		    PRIu64 " pictures", nr);
	return 0;
}

void
plan_fini(struct plan *p)
{
	free(p->order);
	*p = (struct plan){ 0 };
}

uint64_t
plan_samples(const struct plan *p)
{
	return p->drop_last ? p->turns - p->turns % p->batch : p->turns;
}

enum plan_step
plan_step(const struct plan *p, struct plan_place *place, struct plan_run *run)
{
	uint64_t left = p->turns - place->turn;

	must(place->turn <= p->turns);
	if (p->epochs > 0 && place->epoch >= p->epochs)
		return PLAN_OVER;
	if (left == 0 || (p->drop_last && left < p->batch)) {
		*place = (struct plan_place){ .epoch = place->epoch + 1 };
		return PLAN_EPOCH_ENDS;
	}
	*run = (struct plan_run){ *place, place->turn / p->batch,
	    (uint32_t)(left < p->batch ? left : p->batch) };
	place->turn += run->count;
	return PLAN_RUN;
}

/*--- an epoch that was joined late ---------------------------------------*/

bool
plan_place_fits(const struct plan *p, const struct plan_place *at)
{
	return at->turn <= p->turns && at->tail <= p->turns &&
	    at->from <= p->turns - at->tail;
}

uint64_t
plan_turn(const struct plan *p, const struct plan_place *at, uint64_t behind)
{
	uint64_t end = p->turns - at->tail;

	if (behind >= end)
		return behind;
	return behind < end - at->from ? behind + at->from :
	    behind - (end - at->from);
}

uint64_t
plan_behind(const struct plan *p, const struct plan_place *at, uint64_t turn)
{
	uint64_t end = p->turns - at->tail;

	if (turn >= end)
		return turn;
	return turn >= at->from ? turn - at->from : turn + (end - at->from);
}

/*--- what is where -------------------------------------------------------*/

bool
plan_epoch(struct plan *p, uint64_t epoch)
{
	if (p->has_order && p->order_epoch == epoch)
		return false;
	if (p->order != NULL)
		order_make(p->order, p->nr, p->seed, epoch);
	p->order_epoch = epoch;
	p->has_order = true;
	return true;
}

uint64_t
plan_position(const struct plan *p, uint64_t turn)
{
	return turn * p->ranks + p->rank;
}

uint64_t
plan_sample(const struct plan *p, uint64_t position)
{
	uint64_t i = position % p->nr;

	return p->order != NULL ? p->order[i] : i;
}
