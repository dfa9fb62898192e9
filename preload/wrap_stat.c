/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_stat.c: stat() and its variants.  Runs in jobs, in the preload object.
 *
 * A path can name a substitute, too: /proc/self/fd/N, or an empty one with
 * AT_EMPTY_PATH.  So all of them look at what the kernel said.
 *
 * Node and whatever else is built on libuv calls statx(2) by syscall(), which is
 * wrapped for the three calls that stat, and for no other.
 */

#include <config.h>

#include "preload/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "preload/guard.h"
#include "preload/origin.h"

/* What __xstat() and its kin were told by older headers; those are the only
 * versions that the C library takes on 64 bits. */
#ifdef _STAT_VER
#define STAT_VERSION _STAT_VER
#elif defined __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

/* The result of a stat, which it returns. */
static inline int
answer(int rc, struct stat *st)
{
	struct guard g;

	if (rc == 0 && origin_suspect(st->st_mode) && guard_enter(&g)) {
		origin_stat(st);
		guard_leave(&g);
	}
	return rc;
}

static inline int
answer_x(int rc, struct statx *stx, unsigned mask, int flags)
{
	struct guard g;

	if (rc == 0 && origin_suspect(stx->stx_mode) && guard_enter(&g)) {
		origin_statx(stx, mask, flags);
		guard_leave(&g);
	}
	return rc;
}

static int
lack_version(void)
{
	errno = EINVAL;
	return -1;
}

/* Of stat() and __xstat() each stands in for the other: a C library may have
 * only one of them. */
#define DEFINE_STAT(name, old) \
int \
wrap_##name(const char *path, struct stat *st) \
{ \
	real_##name *call = REAL(name); \
	real_##old *instead; \
\
	if (call != NULL) \
		return answer(call(path, st), st); \
	instead = REAL(old); \
	if (instead != NULL) \
		return answer(instead(STAT_VERSION, path, st), st); \
	return -1; \
} \
\
int \
wrap_##old(int version, const char *path, struct stat *st) \
{ \
	real_##old *call = REAL(old); \
	real_##name *instead; \
\
	if (call != NULL) \
		return answer(call(version, path, st), st); \
	instead = REAL(name); \
	if (instead != NULL) \
		return version == STAT_VERSION ? \
		    answer(instead(path, st), st) : lack_version(); \
	return -1; \
}

#define DEFINE_FSTAT(name, old) \
int \
wrap_##name(int fd, struct stat *st) \
{ \
	real_##name *call = REAL(name); \
	real_##old *instead; \
\
	if (call != NULL) \
		return answer(call(fd, st), st); \
	instead = REAL(old); \
	if (instead != NULL) \
		return answer(instead(STAT_VERSION, fd, st), st); \
	return -1; \
} \
\
int \
wrap_##old(int version, int fd, struct stat *st) \
{ \
	real_##old *call = REAL(old); \
	real_##name *instead; \
\
	if (call != NULL) \
		return answer(call(version, fd, st), st); \
	instead = REAL(name); \
	if (instead != NULL) \
		return version == STAT_VERSION ? \
		    answer(instead(fd, st), st) : lack_version(); \
	return -1; \
}

#define DEFINE_FSTATAT(name, old) \
int \
wrap_##name(int dir, const char *path, struct stat *st, int flags) \
{ \
	real_##name *call = REAL(name); \
	real_##old *instead; \
\
	if (call != NULL) \
		return answer(call(dir, path, st, flags), st); \
	instead = REAL(old); \
	if (instead != NULL) \
		return answer(instead(STAT_VERSION, dir, path, st, flags), \
		    st); \
	return -1; \
} \
\
int \
wrap_##old(int version, int dir, const char *path, struct stat *st, int flags) \
{ \
	real_##old *call = REAL(old); \
	real_##name *instead; \
\
	if (call != NULL) \
		return answer(call(version, dir, path, st, flags), st); \
	instead = REAL(name); \
	if (instead != NULL) \
		return version == STAT_VERSION ? \
		    answer(instead(dir, path, st, flags), st) : \
		    lack_version(); \
	return -1; \
}

DEFINE_STAT(stat, __xstat)
DEFINE_STAT(stat64, __xstat64)
DEFINE_STAT(lstat, __lxstat)
DEFINE_STAT(lstat64, __lxstat64)
DEFINE_FSTAT(fstat, __fxstat)
DEFINE_FSTAT(fstat64, __fxstat64)
DEFINE_FSTATAT(fstatat, __fxstatat)
DEFINE_FSTATAT(fstatat64, __fxstatat64)

int
wrap_statx(int dir, const char *path, int flags, unsigned mask,
    struct statx *stx)
{
	real_statx *call = REAL(statx);

	if (call == NULL)
		return -1;
	return answer_x(call(dir, path, flags, mask, stx), stx, mask, flags);
}

/*--- without a name of their own -----------------------------------------*/

static void *
pointer(long arg)
{
	return (void *)(uintptr_t)arg;
}

/* As the C library does, it takes six arguments whatever there are.  Calls
 * that are not ours are the last thing it does: the compiler makes a jump of
 * it, so that one which comes back with another stack finds it as it left it.
 * The C library's struct stat is the kernel's on systems of 64 bits. */
long
wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	real_syscall *call = REAL(syscall);

	if (call == NULL)
		return -1;
	switch (number) {
	case SYS_statx:
		return answer_x((int)call(number, a, b, c, d, e, f),
		    pointer(e), (unsigned)d, (int)c);
	case SYS_fstat:
		return answer((int)call(number, a, b, c, d, e, f), pointer(b));
	case SYS_newfstatat:
		return answer((int)call(number, a, b, c, d, e, f), pointer(c));
	default:
		return call(number, a, b, c, d, e, f);
	}
}
