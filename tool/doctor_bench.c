/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_bench.c: what benchmarks and fault tests can use here: groups of
 * their own to limit memory and slow storage down, FUSE, strace.
 * Runs in the command only.
 *
 * A child cgroup is really made and removed again: permissions and delegation
 * have too many rules to guess.  No process is moved.
 */

#include <config.h>

#include "tool/doctor_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/io.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	3000u

/*--- what an errno means -------------------------------------------------*/

#define MEANS_SLOW \
	"benchmarks that need it use a slower way or are skipped; destall " \
	"itself does not need it"

const struct doctor_verdict *
doctor_group_verdict(int version, int e)
{
	static const struct doctor_verdict user = {
		DOCTOR_MISSING, MEANS_SLOW,
		"run benchmarks as root, or in a group of your own: systemd-run "
		"--user --scope -p Delegate=yes", false,
	}, read_only = {
		DOCTOR_MISSING, MEANS_SLOW,
		"mount the cgroup file system writable (docker run --privileged, "
		"or -v /sys/fs/cgroup:/sys/fs/cgroup:rw)", false,
	}, not_enabled = {
		DOCTOR_LIMITED, MEANS_SLOW,
		"pass the controller on: move the processes of this group to a "
		"child and write +memory +io to cgroup.subtree_control", false,
	}, not_built = {
		DOCTOR_MISSING, MEANS_SLOW,
		"use a kernel with CONFIG_MEMCG and CONFIG_BLK_DEV_THROTTLING, "
		"and mount the cgroup file system", false,
	};

	switch (e) {
	case 0:
		return &doctor_fine;
	case EROFS:
		return &read_only;
	case EACCES:
	case EPERM:
		return &user;
	case ENOENT:
		return version == 2 ? &not_enabled : &not_built;
	default:
		return &not_built;
	}
}

const struct doctor_verdict *
doctor_fuse_verdict(int e)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING, MEANS_SLOW,
		"as root: modprobe fuse; in a container: docker run --device "
		"/dev/fuse --cap-add SYS_ADMIN", false,
	}, refused = {
		DOCTOR_MISSING, MEANS_SLOW,
		"as root: chmod 666 /dev/fuse, as distributions do; in a container "
		"also: docker run --device /dev/fuse --cap-add SYS_ADMIN", false,
	};

	if (e == 0)
		return &doctor_fine;
	return e == EACCES || e == EPERM ? &refused : &none;
}

/*--- child cgroups -------------------------------------------------------*/

/* Makes a child of the group, looks whether it has the file, removes it. */
static int
try_child_group(const struct cgroup *g, const char *file)
{
	char dir[CGROUP_PATH + 64], path[CGROUP_PATH + 128];
	sigset_t all, before;
	int rc = 0;

	(void)snprintf(dir, sizeof dir, "%s/destall-doctor-%d", g->dir,
	    (int)getpid());
	(void)snprintf(path, sizeof path, "%s/%s", dir, file);
	/* Ctrl-C between the two would leave the group behind. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (mkdir(dir, 0700) != 0) {
		rc = -errno;
	} else {
		if (access(path, F_OK) != 0)
			rc = -errno;
		if (rmdir(dir) != 0 && rc == 0)
			rc = -errno;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void
check_group(struct doctor_report *r, const char *name,
    const char *controllers[2], const char *files[2])
{
	struct ds_err err;
	struct cgroup g;
	int rc;

	/* Version 1 and version 2 have other names for the same. */
	rc = cgroup_find(&g, "/", controllers[0], &err);
	if (rc < 0 || g.version != 1)
		rc = cgroup_find(&g, "/", controllers[1], &err);
	if (rc < 0) {
		doctor_add(r, name, doctor_group_verdict(1, ENOENT), "%s",
		    err.text);
		return;
	}
	rc = try_child_group(&g, files[g.version - 1]);
	if (rc < 0)
		doctor_add(r, name, doctor_group_verdict(g.version, -rc),
		    "a child of %.200s: %s", g.dir, rc == -ENOENT ?
		    "its controller is not passed on" : doctor_errno(-rc));
	else
		doctor_add(r, name, &doctor_fine,
		    "version %d, made and removed a child of %.200s",
		    g.version, g.dir);
}

static void
check_groups(struct doctor_report *r)
{
	const char *memory[] = { "memory", "memory" };
	const char *memory_files[] = { "memory.limit_in_bytes", "memory.max" };
	const char *disk[] = { "blkio", "io" };
	const char *disk_files[] = {
		"blkio.throttle.read_bps_device", "io.max",
	};

	check_group(r, "memory cgroup", memory, memory_files);
	check_group(r, "disk throttling", disk, disk_files);
}

/*--- FUSE, strace --------------------------------------------------------*/

static void
check_fuse(struct doctor_report *r)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		doctor_add(r, "FUSE",
		    doctor_blame(errno, doctor_fuse_verdict(errno)),
		    "/dev/fuse: %s", doctor_errno(errno));
	else
		doctor_add(r, "FUSE", &doctor_fine, "/dev/fuse opens");
	io_close(&fd);
}

/* A child that lets itself be traced tells with its status whether it may. */
static void
try_ptrace(int out, void *arg)
{
	int status, e = ECHILD;
	pid_t pid = fork();

	(void)arg;
	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno);
	if (pid < 0)
		e = errno;
	else if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		e = WEXITSTATUS(status);
	(void)io_write_all(out, &e, sizeof e);
}

static bool
find_strace(char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	size_t len;

	if (dirs == NULL)
		dirs = "/usr/bin:/bin";
	for (; dirs != NULL; dirs = dirs[len] == ':' ? dirs + len + 1 : NULL) {
		len = strcspn(dirs, ":");
		if (len == 0 || dirs[0] != '/' || len + 8 > PATH_MAX)
			continue;
		(void)snprintf(path, PATH_MAX, "%.*s/strace", (int)len, dirs);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static void
check_strace(struct doctor_report *r)
{
#define MEANS_FAULTS \
	"tests that make system calls fail are skipped; destall itself does " \
	"not need it"
	static const struct doctor_verdict none = {
		DOCTOR_MISSING, MEANS_FAULTS,
		"install strace (Debian, Ubuntu: apt-get install strace)", false,
	}, refused = {
		DOCTOR_MISSING, MEANS_FAULTS,
		"as root: sysctl kernel.yama.ptrace_scope=1; in a container: "
		"docker run --cap-add SYS_PTRACE", false,
	};
	char path[PATH_MAX], why[128];
	struct child c;
	int e;

	if (!find_strace(path)) {
		doctor_add(r, "strace", &none, "not on PATH");
		return;
	}
	child_ask(&c, try_ptrace, NULL, LIMIT_MS);
	if (!child_answered(&c, &e, sizeof e)) {
		child_explain(&c, why, sizeof why);
		doctor_add(r, "strace", child_blame(&c, &refused),
		    "the trial of ptrace %s", why);
	} else if (e != 0) {
		doctor_add(r, "strace", doctor_blame(e, &refused),
		    "%.200s, but ptrace: %s", path, doctor_errno(e));
	} else {
		doctor_add(r, "strace", &doctor_fine,
		    "%.200s, and ptrace is allowed", path);
	}
}

void
doctor_bench(struct doctor_report *r)
{
	check_groups(r);
	check_fuse(r);
	check_strace(r);
}
