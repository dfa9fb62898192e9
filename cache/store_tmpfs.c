/* SPDX-License-Identifier: Apache-2.0
 *
 * store_tmpfs.c: a file system of memory that is mounted nowhere.
 * Runs in the hub only, a part of it in a child of the hub.
 *
 * Only the owner of a user namespace may mount without being root.  The hub
 * itself does not enter one, since it would lose its name in /proc and its
 * limits there; a child does, mounts, hands the descriptors back and ends.  The
 * mount lives as long as a descriptor of it.
 */

#include <config.h>

#include "cache/store_tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "base/wire.h"

/* From linux/mount.h, which does not go together with sys/mount.h of all C
 * libraries. */
#define FSOPEN_CLOEXEC_		0x1u
#define FSCONFIG_SET_STRING_	1u
#define FSCONFIG_CMD_CREATE_	6u
#define FSMOUNT_CLOEXEC_	0x1u
#define OPEN_TREE_CLONE_	0x1u
#define MOUNT_ATTR_RDONLY_	0x1u
#define MOUNT_ATTR_NOSUID_	0x2u
#define MOUNT_ATTR_NODEV_	0x4u
#define MOUNT_ATTR_NOEXEC_	0x8u

struct mount_attr_ {
	uint64_t attr_set;
	uint64_t attr_clr;
	uint64_t propagation;
	uint64_t userns_fd;
};

#define NO_HARM	(MOUNT_ATTR_NOSUID_ | MOUNT_ATTR_NODEV_ | MOUNT_ATTR_NOEXEC_)

/*--- mounting ------------------------------------------------------------*/

static int
set(int fs, const char *key, const char *value)
{
	return (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING_, key, value,
	    0);
}

/* Large pages where they fit within a file: they make fetching an item and
 * reading it up to twice as fast, and cost no memory.  Older kernels do not
 * have them. */
static int
configure(int fs, uint64_t limit_bytes)
{
	char size[32];

	(void)snprintf(size, sizeof size, "%" PRIu64, limit_bytes);
	if (set(fs, "size", size) != 0 || set(fs, "nr_inodes", "0") != 0 ||
	    set(fs, "mode", "0700") != 0)
		return -errno;
	(void)set(fs, "huge", "within_size");
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE_, NULL, NULL, 0) != 0)
		return -errno;
	return 0;
}

static int
mount_detached(uint64_t limit_bytes)
{
	int dir, fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC_);
	int rc;

	if (fs < 0)
		return -errno;
	rc = configure(fs, limit_bytes);
	if (rc == 0) {
		dir = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC_, NO_HARM);
		rc = dir < 0 ? -errno : dir;
	}
	io_close(&fs);
	return rc;
}

/* The same mount once more, read-only. */
static int
clone_view(int dir)
{
	struct mount_attr_ attr = { .attr_set = MOUNT_ATTR_RDONLY_ | NO_HARM };
	int rc, view = (int)syscall(SYS_open_tree, dir, "",
	    OPEN_TREE_CLONE_ | AT_EMPTY_PATH | O_CLOEXEC);

	if (view < 0)
		return -errno;
	if (syscall(SYS_mount_setattr, view, "", AT_EMPTY_PATH, &attr,
	    sizeof attr) != 0) {
		rc = -errno;
		io_close(&view);
		return rc;
	}
	return view;
}

static int
mount_both(uint64_t limit_bytes, int *dir, int *view)
{
	*dir = mount_detached(limit_bytes);
	if (*dir < 0)
		return *dir;
	*view = clone_view(*dir);
	if (*view < 0) {
		io_close(dir);
		return *view;
	}
	return 0;
}

/*--- in a child, as the owner of a user namespace ------------------------*/

static int
write_text(const char *path, const char *text)
{
	int rc, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	rc = io_write_all(fd, text, strlen(text));
	io_close(&fd);
	return rc;
}

/* Known there by the same number, so that the hub's files are the hub's. */
static int
enter_namespace(uid_t uid, gid_t gid)
{
	char map[64];
	int rc;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return -errno;
	rc = write_text("/proc/self/setgroups", "deny");
	if (rc < 0 && rc != -ENOENT)
		return rc;
	(void)snprintf(map, sizeof map, "%u %u 1", uid, uid);
	rc = write_text("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof map, "%u %u 1", gid, gid);
	return rc < 0 ? rc : write_text("/proc/self/gid_map", map);
}

/* The answer: the errno as the frame's type, and on success two descriptors. */
static _Noreturn void
serve_mount(int sock, uint64_t limit_bytes)
{
	struct wire_frame frame;
	struct wire_writer w;
	int dir, view, rc;

	rc = enter_namespace(geteuid(), getegid());
	if (rc == 0)
		rc = mount_both(limit_bytes, &dir, &view);
	wire_write(&w, &frame, (uint16_t)-rc, 0);
	if (rc == 0) {
		wire_put_fd(&w, dir);
		wire_put_fd(&w, view);
	}
	_exit(wire_send(sock, &frame, NULL) == 0 ? 0 : 1);
}

static int
take_answer(int sock, int *dir, int *view)
{
	struct wire_frame frame;
	int rc = wire_recv(sock, &frame, NULL);

	if (rc <= 0)
		return rc < 0 ? rc : -ECHILD;
	if (frame.head.type == 0 && frame.nr_fds == 2) {
		*dir = frame.fds[0];
		*view = frame.fds[1];
		return 0;
	}
	wire_close_fds(&frame);
	return frame.head.type != 0 ? -(int)frame.head.type : -EBADMSG;
}

static int
mount_in_child(uint64_t limit_bytes, int *dir, int *view)
{
	int ends[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		serve_mount(ends[1], limit_bytes);
	rc = pid < 0 ? -errno : 0;
	io_close(&ends[1]);
	if (rc == 0) {
		rc = take_answer(ends[0], dir, view);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	io_close(&ends[0]);
	return rc;
}

int
store_tmpfs_open(uint64_t limit_bytes, int *dir, int *view, struct ds_err *err)
{
	int rc;

	must(limit_bytes > 0);		/* 0 would mean no limit */
	rc = mount_both(limit_bytes, dir, view);
	if (rc == -EPERM)
		rc = mount_in_child(limit_bytes, dir, view);
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "cache: cannot make a file system of "
		    "memory");
	}
	return 0;
}
