/* SPDX-License-Identifier: Apache-2.0
 *
 * taker.h: what taker.c and taker_hold.c have in common.
 */

#ifndef HARNESS_TAKER_H
#define HARNESS_TAKER_H

#include <stdbool.h>

#include "destall.h"

struct reading {		/* a loader that the script opened */
	struct ds_data	*data;
	struct ds_loader *loader;
	bool		is_over;	/* it has no more epochs */
	uint64_t	batches, samples;
};

void die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

void hold_batch(struct reading *r, struct ds_batch *b, bool is_written);
	/* Keeps it.  is_written: a thread writes into it from now on. */
void hold_check(void);
	/* All that is held is as the loader made it, but for what was written;
	 * no write is lost. */
void hold_drop(struct reading *r);
	/* Releases what is held of this one; NULL: of all. */
void hold_fork(void);
	/* A child has all that is held from now on. */
void hold_join(void);
	/* The children look at what they hold, and end well. */

#endif
