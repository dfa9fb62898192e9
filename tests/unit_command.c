/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_command.c: tests of base/command.c: exit statuses, operands, defaults,
 * and the help that is made from the table.
 */

#include <config.h>

#include "base/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

struct options {
	bool flag;
	uint64_t count;
};

static const struct options defaults = { .count = 7 };

static const struct arg_option table[] = {
	{ .name = "flag", .letter = 'f', .kind = ARG_FLAG,
	    .offset = offsetof(struct options, flag), .help = "a flag" },
	{ .name = "a-very-long-name-of-a-count", .kind = ARG_COUNT,
	    .offset = offsetof(struct options, count), .value = "N", .max = 9,
	    .help = "a number of which there is much to say, so that it goes "
	    "on in a second line" },
	{ .name = NULL },
};

static struct options seen;
static int nr_seen, status_wanted;
static char first_seen[32];

static int
run(const void *options, int nr, char **operands)
{
	memcpy(&seen, options, sizeof seen);
	nr_seen = nr;
	(void)snprintf(first_seen, sizeof first_seen, "%s",
	    nr > 0 ? operands[0] : "");
	return status_wanted;
}

static const struct command command = {
	.name = "unit", .summary = "test", .operands = "IN [OUT]",
	.about = "About it.", .min_operands = 1, .max_operands = 2,
	.options = table, .defaults = &defaults,
	.options_size = sizeof defaults, .run = run,
};

static char text[2048];

/* Runs it with a file in the place of one standard stream; the status. */
static int
run_line(int stream_fd, FILE *stream, const char *a, const char *b,
    const char *c, const char *d)
{
	char *argv[] = { (char *)(uintptr_t)"unit", (char *)(uintptr_t)a,
	    (char *)(uintptr_t)b, (char *)(uintptr_t)c, (char *)(uintptr_t)d,
	    NULL };
	int argc = 1, fds[2], saved = dup(stream_fd), status;
	ssize_t n;

	while (argv[argc] != NULL)
		argc++;
	fflush(stream);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	dup2(fds[1], stream_fd);
	close(fds[1]);
	nr_seen = -1;
	status = command_run(&command, argc, argv);
	fflush(stream);
	dup2(saved, stream_fd);
	close(saved);
	n = io_read_all(fds[0], text, sizeof text - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fds[0]);
	return status;
}

static int
run_err(const char *a, const char *b, const char *c, const char *d)
{
	return run_line(STDERR_FILENO, stderr, a, b, c, d);
}

static void
runs_with_defaults_and_options(void **state)
{
	(void)state;
	for (status_wanted = 0; status_wanted < 4; status_wanted++)
		assert_int_equal(run_err("in", NULL, NULL, NULL),
		    status_wanted);
	assert_int_equal(nr_seen, 1);
	assert_string_equal(first_seen, "in");
	assert_int_equal(seen.count, 7);
	assert_false(seen.flag);
	status_wanted = 0;
	assert_int_equal(run_err("-f", "--a-very-long-name-of-a-count=9", "in",
	    "out"), 0);
	assert_int_equal(nr_seen, 2);
	assert_int_equal(seen.count, 9);
	assert_true(seen.flag);
	assert_string_equal(text, "");
}

static void
wrong_lines_are_not_run(void **state)
{
	static const struct {
		const char *words[4], *want;
	} cases[] = {
		{ { NULL }, "destall: unit: IN [OUT] is missing "
		    "(see 'destall unit --help')\n" },
		{ { "a", "b", "c" }, "destall: unit: too many operands: 'c' "
		    "(see 'destall unit --help')\n" },
		{ { "--falg", "a" }, "destall: unit: unknown option --falg: "
		    "did you mean --flag? (see 'destall unit --help')\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *const *w = cases[i].words;

		assert_int_equal(run_err(w[0], w[1], w[2], w[3]),
		    STATUS_USAGE);
		assert_int_equal(nr_seen, -1);
		assert_string_equal(text, cases[i].want);
	}
}

/* What follows the first operand is not ours, whatever it looks like. */
static void
another_command_follows(void **state)
{
	struct command other = command;
	char unit[] = "unit", flag[] = "-f", cmd[] = "cmd", wrong[] = "--wrong";
	char *argv[] = { unit, flag, cmd, wrong, flag, NULL };

	(void)state;
	other.runs_command = true;
	other.max_operands = 9;
	status_wanted = 6;
	assert_int_equal(command_run(&other, 5, argv), 6);
	assert_int_equal(nr_seen, 3);
	assert_string_equal(first_seen, "cmd");
	assert_true(seen.flag);
	status_wanted = 0;
}

static void
help_and_version_are_results(void **state)
{
	char **saved = environ;
	char *none[] = { NULL };

	(void)state;
	environ = none;
	assert_int_equal(run_line(STDOUT_FILENO, stdout, "--version", NULL,
	    NULL, NULL), STATUS_OK);
	assert_string_equal(text, "destall " PACKAGE_VERSION "\n");
	assert_int_equal(run_line(STDOUT_FILENO, stdout, "--help", NULL, NULL,
	    NULL), STATUS_OK);
	environ = saved;
	assert_int_equal(nr_seen, -1);
	assert_string_equal(text,
	    "usage: destall unit [OPTION]... IN [OUT]\n"
	    "\n"
	    "About it.\n"
	    "\n"
	    "  -f, --flag            a flag\n"
	    "      --a-very-long-name-of-a-count=N\n"
	    "                        a number of which there is much to say, so that it goes\n"
	    "                        on in a second line\n"
	    "  -h, --help            show this help\n"
	    "      --version         show the version\n"
	    "\n"
	    "More: man destall-unit\n");
}

UNIT_MAIN(
	UNIT(runs_with_defaults_and_options),
	UNIT(wrong_lines_are_not_run),
	UNIT(another_command_follows),
	UNIT(help_and_version_are_results))
