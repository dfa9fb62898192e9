/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_profile.c: `destall profile` of one of the demo's jobs.  Runs in the command
 * only; the profile and its job are processes of their own.
 */

#include <config.h>

#include "tool/demo_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "reports/in_json.h"
#include "tool/demo_job.h"

#define OURSELVES	"/proc/self/exe"	/* for a child of ours, too */
#define TICK_MS		250
#define PATIENCE_NS	(60 * NS_PER_S)	/* beside twice the time it measures */

struct profiling {
	const struct demo_jobs_place *at;
	struct demo_profile *p;
	struct demo_job	*job;
	struct demo_job_command command;
	char		seconds[24];
	char		json[2 * DEMO_PATH];
	uint64_t	late_ns;	/* when it is given up */
};

void
demo_profile_init(struct demo_profile *p)
{
	*p = (struct demo_profile){ 0 };
	result_init(&p->result);
}

void
demo_profile_fini(struct demo_profile *p)
{
	result_fini(&p->result);
}

/*--- its command line ----------------------------------------------------*/

/* As people would type it. */
static void
note_command(struct profiling *g)
{
	char *out = g->p->command;
	const char *word;
	size_t len = 0;

	for (const char *const *w = g->command.words; *w != NULL; w++) {
		/* The document is for us. */
		if (strcmp(*w, "--json") == 0) {
			w++;
			continue;
		}
		word = strcmp(*w, OURSELVES) == 0 ? demo_job_self : *w;
		len += (size_t)snprintf(out + len, DEMO_COMMAND - len, "%s%s",
		    len > 0 ? " " : "", word);
		if (len >= DEMO_COMMAND)
			return;
	}
}

/* The demo's jobs save nothing at the end of an epoch. */
static void
choose_words(struct profiling *g)
{
	const struct demo_jobs_place *at = g->at;
	const char *const profile[] = { demo_job_self, "profile", "--for",
	    g->seconds, "--json", g->json, "--pass-epochs", "--", NULL };
	const char *const python[] = { at->python, DEMO_SCRIPT, NULL };
	/* Epochs in which blocks of a second find a place. */
	const char *const pictures[] = { "--step-ms", DEMO_PICTURES_STEP_MS,
	    "--times", "4", at->data, NULL };
	const char *const arrays[] = { "--step-ms", DEMO_ARRAYS_STEP_MS,
	    at->data, NULL };
	const char *const emulate[] = { OURSELVES, "emulate", "--epochs",
	    "10000", "--batch", "8", "--step-ms", "2", "--data", at->data,
	    NULL };

	demo_job_add(&g->command, profile);
	demo_job_add(&g->command, at->python != NULL ? python : emulate);
	if (at->python != NULL)
		demo_job_add(&g->command, at->kind == DEMO_ARRAYS ? arrays :
		    pictures);
	note_command(g);
}

/*--- its end -------------------------------------------------------------*/

static int
await(struct profiling *g, struct ds_err *err)
{
	struct pollfd fds[2];
	int rc = 0;

	while (rc == 0 && g->job->out >= 0) {
		fds[0] = (struct pollfd){ g->job->out, POLLIN, 0 };
		fds[1] = (struct pollfd){ g->at->stop->fd, POLLIN, 0 };
		(void)poll(fds, 2, TICK_MS);
		if (stop_look(g->at->stop) != 0)
			return err_fail(err, -EINTR, "demo: stopped");
		if (fds[0].revents != 0)
			rc = demo_job_read(g->job, err);
		progress_at(g->at->progress, 0);
		if (clock_now_ns() > g->late_ns)
			return err_fail(err, -ETIME, "it did not end in time");
	}
	return rc;
}

/* `to` is no longer than `from`. */
static void
replace(char *text, const char *from, const char *to)
{
	size_t had = strlen(from), has = strlen(to);

	while (text != NULL && (text = strstr(text, from)) != NULL) {
		memcpy(text, to, has);
		memmove(text + has, text + had, strlen(text + had) + 1);
		text += has;
	}
}

/* As people would type them: it was run in the demo's folder, and what is there
 * needs no more than a name. */
static void
shorten_fixes(struct result *r, const char *dir)
{
	char below[DEMO_PATH + 1];

	(void)snprintf(below, sizeof below, "%s/", dir);
	for (size_t i = 0; i < r->nr_fixes; i++) {
		replace(r->fixes[i].what, below, "");
		replace(r->fixes[i].command, below, "");
		replace(r->fixes[i].command, OURSELVES, demo_job_self);
	}
}

static int
take_result(struct profiling *g, int status, struct ds_err *err)
{
	int rc;

	if (status != 0 || access(g->json, R_OK) != 0)
		return demo_job_explain(g->command.errors, status, err);
	rc = in_json_read(&g->p->result, g->json, err);
	if (rc == 0)
		shorten_fixes(&g->p->result, g->at->place->dir);
	return rc;
}

static int
run(struct profiling *g, struct ds_err *err)
{
	int rc, status;

	rc = demo_job_start(g->job, &g->command, err);
	if (rc == 0)
		rc = await(g, err);
	status = demo_job_end(g->job, rc < 0);
	return rc < 0 ? rc : take_result(g, status, err);
}

/*--- the whole -----------------------------------------------------------*/

static int
open_streams(struct profiling *g, struct ds_err *err)
{
	char path[2 * DEMO_PATH];

	(void)snprintf(path, sizeof path, "%s/profile.err", g->at->place->dir);
	g->command.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	g->command.errors = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND |
	    O_CLOEXEC, 0600);
	if (g->command.in < 0 || g->command.errors < 0)
		return err_errno(err, "cannot make %s", path);
	return 0;
}

static int
profile(struct profiling *g, struct ds_err *err)
{
	int rc;

	g->job = calloc(1, sizeof *g->job);
	if (g->job == NULL)
		return err_fail(err, -ENOMEM, "no memory");
	rc = open_streams(g, err);
	if (rc == 0)
		rc = run(g, err);
	io_close(&g->command.in);
	io_close(&g->command.errors);
	free(g->job);
	return rc;
}

int
demo_profile_run(struct demo_profile *p, const struct demo_jobs_place *at,
    uint64_t for_ns, struct ds_err *err)
{
	struct profiling g = {
		.at = at, .p = p,
		.command = { .dir = at->place->dir, .in = -1, .errors = -1,
		    .mask = &at->stop->before },
		.late_ns = clock_now_ns() + 2 * for_ns + PATIENCE_NS,
	};
	int rc;

	p->is_wanted = true;
	if (at->kind == DEMO_ARRAYS && at->python == NULL) {
		(void)err_fail(&p->why_not, -ENOENT, "no Python here has "
		    "PyTorch and Pillow, and 'destall emulate' reads pictures");
		return 0;
	}
	(void)snprintf(g.seconds, sizeof g.seconds, "%llus",
	    (unsigned long long)(for_ns / NS_PER_S));
	(void)snprintf(g.json, sizeof g.json, "%s/profile.%d.json",
	    at->place->dir, (int)at->kind);
	choose_words(&g);
	progress_start(at->progress, "demo: profile", NULL, 0, 0);
	rc = profile(&g, &p->why_not);
	progress_end(at->progress);
	p->is_measured = rc == 0;
	if (rc == -EINTR)
		*err = p->why_not;
	return rc == -EINTR ? rc : 0;
}
