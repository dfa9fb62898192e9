/* SPDX-License-Identifier: Apache-2.0
 *
 * real.h: the functions of the C library that stand behind ours.
 * Runs in jobs, in the preload object.
 *
 * The table names every function that the object wraps, once; a wrapper of
 * NAME is wrap_NAME (wrap.h), and preload.map exports it as NAME.
 *
 *  1. Finding one allocates nothing, unless the C library does not have it.
 *  2. All are found at start; one that is called before, by somebody else's
 *     start, is found then.
 *  3. Where there is none of that name, its sibling serves: on 64 bits they
 *     are the same but for the name.
 */

#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#ifndef __LP64__
#error "the preload object needs a system of 64 bits"
#endif

static_assert(sizeof(struct stat) == sizeof(struct stat64) &&
    offsetof(struct stat, st_size) == offsetof(struct stat64, st_size) &&
    offsetof(struct stat, st_ctim) == offsetof(struct stat64, st_ctim),
    "one struct stat");
static_assert(sizeof(struct statfs) == sizeof(struct statfs64),
    "one struct statfs");
static_assert(sizeof(struct statvfs) == sizeof(struct statvfs64),
    "one struct statvfs");

/* X(type, name, sibling, parameters) */
#define REAL_CALLS(X) \
	X(int, open, open64, (const char *path, int flags, ...)) \
	X(int, open64, open, (const char *path, int flags, ...)) \
	X(int, openat, openat64, \
	    (int dir, const char *path, int flags, ...)) \
	X(int, openat64, openat, \
	    (int dir, const char *path, int flags, ...)) \
	X(int, __open_2, __open64_2, (const char *path, int flags)) \
	X(int, __open64_2, __open_2, (const char *path, int flags)) \
	X(int, __openat_2, __openat64_2, \
	    (int dir, const char *path, int flags)) \
	X(int, __openat64_2, __openat_2, \
	    (int dir, const char *path, int flags)) \
	\
	X(FILE *, fopen, fopen64, (const char *path, const char *mode)) \
	X(FILE *, fopen64, fopen, (const char *path, const char *mode)) \
	X(FILE *, freopen, freopen64, \
	    (const char *path, const char *mode, FILE *fp)) \
	X(FILE *, freopen64, freopen, \
	    (const char *path, const char *mode, FILE *fp)) \
	\
	X(int, stat, stat64, (const char *path, struct stat *st)) \
	X(int, stat64, stat, (const char *path, struct stat *st)) \
	X(int, lstat, lstat64, (const char *path, struct stat *st)) \
	X(int, lstat64, lstat, (const char *path, struct stat *st)) \
	X(int, fstat, fstat64, (int fd, struct stat *st)) \
	X(int, fstat64, fstat, (int fd, struct stat *st)) \
	X(int, fstatat, fstatat64, \
	    (int dir, const char *path, struct stat *st, int flags)) \
	X(int, fstatat64, fstatat, \
	    (int dir, const char *path, struct stat *st, int flags)) \
	X(int, __xstat, __xstat64, \
	    (int version, const char *path, struct stat *st)) \
	X(int, __xstat64, __xstat, \
	    (int version, const char *path, struct stat *st)) \
	X(int, __lxstat, __lxstat64, \
	    (int version, const char *path, struct stat *st)) \
	X(int, __lxstat64, __lxstat, \
	    (int version, const char *path, struct stat *st)) \
	X(int, __fxstat, __fxstat64, (int version, int fd, struct stat *st)) \
	X(int, __fxstat64, __fxstat, (int version, int fd, struct stat *st)) \
	X(int, __fxstatat, __fxstatat64, (int version, int dir, \
	    const char *path, struct stat *st, int flags)) \
	X(int, __fxstatat64, __fxstatat, (int version, int dir, \
	    const char *path, struct stat *st, int flags)) \
	X(int, statx, statx, (int dir, const char *path, int flags, \
	    unsigned mask, struct statx *stx)) \
	X(long, syscall, syscall, (long number, long a, long b, long c, \
	    long d, long e, long f)) \
	\
	X(ssize_t, fgetxattr, fgetxattr, \
	    (int fd, const char *name, void *value, size_t size)) \
	X(ssize_t, flistxattr, flistxattr, (int fd, char *names, size_t size)) \
	X(int, fsetxattr, fsetxattr, (int fd, const char *name, \
	    const void *value, size_t size, int flags)) \
	X(int, fremovexattr, fremovexattr, (int fd, const char *name)) \
	X(int, fchmod, fchmod, (int fd, mode_t mode)) \
	X(int, fchmodat, fchmodat, \
	    (int dir, const char *path, mode_t mode, int flags)) \
	X(int, fchown, fchown, (int fd, uid_t uid, gid_t gid)) \
	X(int, fchownat, fchownat, \
	    (int dir, const char *path, uid_t uid, gid_t gid, int flags)) \
	X(int, futimens, futimens, (int fd, const struct timespec times[2])) \
	X(int, utimensat, utimensat, (int dir, const char *path, \
	    const struct timespec times[2], int flags)) \
	X(int, futimes, futimes, (int fd, const struct timeval times[2])) \
	X(int, fstatfs, fstatfs64, (int fd, struct statfs *sf)) \
	X(int, fstatfs64, fstatfs, (int fd, struct statfs *sf)) \
	X(int, fstatvfs, fstatvfs64, (int fd, struct statvfs *sv)) \
	X(int, fstatvfs64, fstatvfs, (int fd, struct statvfs *sv)) \
	\
	X(int, flock, flock, (int fd, int operation)) \
	X(int, fcntl, fcntl64, (int fd, int command, ...)) \
	X(int, fcntl64, fcntl, (int fd, int command, ...)) \
	\
	X(ssize_t, copy_file_range, copy_file_range, (int in, off_t *in_at, \
	    int out, off_t *out_at, size_t len, unsigned flags)) \
	\
	X(int, chdir, chdir, (const char *path)) \
	X(int, fchdir, fchdir, (int fd))

enum real_call {
#define REAL_ENUM(type, name, sibling, params) REAL_##name,
	REAL_CALLS(REAL_ENUM)
#undef REAL_ENUM
	NR_REAL_CALLS
};

#define REAL_TYPE(type, name, sibling, params) typedef type real_##name params;
REAL_CALLS(REAL_TYPE)
#undef REAL_TYPE

/* Relaxed: whoever finds an address finds the same one, and what it points to
 * never changes. */
extern _Atomic(void *) real_addresses[NR_REAL_CALLS];

void *real_find(enum real_call call);
	/* NULL and ENOSYS: the C library has no such function. */

static inline void *
real_get(enum real_call call)
{
	void *p = atomic_load_explicit(&real_addresses[call],
	    memory_order_relaxed);

	return __builtin_expect(p != NULL, 1) ? p : real_find(call);
}

/* REAL(open)(path, flags); NULL where there is none. */
#define REAL(name) ((real_##name *)real_get(REAL_##name))

#endif
