/* SPDX-License-Identifier: Apache-2.0
 *
 * slow_state.h: what all processes on one slow storage share, in a file that
 * each maps.  Written by every process that tests/shim/slow.c is preloaded
 * into, read by tests/harness/slowstat.
 *
 * A file of zeros is a valid start, so there is no first user.  Every word is
 * changed by one atomic operation: a process that is killed leaves nothing
 * half done.  Counters may run ahead of each other while processes run; when
 * all have ended, end_ns - start_ns is busy_ns + idle_ns.
 */

#ifndef SHIM_SLOW_STATE_H
#define SHIM_SLOW_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define SLOW_COUNTERS(X) \
	X(opens)	/* for reading, of regular files under the root */ \
	X(reads)	/* calls that read, a mapping and an fopen too */ \
	X(bytes)	/* that they delivered; of a mapping all */ \
	X(hits)		/* with DS_SLOW_CACHED: calls that are no reads, because \
			 * all was in memory */ \
	X(failed)	/* reads that DS_SLOW_FAIL failed */ \
	X(hung)		/* reads that DS_SLOW_HANG stopped */ \
	X(busy_ns)	/* what the bytes cost at DS_SLOW_RATE */ \
	X(idle_ns)	/* when nobody asked, between first and last */ \
	X(early)	/* reads that came back before their time: always 0 */ \
	X(start_ns)	/* CLOCK_MONOTONIC when the first transfer began */ \
	X(end_ns)	/* ... and when the last one that was granted ends */

struct slow_state {
#define SLOW_WORD(name) _Atomic uint64_t name;
	SLOW_COUNTERS(SLOW_WORD)
#undef SLOW_WORD
};

#endif
