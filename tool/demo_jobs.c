/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_jobs.c: several training jobs at once, without and with DESTALL=1.
 * Runs in the command only; the jobs are processes of their own.
 */

#include <config.h>

#include "tool/demo_jobs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/json.h"
#include "tool/demo_job.h"

#define EPOCHS	"3"

static_assert(DEMO_JOBS_EPOCHS == 3, "EPOCHS is the same in words");

struct jobs {
	const struct demo_jobs_place *p;
	unsigned	nr;
	struct demo_job	*job;
	struct demo_job_command command;
	int		go;		/* closed, they begin; -1: they have */
	uint64_t	*done;		/* jobs, for the progress line */
};

/*--- waiting -------------------------------------------------------------*/

/* Has it printed its first line, or ended? */
static bool
is_ready(const struct demo_job *j)
{
	return j->len > 0 || j->out < 0;
}

static unsigned
count_living(const struct jobs *s)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < s->nr; i++)
		nr += s->job[i].out >= 0;
	return nr;
}

static void
let_begin(struct jobs *s)
{
	for (unsigned i = 0; i < s->nr; i++)
		if (s->p->python != NULL && !is_ready(&s->job[i]))
			return;
	io_close(&s->go);
}

static int
read_some(struct jobs *s, struct ds_err *err)
{
	struct pollfd fds[DEMO_JOBS_MAX + 1];
	int rc = 0;

	/* poll() passes over a descriptor of -1. */
	for (unsigned i = 0; i < s->nr; i++)
		fds[i] = (struct pollfd){ s->job[i].out, POLLIN, 0 };
	fds[s->nr] = (struct pollfd){ s->p->stop->fd, POLLIN, 0 };
	(void)poll(fds, s->nr + 1, -1);
	if (stop_look(s->p->stop) != 0)
		return err_fail(err, -EINTR, "demo: stopped");
	for (unsigned i = 0; rc == 0 && i < s->nr; i++)
		if (fds[i].revents != 0)
			rc = demo_job_read(&s->job[i], err);
	return rc;
}

static int
await(struct jobs *s, struct ds_err *err)
{
	unsigned living = s->nr, now;
	int rc = 0;

	while (rc == 0 && living > 0) {
		let_begin(s);
		rc = read_some(s, err);
		now = count_living(s);
		*s->done += living - now;
		living = now;
		progress_at(s->p->progress, *s->done);
	}
	return rc;
}

/*--- what they say -------------------------------------------------------*/

static int
take_figures(const struct demo_job *j, struct demo_jobs_sum *sum,
    struct ds_err *err)
{
	json_int_t samples, of_others = 0;
	double seconds, cpu;
	json_t *doc;
	int rc;

	rc = json_doc_parse(&doc, j->text, j->len, "what a job prints", err);
	if (rc < 0)
		return rc;
	rc = json_unpack(doc, "{sI sF sF s?{sI}}", "samples", &samples,
	    "seconds", &seconds, "cpu_seconds", &cpu,
	    "stage", "samples_of_others", &of_others);
	json_decref(doc);
	if (rc != 0 || samples <= 0 || !(seconds > 0) || of_others < 0)
		return err_fail(err, -EBADMSG, "a job tells no figures");
	sum->samples += (uint64_t)samples;
	sum->of_others += (uint64_t)of_others;
	sum->cpu_seconds += cpu;
	if (seconds > sum->seconds)
		sum->seconds = seconds;
	return 0;
}

static int
end_all(struct jobs *s, int rc, struct demo_jobs_sum *sum, struct ds_err *err)
{
	int status;

	*sum = (struct demo_jobs_sum){ 0 };
	for (unsigned i = 0; i < s->nr; i++) {
		status = demo_job_end(&s->job[i], rc < 0);
		if (rc == 0 && status != 0)
			rc = demo_job_explain(s->command.errors, status,
			    err);
		if (rc == 0)
			rc = take_figures(&s->job[i], sum, err);
	}
	return rc;
}

/*--- a run ---------------------------------------------------------------*/

