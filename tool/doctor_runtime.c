/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_runtime.c: can the hub have its socket, and where?
 * Runs in the command only; makes nothing.
 *
 * The directory is $XDG_RUNTIME_DIR/destall, or one of our own under the
 * temporary directory; DESTALL_HUB names another socket.
 */

#include <config.h>

#include "tool/doctor_runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME	"ctl.sock"
#define SOCKET_MAX	(sizeof ((struct sockaddr_un *)0)->sun_path - 1)

static bool
is_given(const char *value)
{
	return value != NULL && value[0] == '/';
}

int
doctor_runtime_place(struct runtime_place *p, const char *hub,
    const char *xdg, const char *tmpdir, unsigned uid)
{
	char *slash;
	int n;

	p->from = is_given(hub) ? "DESTALL_HUB" :
	    is_given(xdg) ? "XDG_RUNTIME_DIR" :
	    is_given(tmpdir) ? "TMPDIR" : NULL;
	if (is_given(hub)) {
		n = snprintf(p->socket, sizeof p->socket, "%s", hub);
		(void)snprintf(p->dir, sizeof p->dir, "%s", hub);
		slash = strrchr(p->dir, '/');
		slash[slash == p->dir] = '\0';
	} else {
		if (is_given(xdg))
			(void)snprintf(p->dir, sizeof p->dir, "%s/destall", xdg);
		else
			(void)snprintf(p->dir, sizeof p->dir, "%s/destall-%u",
			    is_given(tmpdir) ? tmpdir : "/tmp", uid);
		n = snprintf(p->socket, sizeof p->socket, "%.*s/" SOCKET_NAME,
		    (int)sizeof p->socket - 16, p->dir);
	}
	return n < 0 || (size_t)n > SOCKET_MAX ? -ENAMETOOLONG : 0;
}

/* Can the directory be used as it is or, if it is not there, be made?  0, or
 * -errno: -EPERM for one that is somebody else's or open to others. */
static int
try_dir(const struct runtime_place *p)
{
	char parent[RUNTIME_PATH];
	struct stat st;
	char *slash;

	if (lstat(p->dir, &st) == 0) {
		if (!S_ISDIR(st.st_mode))
			return -ENOTDIR;
		if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
			return -EPERM;
		return 0;
	}
	if (errno != ENOENT)
		return -errno;
	strcpy(parent, p->dir);
	slash = strrchr(parent, '/');
	slash[slash == parent] = '\0';
	if (stat(parent, &st) != 0)
		return -errno;
	/* Where others may write, they may rename ours away; a sticky folder
	 * such as /tmp forbids that. */
	if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)
		return -EPERM;
	return access(parent, W_OK | X_OK) == 0 ? 0 : -errno;
}

void
doctor_runtime(struct doctor_report *r)
{
	static const struct doctor_verdict too_long = {
		DOCTOR_MISSING,
		"the hub cannot have its socket, so there is no cache and no "
		"sharing",
		"set DESTALL_HUB to a shorter path", true,
	}, relative = {
		DOCTOR_MISSING,
		"jobs in other folders would look for another hub, so there is "
		"no cache and no sharing",
		"set DESTALL_HUB to a path that begins with /", true,
	}, not_ours = {
		DOCTOR_MISSING,
		"the hub refuses a directory that others can reach, so there "
		"is no cache and no sharing",
		"chmod it to 0700 if it is yours, or set DESTALL_HUB to a "
		"socket in a directory that is", true,
	}, unusable = {
		DOCTOR_MISSING,
		"the hub cannot have its socket, so there is no cache and no "
		"sharing",
		"set XDG_RUNTIME_DIR to a directory of yours with mode 0700, or "
		"DESTALL_HUB to a socket in one", true,
	};
	static const char name[] = "runtime directory";
	const char *hub = getenv("DESTALL_HUB");
	struct runtime_place p;
	int rc;

	if (hub != NULL && *hub != '\0' && *hub != '/') {
		doctor_add(r, name, &relative, "DESTALL_HUB=%.200s is not an "
		    "absolute path", hub);
		return;
	}
	rc = doctor_runtime_place(&p, hub,
	    getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), geteuid());
	if (rc < 0) {
		doctor_add(r, name, &too_long, "%.200s: longer than the %zu "
		    "bytes that a socket may have", p.socket, SOCKET_MAX);
		return;
	}
	rc = try_dir(&p);
	if (rc < 0)
		doctor_add(r, name, rc == -EPERM ? &not_ours : &unusable,
		    "%s: %s", p.dir, rc == -EPERM ?
		    "not ours alone" : doctor_errno(-rc));
	else
		doctor_add(r, name, &doctor_fine, "%s, by %s", p.dir,
		    p.from != NULL ? p.from : "default: no XDG_RUNTIME_DIR");
}
