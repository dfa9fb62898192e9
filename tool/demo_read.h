/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_read.h: what the demo's reader reads, with and without destall.  Runs in
 * the command only; the reader is processes of its own.
 *
 *  1. All that the reader prints is compared with what the files hold.
 *  2. What it read from storage is what the kernel counted for its processes
 *     (/proc/PID/io).
 *  3. An epoch begins when the one before has ended, with all its processes.
 *  4. No process outlives the call, but for those that were killed and are
 *     about to go.
 */

#ifndef TOOL_DEMO_READ_H
#define TOOL_DEMO_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/stop.h"
#include "tool/demo_data.h"
#include "tool/demo_group.h"
#include "tool/demo_law.h"
#include "tool/demo_place.h"

#define DEMO_NOT_COUNTED	UINT64_MAX

struct demo_epoch {
	uint64_t	items;
	uint64_t	digest;
	uint64_t	elapsed_ns;
	uint64_t	storage_bytes;	/* by the kernel, or NOT_COUNTED */
	/* As the hub counted them: */
	uint64_t	hits;
	uint64_t	reads;		/* from storage */
};

struct demo_held {		/* by the cache, after the last epoch */
	uint64_t	items, bytes;
	uint64_t	cap_bytes;
};

struct demo_reading {
	const char	*share;		/* "35%"; NULL: without destall */
	bool		evict;		/* before each epoch, not only before
					 * the first */
	const struct demo_place	*place;	/* with the orders in it */
	const struct demo_group	*group;
	const struct demo_data	*data;
	const struct demo_law	*law;
	struct stop	*stop;
	struct progress	*progress;
	uint64_t	*done;		/* items, for the progress line */
};

int demo_read(const struct demo_reading *r, struct demo_epoch *epochs,
    struct demo_held *held, struct ds_err *err);
	/* All epochs of the law.  held is left alone without destall.
	 * -EINTR: a signal came. */

#endif
