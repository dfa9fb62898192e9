/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h: which sample comes when: epochs, their order, the share of a rank in
 * it, and the batches.  Runs in clients; one thread at a time.
 *
 * The positions of an epoch are 0 .. n - 1 in its order; rank r of R has r,
 * r + R, r + 2R...  Where R does not divide n the order is longer by its own
 * beginning, as in torch's DistributedSampler, or, with drop_last, cut.  The
 * k-th position of a rank is called its k-th turn; a batch is a run of turns.
 *
 * A job that joins others late begins an epoch in its middle, at the turn
 * `from`, and gets what it missed at the end: from .. e - 1, 0 .. from - 1,
 * e .. t - 1, of t turns.  The last `tail` of them, e .. t - 1, stay last: they
 * are a unit that is short.
 *
 *  1. What sample is at a position, and in which epoch, depends on the number
 *     of samples, the seed and the order alone, not on the batches.
 *  2. Where a run begins is told by a place alone.
 *  3. Every turn of an epoch is delivered once, wherever it was begun.
 */

#ifndef LOADER_PLAN_H
#define LOADER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/loader_options.h"

struct plan {
	uint64_t	nr;		/* samples of the data set */
	uint64_t	turns;		/* of a rank in an epoch */
	uint64_t	batch, epochs, seed, rank, ranks;
	bool		drop_last;
	uint32_t	*order;		/* NULL: as listed */
	uint64_t	order_epoch;	/* of order */
	bool		has_order;
};

struct plan_place {
	uint64_t	epoch;
	uint64_t	turn;		/* so many of the epoch are behind */
	uint64_t	from, tail;	/* how it was joined late; 0: it was
					 * not */
};

struct plan_run {
	struct plan_place at;		/* of the first */
	uint64_t	number;		/* of the batch */
	uint32_t	count;
};

int plan_init(struct plan *p, const struct loader_options *o, uint64_t nr,
    struct ds_err *err);
	/* -EINVAL if nothing would ever come of it; -ENOMEM. */
void plan_fini(struct plan *p);

uint64_t plan_samples(const struct plan *p);
	/* That are delivered in an epoch. */

enum plan_step { PLAN_RUN, PLAN_EPOCH_ENDS, PLAN_OVER };

enum plan_step plan_step(const struct plan *p, struct plan_place *place,
    struct plan_run *run);
	/* What comes at a place, which is moved behind it; run is filled for
	 * PLAN_RUN only. */

bool plan_place_fits(const struct plan *p, const struct plan_place *at);
	/* Can it be one of this plan? */

uint64_t plan_turn(const struct plan *p, const struct plan_place *at,
    uint64_t behind);
	/* Which turn is delivered in that epoch when so many are behind. */
uint64_t plan_behind(const struct plan *p, const struct plan_place *at,
    uint64_t turn);
	/* The reverse: how many are behind when it is delivered. */

bool plan_epoch(struct plan *p, uint64_t epoch);
	/* Makes its order, before plan_sample().  True if it is another epoch
	 * than before. */
uint64_t plan_position(const struct plan *p, uint64_t turn);
uint64_t plan_sample(const struct plan *p, uint64_t position);

#endif
