/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_namespaces.c: can this user have a store for the cache that is mounted
 * nowhere (cache/store.h)?  Unless he is root, that takes a user namespace.
 * Runs in the command only, the trying in a child.
 */

#include <config.h>

#include "tool/doctor_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>

#include "base/io.h"
#include "base/parse.h"
#include "cache/store.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	3000u
#define STORE_BYTES	(UINT64_C(1) << 20)
#define MEANS_CACHE	"the cache lies in a folder of /dev/shm instead, and " \
			"is no larger than that"

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

/* Both go with the child. */
static void
try_all(int out, void *arg)
{
	struct userns_answer a = { 0, 0 };
	struct store *s;

	(void)arg;
	a.tmpfs = -store_new(&s, STORE_BYTES, NULL);
	if (unshare(CLONE_NEWUSER) != 0)
		a.userns = errno;
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

	if (a->userns != 0)
		doctor_add(r, "user namespaces",
		    doctor_userns_verdict(a->userns, &s), "unshare: %s",
		    doctor_errno(a->userns));
	else
		doctor_add(r, "user namespaces", &doctor_fine,
		    "unshare(CLONE_NEWUSER) works");
	if (a->tmpfs == 0)
		doctor_add(r, "detached tmpfs", &doctor_fine,
		    "a store for the cache was made");
	else
		doctor_add(r, "detached tmpfs",
		    doctor_blame(a->tmpfs, doctor_tmpfs_verdict(a->tmpfs, &s)),
		    "no store for the cache: %s", doctor_errno(a->tmpfs));
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
