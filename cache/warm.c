/* SPDX-License-Identifier: Apache-2.0
 *
 * warm.c: fills the cache with a data set.  Runs in the command only.
 *
 * It is a job as any other, over the public interface: some threads get each
 * item once, in order, and put it.  What is looked at besides is which items
 * are there already, and whether admission has closed: then what is left
 * would be read for nobody.
 */

#include <config.h>

#include "cache/warm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "base/parse.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/text.h"
#include "cache/data.h"
#include "cache/survey.h"
#include "hub/api.h"

#define REDRAW_MS	100
#define WHAT_SIZE	64

struct warm {
	struct ds_hub	*hub;
	struct ds_data	*data;
	uint64_t	items;
	struct warm_outcome *out;

	/* relaxed, all of them: counts that speak for nothing else */
	_Atomic uint64_t next;
	_Atomic uint64_t done;
	_Atomic uint64_t done_bytes;
	_Atomic bool	ended;		/* begin no further item */

	pthread_mutex_t	lock;		/* of what follows */
	unsigned	running;
	int		over;		/* eventfd: the last thread has ended */
};

/*--- a thread ------------------------------------------------------------*/

static bool
is_closed(const struct warm *w)
{
	/* relaxed: whoever sees it late reads one item more */
	return atomic_load_explicit(&w->data->index.index->closed,
	    memory_order_relaxed) != 0;
}

static bool
is_there(const struct warm *w, uint64_t i)
{
	/* relaxed: nothing of the item is looked at */
	return item_state(atomic_load_explicit(
	    &w->data->index.index->items[i].word, memory_order_relaxed)) ==
	    ITEM_READY;
}

static void
note_failure(struct warm *w, const struct ds_err *err)
{
	must(pthread_mutex_lock(&w->lock) == 0);
	if (w->out->failed_items++ == 0)
		w->out->first = *err;
	must(pthread_mutex_unlock(&w->lock) == 0);
}

static void
warm_item(struct warm *w, uint64_t i)
{
	struct ds_item item;
	struct ds_info info;
	struct ds_err err;

	if (ds_data_info(w->data, i, &info) < 0)
		info.size = 0;
	if (info.size > 0 && !is_there(w, i)) {
		if (ds_get(w->data, i, &item, &err) < 0)
			note_failure(w, &err);
		else
			ds_put(w->data, &item);
	}
	atomic_fetch_add_explicit(&w->done_bytes, info.size,
	    memory_order_relaxed);
	atomic_fetch_add_explicit(&w->done, 1, memory_order_relaxed);
}

static void *
work(void *arg)
{
	struct warm *w = arg;
	uint64_t i;

	while (!atomic_load_explicit(&w->ended, memory_order_relaxed) &&
	    !is_closed(w)) {
		i = atomic_fetch_add_explicit(&w->next, 1,
		    memory_order_relaxed);
		if (i >= w->items)
			break;
		warm_item(w, i);
	}
	must(pthread_mutex_lock(&w->lock) == 0);
	if (--w->running == 0)
		must(eventfd_write(w->over, 1) == 0);
	must(pthread_mutex_unlock(&w->lock) == 0);
	return NULL;
}

/*--- the main thread -----------------------------------------------------*/

/* How many there will be, as far as one can know. */
static uint64_t
expect(const struct warm *w, const char *share)
{
	double part;

	if (share == NULL || parse_share(share, &part, NULL) < 0)
		return w->items;
	return (uint64_t)((double)w->items * part);
}

static void
draw(const struct warm *w, struct progress *p, char what[WHAT_SIZE])
{
	uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
	char bytes[TEXT_FIGURE];

	(void)snprintf(what, WHAT_SIZE, "cache warm, %s", text_size(bytes,
	    atomic_load_explicit(&w->done_bytes, memory_order_relaxed)));
	progress_at(p, done < p->total ? done : p->total);
}

static bool
has_hub(const struct warm *w)
{
	struct ds_counts c;

	ds_data_counts(w->data, &c);
	return c.cached != 0;
}

