/* SPDX-License-Identifier: Apache-2.0
 *
 * fields_copies.c: a descriptor goes about, and its file changes, while every
 * field stays right.  Run by tests.
 */

#include <config.h>

#include "tests/harness/fields.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*--- a descriptor goes about ---------------------------------------------*/

static int
open_it(void)
{
	int fd = open(fields_file, O_RDONLY);

	if (fd < 0)
		FAIL("cannot open it");
	return fd;
}

static void
wait_good(pid_t pid, const char *what)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		FAIL("%s: status %x", what, (unsigned)status);
}

static pid_t
fork_now(void)
{
	pid_t pid;

	fflush(fields_report);
	pid = fork();
	if (pid < 0)
		FAIL("fork");
	return pid;
}

static void
duplicate(int fd)
{
	int copy = dup(fd);

	ask_all("dup", copy);
	close(copy);
	ask_all("dup2", dup2(fd, 77));
	close(77);
	ask_all("dup3", dup3(fd, 78, O_CLOEXEC));
	close(78);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 90);
	ask_all("F_DUPFD_CLOEXEC", copy);
	close(copy);
}

static void
inherit(int fd)
{
	char number[16];
	pid_t pid = fork_now();

	if (pid == 0) {
		ask_all("forked", fd);
		same_bytes("forked", fd);
		exit(0);
	}
	wait_good(pid, "forked");
	pid = fork_now();
	if (pid == 0) {
		snprintf(number, sizeof number, "%d", fd);
		execl(fields_self, fields_self, "check", number,
		    fields_file, (char *)NULL);
		_exit(99);
	}
	wait_good(pid, "executed");
	pid = fork_now();
	if (pid == 0) {
		dup2(fd, 0);
		execl(fields_self, fields_self, "check", "0",
		    fields_file, (char *)NULL);
		_exit(99);
	}
	wait_good(pid, "as standard input");
}

union passed {
	struct cmsghdr	head;
	char		room[CMSG_SPACE(sizeof(int))];
};

static void
send_fd(int socket, int fd)
{
	union passed p = { .head = { .cmsg_len = CMSG_LEN(sizeof fd),
	    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	char byte = 'x';
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = p.room, .msg_controllen = sizeof p.room };

	memcpy(CMSG_DATA(&p.head), &fd, sizeof fd);
	if (sendmsg(socket, &m, 0) != 1)
		FAIL("sendmsg");
}

int
fields_receive(int socket)
{
	union passed p;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = p.room, .msg_controllen = sizeof p.room };
	int fd;

	if (recvmsg(socket, &m, 0) != 1 || CMSG_FIRSTHDR(&m) == NULL)
		FAIL("recvmsg");
	memcpy(&fd, CMSG_DATA(&p.head), sizeof fd);
	return fd;
}

/* To a process that began before and has opened nothing. */
static void
pass(int fd)
{
	char number[16];
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		FAIL("socketpair");
	pid = fork_now();
	if (pid == 0) {
		close(fd);
		close(pair[0]);
		snprintf(number, sizeof number, "%d", pair[1]);
		execl(fields_self, fields_self, "receive", number,
		    fields_file, (char *)NULL);
		_exit(99);
	}
	send_fd(pair[0], fd);
	wait_good(pid, "passed");
	close(pair[0]);
	close(pair[1]);
}

static void
open_again(int fd)
{
	static const char *const folders[] = { "/proc/self/fd", "/dev/fd" };
	char path[64], byte;

	if (read(fd, &byte, 1) != 1)
		FAIL("read");
	for (unsigned i = 0; i < 2; i++) {
		int again;

		snprintf(path, sizeof path, "%s/%d", folders[i], fd);
		again = open(path, O_RDONLY | O_CLOEXEC);
		ask_all(path, again);
		same_bytes(path, again);
		close(again);
	}
	if (lseek(fd, 0, SEEK_CUR) != 1)
		FAIL("the offset was moved");
}

void
fields_copies(void)
{
	int fd = open_it();

	duplicate(fd);
	inherit(fd);
	pass(fd);
	open_again(fd);
	close(fd);
	fprintf(fields_report, "copies\n");
}

/*--- the file changes ----------------------------------------------------*/

void
fields_changes(void)
{
	const struct timespec times[2] = { { .tv_sec = 1234567,
	    .tv_nsec = 89 }, { .tv_nsec = UTIME_OMIT } };
	char other[4200];
	int fd = open_it();

	snprintf(other, sizeof other, "%s.link", fields_file);
	ask_all("before", fd);
	if (chmod(fields_file, 0604) != 0)
		FAIL("chmod");
	ask_all("chmod", fd);
	if (fchmod(fd, 01640) != 0)
		FAIL("fchmod");
	ask_all("fchmod", fd);
	if (utimensat(AT_FDCWD, fields_file, times, 0) != 0)
		FAIL("utimensat");
	ask_all("touch -a", fd);
	if (link(fields_file, other) != 0)
		FAIL("link");
	ask_all("link", fd);
	if (unlink(other) != 0)
		FAIL("unlink");
	ask_all("unlink of the other", fd);
	if (chmod(fields_file, 0644) != 0)
		FAIL("chmod");
	ask_all("chmod back", fd);
	same_bytes("changes", fd);
	close(fd);
	fprintf(fields_report, "changes\n");
}
