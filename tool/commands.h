/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.h: the table of commands.  Runs in the command only.
 */

#ifndef TOOL_COMMANDS_H
#define TOOL_COMMANDS_H

#include "base/command.h"

extern const struct command *const commands[];
	/* In the order a user meets them; ends with NULL. */

const struct command *commands_find(const char *name);
	/* NULL if there is none. */

int commands_unknown(const char *name);
	/* Says so, and what was likely meant; returns the exit status. */

void commands_help(const struct term *t);

#endif
