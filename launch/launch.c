/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c: starts a command, waits for it, and ends as it ended.
 * Runs in the command only.
 *
 *  1. All signals that are passed on are blocked from before the fork until the
 *     command has ended, and taken one by one with who sent them: no handler,
 *     and none is lost or taken for us.
 *  2. It is a fork and not posix_spawn(): that could not leave SIGCHLD ignored
 *     in the command, which we must not ignore.
 */

#include <config.h>

#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/command.h"
#include "base/io.h"
#include "base/must.h"
#include "launch/follow.h"

#define NOT_EXECUTABLE	126
#define NOT_FOUND	127
#define BY_SIGNAL	128	/* and the signal, as shells say it */

/*--- signals -------------------------------------------------------------*/

/* What people and programs send; SIGALRM, because a clock that was set before
 * we were executed goes on. */
static void
choose_signals(sigset_t *set)
{
	static const int passed[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
		SIGVTALRM, SIGPROF, SIGXCPU, SIGWINCH, SIGURG, SIGIO, SIGPWR,
		SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT,
	};

	sigemptyset(set);
	for (unsigned i = 0; i < sizeof passed / sizeof *passed; i++)
		sigaddset(set, passed[i]);
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		sigaddset(set, s);
	sigaddset(set, SIGCHLD);
}

void
launch_prepare(struct launch *l)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	must(sigaction(SIGPIPE, &ignore, &l->pipe) == 0);
}

static void
take_signals(struct launch *l, sigset_t *set)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t before;

	choose_signals(set);
	must(sigprocmask(SIG_BLOCK, set, &before) == 0);
	if (!l->has_mask)
		l->mask = before;	/* the second time they are blocked */
	l->has_mask = true;
	/* Ignored, it would take the command's status with it. */
	must(sigaction(SIGCHLD, &plain, &l->child) == 0);
}

/* As we found them; the mask last, so that nothing comes too early. */
static void
give_signals(const struct launch *l)
{
	must(sigaction(SIGCHLD, &l->child, NULL) == 0);
	must(sigaction(SIGPIPE, &l->pipe, NULL) == 0);
	must(sigprocmask(SIG_SETMASK, &l->mask, NULL) == 0);
}

/* A terminal sends to the whole foreground group; a clock to us alone. */
static bool
has_it_already(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL && info->si_signo != SIGALRM;
}

static void
pass_on(pid_t pid, const siginfo_t *info)
{
	if (has_it_already(info))
		return;
	if (info->si_code == SI_QUEUE)
		(void)sigqueue(pid, info->si_signo, info->si_value);
	else
		(void)kill(pid, info->si_signo);
}

/*--- the command ---------------------------------------------------------*/

static _Noreturn void
become(const struct launch *l, char *const argv[], char *const envp[], int told)
{
	int e;

	give_signals(l);
	if (l->output != NULL && *l->output >= 0)
		(void)dup2(*l->output, STDOUT_FILENO);
	(void)execvpe(argv[0], argv, envp);
	e = errno;
	(void)io_write_all(told, &e, sizeof e);
	_exit(NOT_FOUND);
}

/* 0, or why it could not be executed: its end of the pipe closes at exec. */
static int
read_errno(int fd)
{
	int e = 0;

	return io_read_all(fd, &e, sizeof e) == (ssize_t)sizeof e ? e : 0;
}

/* They are the command's now. */
static void
drop_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	(void)dup3(null, STDIN_FILENO, O_CLOEXEC);
	(void)dup3(null, STDOUT_FILENO, O_CLOEXEC);
	if (null > STDERR_FILENO)
		io_close(&null);
}

/*--- waiting -------------------------------------------------------------*/

/* True when it has ended. */
static bool
look(const struct launch *l, struct follow *f, int *status)
{
	pid_t got;

	for (;;) {
		got = waitpid(f->pid, status, WNOHANG | WUNTRACED);
		if (got < 0 && errno == EINTR)
			continue;
		must(got >= 0);
		if (got == 0)
			return false;
		if (!WIFSTOPPED(*status))
			return true;
		if (!l->is_ending)
			follow_stop(f, WSTOPSIG(*status));
	}
}

/* The next signal, or none while somebody watches. */
static int
next_signal(const struct launch *l, const sigset_t *set, siginfo_t *info)
{
	static const struct timespec tick = {
		.tv_nsec = LAUNCH_TICK_MS * 1000000L,
	};

	if (l->tick == NULL)
		return sigwaitinfo(set, info);
	l->tick(l->arg);
	return sigtimedwait(set, info, &tick);
}

static bool
is_taken(const struct launch *l, int signal_number)
{
	return l->on_signal != NULL && l->on_signal(l->arg, signal_number);
}

static void
await(const struct launch *l, const sigset_t *set, int *status)
{
	struct follow f = { .pid = l->pid };
	siginfo_t info;

	while (!look(l, &f, status)) {
		if (next_signal(l, set, &info) > 0 && info.si_signo != SIGCHLD &&
		    !is_taken(l, info.si_signo) &&
		    !follow_signal(&f, info.si_signo))
			pass_on(l->pid, &info);
	}
}

static int
start(struct launch *l, char *const argv[], char *const envp[],
    const sigset_t *set, struct launch_end *end, struct ds_err *err)
{
	int told[2], rc;
	pid_t pid;

	if (pipe2(told, O_CLOEXEC) != 0)
		return err_errno(err, "cannot make a pipe");
	pid = fork();
	if (pid == 0)
		become(l, argv, envp, told[1]);
	rc = pid < 0 ? err_errno(err, "cannot start a process") : 0;
	io_close(&told[1]);
	if (rc == 0)
		end->exec_errno = read_errno(told[0]);
	io_close(&told[0]);
	if (rc < 0)
		return rc;
	if (!l->keeps_streams)
		drop_streams();
	if (l->output != NULL)
		io_close(l->output);	/* its end is seen when it closes it */
	l->pid = pid;
	await(l, set, &end->status);
	return 0;
}

int
launch_run(struct launch *l, char *const argv[], char *const envp[],
    struct launch_end *end, struct ds_err *err)
{
	sigset_t set;
	int rc;

	*end = (struct launch_end){ 0 };
	take_signals(l, &set);
	rc = start(l, argv, envp, &set, end, err);
	must(sigaction(SIGCHLD, &l->child, NULL) == 0);
	return rc;
}

/*--- its end -------------------------------------------------------------*/

/* By the same signal, and without a core: the one of the command tells more. */
static int
die_as(int signal_number)
{
	struct rlimit none = { 0 };
	sigset_t one;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)signal(signal_number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, signal_number);
	(void)kill(getpid(), signal_number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* The first process of a container is not killed so easily. */
	return BY_SIGNAL + signal_number;
}

int
launch_leave(const struct launch_end *end)
{
	if (end->exec_errno != 0)
		return end->exec_errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
	if (WIFSIGNALED(end->status))
		return die_as(WTERMSIG(end->status));
	return WEXITSTATUS(end->status);
}