static void
choose_words(struct jobs *s, bool shared)
{
	const char *data = s->p->data;
	const char *const emulate[] = { demo_job_self, "emulate", "--data",
	    data, "--epochs", EPOCHS, "--batch", "32", "--threads", "1",
	    "--set", "size=128", "--json", NULL };
	const char *const behind[] = { demo_job_self, "run", "--data", data,
	    "--", NULL };
	const char *const python[] = { s->p->python, DEMO_SCRIPT, NULL };
	const char *const pictures[] = { "--epochs", EPOCHS, "--batch", "32",
	    "--workers", "1", "--count-workers", data, NULL };
	/* They are read once before they count. */
	const char *const arrays[] = { "--seconds", "2", "--step-ms",
	    DEMO_ARRAYS_STEP_MS, data, NULL };

	s->command.words[0] = NULL;
	s->command.shared = shared;
	if (s->p->python == NULL) {
		demo_job_add(&s->command, emulate);
		return;
	}
	if (shared)
		demo_job_add(&s->command, behind);
	demo_job_add(&s->command, python);
	demo_job_add(&s->command, s->p->kind == DEMO_ARRAYS ? arrays : pictures);
}

static int
run_all(struct jobs *s, struct demo_jobs_sum *sum, struct ds_err *err)
{
	unsigned nr = s->nr;
	int ends[2], rc = 0;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_errno(err, "cannot make a pipe");
	s->command.in = ends[0];
	s->go = ends[1];
	for (s->nr = 0; rc == 0 && s->nr < nr; s->nr++)
		rc = demo_job_start(&s->job[s->nr], &s->command, err);
	io_close(&ends[0]);
	if (rc == 0)
		rc = await(s, err);
	io_close(&s->go);
	rc = end_all(s, rc, sum, err);
	s->nr = nr;
	return rc;
}

static int
run_shared(struct jobs *s, struct demo_jobs_sum *sum, struct ds_err *err)
{
	const struct demo_group none = { "" };
	int rc;

	/* With half of the memory that is free, as a hub has. */
	rc = demo_hub_start(s->p->place, 0, &none, s->p->stop, err);
	choose_words(s, true);
	if (rc == 0)
		rc = run_all(s, sum, err);
	demo_hub_end(s->p->place);
	return rc;
}

static int
run_both(struct jobs *s, struct demo_jobs *j, struct ds_err *err)
{
	char path[2 * DEMO_PATH];
	int rc;

	(void)snprintf(path, sizeof path, "%s/jobs.err", s->p->place->dir);
	s->command.errors = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC,
	    0600);
	if (s->command.errors < 0)
		return err_errno(err, "cannot make %s", path);
	choose_words(s, false);
	rc = run_all(s, &j->plain, err);
	if (rc == 0)
		rc = run_shared(s, &j->shared, err);
	io_close(&s->command.errors);
	return rc;
}

int
demo_jobs_run(struct demo_jobs *j, const struct demo_jobs_place *p,
    struct ds_err *err)
{
	uint64_t done = 0;
	struct jobs s = {
		.p = p, .nr = j->nr, .go = -1, .done = &done,
		.command = { .dir = p->place->dir, .mask = &p->stop->before },
	};
	int rc;

	j->is_torch = p->python != NULL;
	s.job = calloc(j->nr, sizeof *s.job);
	if (s.job == NULL)
		return err_fail(err, -ENOMEM, "demo: no memory");
	progress_start(p->progress, "demo", "jobs run", 0, 2 * j->nr);
	rc = run_both(&s, j, &j->why_not);
	progress_end(p->progress);
	free(s.job);
	j->is_measured = rc == 0;
	if (rc == -EINTR)
		*err = j->why_not;
	return rc == -EINTR ? rc : 0;
}

/*--- figures -------------------------------------------------------------*/

double
demo_jobs_rate(const struct demo_jobs_sum *s)
{
	return (double)s->samples / s->seconds;
}

double
demo_jobs_cost(const struct demo_jobs_sum *s)
{
	return s->cpu_seconds / (double)s->samples;
}
