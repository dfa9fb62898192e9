/* SPDX-License-Identifier: Apache-2.0
 *
 * workers.c: the threads of a loader.  Runs in clients.
 */

#include <config.h>

#include "loader/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "prep/prep.h"

struct worker {
	struct pipeline	*pipeline;
	struct ds_prep	*prep;		/* of a maker */
	pthread_t	thread;
};

#define THREAD_NAME	15	/* characters, for the kernel */

#define WORKERS_MAGIC	0x3042e425u

struct workers {
	unsigned	magic;
	unsigned	nr_preps;
	struct worker	*makers, *readers;
	unsigned	nr_makers, nr_readers;
};

/*--- what went wrong -----------------------------------------------------*/

/* Is it the file's fault that it could not be read, or ours? */
static bool
is_bad_file(int rc)
{
	switch (-rc) {
	case EAGAIN:
	case EBADF:
	case EINTR:
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return false;
	default:
		return true;
	}
}

static void
fail_get(struct done *d, int rc, const struct ds_err *err)
{
	d->rc = rc;
	d->is_bad = is_bad_file(rc);
	d->why = strdup(err->text);
}

static void
fail_make(struct done *d, int rc, const struct ds_err *why,
    const struct pipeline *p, uint64_t item)
{
	struct ds_info info = { .name = NULL };
	struct ds_err err;

	(void)ds_data_info(p->data, item, &info);
	(void)err_fail(&err, rc, "%s", info.name != NULL ? info.name : "?");
	(void)err_hint(&err, rc, "%s", why->text);
	d->rc = rc;
	d->is_bad = prep_is_bad(rc);
	d->why = strdup(err.text);
}

/*--- fetching ------------------------------------------------------------*/

/* One that is too large to be used need not be read. */
static int
check_size(const struct pipeline *p, uint64_t item, struct done *d)
{
	struct ds_info info = { .size = 0 };
	struct ds_err why;

	(void)ds_data_info(p->data, item, &info);
	if (info.size <= p->bytes_most)
		return 0;
	(void)picture_too_long(info.size, &why);
	fail_make(d, -EFBIG, &why, p, item);
	return -EFBIG;
}

static int
fetch(struct pipeline *p, const struct task *t, struct ds_item *item,
    struct done *d)
{
	uint64_t begin_ns = clock_now_ns();
	struct ds_err err = { 0 };
	int rc;

	rc = check_size(p, t->batch->items[t->i], d);
	if (rc < 0)
		return rc;
	rc = ds_get(p->data, t->batch->items[t->i], item, &err);
	d->fetch_ns = clock_now_ns() - begin_ns;
	if (rc < 0)
		fail_get(d, rc, &err);
	return rc;
}

static void
substitute(const struct pipeline *p, const struct task *t)
{
	if (p->substitutes)
		memset(batch_sample(t->batch, t->i), 0,
		    t->batch->given.sample_bytes);
}

/* With the lock held, which is let go of to publish. */
static void
end_task(struct pipeline *p, const struct task *t, const struct done *d)
{
	struct batch *leased = pipeline_done(p, t, d);

	if (leased == NULL)
		return;
	must(pthread_mutex_unlock(&p->lock) == 0);
	p->publish(p->publish_arg, leased);
	must(pthread_mutex_lock(&p->lock) == 0);
}

static void *
run_reader(void *arg)
{
	struct worker *w = arg;
	struct pipeline *p = w->pipeline;
	struct task t;

	must(pthread_mutex_lock(&p->lock) == 0);
	while (pipeline_next_fetch(p, &t)) {
		struct done d = { .rc = 0 };
		struct ds_item item;
		int rc;

		must(pthread_mutex_unlock(&p->lock) == 0);
		rc = fetch(p, &t, &item, &d);
		if (rc < 0)
			substitute(p, &t);
		must(pthread_mutex_lock(&p->lock) == 0);
		if (rc < 0)
			end_task(p, &t, &d);
		else
			pipeline_fetched(p, &t, &item, &d);
	}
	must(pthread_mutex_unlock(&p->lock) == 0);
	return NULL;
}

/*--- making --------------------------------------------------------------*/

static void
make(struct worker *w, const struct task *t, const struct ds_item *item,
    struct done *d)
{
	struct pipeline *p = w->pipeline;
	struct batch *b = t->batch;
	struct ds_place place = { p->seed, b->given.epoch, b->positions[t->i] };
	_Atomic uint8_t *sound = &p->sound[b->items[t->i]];
	uint64_t begin_ns = clock_now_ns();
	struct ds_err err = { 0 };
	int rc;

	/* relaxed: it says all there is to know */
	rc = prep_make(w->prep, item->bytes, item->len, &place,
	    atomic_load_explicit(sound, memory_order_relaxed) == 0,
	    batch_sample(b, t->i), &err);
	if (rc == PREP_WHOLE)
		atomic_store_explicit(sound, 1, memory_order_relaxed);
	d->make_ns = clock_now_ns() - begin_ns;
	d->bytes = item->len;
	if (rc < 0)
		fail_make(d, rc, &err, p, b->items[t->i]);
	else
		d->rc = rc == PREP_DAMAGED ? DS_SAMPLE_CUT_SHORT : DS_SAMPLE_OK;
}

static void
do_sample(struct worker *w, const struct task *t, struct ds_item *item,
    struct done *d)
{
	struct pipeline *p = w->pipeline;

	if (t->was == CELL_FETCHED || fetch(p, t, item, d) == 0) {
		make(w, t, item, d);
		ds_put(p->data, item);
	}
	if (d->rc < 0)
		substitute(p, t);
}

