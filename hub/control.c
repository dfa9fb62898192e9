/* SPDX-License-Identifier: Apache-2.0
 *
 * control.c: the control segment's kind.  Runs in hub and clients.
 */

#include <config.h>

#include "hub/control.h"

#include <assert.h>

#define CONTROL_MAGIC	0x4453434fu	/* "DSCO" */
#define CONTROL_LAYOUT	2u

static_assert(sizeof(struct control) == sizeof(struct segment_head) + 13 * 8,
    "the layout is shared between processes");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "words are shared without locks");

const struct segment_kind control_kind = {
	.name = "destall control",
	.magic = CONTROL_MAGIC,
	.layout = CONTROL_LAYOUT,
};
