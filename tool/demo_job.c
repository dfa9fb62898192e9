/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_job.c: one of the demo's training jobs.  Runs in the command, a part of
 * it in the child that becomes the job.
 */

#include <config.h>

#include "tool/demo_job.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tool/demo_jobs.h"

#define NOT_STARTED	125
#define NOT_FOUND	127
#define EPOCHS		"3"

static_assert(DEMO_JOBS_EPOCHS == 3, "EPOCHS is the same in words");

extern char **environ;

/*--- in the child --------------------------------------------------------*/

/* What the user has set for jobs of his own is not for ours. */
static void
clear_environment(void)
{
	static const char ours[] = "DESTALL", hub[] = "DESTALL_HUB=";
	char name[64];
	size_t len;

	for (char **e = environ; *e != NULL;) {
		len = strcspn(*e, "=");
		if (strncmp(*e, ours, sizeof ours - 1) != 0 ||
		    strncmp(*e, hub, sizeof hub - 1) == 0 ||
		    len >= sizeof name) {
			e++;
			continue;
		}
		memcpy(name, *e, len);
		name[len] = '\0';
		/* The next one is here then. */
		(void)unsetenv(name);
	}
}

static void
set_environment(bool shared)
{
	clear_environment();
	(void)setenv("DESTALL", shared ? "1" : "0", 1);
	(void)setenv("DESTALL_LOG", "quiet", 1);
	(void)setenv("OMP_NUM_THREADS", "1", 1);
	(void)setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
}

static void
execute(const struct demo_job_command *c)
{
	static const char self[] = "/proc/self/exe", name[] = "destall";

	if (c->python == NULL)
		(void)execl(self, name, "emulate", "--data", c->data,
		    "--epochs", EPOCHS, "--batch", "32", "--threads", "1",
		    "--set", "size=128", "--json", (char *)NULL);
	else if (c->shared)
		(void)execl(self, name, "run", "--data", c->data, "--",
		    c->python, c->script, c->data, EPOCHS, (char *)NULL);
	else
		(void)execlp(c->python, c->python, c->script, c->data,
		    EPOCHS, (char *)NULL);
}

_Noreturn static void
become_job(const struct demo_job_command *c, int out)
{
	(void)setpgid(0, 0);
	set_environment(c->shared);
	if (dup2(c->in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(c->errors, STDERR_FILENO) < 0)
		_exit(NOT_STARTED);
	(void)sigprocmask(SIG_SETMASK, c->mask, NULL);
	execute(c);
	_exit(NOT_FOUND);
}

/*--- in the command ------------------------------------------------------*/

int
demo_job_start(struct demo_job *j, const struct demo_job_command *c,
    struct ds_err *err)
{
	int ends[2], rc = 0;

	*j = (struct demo_job){ .out = -1 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_errno(err, "cannot make a pipe");
	j->child = fork();
	if (j->child == 0)
		become_job(c, ends[1]);
	if (j->child < 0) {
		rc = err_errno(err, "cannot fork");
		j->child = 0;
	} else {
		(void)setpgid(j->child, j->child);
	}
	io_close(&ends[1]);
	j->out = ends[0];
	return rc;
}

int
demo_job_read(struct demo_job *j, struct ds_err *err)
{
	ssize_t n;

	if (j->len == DEMO_JOB_OUTPUT)
		return err_fail(err, -EBADMSG, "a job prints too much");
	n = read(j->out, j->text + j->len, DEMO_JOB_OUTPUT - j->len);
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return err_errno(err, "cannot read what a job prints");
	if (n == 0)
		io_close(&j->out);
	j->len += (size_t)n;
	j->text[j->len] = '\0';
	return 0;
}

int
demo_job_end(struct demo_job *j, bool now)
{
	int status = 0;

	if (now && j->child > 0)
		(void)kill(-j->child, SIGKILL);
	io_close(&j->out);
	while (j->child > 0 && waitpid(j->child, &status, 0) < 0 &&
	    errno == EINTR)
		;
	j->child = 0;
	return status;
}
