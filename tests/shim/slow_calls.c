/* SPDX-License-Identifier: Apache-2.0
 *
 * slow_calls.c: wrappers of the calls that open and read files.
 * Runs inside the programs under test, preloaded.
 *
 * The names in 64 are what programs built for large files call, those with
 * _chk and _2 what _FORTIFY_SOURCE puts in their place.
 */

#include <config.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/shim/shim.h"
#include "tests/shim/slow.h"

/*--- opening -------------------------------------------------------------*/

#define WRAP_OPEN(name, params, args) \
	SHIM_EXPORT int \
	name params \
	{ \
		SHIM_REAL(name) \
		mode_t mode = 0; \
		int fd; \
		\
		TAKE_MODE(flags, mode); \
		fd = real args; \
		slow_opened(fd); \
		return fd; \
	}

#define WRAP_OPEN_2(name, params, args) \
	SHIM_EXPORT int \
	name params \
	{ \
		SHIM_REAL(name) \
		int fd = real args; \
		\
		slow_opened(fd); \
		return fd; \
	}

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int dir, const char *path, int flags, ...),
    (dir, path, flags, mode))
WRAP_OPEN(openat64, (int dir, const char *path, int flags, ...),
    (dir, path, flags, mode))
WRAP_OPEN_2(__open_2, (const char *path, int flags), (path, flags))
WRAP_OPEN_2(__open64_2, (const char *path, int flags), (path, flags))
WRAP_OPEN_2(__openat_2, (int dir, const char *path, int flags),
    (dir, path, flags))
WRAP_OPEN_2(__openat64_2, (int dir, const char *path, int flags),
    (dir, path, flags))

static FILE *
charge_stream(FILE *f)
{
	struct slow_call call;
	struct stat st;
	int fd;

	if (f == NULL)
		return NULL;
	fd = fileno(f);
	slow_opened(fd);
	if (!slow_is_ours(fd) || fstat(fd, &st) != 0)
		return f;
	if (slow_begin(&call, fd, 0, (uint64_t)st.st_size) != 0) {
		fclose(f);
		return NULL;
	}
	slow_end(&call, st.st_size);
	return f;
}

/* Only "r" says that the file is there to be read. */
#define WRAP_FOPEN(name) \
	SHIM_EXPORT FILE * \
	name(const char *path, const char *mode) \
	{ \
		SHIM_REAL(name) \
		FILE *f = real(path, mode); \
		\
		return mode[0] == 'r' ? charge_stream(f) : f; \
	}

WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)

/*--- reading -------------------------------------------------------------*/

static uint64_t
sum_of(const struct iovec *iov, int nr)
{
	uint64_t sum = 0;

	for (int i = 0; i < nr; i++)
		sum += iov[i].iov_len;
	return sum;
}

static off64_t
place_of(const off64_t *off)
{
	return off != NULL ? *off : SLOW_HERE;
}

/* A call that returns how many bytes it took from `fd`, which it asked for `at`
 * a place.  The end of a file asks nothing of the storage. */
#define WRAP_READ(name, params, args, at, bytes) \
	SHIM_EXPORT ssize_t \
	name params \
	{ \
		SHIM_REAL(name) \
		struct slow_call call; \
		ssize_t n; \
		\
		if (!slow_is_ours(fd)) \
			return real args; \
		if (slow_begin(&call, fd, at, bytes) != 0) \
			return -1; \
		n = real args; \
		slow_end(&call, n); \
		return n; \
	}

WRAP_READ(read, (int fd, void *buf, size_t len), (fd, buf, len),
    SLOW_HERE, len)
WRAP_READ(__read_chk, (int fd, void *buf, size_t len, size_t size),
    (fd, buf, len, size), SLOW_HERE, len)
WRAP_READ(pread, (int fd, void *buf, size_t len, off_t off),
    (fd, buf, len, off), off, len)
WRAP_READ(pread64, (int fd, void *buf, size_t len, off64_t off),
    (fd, buf, len, off), off, len)
WRAP_READ(__pread_chk, (int fd, void *buf, size_t len, off_t off, size_t size),
    (fd, buf, len, off, size), off, len)
WRAP_READ(__pread64_chk,
    (int fd, void *buf, size_t len, off64_t off, size_t size),
    (fd, buf, len, off, size), off, len)
WRAP_READ(readv, (int fd, const struct iovec *iov, int nr), (fd, iov, nr),
    SLOW_HERE, sum_of(iov, nr))
WRAP_READ(preadv, (int fd, const struct iovec *iov, int nr, off_t off),
    (fd, iov, nr, off), off, sum_of(iov, nr))
WRAP_READ(preadv64, (int fd, const struct iovec *iov, int nr, off64_t off),
    (fd, iov, nr, off), off, sum_of(iov, nr))
WRAP_READ(preadv2,
    (int fd, const struct iovec *iov, int nr, off_t off, int flags),
    (fd, iov, nr, off, flags), off, sum_of(iov, nr))
WRAP_READ(preadv64v2,
    (int fd, const struct iovec *iov, int nr, off64_t off, int flags),
    (fd, iov, nr, off, flags), off, sum_of(iov, nr))
WRAP_READ(sendfile, (int to, int fd, off_t *off, size_t len),
    (to, fd, off, len), place_of(off), len)
WRAP_READ(sendfile64, (int to, int fd, off64_t *off, size_t len),
    (to, fd, off, len), place_of(off), len)
WRAP_READ(copy_file_range, (int fd, off64_t *off, int to, off64_t *to_off,
    size_t len, unsigned flags), (fd, off, to, to_off, len, flags),
    place_of(off), len)

/* How many of the mapped bytes the file has. */
static uint64_t
mapped_bytes(int fd, size_t len, off64_t off)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || st.st_size <= off)
		return 0;
	return (uint64_t)(st.st_size - off) < len ?
	    (uint64_t)(st.st_size - off) : len;
}

/* A mapping that cannot be read is to look which pages are there. */
#define WRAP_MMAP(name, off_type) \
	SHIM_EXPORT void * \
	name(void *at, size_t len, int prot, int flags, int fd, off_type off) \
	{ \
		SHIM_REAL(name) \
		struct slow_call call; \
		void *p; \
		\
		if ((flags & MAP_ANONYMOUS) != 0 || prot == PROT_NONE || \
		    !slow_is_ours(fd)) \
			return real(at, len, prot, flags, fd, off); \
		if (slow_begin(&call, fd, off, len) != 0) \
			return MAP_FAILED; \
		p = real(at, len, prot, flags, fd, off); \
		if (p != MAP_FAILED) \
			slow_end(&call, (int64_t)mapped_bytes(fd, len, off)); \
		return p; \
	}

WRAP_MMAP(mmap, off_t)
WRAP_MMAP(mmap64, off64_t)
