/* SPDX-License-Identifier: Apache-2.0
 *
 * turnhub.h: a hub without a loop, as far as clients see it: its turns are
 * taken by who calls.  For fuzz targets, whose clients are in the same process.
 */

#ifndef HARNESS_TURNHUB_H
#define HARNESS_TURNHUB_H

#include <stdint.h>

#include "base/wire.h"
#include "hub/hub_state.h"

extern struct hub hub;		/* its modules are the caller's to start */

void turnhub_open(const struct hub_module *const *modules, int null);
	/* Once in a process.  null: a descriptor, of no use to clients. */
int turnhub_adopt(void);
	/* A client's end of a new connection; it has not said hello. */
void turnhub_write_hello(struct wire_frame *f, uint32_t serial, uint64_t job);
void turnhub_take_turn(void);	/* of each client, but for last ones */
int turnhub_recv(int sock, struct wire_frame *f);
	/* At a client's end.  1: a frame of the hub, whose descriptors the
	 * caller closes; 0: the connection has ended; -EAGAIN: no more now. */

#endif
