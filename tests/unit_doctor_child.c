/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_doctor_child.c: tests of tool/doctor_child.c: children that answer,
 * hang, crash, flood, or leave others behind.
 */

#include <config.h>

#include "tool/doctor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

#define LONG_MS		60000	/* never reached */

static void
answer(int out, void *arg)
{
	assert_int_equal(io_write_all(out, arg, sizeof(int)), 0);
}

static void
say_nothing(int out, void *arg)
{
	(void)out;
	(void)arg;
}

static void
end_with_status(int out, void *arg)
{
	(void)out;
	_exit(*(const int *)arg);
}

static void
be_killed(int out, void *arg)
{
	(void)out;
	(void)arg;
	raise(SIGKILL);
}

static void
hang(int out, void *arg)
{
	(void)out;
	(void)arg;
	for (;;)
		pause();
}

/* Deaf to everything that can be ignored, its output closed. */
static void
hang_deaf(int out, void *arg)
{
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	close(out);
	hang(-1, arg);
}

static void
flood(int out, void *arg)
{
	static const char bytes[1024];

	(void)arg;
	while (io_write_all(out, bytes, sizeof bytes) == 0)
		continue;
	hang(-1, NULL);
}

/* Ends, but leaves a child of its own that holds the pipe open, and another
 * pipe by which the test sees that it lives. */
static int witness[2];

static void
leave_another(int out, void *arg)
{
	if (fork() == 0)
		hang(out, NULL);
	answer(out, arg);
}

static void
a_child_answers(void **state)
{
	int said = 4711, heard = 0;
	struct child c;

	(void)state;
	child_ask(&c, answer, &said, LONG_MS);
	assert_true(child_answered(&c, &heard, sizeof heard));
	assert_int_equal(heard, said);
}

static void
what_a_child_started_ends_with_it(void **state)
{
	struct pollfd end = { .events = POLLIN };
	int said = 4711, heard = 0;
	struct child c;

	(void)state;
	assert_int_equal(pipe2(witness, O_CLOEXEC), 0);
	child_ask(&c, leave_another, &said, LONG_MS);
	assert_true(child_answered(&c, &heard, sizeof heard));
	io_close(&witness[1]);
	/* The last holder of the other end is gone. */
	end.fd = witness[0];
	assert_int_equal(poll(&end, 1, LONG_MS), 1);
	assert_int_equal(end.revents, POLLHUP);
	io_close(&witness[0]);
}

static void
a_wrong_answer_is_none(void **state)
{
	int status = 7, byte = 0;
	struct child c;
	char why[128];

	(void)state;
	child_ask(&c, answer, &status, LONG_MS);
	assert_false(child_answered(&c, &byte, 1));
	child_ask(&c, say_nothing, NULL, LONG_MS);
	assert_false(child_answered(&c, &byte, sizeof byte));
	child_explain(&c, why, sizeof why);
	assert_string_equal(why, "gave no sensible answer");
	child_ask(&c, end_with_status, &status, LONG_MS);
	assert_int_equal(c.end, CHILD_DONE);
	assert_int_equal(c.code, 7);
	child_explain(&c, why, sizeof why);
	assert_string_equal(why, "ended with status 7");
}

static void
a_crash_is_seen(void **state)
{
	struct child c;
	char why[128];

	(void)state;
	child_ask(&c, be_killed, NULL, LONG_MS);
	assert_int_equal(c.end, CHILD_CRASHED);
	assert_int_equal(c.code, SIGKILL);
	child_explain(&c, why, sizeof why);
	assert_string_equal(why, "crashed: Killed");
}

static void
who_hangs_is_killed(void **state)
{
	struct child c[3];
	int said = 1, heard;
	char why[128];

	(void)state;
	child_start(&c[0], hang, NULL);
	child_start(&c[1], answer, &said);
	child_start(&c[2], hang_deaf, NULL);
	child_wait(c, 3, 100);
	assert_int_equal(c[0].end, CHILD_LATE);
	assert_true(child_answered(&c[1], &heard, sizeof heard));
	assert_int_equal(c[2].end, CHILD_LATE);
	child_explain(&c[0], why, sizeof why);
	assert_string_equal(why, "gave no answer in time");
}

static void
who_floods_is_killed(void **state)
{
	struct child c;

	(void)state;
	child_ask(&c, flood, NULL, LONG_MS);
	assert_int_equal(c.end, CHILD_FLOODED);
	assert_int_equal(c.len, CHILD_OUTPUT);
	assert_int_equal(c.output[CHILD_OUTPUT], '\0');
}

/* Under nohup and some supervisors children are not waited for. */
static void
ignored_sigchld_does_not_matter(void **state)
{
	int said = 5, heard;
	struct child c;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	child_ask(&c, answer, &said, LONG_MS);
	assert_true(child_answered(&c, &heard, sizeof heard));
}

static void
no_descriptors_is_an_answer(void **state)
{
	struct rlimit all, none;
	struct child c;
	char why[128];
	int fd;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	none = all;
	none.rlim_cur = (rlim_t)fd + 1;
	io_close(&fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	child_ask(&c, say_nothing, NULL, LONG_MS);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_int_equal(c.end, CHILD_UNBORN);
	assert_int_equal(c.code, EMFILE);
	child_explain(&c, why, sizeof why);
	assert_non_null(strstr(why, "EMFILE"));
	assert_int_equal(child_blame(&c, &doctor_fine)->state, DOCTOR_LIMITED);
}

UNIT_MAIN(
	UNIT(a_child_answers),
	UNIT(what_a_child_started_ends_with_it),
	UNIT(a_wrong_answer_is_none),
	UNIT(a_crash_is_seen),
	UNIT(who_hangs_is_killed),
	UNIT(who_floods_is_killed),
	UNIT(ignored_sigchld_does_not_matter),
	UNIT(no_descriptors_is_an_answer))
