/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_child.c: child processes with a deadline.  Runs in the command only.
 */

#include <config.h>

#include "tool/doctor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"

#define MAX_CHILDREN	16u
#define GRACE_MS	1000u	/* for a killed child to disappear */
#define NO_STREAMS	213	/* exit status: it could not begin */

/*--- signals -------------------------------------------------------------*/

static volatile sig_atomic_t caught;	/* the signal that ends the command */

static void
note_signal(int sig)
{
	if (sig != SIGCHLD)
		caught = sig;
}

static const int watched[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP };
#define NR_WATCHED	(sizeof watched / sizeof *watched)

static struct {
	bool			held;
	sigset_t		mask;		/* as it was before */
	struct sigaction	old[NR_WATCHED];
} signals;

/* From the first child_start() on they are blocked but while ppoll() waits,
 * so that none is missed, and none ends us alone. */
static void
hold_signals(void)
{
	struct sigaction act = { .sa_handler = note_signal };
	sigset_t block;

	if (signals.held)
		return;
	signals.held = true;
	caught = 0;
	/* Whoever started us may ignore SIGCHLD, and then nothing can be
	 * waited for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&block);
	for (size_t i = 0; i < NR_WATCHED; i++)
		sigaddset(&block, watched[i]);
	must(sigprocmask(SIG_BLOCK, &block, &signals.mask) == 0);
	for (size_t i = 0; i < NR_WATCHED; i++) {
		must(sigaction(watched[i], NULL, &signals.old[i]) == 0);
		if (signals.old[i].sa_handler != SIG_IGN)
			must(sigaction(watched[i], &act, NULL) == 0);
	}
	sigdelset(&signals.mask, SIGCHLD);
}

static void
release_signals(void)
{
	for (size_t i = 0; i < NR_WATCHED; i++)
		must(sigaction(watched[i], &signals.old[i], NULL) == 0);
	must(sigprocmask(SIG_SETMASK, &signals.mask, NULL) == 0);
	signals.held = false;
}

/*--- in the child --------------------------------------------------------*/

_Noreturn static void
live(child_f *body, void *arg, int out, pid_t parent)
{
	const struct rlimit no_core = { 0, 0 };
	int null;

	/* A session of its own: no terminal, and all of it can be killed. */
	setsid();
	release_signals();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(NO_STREAMS);
	setrlimit(RLIMIT_CORE, &no_core);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(NO_STREAMS);
	close(null);
	body(out, arg);
	_exit(0);
}

void
child_start(struct child *c, child_f *body, void *arg)
{
	pid_t parent = getpid();
	int ends[2];

	*c = (struct child){ .fd = -1, .end = CHILD_UNBORN };
	hold_signals();
	if (pipe2(ends, O_CLOEXEC) != 0) {
		c->code = errno;
		return;
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(ends[0]);
		live(body, arg, ends[1], parent);
	}
	close(ends[1]);
	if (c->pid < 0) {
		c->code = errno;
		c->pid = 0;
		close(ends[0]);
		return;
	}
	c->end = CHILD_LIVING;
	c->fd = ends[0];
	must(fcntl(c->fd, F_SETFL, O_NONBLOCK) == 0);
}

/*--- waiting -------------------------------------------------------------*/

static void
kill_child(const struct child *c)
{
	/* Not yet in its own session, perhaps: then it is alone. */
	kill(c->pid, SIGKILL);
	kill(-c->pid, SIGKILL);
}

/* What it has written so far; at the end of it the descriptor is closed. */
static void
drain(struct child *c)
{
	char more;
	ssize_t n;

	while (c->fd >= 0) {
		n = c->len < CHILD_OUTPUT ?
		    read(c->fd, c->output + c->len, CHILD_OUTPUT - c->len) :
		    read(c->fd, &more, 1);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			io_close(&c->fd);
			return;
		}
		if (c->len == CHILD_OUTPUT) {
			c->end = CHILD_FLOODED;
			kill_child(c);
			io_close(&c->fd);
			return;
		}
		c->len += (size_t)n;
	}
}

/* Its group is killed before it is reaped: after that, the number could
 * already be another's. */
