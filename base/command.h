/* SPDX-License-Identifier: Apache-2.0
 *
 * command.h: what a subcommand is.  Runs in the command only.
 *
 * Each cmd_*.c defines one constant of this type; tool/commands.c lists them.
 * Help, man page and completion are made from it.
 */

#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include <stddef.h>

#include "base/args.h"
#include "base/term.h"

/* Exit statuses, promised to scripts. */
enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,		/* any failure, without a child */
	STATUS_USAGE = 2,		/* a wrong command line */
	STATUS_GATE = 3,		/* --fail-if was true */
	STATUS_BEFORE_CHILD = 125,	/* ours, before the child started */
};

struct command {
	const char	*name;
	const char	*summary;	/* half a line, no full stop */
	const char	*operands;	/* as the usage line shows them, or "" */
	const char	*about;		/* a paragraph for --help */
	int		min_operands;
	int		max_operands;
	const char *const *operand_words; /* what an operand can be, or NULL */
	bool		operand_is_command; /* the name of a command of ours */
	bool		runs_command;	/* the operands are somebody else's
					 * command line, with its options */
	const struct arg_option	*options;
	const void	*defaults;	/* the struct of options to start from */
	size_t		options_size;
	int		(*run)(const void *options, int nr, char **operands);
			/* Returns an exit status, having said why. */
};

int command_run(const struct command *c, int argc, char **argv);
	/* Parses argv (argv[0] is the command's name), runs, returns the exit
	 * status. */

void command_help(const struct command *c, const struct term *t);

#endif
