/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_read.c: reading alone: files as the loader reads them, by as many threads
 * as it has, and nothing made of them.  Runs in clients, in threads of its own.
 */

#include <config.h>

#include "loader/steer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/must.h"
#include "cache/data.h"
#include "loader/loader.h"

#define BRING_READERS	32u	/* storage may answer late */
#define BRING_BYTES	((size_t)256 << 20)	/* of memory for them, about */

struct reading {
	struct ds_loader *l;
	uint64_t	nr;
	size_t		largest;
	_Atomic uint64_t next, files, bytes;
};

static size_t
find_largest(const struct ds_loader *l, uint64_t nr)
{
	uint64_t most = 1;

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t size = data_key(l->data, l->steer->set.items[i])->size;

		most = size > most && size <= l->pipeline.bytes_most ? size :
		    most;
	}
	return (size_t)most;
}

/* All counts are relaxed: they are read when the threads have been joined. */
static void
read_item(struct reading *r, uint64_t item, void *bytes)
{
	struct ds_data *d = r->l->data;
	const struct listing_item *key = data_key(d, item);
	const char *name = data_name(d, item);

	if (name == NULL || key->size > r->largest ||
	    source_read(d->source, name, key, bytes, NULL) < 0)
		return;
	atomic_fetch_add_explicit(&r->files, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&r->bytes, key->size, memory_order_relaxed);
}

static void *
run_reading(void *arg)
{
	struct reading *r = arg;
	void *bytes = malloc(r->largest);
	uint64_t i;

	if (bytes == NULL)
		return NULL;
	while ((i = atomic_fetch_add_explicit(&r->next, 1,
	    memory_order_relaxed)) < r->nr)
		read_item(r, r->l->steer->set.items[i], bytes);
	free(bytes);
	return NULL;
}

/* Signals go to the job's own threads.  How many were started. */
static unsigned
start_threads(struct reading *r, pthread_t *threads, unsigned most)
{
	sigset_t all, before;
	unsigned nr = 0;

	sigfillset(&all);
	must(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	while (nr < most && pthread_create(&threads[nr], NULL, run_reading,
	    r) == 0)
		nr++;
	must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	return nr;
}

static void
read_by(struct reading *r, unsigned most, struct steer_read *out)
{
	pthread_t *threads = calloc(most, sizeof *threads);
	unsigned started;

	out->begin_ns = clock_now_ns();
	started = threads != NULL ? start_threads(r, threads, most) : 0;
	if (started == 0)
		(void)run_reading(r);
	for (unsigned i = 0; i < started; i++)
		must(pthread_join(threads[i], NULL) == 0);
	out->end_ns = clock_now_ns();
	out->readers = started > 0 ? started : 1;
	out->files = atomic_load_explicit(&r->files, memory_order_relaxed);
	out->bytes = atomic_load_explicit(&r->bytes, memory_order_relaxed);
	free(threads);
}

void
steer_read(struct ds_loader *l, uint64_t nr, struct steer_read *out)
{
	struct reading r = { .l = l, .nr = nr,
	    .largest = find_largest(l, nr) };

	read_by(&r, l->pipeline.nr_makers + l->pipeline.nr_readers, out);
}

void
steer_bring_in(struct ds_loader *l, uint64_t nr)
{
	struct reading r = { .l = l, .nr = nr,
	    .largest = find_largest(l, nr) };
	size_t most = BRING_BYTES / r.largest + 1;
	struct steer_read none;

	read_by(&r, most < BRING_READERS ? (unsigned)most : BRING_READERS,
	    &none);
}
