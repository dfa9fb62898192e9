/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_io.c: tests of base/io.c.
 */

#include <config.h>

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/harness/unit.h"

#define BULK	(2u << 20)

/* A blocked call is interrupted twice; the third signal gives it what it waits
 * for, from the handler, so that no other process is needed. */
#define PATIENCE	3

static volatile sig_atomic_t signals;
static struct sigaction action_before;
static int fds[2];

static void
drain(int sig)
{
	static char bytes[1 << 16];
	ssize_t ignored;

	(void)sig;
	if (++signals == PATIENCE) {
		ignored = read(fds[0], bytes, sizeof bytes);
		(void)ignored;
	}
}

static void
fill(int sig)
{
	ssize_t ignored;

	(void)sig;
	if (++signals == PATIENCE) {
		ignored = write(fds[1], "abc", 3);
		(void)ignored;
	}
}

static void
start_signals(void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler };
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };

	signals = 0;
	sigaction(SIGALRM, &act, &action_before);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void
stop_signals(void)
{
	struct itimerval never = { 0 };

	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &action_before, NULL);
}

static void
reading_goes_on_after_signals(void **state)
{
	char text[4] = "";

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	start_signals(fill);
	assert_int_equal(io_read_all(fds[0], text, 3), 3);
	stop_signals();
	assert_string_equal(text, "abc");
	close(fds[0]);
	close(fds[1]);
}

static void
writing_goes_on_after_signals(void **state)
{
	static const char zeros[1 << 16];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	while (write(fds[1], zeros, sizeof zeros) > 0)
		continue;
	assert_int_equal(fcntl(fds[1], F_SETFL, 0), 0);
	start_signals(drain);
	assert_int_equal(io_write_all(fds[1], "abc", 3), 0);
	stop_signals();
	close(fds[0]);
	close(fds[1]);
}

static unsigned char
byte_at(size_t i)
{
	return (unsigned char)(i * 7 + i / 251);
}

static _Noreturn void
write_bulk(int fd)
{
	unsigned char *bulk = malloc(BULK);

	for (size_t i = 0; i < BULK; i++)
		bulk[i] = byte_at(i);
	_exit(io_write_all(fd, bulk, BULK) == 0 ? 0 : 1);
}

/* A pipe takes 64 kB at a time: both ends see short counts. */
static void
bulk_arrives_in_pieces(void **state)
{
	unsigned char *bulk = malloc(BULK + 1);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		write_bulk(fds[1]);
	}
	close(fds[1]);
	assert_int_equal(io_read_all(fds[0], bulk, BULK + 1), BULK);
	for (size_t i = 0; i < BULK; i++)
		assert_int_equal(bulk[i], byte_at(i));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fds[0]);
	free(bulk);
}

