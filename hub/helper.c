/* SPDX-License-Identifier: Apache-2.0
 *
 * helper.c: the hub's one helper thread.  Runs in the hub only.
 *
 *  1. A job is in one place at a time: in todo, in the helper's hands, or in
 *     ended.  Both lists and `leaving` are guarded by the lock; the rest is the
 *     loop's own.
 *  2. `ready` counts the jobs in ended, so that the loop handles one of them in
 *     a turn.
 */

#include <config.h>

#include "hub/helper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"

#define HELPER_MAGIC	0x48454c50u	/* "HELP" */

struct queue {
	struct helper_job *first;
	struct helper_job **last;	/* where the next one is hung */
};

struct helper {
	unsigned	magic;
	pthread_t	thread;
	pthread_mutex_t	lock;
	pthread_cond_t	more;		/* something in todo, or leaving */
	struct queue	todo, ended;
	bool		leaving;
	int		ready;		/* an eventfd */
	unsigned	nr_waiting;	/* submitted, done() not yet called */
	struct loop_watch *watch;
};

static void
init_queue(struct queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

static void
append(struct queue *q, struct helper_job *job)
{
	job->next = NULL;
	*q->last = job;
	q->last = &job->next;
}

static struct helper_job *
take_first(struct queue *q)
{
	struct helper_job *job = q->first;

	if (job == NULL)
		return NULL;
	q->first = job->next;
	if (q->first == NULL)
		q->last = &q->first;
	return job;
}

/*--- in the helper -------------------------------------------------------*/

static void
tell_loop(struct helper *h)
{
	must(eventfd_write(h->ready, 1) == 0);
}

/* One piece of one job, without the lock. */
static void
work_on(struct helper *h, struct helper_job *job)
{
	bool more;

	must(pthread_mutex_unlock(&h->lock) == 0);
	more = job->work(job);
	must(pthread_mutex_lock(&h->lock) == 0);
	append(more ? &h->todo : &h->ended, job);
	if (!more)
		tell_loop(h);
}

static void *
help(void *arg)
{
	struct helper *h = arg;
	struct helper_job *job;

	must(pthread_mutex_lock(&h->lock) == 0);
	while (!h->leaving) {
		job = take_first(&h->todo);
		if (job != NULL)
			work_on(h, job);
		else
			must(pthread_cond_wait(&h->more, &h->lock) == 0);
	}
	must(pthread_mutex_unlock(&h->lock) == 0);
	return NULL;
}

/*--- in the loop ---------------------------------------------------------*/

static struct helper_job *
take_locked(struct helper *h, struct queue *q)
{
	struct helper_job *job;

	must(pthread_mutex_lock(&h->lock) == 0);
	job = take_first(q);
	must(pthread_mutex_unlock(&h->lock) == 0);
	return job;
}

static void
end_job(struct helper *h, struct helper_job *job)
{
	must(h->nr_waiting > 0);
	h->nr_waiting--;
	job->done(job);
}

static void
end_one(void *arg, uint32_t events)
{
	struct helper *h = arg;
	eventfd_t one;

	(void)events;
	if (eventfd_read(h->ready, &one) == 0)
		end_job(h, take_locked(h, &h->ended));
}

/* All signals are the loop's. */
static int
start_thread(struct helper *h)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	must(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	rc = pthread_create(&h->thread, NULL, help, h);
	must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	return rc;
}

int
helper_new(struct helper **out, struct loop *l, struct ds_err *err)
{
	struct helper *h = calloc(1, sizeof *h);
	int rc;

	if (h == NULL)
		return err_fail(err, -ENOMEM, "hub: no memory");
	h->magic = HELPER_MAGIC;
	init_queue(&h->todo);
	init_queue(&h->ended);
	must(pthread_mutex_init(&h->lock, NULL) == 0);
	must(pthread_cond_init(&h->more, NULL) == 0);
	h->ready = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (h->ready < 0) {
		rc = err_errno(err, "hub: cannot make an eventfd");
		goto free_helper;
	}
	rc = loop_watch(l, &h->watch, h->ready, EPOLLIN, end_one, h, err);
	if (rc < 0)
		goto close_ready;
	errno = start_thread(h);
	if (errno != 0) {
		rc = err_errno(err, "hub: cannot start a thread");
		goto unwatch;
	}
	*out = h;
	return 0;
unwatch:
	loop_unwatch(&h->watch);
close_ready:
	io_close(&h->ready);
free_helper:
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->lock);
	free(h);
	return rc;
}

void
helper_free(struct helper **hp)
{
	struct helper *h = *hp;
	struct helper_job *job;

	must_be(h, HELPER_MAGIC);
	must(pthread_mutex_lock(&h->lock) == 0);
	h->leaving = true;
	must(pthread_cond_signal(&h->more) == 0);
	must(pthread_mutex_unlock(&h->lock) == 0);
	must(pthread_join(h->thread, NULL) == 0);
	/* What done() submits now is never begun either. */
	while ((job = take_first(&h->ended)) != NULL ||
	    (job = take_first(&h->todo)) != NULL)
		end_job(h, job);
	must(h->nr_waiting == 0);
	*hp = NULL;
	loop_unwatch(&h->watch);
	io_close(&h->ready);
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->lock);
	h->magic = 0;
	free(h);
}

void
helper_submit(struct helper *h, struct helper_job *job)
{
	must_be(h, HELPER_MAGIC);
	h->nr_waiting++;
	must(pthread_mutex_lock(&h->lock) == 0);
	append(&h->todo, job);
	must(pthread_cond_signal(&h->more) == 0);
	must(pthread_mutex_unlock(&h->lock) == 0);
}

unsigned
helper_waiting(const struct helper *h)
{
	must_be(h, HELPER_MAGIC);
	return h->nr_waiting;
}
