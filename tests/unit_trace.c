/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_trace.c: tests of preload/trace.c.
 */

#include <config.h>

#include "preload/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/guard.h"
#include "probe/resident.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define BYTES	10000u		/* of a file */

static char folder[FOLDER_PATH];
static char name[FOLDER_PATH + 16];
static char path[FOLDER_PATH + 32];
static _Alignas(8) char buf[4096];

static int
start(void **state)
{
	if (folder_make(folder, "unit_trace") != 0)
		return -1;
	(void)snprintf(name, sizeof name, "%s/XXXXXX", folder);
	leak_before(state);
	strcpy(path, name);
	return 0;
}

static int
stop(void **state)
{
	int rc;

	(void)ds_trace_end();
	rc = leak_after(state);
	return folder_remove(folder) != 0 ? -1 : rc;
}

#define TRACE_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* A file with that end of its name, open for reading. */
static int
make(const char *end)
{
	static const char zeros[BYTES];
	char plain[sizeof path];
	int fd;

	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, zeros, BYTES), BYTES);
	strcpy(plain, path);
	strcat(path, end);
	assert_int_equal(rename(plain, path), 0);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static const struct trace_record *
record(size_t at)
{
	return (const struct trace_record *)(const void *)(buf + at);
}

static void
writes_down_what_is_opened(void **state)
{
	uint32_t pages = (uint32_t)resident_pages(BYTES);
	int fd = make("");
	size_t whole;
	ssize_t n;

	(void)state;
	assert_int_equal(ds_trace_begin(buf, sizeof buf), 0);
	assert_int_equal(ds_trace_begin(buf, sizeof buf), -EBUSY);
	assert_true(trace_is_on());
	errno = E2BIG;
	trace_opened(fd, path, O_RDONLY);
	trace_opened(fd, "by another name", O_RDWR);
	assert_int_equal(errno, E2BIG);
	n = ds_trace_end();
	assert_false(trace_is_on());
	close(fd);
	whole = (TRACE_HEAD + strlen(path) + 1 + 7) & ~(size_t)7;
	assert_int_equal(n, 2 * whole);
	for (size_t at = 0; at < 2 * whole; at += whole) {
		const struct trace_record *r = record(at);

		assert_int_equal(r->size, BYTES);
		assert_int_equal(r->pages, pages);
		assert_true(r->resident <= pages ||
		    r->resident == TRACE_NOT_TOLD);
		assert_int_equal(r->len, strlen(path) + 1);
		assert_string_equal(buf + at + TRACE_HEAD, path);
	}
	assert_int_equal(ds_trace_end(), -EINVAL);
}

static void
leaves_out_what_is_not_read(void **state)
{
	static const int flags[] = { O_WRONLY, O_RDWR | O_TRUNC, O_PATH,
	    O_DIRECTORY };
	int fd = make("");
	struct guard g;

	(void)state;
	assert_int_equal(ds_trace_begin(buf, sizeof buf), 0);
	for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
		trace_opened(fd, path, flags[i]);
	assert_true(guard_enter_off(&g));
	trace_opened(fd, path, O_RDONLY);
	guard_leave(&g);
	assert_int_equal(ds_trace_end(), 0);
	trace_opened(fd, path, O_RDONLY);
	assert_int_equal(ds_trace_end(), -EINVAL);
	close(fd);
}

static void
leaves_out_modules_and_the_system(void **state)
{
	static const char *const ends[] = { ".py", ".pyc", ".so" };
	static const char *const files[] = { "/proc/self/status",
	    "/dev/null", "/etc/passwd", "/usr/bin/env", "/tmp" };
	int fd;

	(void)state;
	assert_int_equal(ds_trace_begin(buf, sizeof buf), 0);
	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		strcpy(path, name);
		fd = make(ends[i]);
		trace_opened(fd, path, O_RDONLY);
		close(fd);
		unlink(path);
	}
	for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
		fd = open(files[i], O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		trace_opened(fd, files[i], O_RDONLY);
		close(fd);
	}
	assert_int_equal(ds_trace_end(), 0);
}

static void
says_what_is_lost(void **state)
{
	int fd = make("");
	size_t whole = (TRACE_HEAD + strlen(path) + 1 + 7) & ~(size_t)7;

	(void)state;
	assert_int_equal(ds_trace_begin(NULL, 8), -EINVAL);
	assert_int_equal(ds_trace_begin(buf, 2 * whole - 1), 0);
	trace_opened(fd, path, O_RDONLY);
	trace_opened(fd, path, O_RDONLY);
	assert_int_equal(ds_trace_end(), whole | TRACE_LOST);
	assert_int_equal(ds_trace_begin(buf, 0), 0);
	trace_opened(fd, path, O_RDONLY);
	assert_int_equal(ds_trace_end(), TRACE_LOST);
	close(fd);
}

static void
a_child_writes_nothing(void **state)
{
	int fd = make(""), status;
	pid_t pid;

	(void)state;
	assert_int_equal(ds_trace_begin(buf, sizeof buf), 0);
	memset(buf, 1, sizeof buf);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		trace_opened(fd, path, O_RDONLY);
		_exit(buf[0] != 1 || ds_trace_end() != -EINVAL ||
		    ds_trace_begin(buf, sizeof buf) != 0 ||
		    ds_trace_end() != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	trace_opened(fd, path, O_RDONLY);
	assert_true(ds_trace_end() > 0);
	close(fd);
}

/*--- threads -------------------------------------------------------------*/

#define THREADS	4u
#define TIMES	16u

static char many[THREADS * TIMES * sizeof path * 2];

static void *
open_many(void *arg)
{
	for (unsigned i = 0; i < TIMES; i++)
		trace_opened(*(int *)arg, path, O_RDONLY);
	return NULL;
}

static void
threads_write_beside_each_other(void **state)
{
	int fd = make("");
	size_t whole = (TRACE_HEAD + strlen(path) + 1 + 7) & ~(size_t)7;
	pthread_t threads[THREADS];
	ssize_t n;

	(void)state;
	assert_int_equal(ds_trace_begin(many, sizeof many), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_many,
		    &fd), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	n = ds_trace_end();
	close(fd);
	assert_int_equal(n, THREADS * TIMES * whole);
	for (size_t at = 0; at < (size_t)n; at += whole)
		assert_string_equal(many + at + TRACE_HEAD, path);
}

UNIT_MAIN(TRACE_UNIT(writes_down_what_is_opened),
    TRACE_UNIT(leaves_out_what_is_not_read),
    TRACE_UNIT(leaves_out_modules_and_the_system),
    TRACE_UNIT(says_what_is_lost),
    TRACE_UNIT(a_child_writes_nothing),
    TRACE_UNIT(threads_write_beside_each_other))
