/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.c: the table of the hub's modules.  Runs in the hub only.
 *
 * The hub knows none of them by name; a new one is a line here.
 */

#include <config.h>

#include <stddef.h>

#include "cache/keeper.h"
#include "hub/hub.h"
#include "stage/director.h"

const struct hub_module *const hub_modules[] = {
	&keeper_module,
	&director_module,
	NULL,
};