static void
failures_are_returned(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int full;
	char c;

	(void)state;
	assert_int_equal(io_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(io_read_all(-1, &c, 1), -EBADF);
	assert_int_equal(io_write_all(-1, "", 0), 0);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(io_write_all(full, "x", 1), -ENOSPC);
	close(full);
	sigaction(SIGPIPE, &ignore, &before);
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(io_read_all(fds[0], &c, 1), -EAGAIN);
	close(fds[0]);
	assert_int_equal(io_write_all(fds[1], "x", 1), -EPIPE);
	close(fds[1]);
	sigaction(SIGPIPE, &before, NULL);
}

static int
file_of(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	return fd;
}

static void
text_of_small_files(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{ "", "" },
		{ "\n", "" },
		{ "12\n", "12" },
		{ "12", "12" },
		{ "12\n\n", "12\n" },
		{ "1234567", "1234567" },
		{ "1234567\n", "1234567" },
		{ "12345678", "1234567" },
		{ "123456\n8", "123456" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char path[64], text[8];
		int fd = file_of(cases[i].in);

		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		assert_int_equal(io_read_text(AT_FDCWD, path, text,
		    sizeof text), strlen(cases[i].want));
		assert_string_equal(text, cases[i].want);
		close(fd);
	}
}

static void
text_is_found_from_a_folder(void **state)
{
	int dir = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[64];

	(void)state;
	assert_true(io_read_text(dir, "comm", text, sizeof text) > 0);
	assert_null(strchr(text, '\n'));
	assert_int_equal(io_read_text(dir, "no such", text, sizeof text),
	    -ENOENT);
	assert_int_equal(io_read_text(dir, ".", text, sizeof text), -EISDIR);
	close(dir);
}

static void
close_keeps_errno_and_forgets(void **state)
{
	int fd = dup(STDERR_FILENO), was = fd;

	(void)state;
	errno = ENOTTY;
	io_close(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(was, F_GETFD), -1);
	errno = ENOTTY;
	io_close(&fd);
	assert_int_equal(errno, ENOTTY);
	fd = 1000000;
	io_close(&fd);
	assert_int_equal(errno, ENOTTY);
}

static void
a_descriptor_goes_out_of_the_way(void **state)
{
	struct rlimit old, few;
	int low = open("/proc/self/comm", O_RDONLY), high;

	(void)state;
	high = io_out_of_the_way(low);
	assert_true(high > low);
	assert_int_equal(fcntl(low, F_GETFD), -1);
	assert_int_equal(fcntl(high, F_GETFD), FD_CLOEXEC);
	assert_int_equal(io_out_of_the_way(high), high);
	/* With no room above it stays where it is. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 3;
	low = dup(high);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(io_out_of_the_way(low), low);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	close(low);
	close(high);
}

/*--- writing without signals ---------------------------------------------*/

static bool
is_waiting(int sig)
{
	sigset_t set;

	assert_int_equal(sigpending(&set), 0);
	return sigismember(&set, sig) == 1;
}

/* None comes, and none is left to come later. */
static void
a_reader_that_is_gone_is_an_error(void **state)
{
	sigset_t before, pipe_only, after;

	(void)state;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(io_write_quiet(fds[1], "abc", 3), 0);
	close(fds[0]);
	assert_int_equal(io_write_quiet(fds[1], "abc", 3), -EPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &pipe_only, &after), 0);
	for (int i = 1; i < NSIG; i++)
		assert_int_equal(sigismember(&before, i),
		    sigismember(&after, i));
	assert_int_equal(io_write_quiet(fds[1], "abc", 3), -EPIPE);
	assert_false(is_waiting(SIGPIPE));
	/* One that was the program's own stays. */
	assert_int_equal(pthread_kill(pthread_self(), SIGPIPE), 0);
	assert_int_equal(io_write_quiet(fds[1], "abc", 3), -EPIPE);
	assert_true(is_waiting(SIGPIPE));
	assert_int_equal(sigwaitinfo(&pipe_only, NULL), SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
	close(fds[1]);
}

static void
a_limit_of_size_is_an_error(void **state)
{
	int fd = memfd_create("limited", MFD_CLOEXEC);
	struct rlimit old, few;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	few = old;
	few.rlim_cur = 4;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_int_equal(io_write_quiet(fd, "abc", 3), 0);
	assert_int_equal(io_write_quiet(fd, "abc", 3), -EFBIG);
	assert_int_equal(io_write_quiet(fd, "abc", 3), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_false(is_waiting(SIGXFSZ));
	close(fd);
}

UNIT_MAIN(
	UNIT(reading_goes_on_after_signals),
	UNIT(writing_goes_on_after_signals),
	UNIT(bulk_arrives_in_pieces),
	UNIT(failures_are_returned),
	UNIT(text_of_small_files),
	UNIT(text_is_found_from_a_folder),
	UNIT(close_keeps_errno_and_forgets),
	UNIT(a_descriptor_goes_out_of_the_way),
	UNIT(a_reader_that_is_gone_is_an_error),
	UNIT(a_limit_of_size_is_an_error))
