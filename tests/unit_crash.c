/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_crash.c: tests of base/crash.c.
 *
 * The environment is read once per process, so each plan has a child of its
 * own.  The name of the point is no literal here: tests that look for all
 * points in the source must not find this one.
 */

#include <config.h>

#include "base/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/unit.h"

#if WITH_CRASH_POINTS

#define CALLS	3
#define NEVER	99	/* the child's exit status when nothing happened */

static const char point[] = "test.point";

/* Meets the point three times; the status says at which call it failed. */
static _Noreturn void
child(const char *plan, int want_errno)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDERR_FILENO);
	if (plan == NULL)
		unsetenv("DS_DIE_AT");
	else
		setenv("DS_DIE_AT", plan, 1);
	if (crash_point("test.other") != 0)
		_exit(98);
	for (int i = 1; i <= CALLS; i++) {
		int rc = crash_point(point);

		if (rc != 0)
			_exit(rc == -want_errno ? i : 97);
	}
	_exit(NEVER);
}

static pid_t
start(const char *plan, int want_errno)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		child(plan, want_errno);
	return pid;
}

static int
status_of(const char *plan, int want_errno)
{
	int status;
	pid_t pid = start(plan, want_errno);

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
does_nothing_unless_asked(void **state)
{
	static const char *const plans[] = {
		NULL, "", "another.point", "test.poin", "test.point2",
		"test.point:4", "test.point:4:exit", "test.point:1:sleep=0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		int status = status_of(plans[i], 0);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), NEVER);
	}
}

static void
kills(void **state)
{
	static const char *const plans[] = {
		"test.point", "test.point:kill", "test.point:2:kill",
		"test.point:3", "test.point:", "test.point:2:",
	};

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		int status = status_of(plans[i], 0);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
}

static void
exits_and_fails(void **state)
{
	static const struct {
		const char *plan;
		int error, want;
	} cases[] = {
		{ "test.point:exit", 0, 70 },
		{ "test.point:3:exit", 0, 70 },
		{ "test.point:ENOSPC", ENOSPC, 1 },
		{ "test.point:2:EINTR", EINTR, 2 },
		{ "test.point:3:EHWPOISON", EHWPOISON, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int status = status_of(cases[i].plan, cases[i].error);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), cases[i].want);
	}
}

static void
stops_and_goes_on(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = start("test.point:2:stop", 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGSTOP);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), NEVER);
}

static void
sleeps_at_least_so_long(void **state)
{
	uint64_t start_ns;
	int status;

	(void)state;
	start_ns = clock_now_ns();
	status = status_of("test.point:sleep=20", 0);
	assert_true(clock_now_ns() - start_ns >= 20 * NS_PER_MS);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), NEVER);
}

static void
broken_plan_stops_the_test(void **state)
{
	static const char *const plans[] = {
		":kill", "test.point:0", "test.point:2x", "test.point:killl",
		"test.point:sleep=", "test.point:sleep=1s", "test.point:EFOO",
		"another.point:99999999999999999999999999999:kill",
		"test.point:18446744073709551616",
		("a.name.that.is.much.longer.than.any.name.of.a.point.will.ever"
		    ".be.in.this.tree"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		int status = status_of(plans[i], 0);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
	}
}

UNIT_MAIN(
	UNIT(does_nothing_unless_asked),
	UNIT(kills),
	UNIT(exits_and_fails),
	UNIT(stops_and_goes_on),
	UNIT(sleeps_at_least_so_long),
	UNIT(broken_plan_stops_the_test))

#else

int
main(void)
{
	puts("SKIPPED: built without --enable-crash-points");
	return 77;
}

#endif
