/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_word.c: tests of the one line of the preload object.
 *
 * What is said is said by children, whose descriptor 2 is a pipe to the test.
 */

#include <config.h>

#include "preload/word.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define JOB_A	"00000000000000aa"
#define JOB_B	"FFFFFFFFFFFFFFFF"

static char base[FOLDER_PATH];
static char heard[16384];
static int pipe_fd[2];

static int
make_base(void **state)
{
	char path[FOLDER_PATH + 16];

	if (folder_make(base, "unit_word") != 0)
		return -1;
	(void)snprintf(path, sizeof path, "%s/destall", base);
	if (mkdir(path, 0700) != 0)
		return -1;
	return leak_before(state);
}

static int
remove_base(void **state)
{
	int rc = leak_after(state);

	return folder_remove(base) | rc;
}

#define UNIT_IN_BASE(test) \
	cmocka_unit_test_setup_teardown(test, make_base, remove_base)

/*--- children ------------------------------------------------------------*/

/* A failed check in a child: cmocka's would jump into the parent's tests. */
#define check(x) \
	do { \
		if (!(x)) \
			_exit(__LINE__ % 200 + 50); \
	} while (0)

typedef void child_f(const void *arg);

static void
set_environment(const char *job)
{
	check(setenv("XDG_RUNTIME_DIR", base, 1) == 0);
	check(unsetenv("DESTALL_HUB") == 0);
	check(unsetenv("DESTALL_LOG") == 0);
	check(unsetenv("DESTALL_JOB") == 0);
	check(job == NULL || setenv("DESTALL_JOB", job, 1) == 0);
}

static pid_t
start(child_f *f, const char *job, const void *arg)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	set_environment(job);
	check(dup2(pipe_fd[1], 2) == 2);
	check(close(pipe_fd[0]) == 0 && close(pipe_fd[1]) == 0);
	word_begin();
	f(arg);
	_exit(0);
}

