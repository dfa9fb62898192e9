/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_job.c: one of the demo's children.  Runs in the command, a part of it in
 * the child that becomes the job.
 */

#include <config.h>

#include "tool/demo_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "base/text.h"
#include "tool/demo_place.h"

#define NOT_STARTED	125
#define NOT_FOUND	127
#define SOCKET_DIR	64u	/* longer paths are none of a socket's folder */

const char demo_job_self[] = "destall";

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

/* Sockets that a Python which is killed cannot remove are in the temporary
 * folder. */
static void
set_folders(const char *dir)
{
	char store[2 * DEMO_PATH];

	(void)snprintf(store, sizeof store, "%s/runs.sqlite", dir);
	(void)setenv("DESTALL_STORE", store, 1);
	(void)setenv("XDG_RUNTIME_DIR", dir, 1);
	if (strlen(dir) < SOCKET_DIR)
		(void)setenv("TMPDIR", dir, 1);
}

static void
set_environment(const struct demo_job_command *c)
{
	clear_environment();
	set_folders(c->dir);
	(void)setenv("DESTALL", c->shared ? "1" : "0", 1);
	(void)setenv("DESTALL_LOG", "quiet", 1);
	(void)setenv("OMP_NUM_THREADS", "1", 1);
	(void)setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
}

static void
execute(const struct demo_job_command *c)
{
	char *words[DEMO_JOB_WORDS + 1];

	/* Who executes another does not change them. */
	memcpy(words, c->words, sizeof words);
	if (c->words[0] == demo_job_self)
		(void)execv("/proc/self/exe", words);
	else
		(void)execvp(words[0], words);
}

_Noreturn static void
become_job(const struct demo_job_command *c, int out)
{
	(void)setpgid(0, 0);
	set_environment(c);
	if (chdir(c->dir) != 0 || dup2(c->in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(c->errors, STDERR_FILENO) < 0)
		_exit(NOT_STARTED);
	(void)sigprocmask(SIG_SETMASK, c->mask, NULL);
	execute(c);
	_exit(NOT_FOUND);
}

/*--- in the command ------------------------------------------------------*/

void
demo_job_add(struct demo_job_command *c, const char *const words[])
{
	unsigned nr = 0;

	while (c->words[nr] != NULL)
		nr++;
	for (; *words != NULL; words++) {
		must(nr < DEMO_JOB_WORDS);
		c->words[nr++] = *words;
	}
	c->words[nr] = NULL;
}

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

int
demo_job_explain(int errors, int status, struct ds_err *err)
{
	char text[4096] = "", clean[200], *last;
	off_t size = lseek(errors, 0, SEEK_END);
	off_t from = size >= (off_t)sizeof text ?
	    size - (off_t)sizeof text + 1 : 0;
	ssize_t n = pread(errors, text, sizeof text - 1, from);

	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	last = strrchr(text, '\n');
	(void)text_clean(clean, sizeof clean, last != NULL ? last + 1 : text);
	return err_fail(err, -ECHILD, "a job ended with status %d%s%s",
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
	    clean[0] != '\0' ? ": " : "", clean);
}
