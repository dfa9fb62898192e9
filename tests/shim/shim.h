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

#include <stdbool.h>
#include <stddef.h>

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

#endif
