/* SPDX-License-Identifier: Apache-2.0
 *
 * room.h: how much memory the hub's modules may still take, outside of their
 * own budgets.  Runs in the hub only.
 *
 * A budget is a ceiling, not a promise: a job that grows must not be killed for
 * our memory.  So each grant also leaves a reserve in the machine and in the
 * hub's control group: a sixteenth of what there is, 64 MiB at most.
 *
 *  1. The machine and the group are judged by a reading that is fresh, less all
 *     that was granted since, by any module.
 */

#ifndef HUB_ROOM_H
#define HUB_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cgroup.h"
#include "base/err.h"

struct machine {		/* that the hub runs on, and is charged in */
	struct cgroup	cgroup;
	bool		has_cgroup;	/* one that counts memory */
	uint64_t	granted_bytes;	/* ever, in whole pages, to all */
};

void machine_find(struct machine *m);

struct gauge {			/* what was left at one moment */
	uint64_t read_ns;	/* 0: never */
	uint64_t granted_bytes;	/* ever, not after it was read */
	uint64_t total, available;	/* of the machine; 0: it does not say */
	uint64_t limit, free;	/* of the group, or CGROUP_NO_LIMIT */
};

/* `group` is NULL where there is none, `granted` what is granted by now. */

void gauge_read(struct gauge *g, const struct cgroup *group, uint64_t granted);
	/* Some 20 files of /proc and the control group: not for the loop. */

bool gauge_is_fresh(const struct gauge *g, uint64_t granted, uint64_t now_ns);

int gauge_check(const struct gauge *g, const struct cgroup *group,
    uint64_t granted, uint64_t bytes, const char *who, struct ds_err *err);
	/* May as many bytes be allocated now?  -ENOMEM.  who begins the
	 * sentence: "cache". */

uint64_t room_default_budget(const struct machine *m);
	/* Half of what is free to this process. */

uint64_t room_pages(uint64_t bytes);
	/* In whole pages. */

#endif
