/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_job.c: the emulated training loop, in a thread of its own.
 * Runs in the command only.
 */

#include <config.h>

#include "loader/emulate_job.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"

/* Room for one more: it is doubled whenever the number is a power of two. */
static void *
grow(void *list, size_t nr, size_t size, struct ds_err *err)
{
	void *p = list;

	if ((nr & (nr - 1)) == 0)
		p = reallocarray(list, nr > 0 ? 2 * nr : 1, size);
	if (p == NULL)
		err_fail(err, -ENOMEM, "out of memory");
	return p;
}

/*--- between the threads -------------------------------------------------*/

static void
tell(struct emulate_job *j)
{
	must(eventfd_write(j->news, 1) == 0);
}

/* What waits in the descriptor now, or was taken from it before. */
static bool
is_stopped(struct emulate_job *j)
{
	struct pollfd fd = { .fd = j->signals, .events = POLLIN };
	bool stop;

	must(pthread_mutex_lock(&j->lock) == 0);
	stop = j->stop || poll(&fd, 1, 0) > 0;
	must(pthread_mutex_unlock(&j->lock) == 0);
	return stop;
}

bool
emulate_job_look(struct emulate_job *j, struct stop *stop)
{
	bool is_new;

	must(pthread_mutex_lock(&j->lock) == 0);
	is_new = stop_look(stop) != 0;
	if (is_new) {
		j->stop = true;
		ds_loader_interrupt(j->loader);
		must(pthread_cond_signal(&j->asked) == 0);
	}
	must(pthread_mutex_unlock(&j->lock) == 0);
	return is_new;
}

/* The rest of a step, unless nobody wants it any more. */
static void
wait_until(struct emulate_job *j, uint64_t deadline_ns)
{
	struct timespec at = {
		.tv_sec = (time_t)(deadline_ns / NS_PER_S),
		.tv_nsec = (long)(deadline_ns % NS_PER_S),
	};
	int e = 0;

	must(pthread_mutex_lock(&j->lock) == 0);
	while (!j->stop && e == 0)
		e = pthread_cond_timedwait(&j->asked, &j->lock, &at);
	must(pthread_mutex_unlock(&j->lock) == 0);
	must(e == 0 || e == ETIMEDOUT);
}

/*--- epochs --------------------------------------------------------------*/

static void
begin_epoch(struct emulate_job *j)
{
	j->now = (struct emulate_epoch){ 0 };
	j->is_begun = false;
	j->start_ns = clock_now_ns();
	j->start_cpu_ns = clock_process_ns();
}

static int
save_position(struct emulate_job *j)
{
	const char *path = j->options->save;

	return path == NULL ? 0 : emulate_save(path, j->at, &j->err);
}

/* One that had no batch was at its end already when we began. */
static int
end_epoch(struct emulate_job *j)
{
	struct emulate_epoch *p;

	if (!j->is_begun)
		return 0;
	j->now.elapsed_ns = clock_now_ns() - j->start_ns;
	j->now.cpu_ns = clock_process_ns() - j->start_cpu_ns;
	must(pthread_mutex_lock(&j->lock) == 0);
	p = grow(j->epochs, j->nr_epochs, sizeof *p, &j->err);
	if (p != NULL) {
		p[j->nr_epochs++] = j->now;
		j->epochs = p;
	}
	must(pthread_mutex_unlock(&j->lock) == 0);
	tell(j);
	begin_epoch(j);
	return p != NULL ? 0 : -ENOMEM;
}

/*--- batches -------------------------------------------------------------*/

static void
note_batch(struct emulate_job *j, const struct ds_batch *b)
{
	/* Not by positions: an epoch may be joined in its middle. */
	uint64_t done = b->epoch * j->samples + b->number * j->options->batch;

	j->is_begun = true;
	j->now.epoch = b->epoch;
	j->now.samples += b->count;
	j->now.skipped += b->skipped;
	atomic_store_explicit(&j->done, done, memory_order_relaxed);
}

static int
keep_batch(struct emulate_job *j, struct ds_batch *b, uint64_t sum)
{
	struct kept_batch *p;

	p = grow(j->kept, j->nr_kept, sizeof *p, &j->err);
	if (p == NULL)
		return -ENOMEM;
	p[j->nr_kept++] = (struct kept_batch){ .batch = b, .sum = sum };
	j->kept = p;
	return 0;
}

static uint64_t
touch(struct emulate_job *j, const struct ds_batch *b)
{
	uint64_t since_ns = clock_thread_ns(), sum;

	sum = emulate_touch(b->samples, b->count * b->sample_bytes,
	    j->options->touch);
	j->touch_ns += clock_thread_ns() - since_ns;
	return sum;
}

/* What the job does with it while the loader prepares the next ones. */
static int
use_batch(struct emulate_job *j, struct ds_batch *b)
{
	const struct emulate_options *o = j->options;
	uint64_t there_ns = clock_now_ns(), sum;
	int rc;

	sum = touch(j, b);
	rc = crash_point("emulate.batch");
	if (rc < 0)
		return err_fail(&j->err, rc, "the step: %s", strerror(-rc));
	if (o->step_ns > 0)
		wait_until(j, there_ns + o->step_ns);
	return o->keep ? keep_batch(j, b, sum) : 0;
}

