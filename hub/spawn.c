/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c: starts a program that is nobody's child.  Runs in clients.
 *
 * The caller clones a middle process and that one the new process, each in the
 * memory of its parent, which sleeps until the child has called exec or is gone
 * (CLONE_VM, CLONE_VFORK), as posix_spawn(3) does it: a job of any size costs
 * the same, and nobody's atfork handlers run.
 *
 *  1. The middle process ends without a signal: exit signal 0, which wait()
 *     without __WCLONE does not look at.
 *  2. The new process is a child of the middle one, never of the caller: exec
 *     gives it SIGCHLD as its exit signal, and its parent is then gone.  It
 *     goes to init or the nearest subreaper; a job that is one of these gets
 *     it, as it gets every orphan.
 *  3. Both children have the thread-local memory of the calling thread, which
 *     sleeps: they make system calls and nothing else.  No signal can run a
 *     handler of the job in them: all are blocked.
 */

#include <config.h>

#include "hub/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range	436
#endif

#define STACK_SIZE	((size_t)64 << 10)
#define SHARES		(CLONE_VM | CLONE_VFORK)
#define LAST_SIGNAL	64
#define SIGNAL_BYTES	8u		/* of the kernel's sigset_t */
#define ACTION_BYTES	64u		/* of its struct sigaction, or more */
#define PROCESSOR_BYTES	1024u		/* for 8192 of them */
#define NULL_DEVICE	"/dev/null"
#define FIRST_CLOSED	4u		/* this descriptor and all above */
#define MOST_CLOSED	(1u << 20)	/* where /proc does not list them */

/* What the three processes share.  Nothing of it is on the children's stacks,
 * which they leave as they are. */
struct spawn {
	const char	*path;
	char *const	*argv;
	char *const	*envp;
	int		fd3;
	const char	*failed;	/* what could not be done, or NULL */
	int		error;		/* errno of that */
	uint64_t	all_signals, no_signals;
	char		default_action[ACTION_BYTES];
	char		processors[PROCESSOR_BYTES];
	_Alignas(uint64_t) char entries[4096];
	_Alignas(64) char middle_stack[STACK_SIZE];
	_Alignas(64) char stack[STACK_SIZE];
};

/* One entry of a folder, as the kernel gives it. */
struct entry {
	uint64_t	ino;
	int64_t		off;
	uint16_t	len;
	uint8_t		type;
	char		name[];
};

static int
give_up(struct spawn *s, const char *failed)
{
	s->error = errno;
	s->failed = failed;
	return 127;
}

/*--- in the new process --------------------------------------------------*/

/* Those that exec would leave ignored; handlers it resets itself. */
static void
reset_signals(const struct spawn *s)
{
	for (int i = 1; i <= LAST_SIGNAL; i++)
		(void)syscall(SYS_rt_sigaction, i, s->default_action, NULL,
		    (size_t)SIGNAL_BYTES);
}

/* -1 for what is no number. */
static int
read_number(const char *name)
{
	int n = 0;

	if (*name == '\0')
		return -1;
	for (; *name != '\0'; name++) {
		if (*name < '0' || *name > '9' || n > INT32_MAX / 10 - 10)
			return -1;
		n = n * 10 + (*name - '0');
	}
	return n;
}

static void
close_entries(const struct spawn *s, long len, int dir)
{
	const struct entry *e;
	int fd;

	for (long at = 0; at < len; at += e->len) {
		e = (const struct entry *)(const void *)(s->entries + at);
		fd = read_number(e->name);
		if (fd >= (int)FIRST_CLOSED && fd != dir)
			(void)syscall(SYS_close, fd);
	}
}

/* For kernels before 5.9, and where close_range is forbidden. */
static void
close_listed(struct spawn *s)
{
	long dir, len;

	/* A table that is full has room after this. */
	(void)syscall(SYS_close, FIRST_CLOSED);
	dir = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (dir < 0) {
		for (unsigned fd = FIRST_CLOSED; fd < MOST_CLOSED; fd++)
			(void)syscall(SYS_close, fd);
		return;
	}
	while ((len = syscall(SYS_getdents64, (int)dir, s->entries,
	    sizeof s->entries)) > 0)
		close_entries(s, len, (int)dir);
	(void)syscall(SYS_close, (int)dir);
}

