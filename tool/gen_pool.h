/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_pool.h: the threads that make the images of `destall gen`.
 * Runs in the command only.
 *
 * Each thread takes the next index that is not there yet, makes the image and
 * puts it into the set.  Into shards they go in order, so there a thread with
 * a finished image waits for its turn.
 *
 *  1. An index that was taken is finished, unless some thread failed.
 *  2. The indices in work are distinct and, with shards, consecutive: there
 *     are never more of them than threads.
 */

#ifndef TOOL_GEN_POOL_H
#define TOOL_GEN_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "tool/gen_plan.h"
#include "tool/gen_set.h"
#include "tool/gen_tar.h"

struct gen_task {
	const struct gen_plan *plan;
	const struct gen_set *set;
	struct gen_tar	*tar;		/* NULL: a file each */
	const uint8_t	*found;		/* bits of indices to leave out, or
					 * NULL */
	uint64_t	first, count;	/* from first on, below count */
	unsigned	threads;
};

struct gen_pool;

int gen_pool_start(struct gen_pool **out, const struct gen_task *task,
    struct ds_err *err);
	/* The task's pointers stay the caller's, until gen_pool_join().
	 * Signals that the caller has blocked are blocked in all threads. */

bool gen_pool_is_over(struct gen_pool *p);
	/* No thread works any more. */
int gen_pool_fd(const struct gen_pool *p);
	/* Readable when it is over; wait with a timeout all the same. */

uint64_t gen_pool_made(struct gen_pool *p);
unsigned gen_pool_stop(struct gen_pool *p);
	/* Finish what is in work, begin nothing more; how many are in work. */

int gen_pool_join(struct gen_pool **pp, struct hist *sizes, struct ds_err *err);
	/* Waits, adds the sizes of what was made, frees.  0, or the first
	 * failure of a thread. */

/* One image, for who needs it outside the pool. */
int gen_pool_measure(const struct gen_plan *plan, uint64_t index,
    uint64_t *size, struct ds_err *err);

#endif