/* Nobody but the job may write to a batch that it holds. */
static int
check_kept(struct emulate_job *j)
{
	const struct ds_batch *b;

	if (j->options->touch == TOUCH_NONE)
		return 0;
	for (size_t i = 0; i < j->nr_kept; i++) {
		b = j->kept[i].batch;
		if (emulate_touch(b->samples, b->count * b->sample_bytes,
		    TOUCH_READ) != j->kept[i].sum)
			return err_fail(&j->err, -EIO, "batch %" PRIu64
			    " of epoch %" PRIu64 " has changed while it was "
			    "kept", b->number, b->epoch);
	}
	return 0;
}

/* The loader goes on behind a batch whose file is to blame, and stays where it
 * is for all else: a ledger, memory, an end. */
static bool
has_moved(const struct emulate_job *j)
{
	char now[DS_POSITION_TEXT];

	return ds_loader_save(j->loader, now, NULL) == 0 &&
	    strcmp(now, j->at) != 0;
}

/* With the first one, all that could refuse the job is over: the position may
 * take the place of an older one.  What cannot be written is known early. */
static int
take_batch(struct emulate_job *j, const struct ds_batch *b)
{
	int rc = j->is_given ? 0 : save_position(j);

	j->is_given = true;
	if (rc == 0)
		note_batch(j, b);
	return rc;
}

/* 1: a batch was used; 0: an epoch is over. */
static int
train(struct emulate_job *j)
{
	struct ds_batch *b = NULL;
	uint64_t asked_ns = clock_now_ns();
	int rc;

	rc = ds_loader_next(j->loader, &b, &j->err);
	j->now.wait_ns += clock_now_ns() - asked_ns;
	j->is_sample = rc < 0 && has_moved(j);
	if (rc <= 0)
		return rc;
	rc = take_batch(j, b);
	if (rc == 0)
		rc = use_batch(j, b);
	if (rc < 0 || !j->options->keep)
		ds_loader_release(j->loader, &b);
	if (rc == 0)
		rc = ds_loader_save(j->loader, j->at, &j->err);
	return rc < 0 ? rc : 1;
}

/*--- the thread ----------------------------------------------------------*/

static int
finish_epoch(struct emulate_job *j)
{
	int rc = ds_loader_save(j->loader, j->at, &j->err);

	if (rc == 0)
		rc = end_epoch(j);
	return rc == 0 ? save_position(j) : rc;
}

static int
run_epochs(struct emulate_job *j)
{
	int rc = 0;

	begin_epoch(j);
	while (rc >= 0 && !is_stopped(j)) {
		rc = train(j);
		if (rc == 0)
			rc = finish_epoch(j);
	}
	j->is_done = rc == -ENOENT;
	if (rc == -EINTR && is_stopped(j))
		rc = 0;
	return rc < 0 && rc != -ENOENT ? rc : 0;
}

/* Of several failures the first one counts; that there is no position is told,
 * too, unless it is what was told. */
static void
end_job(struct emulate_job *j)
{
	struct ds_err first = j->err;
	int rc = end_epoch(j);

	if (rc == 0 && (j->is_given || j->is_done))
		rc = save_position(j);
	if (j->rc == 0) {
		j->rc = rc;
	} else {
		if (rc < 0 && strcmp(j->err.text, first.text) != 0)
			j->unsaved = j->err;
		j->err = first;
	}
	if (j->rc == 0)
		j->rc = check_kept(j);
}

static void *
run_job(void *arg)
{
	struct emulate_job *j = arg;

	j->rc = ds_loader_save(j->loader, j->at, &j->err);
	if (j->rc == 0) {
		j->rc = run_epochs(j);
		end_job(j);
	}
	must(pthread_mutex_lock(&j->lock) == 0);
	j->is_over = true;
	must(pthread_mutex_unlock(&j->lock) == 0);
	tell(j);
	return NULL;
}

/*--- its life ------------------------------------------------------------*/

static void
init_waiting(struct emulate_job *j)
{
	pthread_condattr_t attr;

	must(pthread_mutex_init(&j->lock, NULL) == 0);
	must(pthread_condattr_init(&attr) == 0);
	must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
	must(pthread_cond_init(&j->asked, &attr) == 0);
	must(pthread_condattr_destroy(&attr) == 0);
}

int
emulate_job_start(struct emulate_job *j, const struct emulate *e,
    const struct stop *stop, struct ds_err *err)
{
	int error;

	*j = (struct emulate_job){
		.options = e->options, .loader = e->loader,
		.samples = e->result.samples, .done = EMULATE_UNKNOWN,
		.signals = stop->fd,
	};
	j->news = eventfd(0, EFD_CLOEXEC);
	if (j->news < 0)
		return err_errno(err, "cannot make an eventfd");
	init_waiting(j);
	error = pthread_create(&j->thread, NULL, run_job, j);
	if (error == 0)
		return 0;
	emulate_job_fini(j);
	return err_fail(err, -error, "cannot start a thread: %s",
	    strerror(error));
}

int
emulate_job_join(struct emulate_job *j, struct ds_err *err)
{
	must(pthread_join(j->thread, NULL) == 0);
	if (j->rc < 0)
		*err = j->err;
	return j->rc;
}

void
emulate_job_fini(struct emulate_job *j)
{
	for (size_t i = 0; i < j->nr_kept; i++)
		ds_loader_release(j->loader, &j->kept[i].batch);
	free(j->kept);
	free(j->epochs);
	must(pthread_cond_destroy(&j->asked) == 0);
	must(pthread_mutex_destroy(&j->lock) == 0);
	io_close(&j->news);
}
