/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.c: which files does making a sample open?  Runs in any program that the
 * object is preloaded in, in any of its threads.
 *
 *  1. A thread that writes is counted before it looks whether tracing is on; who
 *     ends it turns it off before it looks at the count: so either the thread
 *     writes nothing, or it is waited for.
 *  2. Room is taken by one step of `used`: what a thread has taken is its own.
 */

#include <config.h>

#include "preload/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/guard.h"
#include "preload/opens.h"
#include "probe/resident.h"

/* What makes an open more than reading a file. */
#define NOT_READING	(O_TRUNC | O_PATH | O_DIRECTORY | O_TMPFILE)

_Atomic bool trace_on;

static struct {
	pid_t		pid;		/* this and the next two are set while
					 * it is off */
	char		*buf;
	size_t		size;
	_Atomic size_t	used;
	_Atomic bool	lost;
	_Atomic unsigned writers;
} trace;

static_assert(offsetof(struct trace_record, len) + sizeof(uint32_t) ==
    TRACE_HEAD, "read by Python");

/*--- what is data --------------------------------------------------------*/

static bool
is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

static bool
ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len >= n && strcmp(path + len - n, end) == 0;
}

static bool
is_data(const char *path)
{
	static const char *const folders[] = { "/proc", "/sys", "/dev", "/usr",
	    "/lib", "/lib64", "/lib32", "/etc" };
	static const char *const ends[] = { ".py", ".pyc", ".so" };

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		if (is_below(path, folders[i]))
			return false;
	}
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		if (ends_in(path, ends[i]))
			return false;
	}
	return true;
}

/* Where the file is, without links; or, where /proc does not say, as the program
 * has named it, if that is absolute. */
static bool
find_path(int fd, const char *named, char path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n > 0 && path[0] == '/') {
		path[n] = '\0';
		return true;
	}
	if (named[0] != '/' || strlen(named) >= PATH_MAX)
		return false;
	strcpy(path, named);
	return true;
}

/*--- writing it down -----------------------------------------------------*/

/* Room for so many bytes, or NULL. */
static char *
take_room(size_t len)
{
	/* relaxed: what is written there is seen by who waits for writers */
	size_t at = atomic_load_explicit(&trace.used, memory_order_relaxed);

	do {
		if (len > trace.size - at)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(&trace.used, &at,
	    at + len, memory_order_relaxed, memory_order_relaxed));
	return trace.buf + at;
}

static uint32_t
clip(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static bool
write_down(int fd, const struct stat *st, const char *path)
{
	uint32_t len = (uint32_t)strlen(path) + 1;
	size_t whole = (TRACE_HEAD + len + 7u) & ~(size_t)7;
	struct trace_record r;
	struct resident now;
	char *at = take_room(whole);

	if (at == NULL)
		return false;
	resident_look(fd, st, &now);
	r = (struct trace_record){ .size = (uint64_t)st->st_size,
	    .pages = clip(now.pages), .len = len,
	    .resident = now.is_told ? clip(now.in_memory) : TRACE_NOT_TOLD };
	memset(at + whole - 8, 0, 8);
	memcpy(at, &r, TRACE_HEAD);
	memcpy(at + TRACE_HEAD, path, len);
	return true;
}

/* What a file is, and where; false: it is none, or no data. */
static bool
find_file(int fd, const char *named, struct stat *st, char path[PATH_MAX],
    bool *is_lost)
{
	if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))
		return false;
	*is_lost = !find_path(fd, named, path);
	return !*is_lost && is_data(path);
}

static void
look(int fd, const char *named)
{
	char path[PATH_MAX];
	bool is_lost = false;
	struct stat st;

	if (find_file(fd, named, &st, path, &is_lost))
		is_lost = !write_down(fd, &st, path);
	/* relaxed: as take_room() */
	if (is_lost)
		atomic_store_explicit(&trace.lost, true, memory_order_relaxed);
}

static void
tell(int fd, const char *named)
{
	char path[PATH_MAX];
	bool is_lost;
	struct stat st;

	if (find_file(fd, named, &st, path, &is_lost))
		opens_tell(fd, &st, path);
}

void
trace_opened(int fd, const char *path, int flags)
{
	struct guard g;

	if ((flags & O_ACCMODE) == O_WRONLY || (flags & NOT_READING) != 0 ||
	    !guard_enter_off(&g))
		return;
	/* seq_cst, these three and those of ds_trace_end(): rule 1 */
	atomic_fetch_add(&trace.writers, 1);
	if (atomic_load(&trace_on) && trace.pid == getpid())
		look(fd, path);
	atomic_fetch_sub(&trace.writers, 1);
	if (opens_may_be_on)
		tell(fd, path);
	guard_leave(&g);
}

/*--- beginning and ending ------------------------------------------------*/

int
ds_trace_begin(void *buf, size_t size)
{
	pid_t pid = getpid();

	if (getauxval(AT_SECURE) != 0)
		return -EPERM;
	if (buf == NULL)
		return -EINVAL;
	if (atomic_load(&trace_on) && trace.pid == pid)
		return -EBUSY;
	/* Of a child, writers that its parent had are not there. */
	if (trace.pid != pid)
		atomic_store(&trace.writers, 0);
	trace.pid = pid;
	trace.buf = buf;
	trace.size = size;
	atomic_store(&trace.used, 0);
	atomic_store(&trace.lost, false);
	atomic_store(&trace_on, true);
	return 0;
}

ssize_t
ds_trace_end(void)
{
	if (!atomic_load(&trace_on) || trace.pid != getpid())
		return -EINVAL;
	atomic_store(&trace_on, false);
	while (atomic_load(&trace.writers) > 0)
		(void)sched_yield();
	return (ssize_t)atomic_load(&trace.used) |
	    (atomic_load(&trace.lost) ? TRACE_LOST : 0);
}
