/* SPDX-License-Identifier: Apache-2.0
 *
 * slow.h: what the wrappers of slow_calls.c ask of slow.c.
 * Runs inside the program under test, preloaded.
 */

#ifndef SHIM_SLOW_H
#define SHIM_SLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

bool slow_is_ours(int fd);
	/* Is it a regular file under the root?  errno is kept. */

int slow_begin(int fd);
	/* Before a read of such a file: does not come back for a file that
	 * hangs; -1 with errno for one that fails; else 0. */

void slow_charge(uint64_t bytes);
	/* After a read: comes back when the storage would have delivered. */

void slow_opened(int fd);
	/* After an open that succeeded, of any file. */

#endif
