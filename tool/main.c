/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: the program `destall`: finds the command, runs it, and makes sure
 * that what it printed has arrived.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/say.h"
#include "base/text.h"
#include "tool/commands.h"

static int
refuse_option(const char *word)
{
	static const char *const known[] = { "--help", "--version", NULL };
	const char *near = text_nearest(word, known);

	if (near != NULL)
		say("unknown option %s: did you mean %s?", word, near);
	else
		say("unknown option %s: see 'destall --help'", word);
	return STATUS_USAGE;
}

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
	if (argv[1][0] == '-')
		return refuse_option(argv[1]);
	c = commands_find(argv[1]);
	if (c == NULL)
		return commands_unknown(argv[1]);
	return command_run(c, argc - 1, argv + 1);
}

/* A standard stream that is closed would be taken by the next file that is
 * opened.  It is filled the wrong way round, so that using it still fails; for
 * a command that we start it is closed, as it was for us. */
static int
fill_standard_streams(struct ds_err *err)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", modes[fd] | O_CLOEXEC) != fd)
			return err_errno(err, "cannot open /dev/null");
	}
	return 0;
}

/* A full disk or a closed pipe shows only when the buffer is written, which
 * may have been long ago. */
static int
flush_results(struct ds_err *err)
{
	bool failed_before = ferror(stdout) != 0;

	if (fflush(stdout) != 0)
		return err_errno(err, "cannot write to standard output");
	if (failed_before)
		return err_fail(err, -EIO, "cannot write to standard output: "
		    "a part of it was lost");
	return 0;
}

int
main(int argc, char **argv)
{
	struct ds_err err;
	int status;

	if (fill_standard_streams(&err) < 0)
		return say_failure(&err, STATUS_FAILED);
	status = run(argc, argv);
	if (flush_results(&err) < 0 && status == STATUS_OK)
		return say_failure(&err, STATUS_FAILED);
	return status;
}
