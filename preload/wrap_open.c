/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_open.c: open() and its variants.  Runs in jobs, in the preload object.
 *
 * The real function comes first, in the program's own state of cancellation:
 * what it refuses, blocks on, creates or numbers is as it always was.
 */

#include <config.h>

#include "preload/wrap.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

#include "preload/consider.h"

/* The C library's own rule; O_TMPFILE itself includes O_DIRECTORY. */
static inline bool
needs_mode(int flags)
{
	const int tmpfile = O_TMPFILE & ~O_DIRECTORY;

	return (flags & O_CREAT) != 0 || (flags & tmpfile) == tmpfile;
}

#define DEFINE_OPEN(name) \
int \
wrap_##name(const char *path, int flags, ...) \
{ \
	real_##name *call = REAL(name); \
	mode_t mode = 0; \
	va_list ap; \
	int fd; \
\
	if (needs_mode(flags)) { \
		va_start(ap, flags); \
		mode = va_arg(ap, mode_t); \
		va_end(ap); \
	} \
	if (call == NULL) \
		return -1; \
	fd = call(path, flags, mode); \
	if (fd < 0 && consider_again(path, flags)) \
		fd = call(path, flags, mode); \
	return consider_fd(fd, AT_FDCWD, path, flags); \
}

#define DEFINE_OPENAT(name) \
int \
wrap_##name(int dir, const char *path, int flags, ...) \
{ \
	real_##name *call = REAL(name); \
	mode_t mode = 0; \
	va_list ap; \
	int fd; \
\
	if (needs_mode(flags)) { \
		va_start(ap, flags); \
		mode = va_arg(ap, mode_t); \
		va_end(ap); \
	} \
	if (call == NULL) \
		return -1; \
	fd = call(dir, path, flags, mode); \
	if (fd < 0 && consider_again(path, flags)) \
		fd = call(dir, path, flags, mode); \
	return consider_fd(fd, dir, path, flags); \
}

/* The checked variants: the real one ends a program that forgot the mode. */
#define DEFINE_OPEN_2(name) \
int \
wrap_##name(const char *path, int flags) \
{ \
	real_##name *call = REAL(name); \
	int fd; \
\
	if (call == NULL) \
		return -1; \
	fd = call(path, flags); \
	if (fd < 0 && consider_again(path, flags)) \
		fd = call(path, flags); \
	return consider_fd(fd, AT_FDCWD, path, flags); \
}

#define DEFINE_OPENAT_2(name) \
int \
wrap_##name(int dir, const char *path, int flags) \
{ \
	real_##name *call = REAL(name); \
	int fd; \
\
	if (call == NULL) \
		return -1; \
	fd = call(dir, path, flags); \
	if (fd < 0 && consider_again(path, flags)) \
		fd = call(dir, path, flags); \
	return consider_fd(fd, dir, path, flags); \
}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)
DEFINE_OPENAT_2(__openat_2)
DEFINE_OPENAT_2(__openat64_2)
