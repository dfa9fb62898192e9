/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_completion.c: `destall completion bash|zsh`.  Runs in the command only.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/say.h"
#include "tool/completion.h"

extern const struct command cmd_completion;

static const struct arg_option options[] = { { .name = NULL } };
static const char *const shells[] = { "bash", "zsh", NULL };

static int
run(const void *opts, int nr, char **operands)
{
	(void)opts;
	(void)nr;
	if (strcmp(operands[0], "bash") == 0)
		completion_bash(stdout);
	else if (strcmp(operands[0], "zsh") == 0)
		completion_zsh(stdout);
	else {
		say("completion: '%s' is not known: it can be bash or zsh",
		    operands[0]);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "print the completion of a shell",
	.operands = "bash|zsh",
	.about = "Prints a script that lets the shell complete destall's "
	    "commands and options. 'make install' puts both where the shells "
	    "look; without it: source <(destall completion bash).",
	.min_operands = 1,
	.max_operands = 1,
	.operand_words = shells,
	.options = options,
	.run = run,
};
