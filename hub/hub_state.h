/* SPDX-License-Identifier: Apache-2.0
 *
 * hub_state.h: what a hub consists of, for the files that are the hub.
 * Runs in the hub only.
 */

#ifndef HUB_HUB_STATE_H
#define HUB_HUB_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/segment.h"
#include "hub/clients.h"
#include "hub/control.h"
#include "hub/door.h"
#include "hub/hub.h"
#include "hub/rundir.h"

#define HUB_MAGIC	0x48554220u	/* "HUB " */
#define HUB_MODULES_MAX	8u

struct hub {
	unsigned	magic;
	const struct hub_options *options;
	uint64_t	generation;
	uint64_t	started_ns;

	/* In the order in which they are made. */
	struct rundir	place;
	int		dir;
	int		lock;
	struct log	*log;
	struct loop	*loop;
	int		signals;
	struct loop_watch *on_signals;
	struct helper	*helper;
	struct machine	machine;
	struct segment	control;
	struct segment_head control_head;	/* as it was written */
	bool		has_clients;
	struct clients	clients;
	const struct hub_module *const *modules;
	void		*states[HUB_MODULES_MAX];
	unsigned	nr_started;	/* modules */
	struct door	door;

	uint64_t	busy_ns;	/* when somebody was here last */
	uint64_t	looked_ns;	/* when the door was looked at last */
	bool		is_lost;	/* nobody can find us any more */
	const char	*why;		/* it leaves */
};

int hub_take_frame(void *hub, struct client *c, struct wire_frame *f,
    struct ds_err *err);
	/* Of a client that was welcomed. */
void hub_client_gone(void *hub, struct client *c);
void hub_tick(void *hub);
void hub_leave(struct hub *h, const char *why);
	/* After this turn. */

#endif
