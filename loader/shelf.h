/* SPDX-License-Identifier: Apache-2.0
 *
 * shelf.h: where batches are kept that nobody uses, so that their memory is
 * found once.  Runs in clients, in any of their threads.
 *
 *  1. It knows all batches there are, also those that the job has.
 *  2. A few stay on it; the memory of the others is given back.
 */

#ifndef LOADER_SHELF_H
#define LOADER_SHELF_H

#include <pthread.h>

#include "loader/batch.h"

struct shelf {
	pthread_mutex_t	lock;		/* guards the rest */
	uint32_t	room;		/* samples of a batch */
	size_t		sample_bytes;
	unsigned	most;		/* that stay */
	bool		is_bare;	/* its batches are */
	unsigned	nr;		/* that lie there */
	struct batch	*top;
	struct batch	*newest;	/* of all */
	uint64_t	bytes, bytes_most;
};

void shelf_init(struct shelf *s);
void shelf_set(struct shelf *s, uint32_t room, size_t sample_bytes,
    unsigned most, bool is_bare);
	/* While there are no batches. */
void shelf_fini(struct shelf *s);
	/* All batches are gone with it. */
void shelf_abandon(struct shelf *s);
	/* The same in a forked child, where a thread that it does not have may
	 * hold the lock. */

struct batch *shelf_take(struct shelf *s);
	/* An empty one; NULL: no memory. */
void shelf_put(struct shelf *s, struct batch *b);

uint64_t shelf_bytes_most(struct shelf *s);

#endif