static void *
run_maker(void *arg)
{
	struct worker *w = arg;
	struct pipeline *p = w->pipeline;
	struct task t;

	must(pthread_mutex_lock(&p->lock) == 0);
	while (pipeline_next_make(p, &t)) {
		struct ds_item item = t.batch->cells[t.i].item;
		struct done d = { .rc = 0 };

		must(pthread_mutex_unlock(&p->lock) == 0);
		do_sample(w, &t, &item, &d);
		must(pthread_mutex_lock(&p->lock) == 0);
		end_task(p, &t, &d);
	}
	must(pthread_mutex_unlock(&p->lock) == 0);
	return NULL;
}

/*--- starting and ending -------------------------------------------------*/

/* A signal that a thread causes itself is its own. */
static void
block_signals(sigset_t *before)
{
	sigset_t most;

	sigfillset(&most);
	sigdelset(&most, SIGSEGV);
	sigdelset(&most, SIGBUS);
	sigdelset(&most, SIGFPE);
	sigdelset(&most, SIGILL);
	must(pthread_sigmask(SIG_SETMASK, &most, before) == 0);
}

/* The job's thread wakes them when it takes a batch, and would be off its core for
 * milliseconds then: threads of this policy take their turn, and no core from
 * others at once.  Whoever has chosen a policy for the job keeps it. */
static void
give_way(pthread_t thread)
{
	struct sched_param none = { 0 }, now;
	int policy;

	if (pthread_getschedparam(thread, &policy, &now) == 0 &&
	    policy == SCHED_OTHER)
		(void)pthread_setschedparam(thread, SCHED_BATCH, &none);
}

/* As many as the system gives; why there are no more. */
static int
start_threads(struct worker *w, unsigned most, const char *what,
    void *(*run)(void *), unsigned *nr)
{
	char name[32];
	int rc;

	for (; *nr < most; (*nr)++) {
		rc = pthread_create(&w[*nr].thread, NULL, run, &w[*nr]);
		if (rc != 0)
			return rc;
		give_way(w[*nr].thread);
		(void)snprintf(name, sizeof name, "destall %s %u", what, *nr);
		name[THREAD_NAME] = '\0';
		(void)pthread_setname_np(w[*nr].thread, name);
	}
	return 0;
}

static void
free_workers(struct workers *ws)
{
	for (unsigned i = 0; i < ws->nr_preps; i++)
		ds_prep_free(&ws->makers[i].prep);
	free(ws->makers);
	free(ws->readers);
	ws->magic = 0;
	free(ws);
}

static int
new_workers(struct workers **out, struct pipeline *p,
    const struct ds_prep *prep, unsigned makers, unsigned readers,
    struct ds_err *err)
{
	struct workers *ws = calloc(1, sizeof *ws);
	int rc = 0;

	if (ws == NULL)
		return err_fail(err, -ENOMEM, "no memory for threads");
	ws->magic = WORKERS_MAGIC;
	ws->makers = calloc(makers, sizeof *ws->makers);
	ws->readers = calloc((size_t)readers + 1, sizeof *ws->readers);
	if (ws->makers == NULL || ws->readers == NULL)
		rc = err_fail(err, -ENOMEM, "no memory for %u threads",
		    makers + readers);
	for (; rc == 0 && ws->nr_preps < makers; ws->nr_preps++) {
		ws->makers[ws->nr_preps].pipeline = p;
		rc = prep_copy(&ws->makers[ws->nr_preps].prep, prep, err);
	}
	if (rc < 0) {
		free_workers(ws);
		return rc;
	}
	for (unsigned i = 0; i < readers; i++)
		ws->readers[i].pipeline = p;
	*out = ws;
	return 0;
}

int
workers_start(struct workers **out, struct pipeline *p,
    const struct ds_prep *prep, unsigned makers, unsigned readers,
    struct ds_err *err)
{
	struct workers *ws = NULL;
	sigset_t before;
	int rc;

	must(makers > 0);
	rc = new_workers(&ws, p, prep, makers, readers, err);
	if (rc < 0)
		return rc;
	block_signals(&before);
	rc = start_threads(ws->makers, makers, "prep", run_maker,
	    &ws->nr_makers);
	if (ws->nr_makers > 0)
		(void)start_threads(ws->readers, readers, "read", run_reader,
		    &ws->nr_readers);
	must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	if (ws->nr_makers == 0) {
		free_workers(ws);
		return err_fail(err, -EAGAIN, "cannot start a thread: %s",
		    strerrordesc_np(rc));
	}
	must(pthread_mutex_lock(&p->lock) == 0);
	p->nr_makers = ws->nr_makers;
	p->nr_readers = ws->nr_readers;
	must(pthread_mutex_unlock(&p->lock) == 0);
	*out = ws;
	return 0;
}

void
workers_end(struct workers **ww)
{
	struct workers *ws = *ww;

	must_be(ws, WORKERS_MAGIC);
	*ww = NULL;
	for (unsigned i = 0; i < ws->nr_makers; i++)
		must(pthread_join(ws->makers[i].thread, NULL) == 0);
	for (unsigned i = 0; i < ws->nr_readers; i++)
		must(pthread_join(ws->readers[i].thread, NULL) == 0);
	free_workers(ws);
}

void
workers_abandon(struct workers **ww)
{
	must_be(*ww, WORKERS_MAGIC);
	free_workers(*ww);
	*ww = NULL;
}
