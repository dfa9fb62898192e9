/* SPDX-License-Identifier: Apache-2.0
 *
 * lock.h: one hub per folder.  Runs in the hub; the command that stopped one
 * waits here for its end.
 *
 *  1. The lock is held as long as its holder lives, and goes with it however
 *     it ends.
 *  2. Only the holder touches the socket's name.
 */

#ifndef HUB_LOCK_H
#define HUB_LOCK_H

#include <stdint.h>

#include "base/err.h"

int lock_take(int dir, const char *where, struct ds_err *err);
	/* A descriptor to be kept; closing it gives the lock back.
	 * -EALREADY: another hub has it.  where is the folder, for words. */

int lock_wait_free(int dir, const char *where, uint64_t deadline_ns,
    struct ds_err *err);
	/* Until nobody has it.  -ETIMEDOUT. */

#endif
