/* SPDX-License-Identifier: Apache-2.0
 *
 * caller.c: who is at the other end of a socket.  Runs in the hub only.
 */

#include <config.h>

#include "hub/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

#define COMM_SIZE	64u
#define STAT_START	22	/* of proc(5): the start time in ticks */

int
caller_check(int sock, struct caller *p, struct ds_err *err)
{
	struct ucred who;
	socklen_t len = sizeof who;

	*p = (struct caller){ .pidfd = -1 };
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
		return err_errno(err, "hub: cannot tell who connects");
	p->pid = who.pid;
	(void)snprintf(p->name, sizeof p->name, "%d", (int)who.pid);
	if (who.uid != geteuid())
		return err_fail(err, -EPERM, "process %d of user %u: a hub "
		    "serves its own user only", (int)who.pid, who.uid);
	return 0;
}

bool
caller_is_dead(const struct caller *p)
{
	struct pollfd one = { .fd = p->pidfd, .events = POLLIN };

	return poll(&one, 1, 0) == 1;
}

/*--- the number's owner --------------------------------------------------*/

static ssize_t
read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return io_read_text(AT_FDCWD, path, text, size);
}

/* The second field is a name in brackets, which may hold anything. */
static int
read_start_time(pid_t pid, uint64_t *ticks)
{
	char text[1024], *at;

	if (read_proc(pid, "stat", text, sizeof text) < 0)
		return -ESRCH;
	at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < STAT_START; field++)
		at = strchr(at + 1, ' ');
	if (at == NULL || sscanf(at, " %" SCNu64, ticks) != 1)
		return -ESRCH;
	return 0;
}

static bool
is_ours(pid_t pid)
{
	char path[64];
	struct stat st;

	/* The folder of one that cannot be traced is root's. */
	(void)snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return stat(path, &st) == 0 &&
	    (st.st_uid == geteuid() || st.st_uid == 0);
}

int
caller_open_by_pid(struct caller *p, struct ds_err *err)
{
	uint64_t before, after;
	int rc;

	if (p->pid <= 0)
		return err_fail(err, -ESRCH, "a process of another pid "
		    "namespace: needs Linux 6.5");
	if (read_start_time(p->pid, &before) < 0)
		return err_fail(err, -ESRCH, "process %d has ended", (int)p->pid);
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->pidfd < 0)
		return err_errno(err, "process %d", (int)p->pid);
	rc = read_start_time(p->pid, &after);
	if (rc < 0 || before != after || !is_ours(p->pid) || caller_is_dead(p)) {
		io_close(&p->pidfd);
		return err_fail(err, -ESRCH, "process %d has ended", (int)p->pid);
	}
	return 0;
}

/*--- by the socket -------------------------------------------------------*/

static int
open_by_socket(int sock, struct caller *p, struct ds_err *err)
{
	socklen_t len = sizeof p->pidfd;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &p->pidfd, &len) == 0)
		return 0;
	p->pidfd = -1;
	if (errno == ENOPROTOOPT)
		return caller_open_by_pid(p, err);
	/* A process that was reaped is ESRCH, EINVAL or ENODATA, by kernel. */
	if (errno == EINVAL || errno == ENODATA)
		errno = ESRCH;
	return err_errno(err, "process %d", (int)p->pid);
}

static void
read_name(struct caller *p)
{
	char comm[COMM_SIZE], clean[COMM_SIZE];

	if (p->pid <= 0 || read_proc(p->pid, "comm", comm, sizeof comm) < 0 ||
	    caller_is_dead(p))
		return;
	text_clean(clean, sizeof clean, comm);
	(void)snprintf(p->name, sizeof p->name, "%d (%s)", (int)p->pid, clean);
}

int
caller_open(int sock, struct caller *p, struct ds_err *err)
{
	int rc;

	rc = caller_check(sock, p, err);
	if (rc == 0)
		rc = open_by_socket(sock, p, err);
	if (rc < 0)
		return rc;
	read_name(p);
	return 0;
}
