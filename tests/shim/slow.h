/* SPDX-License-Identifier: Apache-2.0
 *
 * slow.h: what the wrappers of slow_calls.c ask of slow.c, and that of
 * slow_cached.c.  Runs inside the program under test, preloaded.
 */

#ifndef SHIM_SLOW_H
#define SHIM_SLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SLOW_HERE	((off64_t)-1)	/* where the descriptor stands */

struct slow_call {
	uint64_t	since;		/* CLOCK_MONOTONIC */
};

bool slow_is_ours(int fd);
	/* Is it a regular file under the root?  errno is kept. */

int slow_begin(struct slow_call *c, int fd, off64_t at, uint64_t len);
	/* Before a read of such a file: does not come back for a file that
	 * hangs; -1 with errno for one that fails; else 0, and what the page
	 * cache has not has come from storage, where that is asked for. */

void slow_end(const struct slow_call *c, int64_t bytes);
	/* After it: comes back when the storage would have delivered. */

void slow_opened(int fd);
	/* After an open that succeeded, of any file. */

/*--- the page cache -------------------------------------------------------*/

bool slow_cached_can_miss(const char *folder);
	/* Can its files be out of memory? */

uint64_t slow_cached_fetch(int fd, off64_t at, uint64_t len);
	/* Brings in what is missing of this part of a file, and of the
	 * read-ahead behind it; returns its bytes.  0: nothing was missing of
	 * the part itself. */

#endif
