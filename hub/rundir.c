/* SPDX-License-Identifier: Apache-2.0
 *
 * rundir.c: where the hub of this user is found.  Runs in hub and clients.
 */

#include <config.h>

#include "hub/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/env.h"
#include "base/io.h"

#define SOCKET_NAME	"ctl.sock"
#define SOCKET_MAX	(sizeof ((struct sockaddr_un *)0)->sun_path - 1)
#define DIR_FLAGS	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool
is_absolute(const char *value)
{
	return value != NULL && value[0] == '/';
}

/* The folder that a path lies in. */
static void
cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path] = '\0';
}

/* Names that the folder has other uses for. */
static bool
is_taken(const char *name)
{
	static const char *const taken[] = {
		"", ".", "..", RUNDIR_LOCK, RUNDIR_START, RUNDIR_LOG,
	};

	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(name, taken[i]) == 0)
			return true;
	return strncmp(name, RUNDIR_LOG ".", sizeof RUNDIR_LOG) == 0 ||
	    strncmp(name, RUNDIR_SAID, sizeof RUNDIR_SAID - 1) == 0;
}

/* Cut, if need be, to what is refused as too long all the same. */
static void
set_dir(struct rundir *r, const char *xdg, const char *tmpdir, unsigned uid)
{
	if (is_absolute(xdg))
		(void)snprintf(r->dir, sizeof r->dir, "%s/destall", xdg);
	else
		(void)snprintf(r->dir, sizeof r->dir, "%s/destall-%u",
		    is_absolute(tmpdir) ? tmpdir : "/tmp", uid);
	(void)snprintf(r->socket, sizeof r->socket, "%.*s/" SOCKET_NAME,
	    (int)(sizeof r->socket - sizeof SOCKET_NAME - 1), r->dir);
}

int
rundir_place(struct rundir *r, const char *hub, const char *xdg,
    const char *tmpdir, unsigned uid, struct ds_err *err)
{
	bool given = hub != NULL && *hub != '\0';

	*r = (struct rundir){ .from = given ? "DESTALL_HUB" :
	    is_absolute(xdg) ? "XDG_RUNTIME_DIR" :
	    is_absolute(tmpdir) ? "TMPDIR" : NULL };
	r->name = r->socket;
	if (given && *hub != '/')
		return err_fail(err, -EINVAL,
		    "DESTALL_HUB=%.200s is not an absolute path", hub);
	if (given) {
		(void)snprintf(r->socket, sizeof r->socket, "%s", hub);
		strcpy(r->dir, r->socket);
		cut_name(r->dir);
	} else {
		set_dir(r, xdg, tmpdir, uid);
	}
	r->name = strrchr(r->socket, '/') + 1;
	if (strlen(r->socket) > SOCKET_MAX)
		return err_fail(err, -ENAMETOOLONG, "%.200s: longer than the "
		    "%zu bytes that a socket may have", r->socket, SOCKET_MAX);
	if (is_taken(r->name))
		return err_fail(err, -EINVAL,
		    "DESTALL_HUB=%.200s is not the name of a socket", hub);
	return 0;
}

int
rundir_find(struct rundir *r, struct ds_err *err)
{
	int rc = rundir_place(r, env_get("DESTALL_HUB"),
	    env_get("XDG_RUNTIME_DIR"), env_get("TMPDIR"), geteuid(), err);

	if (rc == -ENAMETOOLONG)
		return err_hint(err, rc, "set DESTALL_HUB to a shorter path");
	return rc;
}

static int
refuse_open(const char *dir, struct ds_err *err)
{
	(void)err_fail(err, -EPERM, "the hub's folder %s: not ours alone", dir);
	return err_hint(err, -EPERM, "chmod it to 0700 if it is yours, or set "
	    "DESTALL_HUB to a socket in a folder that is");
}

int
rundir_look(const struct rundir *r, struct ds_err *err)
{
	struct stat st;
	int fd, rc;

	fd = open(r->dir, DIR_FLAGS);
	if (fd < 0)
		return err_errno(err, "the hub's folder %s", r->dir);
	if (fstat(fd, &st) != 0)
		rc = err_errno(err, "the hub's folder %s", r->dir);
	else if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		rc = refuse_open(r->dir, err);
	else
		return fd;
	io_close(&fd);
	return rc;
}

/* May the folder be made where it is not?  Where others may write, they may
 * rename ours away; a sticky folder such as /tmp forbids that. */
static int
check_parent(const struct rundir *r, struct ds_err *err)
{
	char parent[RUNDIR_PATH];
	struct stat st;

	strcpy(parent, r->dir);
	cut_name(parent);
	if (stat(parent, &st) != 0 || access(parent, W_OK | X_OK) != 0)
		return err_errno(err, "cannot make the hub's folder %s", r->dir);
	if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)
		return refuse_open(parent, err);
	return 0;
}

int
rundir_try(const struct rundir *r, struct ds_err *err)
{
	int fd = rundir_look(r, err), rc = fd < 0 ? fd : 0;

	io_close(&fd);
	return rc == -ENOENT ? check_parent(r, err) : rc;
}

int
rundir_open(const struct rundir *r, struct ds_err *err)
{
	int rc;

	rc = rundir_look(r, err);
	if (rc != -ENOENT)
		return rc;
	rc = check_parent(r, err);
	if (rc < 0)
		return rc;
	if (mkdir(r->dir, 0700) != 0 && errno != EEXIST)
		return err_errno(err, "cannot make the hub's folder %s", r->dir);
	return rundir_look(r, err);
}