static void
reap(struct child *c)
{
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)c->pid, &si, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    si.si_pid == 0)
		return;
	drain(c);
	kill(-c->pid, SIGKILL);
	must(waitpid(c->pid, NULL, 0) == c->pid);
	io_close(&c->fd);
	c->pid = 0;
	if (c->end != CHILD_LIVING)
		return;			/* killed, and why is known */
	c->end = si.si_code == CLD_EXITED ? CHILD_DONE : CHILD_CRASHED;
	c->code = si.si_status;
	if (c->end == CHILD_DONE && c->code == NO_STREAMS) {
		c->end = CHILD_UNBORN;
		c->code = EMFILE;
	}
}

/* The number of those that still live. */
static unsigned
look_after(struct child *children, unsigned nr)
{
	unsigned live = 0;

	for (unsigned i = 0; i < nr; i++) {
		if (children[i].pid == 0)
			continue;
		drain(&children[i]);
		reap(&children[i]);
		live += children[i].pid != 0;
	}
	return live;
}

static void
kill_living(struct child *children, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		if (children[i].pid == 0)
			continue;
		if (children[i].end == CHILD_LIVING)
			children[i].end = CHILD_LATE;
		kill_child(&children[i]);
	}
}

static void
give_up(struct child *children, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		io_close(&children[i].fd);
		children[i].pid = 0;
	}
}

static void
sleep_until_news(const struct child *children, unsigned nr, int left_ms)
{
	struct pollfd fds[MAX_CHILDREN];
	struct timespec left = {
		.tv_sec = left_ms / 1000,
		.tv_nsec = (long)(left_ms % 1000) * 1000000,
	};

	/* poll() passes over a descriptor of -1. */
	for (unsigned i = 0; i < nr; i++)
		fds[i] = (struct pollfd){ children[i].fd, POLLIN, 0 };
	(void)ppoll(fds, nr, &left, &signals.mask);
}

void
child_wait(struct child *children, unsigned nr, unsigned limit_ms)
{
	uint64_t deadline = clock_now_ns() + limit_ms * NS_PER_MS;
	bool killed = false;
	int left_ms;

	must(nr <= MAX_CHILDREN);
	must(signals.held);
	while (look_after(children, nr) > 0) {
		left_ms = clock_left_ms(deadline);
		if (!killed && (left_ms == 0 || caught != 0)) {
			kill_living(children, nr);
			killed = true;
			deadline = clock_now_ns() + GRACE_MS * NS_PER_MS;
			continue;
		}
		if (killed && left_ms == 0) {
			give_up(children, nr);
			break;
		}
		sleep_until_news(children, nr, left_ms);
	}
	release_signals();
	if (caught != 0)
		raise(caught);
}

void
child_ask(struct child *c, child_f *body, void *arg, unsigned limit_ms)
{
	child_start(c, body, arg);
	child_wait(c, 1, limit_ms);
}

bool
child_answered(const struct child *c, void *answer, size_t size)
{
	if (c->end != CHILD_DONE || c->code != 0 || c->len != size)
		return false;
	memcpy(answer, c->output, size);
	return true;
}

const struct doctor_verdict *
child_blame(const struct child *c, const struct doctor_verdict *otherwise)
{
	return c->end == CHILD_UNBORN ? doctor_blame(c->code, otherwise) :
	    otherwise;
}

void
child_explain(const struct child *c, char *text, size_t size)
{
	const char *why;

	switch (c->end) {
	case CHILD_CRASHED:
		why = sigdescr_np(c->code);
		(void)snprintf(text, size, "crashed: %s",
		    why != NULL ? why : "unknown signal");
		break;
	case CHILD_LATE:
		(void)snprintf(text, size, "gave no answer in time");
		break;
	case CHILD_FLOODED:
		(void)snprintf(text, size, "wrote more than %u bytes",
		    CHILD_OUTPUT);
		break;
	case CHILD_UNBORN:
		(void)snprintf(text, size, "could not be started: %s",
		    doctor_errno(c->code));
		break;
	default:
		if (c->code == 0)
			(void)snprintf(text, size, "gave no sensible answer");
		else
			(void)snprintf(text, size, "ended with status %d",
			    c->code);
	}
}
