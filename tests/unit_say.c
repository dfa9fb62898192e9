/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_say.c: tests of base/say.c and base/must.c: what reaches standard error
 * and how the process ends, each in a child of its own.
 */

#include <config.h>

#include "base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "tests/harness/unit.h"

static char text[8192];

/* Runs it with a pipe as standard error; its status, and the text. */
static int
run_child(void (*child)(void))
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		child();
		_exit(0);
	}
	close(fds[1]);
	n = io_read_all(fds[0], text, sizeof text - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
say_hostile(void)
{
	say("%s: a\nb\033[31m \xff", "file");
}

static void
say_long(void)
{
	static char bytes[6000];

	memset(bytes, '\033', sizeof bytes - 1);
	say("%s", bytes);
}

static void
fail_with_42(void)
{
	struct ds_err err;

	err_fail(&err, -EIO, "cannot read x");
	_exit(say_failure(&err, 42));
}

static void
break_a_promise(void)
{
	must(1 + 1 == 2);
	must(1 + 1 == 3);
}

struct object {
	unsigned magic;
};

static void
take_a_stranger(void)
{
	struct object o = { .magic = 1 };

	must_be(&o, 1);
	must_be(&o, 2);
}

static void
take_null(void)
{
	const struct object *o = NULL;

	must_be(o, 1);
}

static void
one_line_fit_for_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(run_child(say_hostile), 0);
	assert_string_equal(text, "destall: file: a\\x0ab\\x1b[31m \\xff\n");
	assert_int_equal(run_child(say_long), 0);
	assert_true(strlen(text) < 2100);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void
failure_gives_the_status(void **state)
{
	int status = run_child(fail_with_42);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	assert_string_equal(text, "destall: cannot read x\n");
}

static void
no_memory_ends_the_command(void **state)
{
	int status;

	(void)state;
	status = run_child(say_no_memory);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_string_equal(text, "destall: out of memory\n");
}

static void
our_own_bugs_abort(void **state)
{
	static void (*const children[])(void) = {
		break_a_promise, take_a_stranger, take_null,
	};
	static const char *const want[] = {
		"1 + 1 == 3 does not hold\n", "magic == (2)", "!= NULL",
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int status = run_child(children[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
		assert_non_null(strstr(text, "unit_say.c:"));
		assert_non_null(strstr(text, want[i]));
	}
}

UNIT_MAIN(
	UNIT(one_line_fit_for_a_terminal),
	UNIT(failure_gives_the_status),
	UNIT(no_memory_ends_the_command),
	UNIT(our_own_bugs_abort))
