/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: the program `destall`: finds the command, runs it, and makes sure
 * that what it printed has arrived.
 */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/say.h"
#include "tool/commands.h"

static int
run(int argc, char **argv)
{
	const struct command *c;
	struct term t;

	if (argc < 2) {
		term_init(&t, stderr);
		commands_help(&t);
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		term_init(&t, stdout);
		commands_help(&t);
		return STATUS_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("destall %s\n", PACKAGE_VERSION);
		return STATUS_OK;
	}
	if (argv[1][0] == '-') {
		say("unknown option %s: see 'destall --help'", argv[1]);
		return STATUS_USAGE;
	}
	c = commands_find(argv[1]);
	if (c == NULL)
		return commands_unknown(argv[1]);
	return command_run(c, argc - 1, argv + 1);
}

int
main(int argc, char **argv)
{
	int status = run(argc, argv);
	struct ds_err err;

	/* A full disk or a closed pipe shows only when the buffer is written. */
	if (fflush(stdout) != 0 && status == STATUS_OK) {
		err_errno(&err, "cannot write to standard output");
		return say_failure(&err, STATUS_FAILED);
	}
	return status;
}
