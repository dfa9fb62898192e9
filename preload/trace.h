/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.h: which files does making a sample open?  Asked by the Python package in
 * workers of jobs that are profiled.  Runs in any program that the object is
 * preloaded in, in any of its threads.
 *
 *  1. It needs no DESTALL=1: who has the object preloaded, and calls it, has it.
 *     Nobody else pays more than a load for an open.
 *  2. Nothing is allocated, errno is kept, and an open within it is not seen.
 *  3. How much of a file is in memory is looked at before the program has read
 *     anything of it by this descriptor.
 *  4. Between a beginning and its end the memory is ours; afterwards no thread
 *     writes to it.  A forked child writes nothing.
 *
 * Left out is what is no data: what lies below /proc, /sys, /dev, /usr, /lib
 * and /etc, and modules by their names (.py, .pyc, .so).  Streams that are opened
 * for writing as well ("r+") are not seen.
 */

#ifndef PRELOAD_TRACE_H
#define PRELOAD_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/opens.h"

/* One after the other, each filled up with zeros to a multiple of 8 bytes. */
struct trace_record {
	uint64_t	size;		/* of the file */
	uint32_t	pages;		/* of it; UINT32_MAX: as many or more */
	uint32_t	resident;	/* of them, in memory; TRACE_NOT_TOLD */
	uint32_t	len;		/* of the path that follows, its NUL
					 * included: at 20 bytes */
};

#define TRACE_HEAD	20u		/* bytes before the path */
#define TRACE_NOT_TOLD	UINT32_MAX
#define TRACE_LOST	1		/* in what ds_trace_end() returns */

__attribute__((visibility("default"))) int ds_trace_begin(void *buf,
    size_t size);
	/* From now on every file that any thread of this process opens for
	 * reading is written down, the path absolute and without links.  0;
	 * -EBUSY: it is on already; -EINVAL; -EPERM: this program has more
	 * rights than its caller. */

__attribute__((visibility("default"))) ssize_t ds_trace_end(void);
	/* How many bytes were written, a multiple of 8; with TRACE_LOST in it if
	 * there were files that there was no room for, or no path to be had.
	 * -EINVAL: it is not on in this process. */

extern _Atomic bool trace_on;

static inline bool
trace_is_on(void)
{
	/* relaxed: trace_opened() looks again */
	return __builtin_expect(opens_may_be_on ||
	    atomic_load_explicit(&trace_on, memory_order_relaxed), 0);
}

void trace_opened(int fd, const char *path, int flags);
	/* By this path; what came of an open. */

#endif
