/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_threads.h: how many threads `destall gen` uses unless it is told.
 * Runs in the command only.
 */

#ifndef TOOL_GEN_THREADS_H
#define TOOL_GEN_THREADS_H

#include <stdint.h>

#include "tool/gen_plan.h"

uint64_t gen_threads_memory(const struct gen_plan *plan);
	/* What one thread needs for the largest image, in bytes: 6 for each
	 * pixel, of them about 1 for a file of the best quality. */

unsigned gen_threads_choose(const char *root, uint64_t memory);
	/* As many as there are processors for us, by affinity and by the
	 * cgroup's quota, and as find room, with so much memory each, in half
	 * of what is free for us; at least one.  What cannot be read does not
	 * limit.  root is "/" in earnest, a made-up tree in tests. */

#endif
