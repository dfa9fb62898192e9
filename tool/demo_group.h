/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_group.h: a control group with little memory, for what the demo reads.
 * Runs in the command only, entering it in the processes that it forks.
 *
 *  1. One group is made, and removed at the end; no other is changed, and only
 *     processes that the demo has forked itself enter it.
 *  2. It lies in our own group; or beside it, where version 2 allows no groups
 *     in one that has processes.
 */

#ifndef TOOL_DEMO_GROUP_H
#define TOOL_DEMO_GROUP_H

#include <stdint.h>

#include "base/cgroup.h"
#include "base/err.h"

struct demo_group {
	char	dir[CGROUP_PATH];	/* "": none, memory is not limited */
};

int demo_group_open(struct demo_group *g, const char *root,
    uint64_t limit_bytes, struct ds_err *err);
	/* root as cgroup.h has it.  Fails where there is no right to it, and
	 * leaves nothing behind then. */
int demo_group_close(struct demo_group *g, struct ds_err *err);
	/* Once all that entered have ended; those that were killed may still
	 * be about to. */

int demo_group_enter(const struct demo_group *g);
	/* The calling process.  0 without a group, too; -errno. */

#endif
