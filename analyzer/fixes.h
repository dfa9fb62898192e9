/* SPDX-License-Identifier: Apache-2.0
 *
 * fixes.h: what would help a job, in the order of what it would gain, each with
 * the command or the line of code that does it.  Runs in the command only; pure.
 *
 *     result with verdict, and what is free here -> fixes_find() -> result.fixes
 *
 *  1. A gain is predicted by analyzer/model.h from measured figures; a fix that
 *     lacks one of them is left out.  So are gains below 2 %, and all of them
 *     where the accelerator is the bottleneck.
 *  2. No gain goes past what the accelerator takes with workers busy.  Where the
 *     fix is memory or storage, it does not go past the speed that was measured
 *     with the files in memory, either.
 *  3. Left out since nothing that is measured tells what they gain: the native
 *     loader in the place of another, prefetch_factor, persistent_workers.
 */

#ifndef ANALYZER_FIXES_H
#define ANALYZER_FIXES_H

#include <stdbool.h>

#include "reports/result.h"

struct fixes_about {
	double	free_bytes;		/* of memory, for a cache; 0: not known */
	const char *data;		/* the folder of the data set, or NULL */
	bool	can_pin;		/* a device wants pinned memory, and the
					 * loader does not pin yet */
};

void fixes_find(struct result *r, const struct fixes_about *about);
	/* Adds to the fixes of a result, of which there are none yet. */

#endif
