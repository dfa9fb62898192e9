/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate.c: a training job with an emulated accelerator: what it needs, and
 * the main thread while it runs.  Runs in the command only.
 */

#include <config.h>

#include "base/text.h"
#include "loader/emulate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "base/progress.h"
#include "base/stop.h"
#include "loader/emulate_job.h"

#define REDRAW_MS	100
#define PATIENCE_NS	NS_PER_S	/* after a signal, before a word */
#define STATUS_SIZE	8192

/*--- opening -------------------------------------------------------------*/

static bool
is_shared(void)
{
	const char *on = getenv("DESTALL");

	return on != NULL && strcmp(on, "1") == 0;
}

int
emulate_open(struct emulate *e, const struct emulate_options *o,
    struct ds_err *note, struct ds_err *err)
{
	int rc;

	e->options = o;
	note->text[0] = '\0';
	if (is_shared() && ds_connect(&e->hub, 0, note) == 0)
		note->text[0] = '\0';
	rc = ds_data_open(&e->data, e->hub, o->data, NULL, err);
	if (rc == 0 && e->hub != NULL && ds_data_uncached(e->data) != NULL)
		err_fail(note, -ENOTSUP, "%s: not cached: %s", o->data,
		    ds_data_uncached(e->data));
	if (rc == 0)
		rc = ds_loader_open(&e->loader, e->data, err);
	return rc;
}

void
emulate_close(struct emulate *e)
{
	ds_loader_close(&e->loader);
	ds_data_close(&e->data);
	ds_disconnect(&e->hub);
	free(e->result.epochs);
	e->result.epochs = NULL;
}

/*--- going on ------------------------------------------------------------*/

static int
restore(struct emulate *e, struct ds_err *err)
{
	const char *path = e->options->resume;
	char text[DS_POSITION_TEXT + 1];
	struct ds_err why;
	ssize_t len;
	int rc;

	if (path == NULL)
		return 0;
	len = io_read_text(AT_FDCWD, path, text, sizeof text);
	if (len < 0) {
		errno = (int)-len;
		rc = err_errno(err, "cannot read %s", path);
		return rc == -ENOENT ? err_hint(err, rc, "to begin at the "
		    "beginning, leave --resume out") : rc;
	}
	if ((size_t)len >= DS_POSITION_TEXT || strlen(text) != (size_t)len)
		return err_fail(err, -EBADMSG, "%s: no position of a job",
		    path);
	rc = ds_loader_restore(e->loader, text, &why);
	return rc < 0 ? err_fail(err, rc, "%s: %s", path, why.text) : 0;
}

/*--- the main thread -----------------------------------------------------*/

/* Those epochs that have ended since. */
static void
show_epochs(struct emulate *e, struct emulate_job *j, size_t *shown,
    struct progress *p)
{
	struct emulate_epoch at;
	bool is_new;

	do {
		must(pthread_mutex_lock(&j->lock) == 0);
		is_new = *shown < j->nr_epochs;
		if (is_new)
			at = j->epochs[(*shown)++];
		must(pthread_mutex_unlock(&j->lock) == 0);
		if (is_new && e->epoch_ended != NULL) {
			progress_end(p);
			e->epoch_ended(e, &at);
		}
	} while (is_new);
}

static bool
is_over(struct emulate_job *j, bool has_news)
{
	eventfd_t n;
	bool over;

	if (has_news)
		must(eventfd_read(j->news, &n) == 0);
	must(pthread_mutex_lock(&j->lock) == 0);
	over = j->is_over;
	must(pthread_mutex_unlock(&j->lock) == 0);
	return over;
}

static void
draw(struct progress *p, struct emulate_job *j)
{
	uint64_t done = atomic_load_explicit(&j->done, memory_order_relaxed);

	/* A job that goes on does not begin at 0. */
	if (p->first == EMULATE_UNKNOWN)
		p->first = done;
	progress_at(p, done == EMULATE_UNKNOWN ? 0 :
	    done < p->total ? done : p->total);
}

/* At first, and then whatever makes it go on alone. */
static void
show_sharing(struct emulate *e, struct progress *p)
{
	char how[DS_ERR_TEXT];
	int rc;

	if (e->hub == NULL || e->sharing == NULL)
		return;
	rc = ds_loader_shared(e->loader, how, sizeof how);
	if (rc < 0 || (rc == 1 && e->how[0] != '\0') ||
	    strcmp(how, e->how) == 0)
		return;
	memcpy(e->how, how, sizeof how);
	progress_end(p);
	e->sharing(how);
}

/* One line for a wait that goes on, as soon as it is known for whom. */
static void
show_wait(struct emulate *e, struct progress *p)
{
	struct ds_loader_counts c;
	char text[128], time[TEXT_FIGURE];

	if (e->hub == NULL || e->sharing == NULL)
		return;
	ds_loader_counts(e->loader, &c);
	if (c.waits_pid != 0 && !e->is_wait_told) {
		(void)snprintf(text, sizeof text, "waits for process %" PRId64
		    ", which is behind: %s so far", c.waits_pid,
		    text_duration(time, c.waits_ns));
		progress_end(p);
		e->sharing(text);
	}
	e->is_wait_told = c.waits_pid != 0;
}

