/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_cache.h: the demo's cache next to the page cache, in as much memory.
 * Runs in the command only; reader and hub are processes of their own.
 */

#ifndef TOOL_DEMO_CACHE_H
#define TOOL_DEMO_CACHE_H

#include <stdint.h>

#include "base/progress.h"
#include "base/stop.h"
#include "tool/demo.h"
#include "tool/demo_place.h"

struct demo_cache_ask {
	uint64_t	count, seed;	/* of the images */
	struct demo_place *place;
	struct stop	*stop;
	struct progress	*progress;
};

int demo_cache_run(struct demo_found *f, const struct demo_cache_ask *ask,
    struct ds_err *err);
	/* f->share is given; what was measured is checked.  The law must be
	 * freed on failure, too.  -EINTR: a signal came. */

#endif
