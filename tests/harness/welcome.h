/* SPDX-License-Identifier: Apache-2.0
 *
 * welcome.h: whether the hub still talks to a client that told it something,
 * for programs that say what no client of ours does.
 */

#ifndef HARNESS_WELCOME_H
#define HARNESS_WELCOME_H

#include <stdbool.h>

#include "hub/link.h"
#include "hub/proto.h"

/* What was told is handled before this. */
static inline bool
is_welcome(struct link *l)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_PING, 0);
	return link_call(l, &f, MSG_DONE, NULL) == 0;
}

#endif
