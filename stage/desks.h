/* SPDX-License-Identifier: Apache-2.0
 *
 * desks.h: all desks of this process, and what a fork does to them.
 * Runs in clients, in any of their threads.
 *
 *  1. The lock of all desks is taken before that of a desk.
 *  2. A fork happens between two uses of every desk: its lock is taken before,
 *     and what is held is made private, so that parent and child both keep it.
 *  3. The child has no desks: those of the parent are not in its list, their
 *     locks are free, and they are never used again.
 */

#ifndef STAGE_DESKS_H
#define STAGE_DESKS_H

#include "base/err.h"
#include "hub/link.h"

struct desk;

int desks_watch(struct ds_err *err);
	/* From now on forks are noticed; before the first desk, and once. */

void desks_lock(void);
void desks_unlock(void);

/* With that lock. */
struct desk *desks_find(const struct link *link);
void desks_add(struct desk *d);
void desks_remove(struct desk *d);	/* or it is not there */

#endif
