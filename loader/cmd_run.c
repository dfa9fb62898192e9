/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_run.c: `destall run`: a job whose data comes from the cache.
 * Runs in the command only.
 *
 *  1. Whatever of ours is missing or broken, the job runs, with the environment
 *     as it was, and one line says why.  Only what the user named and is not
 *     there keeps it from being started.
 *  2. The data sets stay open until the job has ended, so that nothing of them
 *     is dropped between two of its processes.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/say.h"
#include "hub/api.h"
#include "hub/job.h"
#include "loader/cmd_job.h"
#include "launch/job_env.h"
#include "launch/launch.h"
#include "launch/object.h"
#include "loader/saved.h"
#include "preload/word.h"

extern const struct command cmd_run;

extern char **environ;

struct run {
	struct launch	launch;
	struct job	job;
	char		object[PATH_MAX];
	char		hook[PATH_MAX];	/* "": none */
	uint64_t	token;		/* DESTALL_JOB */
	char		**before;	/* the environment that we were given */
	struct job_env	env;		/* that of the job; list NULL: plain */
};

static void
say_plain(const struct ds_err *err)
{
	say("run: %s: the job runs without the cache", err->text);
}

/* A copy of the list: what we set for ourselves is not for a job that runs
 * plain. */
static char **
copy_environment(void)
{
	size_t nr = 0;
	char **list;

	while (environ != NULL && environ[nr] != NULL)
		nr++;
	list = calloc(nr + 1, sizeof *list);
	if (list == NULL)
		say_no_memory();
	if (nr > 0)
		memcpy(list, environ, nr * sizeof *list);
	return list;
}

/*--- before --------------------------------------------------------------*/

static int
make_environment(struct run *r, struct ds_err *err)
{
	struct job_settings s = { .object = r->object, .cache = r->job.cache,
	    .hook = r->hook[0] != '\0' ? r->hook : NULL };
	char *data = NULL;
	int rc;

	r->token = job_draw();
	/* Not unset where there are none: each process would look for some on
	 * its own command line. */
	rc = roots_text(&r->job.roots, &data, err);
	s.data = job_is_open(&r->job) ? ROOTS_OPEN : data;
	s.job = r->token;
	if (rc == 0)
		rc = job_env_init(&r->env, r->before, &s, err);
	free(data);
	return rc;
}

enum outcome { GO, PLAIN, REFUSED };

static enum outcome
open_data(struct run *r)
{
	struct ds_err err;

	if (r->job.roots.nr > 0) {
		if (job_connect(&r->job, NULL, &err) < 0) {
			say_plain(&err);
			return PLAIN;
		}
		if (job_open_data(&r->job, &err) < 0) {
			say("run: %s", err.text);
			return REFUSED;
		}
	}
	if (r->job.roots.nr == 0)
		job_tell_none(&r->job, r->hook);
	return GO;
}

static enum outcome
prepare(struct run *r, const struct job_options *o, int nr, char **operands)
{
	const char *on = getenv("DESTALL");
	enum outcome outcome;
	struct ds_err err;

	if (job_init(&r->job, "run", o, &err) < 0 ||
	    job_find_roots(&r->job, o, nr, operands, &err) < 0) {
		say("run: %s", err.text);
		return REFUSED;
	}
	if (on != NULL && strcmp(on, "0") == 0) {
		job_note(&r->job, "DESTALL=0: the job runs without the cache");
		return PLAIN;
	}
	if (object_find(r->object, &err) < 0) {
		say_plain(&err);
		return PLAIN;
	}
	job_find_hook(&r->job, r->hook);
	outcome = open_data(r);
	if (outcome == GO && make_environment(r, &err) < 0) {
		say_plain(&err);
		return PLAIN;
	}
	return outcome;
}

/*--- after ---------------------------------------------------------------*/

static void
tell_saved(struct run *r)
{
	char text[SAVED_TEXT];
	struct saved saved;
	struct survey s;
	struct ds_err err;

	if (r->job.hub == NULL || r->job.roots.nr == 0)
		return;
	if (survey_take(&s, hub_api_link(r->job.hub), &err) < 0) {
		job_note(&r->job, "what was saved is not known: %s", err.text);
	} else {
		saved_sum(&saved, &s, r->token);
		job_note(&r->job, "%s", saved_text(text, &saved));
	}
	survey_fini(&s);
}

/*--- the whole -----------------------------------------------------------*/

static int
launch_job(struct run *r, char **argv, struct launch_end *end)
{
	struct ds_err err;

	if (launch_run(&r->launch, argv, r->env.list != NULL ? r->env.list :
	    r->before, end, &err) < 0) {
		say("run: %s: %s", argv[0], err.text);
		return STATUS_BEFORE_CHILD;
	}
	if (end->exec_errno != 0)
		say("run: %s: %s", argv[0], strerror(end->exec_errno));
	else if (r->env.list != NULL)
		tell_saved(r);
	return STATUS_OK;
}

static int
run(const void *opts, int nr, char **operands)
{
	struct launch_end end;
	struct run r = { 0 };
	int status;

	launch_prepare(&r.launch);
	r.before = copy_environment();
	if (prepare(&r, opts, nr, operands) == REFUSED)
		status = STATUS_BEFORE_CHILD;
	else
		status = launch_job(&r, operands, &end);
	word_forget(r.token);
	job_fini(&r.job);
	job_env_fini(&r.env);
	free(r.before);
	return status == STATUS_OK ? launch_leave(&end) : status;
}

const struct command cmd_run = {
	.name = "run",
	.summary = "run a job with the cache, and sharing with others",
	.operands = "CMD [ARG]...",
	.about = "Runs a command, in any language, and answers what it opens of "
	    "its data set from the cache that all jobs of a user share. The data "
	    "set is what --data names, or DESTALL_DATA, or else the folders "
	    "that the command line itself names. Whatever is not a file of the "
	    "data set, opened for reading, passes through untouched. PyTorch "
	    "jobs that load the same data make each batch once for all of them. "
	    "The exit status is that of the command.",
	.min_operands = 1,
	.max_operands = INT_MAX,
	.runs_command = true,
	.options = job_options,
	.defaults = &job_defaults,
	.options_size = sizeof job_defaults,
	.run = run,
};
