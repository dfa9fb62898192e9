/* SPDX-License-Identifier: Apache-2.0
 *
 * lock.c: one hub per folder.  Runs in the hub, and in the command that waits
 * for its end.
 */

#include <config.h>

#include "hub/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "hub/rundir.h"

#define POLL_MS	10

static int
open_lock(int dir, const char *where, struct ds_err *err)
{
	int fd = openat(dir, RUNDIR_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(err, "hub: cannot open %s/" RUNDIR_LOCK, where);
	return fd;
}

/* Is what we locked still what the name means?  Whoever cleaned the folder
 * meanwhile made way for another lock of the same name. */
static bool
has_name(int fd, int dir)
{
	struct stat mine, named;

	return fstat(fd, &mine) == 0 &&
	    fstatat(dir, RUNDIR_LOCK, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

static int
try_lock(int fd)
{
	int rc;

	do {
		rc = flock(fd, LOCK_EX | LOCK_NB);
	} while (rc != 0 && errno == EINTR);
	return rc;
}

int
lock_take(int dir, const char *where, struct ds_err *err)
{
	int fd, rc;

	for (int attempt = 0; attempt < 100; attempt++) {
		fd = open_lock(dir, where, err);
		if (fd < 0)
			return fd;
		if (try_lock(fd) != 0) {
			rc = errno == EWOULDBLOCK ? err_fail(err, -EALREADY,
			    "another hub is at work in %s", where) :
			    err_errno(err, "hub: cannot lock %s/" RUNDIR_LOCK,
			    where);
			io_close(&fd);
			return rc;
		}
		if (has_name(fd, dir))
			return fd;
		io_close(&fd);
	}
	return err_fail(err, -ESTALE, "hub: somebody keeps removing %s/"
	    RUNDIR_LOCK, where);
}

int
lock_wait_free(int dir, const char *where, uint64_t deadline_ns,
    struct ds_err *err)
{
	int fd = open_lock(dir, where, err), rc = 0;

	if (fd < 0)
		return fd;
	while (rc == 0 && try_lock(fd) != 0) {
		if (clock_now_ns() >= deadline_ns)
			rc = err_fail(err, -ETIMEDOUT,
			    "the hub in %s has not left yet", where);
		else
			(void)poll(NULL, 0, POLL_MS);
	}
	io_close(&fd);
	return rc;
}
