/* SPDX-License-Identifier: Apache-2.0
 *
 * memfd.c: memory that passes between processes.  Runs in hub and clients.
 */

#include <config.h>

#include "base/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#define SIZE_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW)
#define PIECE_MAX	((size_t)2 << 20)
#define PIECE_MIN	((size_t)4 << 10)

/* Kernels before 6.3 do not know MFD_NOEXEC_SEAL. */
static int
create(const char *name)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd;

	fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd;
}

/* A signal makes kernels before 6.11 undo a whole call of fallocate, and a
 * profiler's timer may send a thousand a second: so in pieces, smaller after
 * each EINTR, because one large call might never come to its end. */
static int
allocate(int fd, size_t from, size_t to)
{
	size_t piece = PIECE_MAX, done = from;

	while (done < to) {
		size_t next = to - done < piece ? to - done : piece;

		if (fallocate(fd, 0, (off_t)done, (off_t)next) == 0)
			done += next;
		else if (errno != EINTR)
			return -1;
		else if (piece > PIECE_MIN)
			piece /= 2;
	}
	return 0;
}

static int
add_seals(int fd, int seals, const char *what, struct ds_err *err)
{
	if (fcntl(fd, F_ADD_SEALS, seals) != 0)
		return err_errno(err, "shared memory: cannot seal %s", what);
	return 0;
}

int
memfd_begin(const char *name, struct ds_err *err)
{
	int fd = create(name);

	return fd < 0 ?
	    err_errno(err, "shared memory %s: cannot create", name) : fd;
}

int
memfd_grow(int fd, size_t from, size_t to, struct ds_err *err)
{
	if (to > INT64_MAX)
		return err_fail(err, -EINVAL, "shared memory: impossible size "
		    "%zu", to);
	if (allocate(fd, from, to) != 0)
		return err_errno(err, "shared memory: cannot allocate %zu bytes",
		    to - from);
	return 0;
}

int
memfd_seal_size(int fd, struct ds_err *err)
{
	return add_seals(fd, SIZE_SEALS, "its size", err);
}

int
memfd_new(const char *name, size_t len, struct ds_err *err)
{
	int fd, rc;

	if (len == 0 || len > INT64_MAX)
		return err_fail(err, -EINVAL,
		    "shared memory %s: impossible size %zu", name, len);
	fd = memfd_begin(name, err);
	if (fd < 0)
		return fd;
	if (allocate(fd, 0, len) != 0) {
		rc = err_errno(err, "shared memory %s: cannot allocate %zu bytes",
		    name, len);
		goto close_fd;
	}
	rc = memfd_seal_size(fd, err);
	if (rc < 0)
		goto close_fd;
	return fd;
close_fd:
	io_close(&fd);
	return rc;
}

/* Shared, and left out of core dumps, which would hold whole data sets. */
static int
map(int fd, size_t len, int prot, void **base, struct ds_err *err)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);
	int rc;

	if (p == MAP_FAILED)
		return err_errno(err, "shared memory: cannot map %zu bytes", len);
	if (madvise(p, len, MADV_DONTDUMP) != 0 ||
	    ((prot & PROT_WRITE) != 0 && madvise(p, len, MADV_DONTFORK) != 0)) {
		rc = err_errno(err, "shared memory: cannot advise %zu bytes", len);
		munmap(p, len);
		return rc;
	}
	*base = p;
	return 0;
}

int
memfd_map_writer(int fd, size_t len, void **base, struct ds_err *err)
{
	return map(fd, len, PROT_READ | PROT_WRITE, base, err);
}

int
memfd_map_reader(int fd, size_t len, void **base, struct ds_err *err)
{
	return map(fd, len, PROT_READ, base, err);
}

int
memfd_seal_new_writers(int fd, struct ds_err *err)
{
	return add_seals(fd, F_SEAL_FUTURE_WRITE, "against new writers", err);
}

int
memfd_seal_to_writer(int fd, struct ds_err *err)
{
	return add_seals(fd, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL,
	    "to its writer", err);
}

int
memfd_seal_all(int fd, struct ds_err *err)
{
	int rc = add_seals(fd, F_SEAL_WRITE, "against all writers", err);

	/* SEAL only after WRITE has held: before, it would forbid WRITE. */
	return rc < 0 ? rc : add_seals(fd, F_SEAL_SEAL, "its seals", err);
}

int
memfd_check(int fd, uint64_t *len, struct ds_err *err)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS ||
	    (seals & (F_SEAL_FUTURE_WRITE | F_SEAL_WRITE)) == 0)
		return err_fail(err, -EBADMSG,
		    "shared memory: the descriptor received is not sealed");
	if (fstat(fd, &st) != 0)
		return err_errno(err, "shared memory: cannot stat");
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return err_fail(err, -EBADMSG,
		    "shared memory: the descriptor received is empty");
	*len = (uint64_t)st.st_size;
	return 0;
}
