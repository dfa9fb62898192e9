/* SPDX-License-Identifier: Apache-2.0
 *
 * shim.h: what the preloaded test objects share.
 * Runs inside the program under test, before its main().
 *
 * A shim sees the calls that go through the dynamic linker: those of the
 * program and of its libraries, and glibc's own calls of malloc.  It does not
 * see what glibc does inside itself (the write of a printf), raw system calls
 * or static programs.
 *
 *  1. Nothing here allocates: the allocator may be what is being failed.
 *  2. A setting that cannot be read stops the program with status 99, a
 *     broken test; it never runs unhurt.
 */

#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SHIM_EXPORT __attribute__((visibility("default")))

bool shim_is_for_us(const char *variable);
	/* Does the environment variable name this program (the last part of
	 * /proc/self/exe)?  Without the variable every program is meant. */

int shim_errno_by_name(const char *name, size_t len);
	/* ENOSPC and so on; 0 for a name that errno(3) does not have. */

void *shim_next(const char *name);
	/* The function that a wrapper of this name stands in front of. */

_Noreturn void shim_broken(const char *variable, const char *text);

/* Declares `real`, the function that the wrapper of this name hides. */
#define SHIM_REAL(name) \
	static __typeof__(&name) found_; \
	__typeof__(&name) real = __atomic_load_n(&found_, __ATOMIC_RELAXED); \
	\
	if (real == NULL) { \
		real = (__typeof__(&name))shim_next(#name); \
		__atomic_store_n(&found_, real, __ATOMIC_RELAXED); \
	}

/* What the C library's own headers call, without declaring it. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __pread_chk(int fd, void *buf, size_t len, off_t off, size_t size);
ssize_t __pread64_chk(int fd, void *buf, size_t len, off64_t off, size_t size);

/* open(2) has a mode only when it may make the file. */
#define TAKE_MODE(flags, mode) \
	do { \
		va_list ap; \
		\
		va_start(ap, flags); \
		if (((flags) & O_CREAT) != 0 || \
		    ((flags) & O_TMPFILE) == O_TMPFILE) \
			mode = va_arg(ap, mode_t); \
		va_end(ap); \
	} while (0)

#endif