/* Until the job has ended. */
static void
watch(struct emulate *e, struct emulate_job *j, struct stop *stop)
{
	struct pollfd fds[2] = {
		{ .fd = j->news, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};
	uint64_t patient_ns = UINT64_MAX;
	struct progress p;
	size_t shown = 0;
	bool over = false;

	progress_start(&p, "emulate", "samples", EMULATE_UNKNOWN,
	    e->result.samples * e->options->epochs);
	while (!over) {
		if (poll(fds, 2, REDRAW_MS) <= 0)
			fds[0].revents = 0;
		if (emulate_job_look(j, stop)) {
			fds[1].fd = -1;
			patient_ns = clock_now_ns() + PATIENCE_NS;
			progress_end(&p);
		}
		over = is_over(j, fds[0].revents != 0);
		show_sharing(e, &p);
		show_wait(e, &p);
		show_epochs(e, j, &shown, &p);
		if (stop->signal == 0)
			draw(&p, j);
		if (!over && clock_now_ns() >= patient_ns) {
			patient_ns = UINT64_MAX;
			e->waiting();
		}
	}
	progress_end(&p);
}

/*--- what came of it -----------------------------------------------------*/

static uint64_t
time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

/* Of this program; getrusage() would know that of the one before it, too. */
static uint64_t
read_peak(void)
{
	static const char key[] = "\nVmHWM:";
	char text[STATUS_SIZE];
	const char *line;

	if (io_read_text(AT_FDCWD, "/proc/self/status", text,
	    sizeof text) < 0)
		return 0;
	line = strstr(text, key);
	return line == NULL ? 0 :
	    strtoull(line + sizeof key - 1, NULL, 10) * 1024;
}

static void
measure(struct emulate_result *r)
{
	struct rusage used;

	must(getrusage(RUSAGE_SELF, &used) == 0);
	r->cpu_ns = time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
	r->peak_bytes = read_peak();
	for (size_t i = 0; i < r->nr_epochs; i++) {
		r->all.samples += r->epochs[i].samples;
		r->all.skipped += r->epochs[i].skipped;
		r->all.elapsed_ns += r->epochs[i].elapsed_ns;
		r->all.wait_ns += r->epochs[i].wait_ns;
	}
}

static int
run_job(struct emulate *e, struct stop *stop, struct ds_err *err)
{
	struct emulate_result *r = &e->result;
	struct emulate_job j;
	int rc = emulate_job_start(&j, e, stop, err);

	if (rc < 0)
		return rc;
	watch(e, &j, stop);
	rc = emulate_job_join(&j, err);
	r->epochs = j.epochs;
	r->nr_epochs = j.nr_epochs;
	r->touch_ns = j.touch_ns;
	j.epochs = NULL;
	/* Who asked us to stop wants no more than what is done already. */
	r->signal = j.is_done ? 0 : stop->signal;
	r->is_sample = rc < 0 && j.is_sample;
	r->is_begun = j.is_given;
	r->is_done = j.is_done;
	r->unsaved = j.unsaved;
	emulate_job_fini(&j);
	return rc;
}

static int
run_stoppable(struct emulate *e, struct ds_err *err)
{
	struct stop stop;
	int rc = stop_open(&stop, err);

	if (rc == 0)
		rc = run_job(e, &stop, err);
	(void)stop_close(&stop);
	return rc;
}

int
emulate_run(struct emulate *e, struct ds_err *err)
{
	const char *save = e->options->save;
	int rc = restore(e, err);

	if (rc == 0 && save != NULL)
		rc = emulate_save_check(save, err);
	if (rc == 0)
		rc = run_stoppable(e, err);
	measure(&e->result);
	return rc;
}

bool
emulate_all_bad(const struct emulate *e)
{
	const struct emulate_epoch *all = &e->result.all;
	struct ds_loader_counts c;

	ds_loader_counts(e->loader, &c);
	return all->samples + all->skipped > 0 &&
	    all->samples == c.substituted;
}

uint64_t
emulate_alone(const struct ds_loader_counts *c)
{
	uint64_t staged = c->others_samples + c->staged_samples;

	return c->samples > staged ? c->samples - staged : 0;
}

double
emulate_rate(const struct emulate_epoch *at)
{
	return at->elapsed_ns == 0 ? 0 : (double)at->samples *
	    (double)NS_PER_S / (double)at->elapsed_ns;
}

double
emulate_stall(const struct emulate_epoch *at)
{
	return at->elapsed_ns == 0 ? 0 :
	    (double)at->wait_ns / (double)at->elapsed_ns;
}

const char *
emulate_reason(const char *why, const char *name)
{
	const char *at = strstr(why, name), *behind;

	if (at == NULL || (at != why && at[-1] != '/'))
		return why;
	behind = at + strlen(name);
	return strncmp(behind, ": ", 2) == 0 ? behind + 2 : why;
}