/* Until the threads have ended. */
static void
watch(struct warm *w, struct stop *stop, const char *share)
{
	struct pollfd fds[2] = {
		{ .fd = w->over, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};
	char what[WHAT_SIZE] = "";
	struct progress p;

	progress_start(&p, what, "items", 0, expect(w, share));
	while (fds[0].revents == 0) {
		(void)poll(fds, 2, REDRAW_MS);
		if (stop_look(stop) != 0)
			fds[1].fd = -1;
		if (!has_hub(w))
			w->out->hub_gone = true;
		if (stop->signal != 0 || w->out->hub_gone)
			atomic_store_explicit(&w->ended, true,
			    memory_order_relaxed);
		draw(w, &p, what);
	}
	progress_end(&p);
}

static int
run_threads(struct warm *w, const struct warm_request *ask, struct stop *stop,
    struct ds_err *err)
{
	pthread_t thread[WARM_THREADS_MAX];
	unsigned nr;
	int e = 0;

	w->running = 1;		/* us, until all are started */
	for (nr = 0; nr < ask->threads && e == 0; nr++) {
		must(pthread_mutex_lock(&w->lock) == 0);
		e = pthread_create(&thread[nr], NULL, work, w);
		w->running += e == 0;
		must(pthread_mutex_unlock(&w->lock) == 0);
	}
	if (e != 0)
		nr--;
	if (nr == 0)
		return err_fail(err, -e, "cannot start a thread: %s",
		    strerror(e));
	must(pthread_mutex_lock(&w->lock) == 0);
	if (--w->running == 0)
		must(eventfd_write(w->over, 1) == 0);
	must(pthread_mutex_unlock(&w->lock) == 0);
	watch(w, stop, ask->share);
	while (nr > 0)
		must(pthread_join(thread[--nr], NULL) == 0);
	return 0;
}

/*--- what came of it -----------------------------------------------------*/

/* The hub's own figures: it has read all that we told it before. */
static void
ask_result(struct warm *w)
{
	const struct survey_set *set;
	struct survey s;
	struct ds_err err;

	if (survey_take(&s, hub_api_link(w->hub), &err) < 0) {
		w->out->hub_gone = true;
	} else if ((set = survey_find(&s, w->data->set)) != NULL) {
		w->out->cached_items = set->word[CACHE_STAT_CACHED_ITEMS];
		w->out->cached_bytes = set->word[CACHE_STAT_CACHED_BYTES];
		w->out->cap_bytes = set->word[CACHE_STAT_CAP_BYTES];
		w->out->closed = set->closed;
	}
	survey_fini(&s);
}

static void
measure(struct warm *w)
{
	struct warm_outcome *out = w->out;
	struct ds_counts c;
	struct ds_info info;

	for (uint64_t i = 0; i < w->items; i++) {
		if (ds_data_info(w->data, i, &info) < 0)
			continue;
		out->bytes += info.size;
		out->empty_items += info.size == 0;
		if (info.size > out->largest_bytes)
			out->largest_bytes = info.size;
	}
	ds_data_counts(w->data, &c);
	out->items = w->items;
	out->left_out = w->data->source->notes;
	out->read_items = c.storage_reads;
	out->read_bytes = c.storage_bytes;
}

static int
fill(struct warm *w, const struct warm_request *ask, struct ds_err *err)
{
	uint64_t start_ns = clock_now_ns();
	struct stop stop;
	int rc;

	w->over = eventfd(0, EFD_CLOEXEC);
	if (w->over < 0)
		return err_errno(err, "cannot make an eventfd");
	must(pthread_mutex_init(&w->lock, NULL) == 0);
	rc = stop_open(&stop, err);
	if (rc == 0)
		rc = run_threads(w, ask, &stop, err);
	w->out->signal = stop_close(&stop);
	must(pthread_mutex_destroy(&w->lock) == 0);
	io_close(&w->over);
	if (rc < 0)
		return rc;
	w->out->elapsed_ns = clock_now_ns() - start_ns;
	measure(w);
	ask_result(w);
	return 0;
}

int
warm_run(const struct warm_request *ask, struct warm_outcome *out,
    struct ds_err *err)
{
	struct warm w = { .out = out };
	int rc;

	*out = (struct warm_outcome){ 0 };
	rc = ds_connect(&w.hub, 0, err);
	if (rc < 0)
		return rc;
	rc = ds_data_open(&w.data, w.hub, ask->uri, ask->share, err);
	if (rc == 0) {
		w.items = ds_data_count(w.data);
		rc = w.data->index.index != NULL ? fill(&w, ask, err) :
		    err_fail(err, -ENOTSUP, "%s: the hub does not cache it: "
		    "%s", ask->uri, ds_data_uncached(w.data));
		ds_data_close(&w.data);
	}
	ds_disconnect(&w.hub);
	return rc;
}
