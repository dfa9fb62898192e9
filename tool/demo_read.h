/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_read.h: the demo's jobs: processes that read a data set for some epochs
 * and split each of them.  Runs in the command, and in the jobs it forks.
 *
 *  1. Jobs use the public interface only, each with a connection of its own.
 *  2. An epoch begins when every job has ended the one before.
 *  3. No job outlives the call.
 */

#ifndef TOOL_DEMO_READ_H
#define TOOL_DEMO_READ_H

#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/stop.h"
#include "tool/demo_law.h"

#define DEMO_JOBS_MAX	16u

struct demo_epoch {		/* of all jobs together */
	uint64_t	gets;
	uint64_t	hits;
	uint64_t	reads;		/* from storage */
	uint64_t	read_bytes;
	uint64_t	digest;		/* of which items, and of their bytes */
};

struct demo_held {		/* by the cache, after the last epoch */
	uint64_t	items, bytes;
	uint64_t	cap_bytes;
	uint64_t	storage_reads;	/* as the hub counted them */
};

struct demo_reading {
	const char	*uri;
	const char	*share;		/* "35%"; NULL: without a hub */
	unsigned	jobs;
	const struct demo_law *law;	/* the orders */
	unsigned	epochs;		/* of them */
	struct stop	*stop;
	struct progress	*progress;
	uint64_t	*done;		/* gets, for the progress line */
};

int demo_read(const struct demo_reading *r, struct demo_epoch *epochs,
    struct demo_held *held, struct ds_err *err);
	/* held is left alone without a hub.  -EINTR: a signal came. */

#endif
