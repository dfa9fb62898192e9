/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.c: when the command stops, do we?  Runs in the command only.
 */

#include <config.h>

#include "launch/follow.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"

#define CONT_TRIES	20
#define CONT_NS		1000000L

/* Since it stopped last.  Only looked at: it stays so until it stops again. */
static bool
has_gone_on(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info,
	    WCONTINUED | WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid == pid;
}

/* A shell waits for the group that it gave the terminal to. */
static bool
have_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bool ours;

	if (fd < 0)
		return false;
	ours = tcgetpgrp(fd) == getpgrp();
	io_close(&fd);
	return ours;
}

/* By the signal that stopped the command, so that a shell says the same of us;
 * also where we were started with it ignored. */
static void
stop_ourselves(int signal_number)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, before;
	sigset_t one;

	if (signal_number == SIGSTOP)
		signal_number = SIGTSTP;
	must(sigaction(signal_number, &plain, &before) == 0);
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	(void)kill(getpid(), signal_number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
	must(sigaction(signal_number, &before, NULL) == 0);
}

void
follow_stop(struct follow *f, int signal_number)
{
	f->stop = signal_number;
	/* SIGSTOP cannot be passed on: it was for the command alone. */
	if (((f->was_sent && signal_number != SIGSTOP) || have_terminal()) &&
	    !has_gone_on(f->pid))
		stop_ourselves(signal_number);
}

/* Whoever continued us may have continued the whole group. */
static void
continue_command(struct follow *f)
{
	struct timespec t = { .tv_nsec = CONT_NS };

	f->was_sent = false;
	for (int i = 0; i < CONT_TRIES; i++) {
		if (has_gone_on(f->pid))
			return;
		(void)nanosleep(&t, NULL);
	}
	(void)kill(f->pid, SIGCONT);
}

/* A stop that the group was sent may reach us after we saw the command stop. */
static bool
take_stop(struct follow *f)
{
	f->was_sent = true;
	if (f->stop == 0 || f->stop == SIGSTOP || has_gone_on(f->pid))
		return false;
	stop_ourselves(f->stop);
	return true;
}

bool
follow_signal(struct follow *f, int signal_number)
{
	switch (signal_number) {
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return take_stop(f);
	case SIGCONT:
		continue_command(f);
		return true;
	default:
		return false;
	}
}
