/* SPDX-License-Identifier: Apache-2.0
 *
 * door.c: the socket that clients come by.  Runs in the hub only.
 */

#include <config.h>

#include "hub/door.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"

#define BACKLOG	512

static int
remove_stale(const struct door *d, struct ds_err *err)
{
	struct stat st;

	if (fstatat(d->dir, d->place->name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno == ENOENT)
			return 0;
		return err_errno(err, "hub: cannot look at %s", d->place->socket);
	}
	if (!S_ISSOCK(st.st_mode))
		return err_fail(err, -EEXIST, "hub: %s is there and no socket: "
		    "remove it, or set DESTALL_HUB", d->place->socket);
	if (unlinkat(d->dir, d->place->name, 0) != 0)
		return err_errno(err, "hub: cannot remove the stale socket %s",
		    d->place->socket);
	return 0;
}

/* bind() knows no directory descriptor but the working directory.  The umask
 * is 077 already: there is no moment in which others could connect. */
static int
bind_name(const struct door *d, struct ds_err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int rc = 0;

	must(strlen(d->place->name) < sizeof a.sun_path);
	strcpy(a.sun_path, d->place->name);
	if (fchdir(d->dir) != 0 ||
	    bind(d->fd, (const struct sockaddr *)&a, sizeof a) != 0)
		rc = err_errno(err, "hub: cannot make the socket %s",
		    d->place->socket);
	if (chdir("/") != 0 && rc == 0)
		rc = err_errno(err, "hub: cannot go to /");
	return rc;
}

static int
remember_name(struct door *d, struct ds_err *err)
{
	struct stat st;

	if (fstatat(d->dir, d->place->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return err_errno(err, "hub: %s is gone", d->place->socket);
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	return 0;
}

static int
start_listening(struct door *d, struct ds_err *err)
{
	int rc;

	rc = remove_stale(d, err);
	if (rc == 0)
		rc = bind_name(d, err);
	if (rc == 0)
		rc = remember_name(d, err);
	if (rc < 0)
		return rc;
	rc = crash_point("hub.bound");
	if (rc < 0)
		return err_fail(err, rc, "hub: failed as told");
	if (listen(d->fd, BACKLOG) != 0)
		return err_errno(err, "hub: cannot listen at %s",
		    d->place->socket);
	return 0;
}

int
door_open(struct door *d, int dir, const struct rundir *place,
    struct ds_err *err)
{
	int rc;

	*d = (struct door){ .dir = dir, .place = place };
	d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	if (d->fd < 0)
		return err_errno(err, "hub: cannot make a socket");
	rc = start_listening(d, err);
	if (rc < 0)
		door_close(d);
	return rc;
}

bool
door_is_ours(const struct door *d)
{
	struct stat st;

	return lstat(d->place->socket, &st) == 0 && st.st_dev == d->dev &&
	    st.st_ino == d->ino;
}

void
door_close(struct door *d)
{
	struct stat st;

	if (d->fd < 0)
		return;
	if (d->ino != 0 && fstatat(d->dir, d->place->name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == d->dev &&
	    st.st_ino == d->ino)
		(void)unlinkat(d->dir, d->place->name, 0);
	io_close(&d->fd);
}