static void
await(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
begin_hearing(void)
{
	assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
}

/* How many lines. */
static unsigned
end_hearing(void)
{
	unsigned lines = 0;
	ssize_t n;

	assert_int_equal(close(pipe_fd[1]), 0);
	n = io_read_all(pipe_fd[0], heard, sizeof heard - 1);
	assert_true(n >= 0);
	assert_int_equal(close(pipe_fd[0]), 0);
	heard[n] = '\0';
	for (const char *p = heard; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	return lines;
}

/* One child, from its start to its end. */
static unsigned
hear(child_f *f, const char *job, const void *arg)
{
	begin_hearing();
	await(start(f, job, arg));
	return end_hearing();
}

static void
say_it(const void *arg)
{
	(void)arg;
	word_say("hub %s: %d", "gone", 7);
}

/*--- once ----------------------------------------------------------------*/

static void
one_line_per_job(void **state)
{
	pid_t pid[8];

	(void)state;
	begin_hearing();
	for (unsigned i = 0; i < 8; i++)
		pid[i] = start(say_it, JOB_A, NULL);
	for (unsigned i = 0; i < 8; i++)
		await(pid[i]);
	assert_int_equal(end_hearing(), 1);
	assert_string_equal(heard, "destall: hub gone: 7\n");
	assert_int_equal(hear(say_it, JOB_A, NULL), 0);
	assert_int_equal(hear(say_it, JOB_B, NULL), 1);
}

/* A process whose job changes; each has a line of its own. */
static void
say_for_two(const void *arg)
{
	(void)arg;
	word_say("first");
	word_say("again");
	check(setenv("DESTALL_JOB", JOB_B, 1) == 0);
	word_say("second");
	check(setenv("DESTALL_JOB", JOB_A, 1) == 0);
	word_say("third");
}

static void
two_jobs_two_lines(void **state)
{
	(void)state;
	assert_int_equal(hear(say_for_two, JOB_A, NULL), 2);
	assert_string_equal(heard, "destall: first\ndestall: second\n");
}

static void
say_and_fork(const void *arg)
{
	int status;
	pid_t pid;

	(void)arg;
	word_say("one");
	pid = fork();
	check(pid >= 0);
	word_say("two");
	check(setenv("DESTALL_JOB", JOB_B, 1) == 0);
	word_say("three");
	if (pid == 0)
		_exit(0);
	check(waitpid(pid, &status, 0) == pid && status == 0);
}

static void
without_the_folder(void **state)
{
	char path[FOLDER_PATH + 16];

	(void)state;
	(void)snprintf(path, sizeof path, "%s/destall", base);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(hear(say_and_fork, JOB_A, NULL), 1);
	assert_int_equal(hear(say_and_fork, JOB_A, NULL), 1);
	assert_int_equal(access(path, F_OK), -1);
	/* One that others could write to is as good as none. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(hear(say_and_fork, JOB_A, NULL), 1);
	assert_int_equal(hear(say_and_fork, JOB_A, NULL), 1);
	assert_int_equal(rmdir(path), 0);
}

static void
forget_it(const void *arg)
{
	word_forget(*(const uint64_t *)arg);
}

static void
a_job_is_over(void **state)
{
	static const uint64_t a = 0xaa, b = UINT64_MAX;

	(void)state;
	assert_int_equal(hear(say_it, JOB_A, NULL), 1);
	assert_int_equal(hear(forget_it, JOB_A, &b), 0);
	assert_int_equal(hear(say_it, JOB_A, NULL), 0);
	assert_int_equal(hear(forget_it, JOB_A, &a), 0);
	assert_int_equal(hear(say_it, JOB_A, NULL), 1);
	assert_int_equal(hear(forget_it, JOB_A, &a), 0);
}

static void
make_file(char path[FOLDER_PATH + 64], const char *name, time_t age_s)
{
	struct timespec when[2] = { 0 };
	int fd;

	(void)snprintf(path, FOLDER_PATH + 64, "%s/destall/%s", base, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	when[0].tv_sec = when[1].tv_sec = time(NULL) - age_s;
	assert_int_equal(futimens(fd, when), 0);
	close(fd);
}

static void
marks_of_long_ago(void **state)
{
	char old[FOLDER_PATH + 64], young[FOLDER_PATH + 64];
	char other[FOLDER_PATH + 64];
	static const uint64_t job = 1;

	(void)state;
	make_file(old, "said.00000000000000bb", 8 * 24 * 3600);
	make_file(young, "said.00000000000000cc", 6 * 24 * 3600);
	make_file(other, "hub.log", 8 * 24 * 3600);
	assert_int_equal(hear(forget_it, NULL, &job), 0);
	assert_int_equal(access(old, F_OK), -1);
	assert_int_equal(access(young, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
}

static void
say_quietly(const void *arg)
{
	check(setenv("DESTALL_LOG", arg, 1) == 0);
	word_say("it");
}

static void
quiet(void **state)
{
	(void)state;
	assert_int_equal(hear(say_quietly, JOB_A, "quiet"), 0);
	/* It did not count as said. */
	assert_int_equal(hear(say_quietly, JOB_A, "error"), 1);
	assert_int_equal(hear(say_quietly, JOB_B, ""), 1);
}

/*--- which job -----------------------------------------------------------*/

static void
check_the_variable(const void *arg)
{
	static const char *const none[] = {
		"", "0", "0000000000000000", "00000000000000a",
		"00000000000000aaa", "000000000000000g", "0x000000000000aa",
		" 0000000000000aa", "-000000000000001", "00000000000000aa\n",
	};
	uint64_t group;

	(void)arg;
	check(word_job() == 0xaa);
	check(setenv("DESTALL_JOB", "0123456789aBcDeF", 1) == 0);
	check(word_job() == UINT64_C(0x0123456789abcdef));
	check(unsetenv("DESTALL_JOB") == 0);
	group = word_job();
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		check(setenv("DESTALL_JOB", none[i], 1) == 0);
		check(word_job() == group);
	}
}

static void
tell_job(const void *arg)
{
	uint64_t job = word_job();

	check(write(*(const int *)arg, &job, sizeof job) == sizeof job);
}

static void
fork_and_tell(const void *arg, bool same_group)
{
	int status;
	pid_t pid = fork();

	check(pid >= 0);
	if (pid == 0) {
		check(same_group || setpgid(0, 0) == 0);
		tell_job(arg);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && status == 0);
}

static void
tell_of_groups(const void *arg)
{
	check(setpgid(0, 0) == 0);
	tell_job(arg);
	fork_and_tell(arg, true);
	fork_and_tell(arg, false);
	errno = 42;
	(void)word_job();
	check(errno == 42);
}

static void
job_from_the_group(void **state)
{
	uint64_t job[3];
	int to = 2;

	(void)state;
	assert_int_equal(hear(check_the_variable, JOB_A, NULL), 0);
	begin_hearing();
	await(start(tell_of_groups, NULL, &to));
	(void)end_hearing();
	memcpy(job, heard, sizeof job);
	assert_int_equal(job[0], job[1]);
	assert_int_not_equal(job[0], job[2]);
	assert_int_not_equal(job[0], 0);
}

/* A leader that is gone: the group's number remains. */
static void
tell_as_orphan(const void *arg)
{
	int gate[2];
	pid_t leader;
	char c;

	check(pipe2(gate, O_CLOEXEC) == 0);
	leader = fork();
	check(leader >= 0);
	if (leader == 0) {
		check(setpgid(0, 0) == 0);
		_exit(0);
	}
	check(close(gate[1]) == 0 && read(gate[0], &c, 1) == 0);
	/* Not reaped yet, so that the group can still be joined. */
	check(setpgid(0, leader) == 0);
	tell_job(arg);
	check(waitpid(leader, NULL, 0) == leader);
	tell_job(arg);
	fork_and_tell(arg, true);
}

static void
job_of_a_group_without_leader(void **state)
{
	uint64_t job[3];
	int to = 2;

	(void)state;
	begin_hearing();
	await(start(tell_as_orphan, NULL, &to));
	(void)end_hearing();
	memcpy(job, heard, sizeof job);
	assert_int_not_equal(job[0], job[1]);
	assert_int_equal(job[1], job[2]);
	assert_int_not_equal(job[1], 0);
}

/*--- descriptor 2 --------------------------------------------------------*/

static int
open_as_2(const char *name, int flags)
{
	char path[FOLDER_PATH + 64];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", base, name);
	(void)close(2);
	fd = open(path, flags | O_CREAT, 0600);
	check(fd == 2);
	return fd;
}

static off_t
size_of_2(void)
{
	struct stat st;

	check(fstat(2, &st) == 0);
	return st.st_size;
}

static void
say_to_others(const void *arg)
{
	int pair[2];

	(void)arg;
	/* A program's own files and sockets, which came to be its second. */
	check(close(2) == 0);
	word_say("it");
	check(open("/dev/null", O_WRONLY) == 2);
	open_as_2("data", O_RDONLY);
	word_say("it");
	check(size_of_2() == 0);
	open_as_2("data", O_RDWR);
	word_say("it");
	check(size_of_2() == 0);
	check(close(2) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	check(pair[0] == 2);
	word_say("it");
	check(recv(pair[1], (char[1]){ 0 }, 1, MSG_DONTWAIT) == -1);
	check(close(2) == 0 && close(pair[1]) == 0 && pipe(pair) == 0);
	check(dup2(pair[1], 2) == 2 && fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
	word_say("it");
	check(read(pair[0], (char[1]){ 0 }, 1) == -1);
	/* A log that it opened for itself is one to write to. */
	open_as_2("log", O_WRONLY | O_APPEND);
	word_say("it");
	check(size_of_2() == 12);
}

static void
never_into_the_programs_files(void **state)
{
	(void)state;
	assert_int_equal(hear(say_to_others, JOB_A, NULL), 0);
}

/* What it had when it began is for messages, if it can be written to. */
static void
say_from_the_start(const void *arg)
{
	int pair[2];

	(void)arg;
	open_as_2("log", O_RDONLY);
	word_begin();
	word_say("it");
	check(close(2) == 0);
	word_begin();
	word_say("it");
	open_as_2("log", O_WRONLY);
	word_say("it");			/* was closed, and is no log */
	check(size_of_2() == 0);
	word_begin();
	word_say("it");
	check(size_of_2() == 12);
	check(setenv("DESTALL_JOB", JOB_B, 1) == 0);
	check(close(2) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	word_begin();
	word_say("it");
	check(recv(pair[1], (char[32]){ 0 }, 32, MSG_DONTWAIT) == 12);
}

static void
what_2_was_at_the_start(void **state)
{
	(void)state;
	assert_int_equal(hear(say_from_the_start, JOB_A, NULL), 0);
}

static void
fill_pipe(int fd)
{
	static const char zeros[4096];

	check(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	while (write(fd, zeros, sizeof zeros) > 0)
		;
	check(errno == EAGAIN);
	check(fcntl(fd, F_SETFL, 0) == 0);
}

/* Nobody reads it: neither a signal nor a wait. */
static void
say_into_the_void(const void *arg)
{
	struct rlimit none = { 0, 0 };
	int pair[2];

	(void)arg;
	check(pipe2(pair, O_CLOEXEC) == 0 && dup2(pair[1], 2) == 2);
	word_begin();
	fill_pipe(2);
	word_say("full");
	check(close(pair[0]) == 0);
	word_say("broken");
	/* A file that may not grow. */
	open_as_2("small", O_WRONLY);
	word_begin();
	check(setrlimit(RLIMIT_FSIZE, &none) == 0);
	word_say("limited");
	check(size_of_2() == 0);
}

static void
nothing_happens_to_the_program(void **state)
{
	(void)state;
	assert_int_equal(hear(say_into_the_void, JOB_A, NULL), 0);
}

static void
say_and_compare(const void *arg)
{
	sigset_t before, after;

	(void)arg;
	check(sigprocmask(SIG_BLOCK, NULL, &before) == 0);
	errno = 42;
	word_say("it");
	check(errno == 42);
	word_say("it");
	check(errno == 42);
	check(sigprocmask(SIG_BLOCK, NULL, &after) == 0);
	for (int i = 1; i < NSIG; i++)
		check(sigismember(&before, i) == sigismember(&after, i));
	/* Nor do calls that fail show in it. */
	check(setenv("XDG_RUNTIME_DIR", "/nowhere", 1) == 0);
	check(setenv("DESTALL_JOB", JOB_B, 1) == 0);
	errno = 42;
	word_say("it");
	check(errno == 42 && close(2) == 0);
	check(unsetenv("DESTALL_JOB") == 0);
	errno = 42;
	word_say("it");
	check(errno == 42);
}

static void
errno_and_signals_stay(void **state)
{
	(void)state;
	assert_int_equal(hear(say_and_compare, JOB_A, NULL), 1);
}

/*--- the text ------------------------------------------------------------*/

static void
say_text(const void *arg)
{
	word_say("%s", (const char *)arg);
}

static void
hostile_text(void **state)
{
	static const char bad[] = "a\nb\r\033[2J\x9b%n%s\x7f\t\xe2\x80\xaez\xff";

	(void)state;
	assert_int_equal(hear(say_text, JOB_A, bad), 1);
	assert_string_equal(heard, "destall: a\\x0ab\\x0d\\x1b[2J\\x9b%n%s"
	    "\\x7f\\x09\\xe2\\x80\\xaez\\xff\n");
}

static void
long_text(void **state)
{
	static char text[8000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	assert_int_equal(hear(say_text, JOB_A, text), 1);
	assert_in_range(strlen(heard), 1000, 1100);
	assert_memory_equal(heard, "destall: xxx", 12);
	memset(text, '\1', sizeof text - 1);
	assert_int_equal(hear(say_text, JOB_B, text), 1);
	assert_in_range(strlen(heard), 1000, 1100);
}

UNIT_MAIN(
	UNIT_IN_BASE(one_line_per_job),
	UNIT_IN_BASE(two_jobs_two_lines),
	UNIT_IN_BASE(without_the_folder),
	UNIT_IN_BASE(a_job_is_over),
	UNIT_IN_BASE(marks_of_long_ago),
	UNIT_IN_BASE(quiet),
	UNIT_IN_BASE(job_from_the_group),
	UNIT_IN_BASE(job_of_a_group_without_leader),
	UNIT_IN_BASE(never_into_the_programs_files),
	UNIT_IN_BASE(what_2_was_at_the_start),
	UNIT_IN_BASE(nothing_happens_to_the_program),
	UNIT_IN_BASE(errno_and_signals_stay),
	UNIT_IN_BASE(hostile_text),
	UNIT_IN_BASE(long_text))
