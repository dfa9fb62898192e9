/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_reader.c: the processes of the demo's reader.  Runs in the command, a
 * part of it in the child that becomes the reader.
 */

#include <config.h>

#include "tool/demo_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

#define TELL_FD		3
#define NOT_STARTED	125
#define NOT_FOUND	127

/* It ends where its input does. */
#define SCRIPT \
	"echo $$ >&3; " \
	"while read -r order; do xargs cat < \"$order\" || exit; echo >&3; done"

/* What the user has set for jobs of his own is not for ours. */
static void
clear_environment(void)
{
	static const char *const names[] = {
		"DESTALL", "DESTALL_DATA", "DESTALL_CACHE", "DESTALL_JOB",
	};

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		(void)unsetenv(names[i]);
	(void)setenv("DESTALL_LOG", "quiet", 1);
}

_Noreturn static void
become_reader(const struct demo_command *r, int in, int out, int told)
{
	clear_environment();
	if (demo_group_enter(r->group) < 0 || chdir(r->data) != 0 ||
	    dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(told, TELL_FD) < 0)
		_exit(NOT_STARTED);
	(void)sigprocmask(SIG_SETMASK, r->mask, NULL);
	if (r->share != NULL)
		(void)execl("/proc/self/exe", "destall", "run", "--cache",
		    r->share, "--data", r->data, "--", "sh", "-c",
		    SCRIPT, (char *)NULL);
	else
		(void)execlp("sh", "sh", "-c", SCRIPT, (char *)NULL);
	_exit(NOT_FOUND);
}

enum way { IN, OUT, TOLD, WAYS };

/* Ends above TELL_FD, so that none is in the way of another. */
static int
make_way(enum way way, int ends[2])
{
	int low[2], rc;

	if (way == IN ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    low) != 0 : pipe2(low, O_CLOEXEC) != 0)
		return -errno;
	for (int i = 0; i < 2; i++)
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, TELL_FD + 1);
	rc = ends[0] < 0 || ends[1] < 0 ? -errno : 0;
	for (int i = 0; i < 2; i++) {
		io_close(&low[i]);
		if (rc < 0)
			io_close(&ends[i]);
	}
	return rc;
}

static int
fork_reader(struct demo_reader *d, const struct demo_command *r, int in,
    int out, int told, struct ds_err *err)
{
	d->child = fork();
	if (d->child == 0) {
		(void)setpgid(0, 0);
		become_reader(r, in, out, told);
	}
	if (d->child < 0)
		return err_errno(err, "demo: cannot fork");
	(void)setpgid(d->child, d->child);
	return 0;
}

int
demo_reader_start(struct demo_reader *d, const struct demo_command *r,
    struct ds_err *err)
{
	int ends[WAYS][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	int rc = 0;

	for (unsigned w = 0; w < WAYS && rc == 0; w++) {
		rc = make_way(w, ends[w]);
		errno = -rc;
		if (rc < 0)
			rc = err_errno(err, "demo: cannot make a pipe");
	}
	if (rc == 0)
		rc = fork_reader(d, r, ends[IN][0], ends[OUT][1],
		    ends[TOLD][1], err);
	io_close(&ends[IN][0]);
	io_close(&ends[OUT][1]);
	io_close(&ends[TOLD][1]);
	d->in = ends[IN][1];
	d->out = ends[OUT][0];
	d->told = ends[TOLD][0];
	(void)fcntl(d->out, F_SETFL, O_NONBLOCK);
	return rc;
}

int
demo_reader_end(struct demo_reader *d, bool now)
{
	int status = 0;

	if (now && d->child > 0)
		(void)kill(-d->child, SIGKILL);
	io_close(&d->in);
	io_close(&d->out);
	io_close(&d->told);
	while (d->child > 0 && waitpid(d->child, &status, 0) < 0 &&
	    errno == EINTR)
		;
	d->child = 0;
	return status;
}

int
demo_reader_fail(struct demo_reader *d, struct ds_err *err)
{
	int status = demo_reader_end(d, false);

	if (WIFSIGNALED(status))
		return err_fail(err, -ECHILD, "demo: the reader was killed by "
		    "signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == NOT_FOUND)
		return err_fail(err, -ENOENT, "demo: sh, xargs or cat was not "
		    "found");
	return err_fail(err, -ECHILD, "demo: the reader ended with status %d",
	    WEXITSTATUS(status));
}
