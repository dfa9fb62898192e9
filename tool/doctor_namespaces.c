/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_namespaces.c: can this user make a user namespace, and in it a file
 * system of memory that is mounted nowhere?  The cache answers an open() with
 * a file of such a one, which is the fastest way.
 * Runs in the command only, the trying in a child.
 */

#include <config.h>

#include "tool/doctor_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"
#include "tool/doctor_child.h"

/* From linux/mount.h, which does not go together with sys/mount.h of all C
 * libraries. */
#define FSOPEN_CLOEXEC_		0x1
#define FSCONFIG_CMD_CREATE_	6
#define FSMOUNT_CLOEXEC_	0x1

#define LIMIT_MS	3000u
#define MEANS_CACHE	"the cache passes items through the hub's open " \
			"descriptors instead, up to 20 % slower per hit"

/*--- what an errno means -------------------------------------------------*/

const struct doctor_verdict *
doctor_userns_verdict(int e, const struct userns_settings *s)
{
	static const struct doctor_verdict debian = {
		DOCTOR_MISSING, MEANS_CACHE,
		"as root: sysctl kernel.unprivileged_userns_clone=1", false,
	}, none_left = {
		DOCTOR_MISSING, MEANS_CACHE,
		"as root: sysctl user.max_user_namespaces=10000", false,
	}, apparmor = {
		DOCTOR_MISSING, MEANS_CACHE,
		"as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
		false,
	}, container = {
		DOCTOR_MISSING, MEANS_CACHE,
		"if this is a container: allow unshare and mount calls in its "
		"seccomp profile, or start it with --cap-add SYS_ADMIN", false,
	}, kernel = {
		DOCTOR_MISSING, MEANS_CACHE,
		"use a kernel with CONFIG_USER_NS", false,
	};

	if (e == EINVAL || e == ENOSYS)
		return &kernel;
	if (e == ENOSPC || e == EUSERS || s->most == 0)
		return &none_left;
	if (s->clone == 0)
		return &debian;
	return s->apparmor > 0 ? &apparmor : &container;
}

const struct doctor_verdict *
doctor_tmpfs_verdict(int e, const struct userns_settings *s)
{
	static const struct doctor_verdict old = {
		DOCTOR_MISSING, MEANS_CACHE,
		"boot a kernel of 5.2 or later", false,
	}, no_proc = {
		DOCTOR_MISSING, MEANS_CACHE,
		"mount /proc: the users of a namespace are set there", false,
	};

	switch (e) {
	case ENOSYS:
		return &old;
	case ENOENT:
		return &no_proc;
	default:
		/* What the kernel lacks, the namespace itself has shown. */
		return doctor_userns_verdict(e == EINVAL ? EPERM : e, s);
	}
}

/*--- trying, in a child --------------------------------------------------*/

struct userns_answer {
	int userns;		/* errno, or 0 */
	int tmpfs;
};

static int
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = io_write_all(fd, text, strlen(text));
	io_close(&fd);
	return rc;
}

/* Be root of the new namespace: files can only be made by users it knows. */
static int
map_to_root(uid_t uid, gid_t gid)
{
	char map[64];
	int rc;

	rc = write_file("/proc/self/setgroups", "deny");
	if (rc < 0 && rc != -ENOENT)
		return rc;
	(void)snprintf(map, sizeof map, "0 %u 1", uid);
	rc = write_file("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof map, "0 %u 1", gid);
	return rc < 0 ? rc : write_file("/proc/self/gid_map", map);
}

/* The directory of a tmpfs that is mounted nowhere, or -errno. */
static int
open_tmpfs(void)
{
	int dir, fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC_);

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE_, NULL, NULL, 0) != 0)
		return -errno;
	dir = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC_, 0);
	return dir < 0 ? -errno : dir;
}

static int
try_tmpfs(uid_t uid, gid_t gid)
{
	char text[8];
	int dir, fd, rc;

	if (unshare(CLONE_NEWNS) != 0)
		return -errno;
	rc = map_to_root(uid, gid);
	if (rc < 0)
		return rc;
	dir = open_tmpfs();
	if (dir < 0)
		return dir;
	fd = openat(dir, "probe", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = io_write_all(fd, "probe", 5);
	if (rc == 0 && (io_read_text(dir, "probe", text, sizeof text) != 5 ||
	    memcmp(text, "probe", 5) != 0))
		rc = -EIO;
	return rc;
}

/* The descriptors go with the child. */
static void
try_all(int out, void *arg)
{
	struct userns_answer a = { 0, 0 };
	uid_t uid = geteuid();
	gid_t gid = getegid();

	(void)arg;
	if (unshare(CLONE_NEWUSER) != 0)
		a.userns = errno;
	else
		a.tmpfs = -try_tmpfs(uid, gid);
	(void)io_write_all(out, &a, sizeof a);
}

/*--- the rows ------------------------------------------------------------*/

static int
read_setting(const char *path)
{
	char text[32];
	uint64_t n;

	if (io_read_text(AT_FDCWD, path, text, sizeof text) < 0 ||
	    parse_count(text, 0, INT32_MAX, &n, NULL) < 0)
		return -1;
	return (int)n;
}

static void
add_rows(struct doctor_report *r, const struct userns_answer *a)
{
	const struct userns_settings s = {
		read_setting("/proc/sys/kernel/unprivileged_userns_clone"),
		read_setting("/proc/sys/kernel/"
		    "apparmor_restrict_unprivileged_userns"),
		read_setting("/proc/sys/user/max_user_namespaces"),
	};

	if (a->userns != 0) {
		doctor_add(r, "user namespaces",
		    doctor_userns_verdict(a->userns, &s), "unshare: %s",
		    doctor_errno(a->userns));
		doctor_add(r, "detached tmpfs",
		    doctor_userns_verdict(a->userns, &s),
		    "needs a user namespace");
		return;
	}
	doctor_add(r, "user namespaces", &doctor_fine,
	    "unshare(CLONE_NEWUSER) works");
	if (a->tmpfs != 0)
		doctor_add(r, "detached tmpfs",
		    doctor_blame(a->tmpfs, doctor_tmpfs_verdict(a->tmpfs, &s)),
		    "in a user namespace: %s", doctor_errno(a->tmpfs));
	else
		doctor_add(r, "detached tmpfs", &doctor_fine,
		    "made in a user namespace with fsopen and fsmount");
}

void
doctor_namespaces(struct doctor_report *r)
{
	static const struct doctor_verdict unknown = {
		DOCTOR_LIMITED, MEANS_CACHE " if it does not work",
		"look for the reason in the kernel's log", false,
	};
	struct userns_answer a;
	struct child c;
	char why[128];

	child_ask(&c, try_all, NULL, LIMIT_MS);
	if (child_answered(&c, &a, sizeof a)) {
		add_rows(r, &a);
		return;
	}
	child_explain(&c, why, sizeof why);
	doctor_add(r, "user namespaces", child_blame(&c, &unknown),
	    "the trial %s", why);
	doctor_add(r, "detached tmpfs", child_blame(&c, &unknown),
	    "the trial %s", why);
}
