/* SPDX-License-Identifier: Apache-2.0
 *
 * expected.h: files whose bytes are known, because they were read by system
 * calls that no preloaded object sees.  For programs that tests run.
 */

#ifndef TESTS_HARNESS_EXPECTED_H
#define TESTS_HARNESS_EXPECTED_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPECTED_MAX	(1u << 20)

struct expected {
	const char	*path;
	char		*bytes;
	size_t		len;
};

static _Noreturn inline void
wrong(const char *what, const char *path)
{
	fprintf(stderr, "WRONG: %s: %s (errno %d)\n", path, what, errno);
	_exit(1);
}

typedef long expected_call(long number, ...);

/* The C library's own: syscall() itself may be somebody else's. */
static inline expected_call *
expected_raw(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	expected_call *raw = NULL;

	if (libc != NULL)
		*(void **)&raw = dlsym(libc, "syscall");
	if (raw == NULL)
		wrong("has no syscall()", "the C library");
	return raw;
}

static inline void
expected_load(struct expected *e, const char *path)
{
	expected_call *raw = expected_raw();
	long fd, n;

	e->path = path;
	e->len = 0;
	e->bytes = malloc(EXPECTED_MAX);
	if (e->bytes == NULL)
		wrong("no memory", path);
	fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		wrong("cannot be opened", path);
	while ((n = raw(SYS_read, fd, e->bytes + e->len,
	    EXPECTED_MAX - e->len)) > 0)
		e->len += (size_t)n;
	raw(SYS_close, fd);
}

static inline struct expected *
expected_all(int nr, char **paths)
{
	struct expected *all = calloc((size_t)nr + 1, sizeof *all);

	if (all == NULL)
		wrong("no memory", "files");
	for (int i = 0; i < nr; i++)
		expected_load(&all[i], paths[i]);
	return all;
}

/* A descriptor at its beginning. */
static inline void
expected_read(const struct expected *e, int fd)
{
	char piece[8192];
	size_t at = 0;
	ssize_t n;

	if (fd < 0)
		wrong("cannot be opened", e->path);
	while ((n = read(fd, piece, sizeof piece)) > 0) {
		if (at + (size_t)n > e->len ||
		    memcmp(piece, e->bytes + at, (size_t)n) != 0)
			wrong("other bytes", e->path);
		at += (size_t)n;
	}
	if (n < 0 || at != e->len)
		wrong("not all of it", e->path);
}

static inline void
expected_check(const struct expected *e)
{
	int fd = open(e->path, O_RDONLY | O_CLOEXEC);

	expected_read(e, fd);
	if (close(fd) != 0)
		wrong("cannot be closed", e->path);
}

#endif