static bool
move_fd(int from, int to)
{
	if (from == to)
		return syscall(SYS_fcntl, from, F_SETFD, 0) == 0;
	return syscall(SYS_dup3, from, to, 0) >= 0;
}

static bool
open_nulls(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, NULL_DEVICE, O_RDWR, 0);

	if (fd < 0 || !move_fd((int)fd, 0) || !move_fd((int)fd, 1) ||
	    !move_fd((int)fd, 2))
		return false;
	if (fd > 3)
		(void)syscall(SYS_close, (int)fd);
	return true;
}

/* Descriptor 3 first, before anything is closed that it may come from. */
static bool
set_fds(struct spawn *s)
{
	if (s->fd3 >= 0 ? !move_fd(s->fd3, 3) :
	    syscall(SYS_close, 3) != 0 && errno != EBADF)
		return false;
	if (syscall(SYS_close_range, FIRST_CLOSED, ~0u, 0) != 0)
		close_listed(s);
	return open_nulls();
}

static int
run_new(void *arg)
{
	struct spawn *s = arg;

	reset_signals(s);
	if (!set_fds(s))
		return give_up(s, "cannot set up descriptors");
	if (syscall(SYS_chdir, "/") != 0)
		return give_up(s, "cannot change to /");
	/* All processors and all memory, whatever the job was bound to; where
	 * that is not allowed it goes on with what it has. */
	(void)syscall(SYS_sched_setaffinity, 0, sizeof s->processors,
	    s->processors);
	(void)syscall(SYS_set_mempolicy, 0, NULL, 0ul);
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &s->no_signals, NULL,
	    (size_t)SIGNAL_BYTES);
	(void)syscall(SYS_execve, s->path, s->argv, s->envp);
	return give_up(s, "cannot execute");
}

/*--- in the middle process -----------------------------------------------*/

static int
run_middle(void *arg)
{
	struct spawn *s = arg;

	if (syscall(SYS_setsid) < 0)
		return give_up(s, "cannot have a session of its own");
	s->error = 0;
	if (clone(run_new, s->stack + sizeof s->stack, SHARES | SIGCHLD, s) < 0)
		return give_up(s, "cannot start a process");
	return 0;
}

/*--- in the caller -------------------------------------------------------*/

/* wait4() itself: waitpid() is where a thread may be cancelled. */
static int
run_spawn(struct spawn *s)
{
	uint64_t mask;
	pid_t middle;

	/* Those of the C library's own included, which sigfillset() leaves
	 * out. */
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &s->all_signals, &mask,
	    (size_t)SIGNAL_BYTES);
	middle = clone(run_middle, s->middle_stack + sizeof s->middle_stack,
	    SHARES, s);
	if (middle < 0)
		(void)give_up(s, "cannot start a process");
	else
		while (syscall(SYS_wait4, middle, NULL, __WCLONE, NULL) < 0 &&
		    errno == EINTR)
			continue;
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL,
	    (size_t)SIGNAL_BYTES);
	return s->error;
}

int
spawn_detached(const char *path, char *const argv[], char *const envp[],
    int fd3, struct ds_err *err)
{
	int saved = errno, rc = 0;
	struct spawn *s;

	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return err_errno(err, "%s: cannot start a process", path);
	s->path = path;
	s->argv = argv;
	s->envp = envp;
	s->fd3 = fd3;
	s->failed = "was killed before it began";
	s->error = ECANCELED;
	s->all_signals = UINT64_MAX;
	memset(s->processors, 0xff, sizeof s->processors);
	if (run_spawn(s) != 0) {
		errno = s->error;
		rc = err_errno(err, "%s: %s", path, s->failed);
	}
	munmap(s, sizeof *s);
	errno = saved;
	return rc;
}
