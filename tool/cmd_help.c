/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_help.c: `destall help [COMMAND]`.  Runs in the command only.
 */

#include <config.h>

#include <stdio.h>

#include "tool/commands.h"

extern const struct command cmd_help;

static const struct arg_option options[] = { { .name = NULL } };

static int
run(const void *opts, int nr, char **operands)
{
	const struct command *c;
	struct term t;

	(void)opts;
	term_init(&t, stdout);
	if (nr == 0) {
		commands_help(&t);
		return STATUS_OK;
	}
	c = commands_find(operands[0]);
	if (c == NULL)
		return commands_unknown(operands[0]);
	command_help(c, &t);
	return STATUS_OK;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "show what a command does and its options",
	.operands = "[COMMAND]",
	.about = "Shows the list of commands, or the help of one.",
	.max_operands = 1,
	.operand_is_command = true,
	.options = options,
	.run = run,
};
