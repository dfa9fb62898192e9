/* SPDX-License-Identifier: Apache-2.0
 *
 * fail_system.c: wrappers of the calls that ask the kernel.
 * Runs inside the program under test, preloaded.
 *
 * The names in 64 are what programs built for large files call, those with
 * _chk and _2 what _FORTIFY_SOURCE puts in their place.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/shim/fail.h"
#include "tests/shim/shim.h"

int __poll_chk(struct pollfd *fds, nfds_t nr, int timeout, size_t size);

/* A call that returns `failed` and sets errno. */
#define WRAP(type, failed, call, name, params, args) \
	SHIM_EXPORT type \
	name params \
	{ \
		SHIM_REAL(name) \
		\
		if (fail_count(CALL_##call) == VERDICT_FAIL) \
			return failed; \
		return real args; \
	}

/* A call that returns an errno, and leaves the variable alone. */
#define WRAP_CODE(call, name, params, args) \
	SHIM_EXPORT int \
	name params \
	{ \
		SHIM_REAL(name) \
		int saved = errno; \
		int code; \
		\
		if (fail_count(CALL_##call) != VERDICT_FAIL) \
			return real args; \
		code = errno; \
		errno = saved; \
		return code; \
	}

/* A call that may do less than its `len` asks for, but not nothing. */
#define WRAP_BYTES(call, name, params, args) \
	SHIM_EXPORT ssize_t \
	name params \
	{ \
		SHIM_REAL(name) \
		enum fail_verdict verdict = fail_count(CALL_##call); \
		\
		if (verdict == VERDICT_FAIL) \
			return -1; \
		if (verdict == VERDICT_SHORT) \
			len -= len / 2; \
		return real args; \
	}

#define WRAP_OPEN(name) \
	SHIM_EXPORT int \
	name(const char *path, int flags, ...) \
	{ \
		SHIM_REAL(name) \
		mode_t mode = 0; \
		\
		TAKE_MODE(flags, mode); \
		if (fail_count(CALL_open) == VERDICT_FAIL) \
			return -1; \
		return real(path, flags, mode); \
	}

#define WRAP_OPENAT(name) \
	SHIM_EXPORT int \
	name(int dir, const char *path, int flags, ...) \
	{ \
		SHIM_REAL(name) \
		mode_t mode = 0; \
		\
		TAKE_MODE(flags, mode); \
		if (fail_count(CALL_openat) == VERDICT_FAIL) \
			return -1; \
		return real(dir, path, flags, mode); \
	}

/*--- files ---------------------------------------------------------------*/

WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP(int, -1, open, __open_2, (const char *path, int flags), (path, flags))
WRAP(int, -1, open, __open64_2, (const char *path, int flags), (path, flags))
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
WRAP(int, -1, openat, __openat_2, (int dir, const char *path, int flags),
    (dir, path, flags))
WRAP(int, -1, openat, __openat64_2, (int dir, const char *path, int flags),
    (dir, path, flags))

WRAP_BYTES(read, read, (int fd, void *buf, size_t len), (fd, buf, len))
WRAP_BYTES(read, __read_chk, (int fd, void *buf, size_t len, size_t size),
    (fd, buf, len, size))
WRAP_BYTES(pread, pread, (int fd, void *buf, size_t len, off_t off),
    (fd, buf, len, off))
WRAP_BYTES(pread, pread64, (int fd, void *buf, size_t len, off64_t off),
    (fd, buf, len, off))
WRAP_BYTES(pread, __pread_chk,
    (int fd, void *buf, size_t len, off_t off, size_t size),
    (fd, buf, len, off, size))
WRAP_BYTES(pread, __pread64_chk,
    (int fd, void *buf, size_t len, off64_t off, size_t size),
    (fd, buf, len, off, size))
WRAP(ssize_t, -1, readv, readv, (int fd, const struct iovec *iov, int nr),
    (fd, iov, nr))
WRAP_BYTES(write, write, (int fd, const void *buf, size_t len), (fd, buf, len))
WRAP_BYTES(pwrite, pwrite, (int fd, const void *buf, size_t len, off_t off),
    (fd, buf, len, off))
WRAP_BYTES(pwrite, pwrite64, (int fd, const void *buf, size_t len, off64_t off),
    (fd, buf, len, off))
WRAP(ssize_t, -1, writev, writev, (int fd, const struct iovec *iov, int nr),
    (fd, iov, nr))

WRAP(int, -1, memfd_create, memfd_create, (const char *name, unsigned flags),
    (name, flags))
WRAP(int, -1, ftruncate, ftruncate, (int fd, off_t len), (fd, len))
WRAP(int, -1, ftruncate, ftruncate64, (int fd, off64_t len), (fd, len))
WRAP(int, -1, fallocate, fallocate, (int fd, int mode, off_t at, off_t len),
    (fd, mode, at, len))
WRAP(int, -1, fallocate, fallocate64,
    (int fd, int mode, off64_t at, off64_t len), (fd, mode, at, len))
WRAP_CODE(posix_fallocate, posix_fallocate, (int fd, off_t at, off_t len),
    (fd, at, len))
WRAP_CODE(posix_fallocate, posix_fallocate64,
    (int fd, off64_t at, off64_t len), (fd, at, len))
WRAP(int, -1, fsync, fsync, (int fd), (fd))
WRAP(int, -1, fdatasync, fdatasync, (int fd), (fd))

/*--- names ---------------------------------------------------------------*/

WRAP(int, -1, rename, rename, (const char *old, const char *new), (old, new))
WRAP(int, -1, renameat, renameat,
    (int olddir, const char *old, int newdir, const char *new),
    (olddir, old, newdir, new))
WRAP(int, -1, renameat2, renameat2, (int olddir, const char *old, int newdir,
    const char *new, unsigned flags), (olddir, old, newdir, new, flags))
WRAP(int, -1, link, link, (const char *old, const char *new), (old, new))
WRAP(int, -1, linkat, linkat, (int olddir, const char *old, int newdir,
    const char *new, int flags), (olddir, old, newdir, new, flags))
WRAP(int, -1, unlink, unlink, (const char *path), (path))
WRAP(int, -1, unlinkat, unlinkat, (int dir, const char *path, int flags),
    (dir, path, flags))
WRAP(int, -1, mkdir, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, mkdirat, mkdirat, (int dir, const char *path, mode_t mode),
    (dir, path, mode))

WRAP(int, -1, stat, stat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, stat, stat64, (const char *path, struct stat64 *st), (path, st))
WRAP(int, -1, lstat, lstat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, lstat, lstat64, (const char *path, struct stat64 *st), (path, st))
WRAP(int, -1, fstat, fstat, (int fd, struct stat *st), (fd, st))
WRAP(int, -1, fstat, fstat64, (int fd, struct stat64 *st), (fd, st))
WRAP(int, -1, fstatat, fstatat,
    (int dir, const char *path, struct stat *st, int flags),
    (dir, path, st, flags))
WRAP(int, -1, fstatat, fstatat64,
    (int dir, const char *path, struct stat64 *st, int flags),
    (dir, path, st, flags))
WRAP(DIR *, NULL, opendir, opendir, (const char *path), (path))
WRAP(DIR *, NULL, fdopendir, fdopendir, (int fd), (fd))

/*--- streams -------------------------------------------------------------*/

WRAP(FILE *, NULL, fopen, fopen, (const char *path, const char *mode),
    (path, mode))
WRAP(FILE *, NULL, fopen, fopen64, (const char *path, const char *mode),
    (path, mode))
WRAP(int, EOF, fflush, fflush, (FILE *f), (f))

/* The stream is gone even when fclose fails. */
SHIM_EXPORT int
fclose(FILE *f)
{
	SHIM_REAL(fclose)
	enum fail_verdict verdict = fail_count(CALL_fclose);
	int error = errno;
	int rc = real(f);

	if (verdict != VERDICT_FAIL)
		return rc;
	errno = error;
	return EOF;
}

/*--- sockets and waiting -------------------------------------------------*/

WRAP(int, -1, socket, socket, (int domain, int type, int protocol),
    (domain, type, protocol))
WRAP(int, -1, socketpair, socketpair,
    (int domain, int type, int protocol, int fds[2]),
    (domain, type, protocol, fds))
WRAP(int, -1, bind, bind, (int fd, __CONST_SOCKADDR_ARG sa, socklen_t len),
    (fd, sa, len))
WRAP(int, -1, connect, connect,
    (int fd, __CONST_SOCKADDR_ARG sa, socklen_t len), (fd, sa, len))
WRAP(int, -1, accept4, accept4,
    (int fd, __SOCKADDR_ARG sa, socklen_t *len, int flags),
    (fd, sa, len, flags))
WRAP(ssize_t, -1, sendmsg, sendmsg,
    (int fd, const struct msghdr *msg, int flags), (fd, msg, flags))
WRAP(ssize_t, -1, recvmsg, recvmsg, (int fd, struct msghdr *msg, int flags),
    (fd, msg, flags))
WRAP(int, -1, poll, poll, (struct pollfd *fds, nfds_t nr, int timeout),
    (fds, nr, timeout))
WRAP(int, -1, poll, __poll_chk,
    (struct pollfd *fds, nfds_t nr, int timeout, size_t size),
    (fds, nr, timeout, size))
WRAP(int, -1, epoll_create1, epoll_create1, (int flags), (flags))
WRAP(int, -1, epoll_wait, epoll_wait,
    (int fd, struct epoll_event *events, int nr, int timeout),
    (fd, events, nr, timeout))
WRAP_CODE(pthread_create, pthread_create, (pthread_t *thread,
    const pthread_attr_t *attr, void *(*start)(void *), void *arg),
    (thread, attr, start, arg))
