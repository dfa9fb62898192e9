/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_attr.c: what is asked or said of a descriptor, and means the file.
 * Runs in jobs, in the preload object.
 *
 * Attributes, mode, owner, times and file system of a substitute are of no
 * interest, and a job must not change them.  The call is made on a descriptor
 * of the file itself, opened for it alone; where that is gone, what would change
 * the substitute is refused.
 */

#include <config.h>

#include "preload/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "preload/guard.h"
#include "preload/origin.h"

struct reach {
	int		fd;		/* to make the call on */
	bool		is_own;
	bool		is_gone;	/* the file; fd is its substitute */
	struct guard	guard;
};

/* By the raw function: ours would hide what it is. */
static bool
is_suspect(int fd)
{
	real_fstat *call = REAL(fstat);
	int error = errno;
	struct stat st;
	bool yes;

	yes = call != NULL && call(fd, &st) == 0 && origin_suspect(st.st_mode);
	errno = error;
	return yes;
}

static void
reach_file(struct reach *r, int fd)
{
	int own;

	*r = (struct reach){ .fd = fd };
	if (!guard_is_open() || !is_suspect(fd) || !guard_enter(&r->guard))
		return;
	own = origin_reopen(fd);
	if (own < 0) {
		r->is_gone = own == ORIGIN_GONE;
		guard_leave(&r->guard);
		return;
	}
	r->fd = own;
	r->is_own = true;
}

/* errno is that of the call, as if it had been made on the program's own. */
static void
let_go(const struct reach *r)
{
	int error = errno;

	if (!r->is_own)
		return;
	close(r->fd);
	guard_leave(&r->guard);
	errno = error;
}

/* As the kernel says it of a store that is mounted for reading. */
static int
refuse(void)
{
	errno = EROFS;
	return -1;
}

#define DEFINE_ON_FILE(type, name, params, args) \
type \
wrap_##name params \
{ \
	real_##name *call = REAL(name); \
	struct reach r; \
	type rc; \
\
	if (call == NULL) \
		return -1; \
	reach_file(&r, fd); \
	rc = call args; \
	let_go(&r); \
	return rc; \
}

#define DEFINE_CHANGE(name, params, args) \
int \
wrap_##name params \
{ \
	real_##name *call = REAL(name); \
	struct reach r; \
	int rc; \
\
	if (call == NULL) \
		return -1; \
	reach_file(&r, fd); \
	if (r.is_gone) \
		return refuse(); \
	rc = call args; \
	let_go(&r); \
	return rc; \
}

DEFINE_ON_FILE(ssize_t, fgetxattr,
    (int fd, const char *name, void *value, size_t size),
    (r.fd, name, value, size))
DEFINE_ON_FILE(ssize_t, flistxattr, (int fd, char *names, size_t size),
    (r.fd, names, size))
DEFINE_CHANGE(fsetxattr,
    (int fd, const char *name, const void *value, size_t size, int flags),
    (r.fd, name, value, size, flags))
DEFINE_CHANGE(fremovexattr, (int fd, const char *name), (r.fd, name))
DEFINE_CHANGE(fchmod, (int fd, mode_t mode), (r.fd, mode))
DEFINE_CHANGE(fchown, (int fd, uid_t uid, gid_t gid), (r.fd, uid, gid))
DEFINE_CHANGE(futimens, (int fd, const struct timespec times[2]),
    (r.fd, times))
DEFINE_CHANGE(futimes, (int fd, const struct timeval times[2]),
    (r.fd, times))
DEFINE_ON_FILE(int, fstatfs, (int fd, struct statfs *sf), (r.fd, sf))
DEFINE_ON_FILE(int, fstatfs64, (int fd, struct statfs *sf), (r.fd, sf))
DEFINE_ON_FILE(int, fstatvfs, (int fd, struct statvfs *sv), (r.fd, sv))
DEFINE_ON_FILE(int, fstatvfs64, (int fd, struct statvfs *sv), (r.fd, sv))

/* These have a path, which may be none: then they mean the descriptor.  One
 * that is not empty finds the same below the file as below its substitute:
 * nothing; so it need not be looked at. */
#define DEFINE_AT_FILE(name, params, args) \
int \
wrap_##name params \
{ \
	real_##name *call = REAL(name); \
	struct reach r = { .fd = dir }; \
	int rc; \
\
	if (call == NULL) \
		return -1; \
	if (dir >= 0 && (path == NULL || (flags & AT_EMPTY_PATH) != 0)) \
		reach_file(&r, dir); \
	if (r.is_gone) \
		return refuse(); \
	rc = call args; \
	let_go(&r); \
	return rc; \
}

DEFINE_AT_FILE(fchmodat, (int dir, const char *path, mode_t mode, int flags),
    (r.fd, path, mode, flags))
DEFINE_AT_FILE(fchownat,
    (int dir, const char *path, uid_t uid, gid_t gid, int flags),
    (r.fd, path, uid, gid, flags))
DEFINE_AT_FILE(utimensat,
    (int dir, const char *path, const struct timespec times[2], int flags),
    (r.fd, path, times, flags))
