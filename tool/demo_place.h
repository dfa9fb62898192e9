/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_place.h: the demo's folder and its own hub.  Runs in the command only.
 *
 *  1. Everything the demo makes lies in one new folder, and goes with it.
 *  2. The hub is a child of the demo, and ends when the demo does, however
 *     that ends: no other job can find it, and it finds no other's.
 */

#ifndef TOOL_DEMO_PLACE_H
#define TOOL_DEMO_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/stop.h"
#include "tool/demo_group.h"

#define DEMO_PATH	1024u
#define DEMO_ORDER	"order.%u"	/* in dir, of epoch 1 and so on */

struct demo_place {
	char	dir[DEMO_PATH];
	char	data[DEMO_PATH];	/* in dir; not made */
	char	hub[DEMO_PATH];		/* in dir: its folder */
	pid_t	hub_pid;		/* 0: none runs */
};

int demo_place_open(struct demo_place *p, struct ds_err *err);
	/* And DESTALL_HUB of this process leads there.  In $TMPDIR, else in
	 * /tmp or, if that is memory, in /var/tmp. */
int demo_place_close(struct demo_place *p, struct ds_err *err);
	/* Ends the hub, removes everything. */

int demo_hub_start(struct demo_place *p, uint64_t cache_bytes,
    const struct demo_group *group, const struct stop *stop,
    struct ds_err *err);
	/* In that group.  Returns when it can be connected to. */
void demo_hub_end(struct demo_place *p);

#endif
