/* SPDX-License-Identifier: Apache-2.0
 *
 * api.h: what a public handle of the hub holds.  Runs in clients.
 *
 *  1. A handle lives until it was disconnected and everyone who keeps it has
 *     dropped it; after the first its link is dead, and may still be asked.
 */

#ifndef HUB_API_H
#define HUB_API_H

#include "hub/link.h"

struct link *hub_api_link(struct ds_hub *hub);
	/* Valid as long as the handle is. */

void hub_api_keep(struct ds_hub *hub);
void hub_api_drop(struct ds_hub **hub);
	/* For what uses the link beyond ds_disconnect(). */

#endif
