/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_ring.c: batches that are there already, delivered again and again.
 * Runs in clients: in the job's thread, but for releasing, in any.
 *
 * They are more bytes than the processor's caches hold, as fresh ones would be.
 * What the job gets is a copy that it may write to; before each block those that
 * it had are made good.
 *
 *  1. All memory is the shelf's, and goes with it.
 *  2. A copy that the job has is not given again before it has released it.
 */

#include <config.h>

#include "loader/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/io.h"
#include "base/meminfo.h"
#include "base/must.h"
#include "loader/loader.h"
#include "loader/share.h"

#define CACHE_GUESS	((uint64_t)32 << 20)	/* where nobody says */
#define RING_MOST	((uint64_t)512 << 20)
#define RING_SHARE	8u	/* one of so many parts of what is left */
#define RING_LEAST	2u
#define RING_BATCHES	16384u
#define PROC_TEXT	4096u

/* By this a batch of ours is known: it is nobody's lease. */
static struct share_lease ring_mark;

/*--- how many ------------------------------------------------------------*/

static uint64_t
last_cache_bytes(void)
{
	long n = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (n <= 0)
		n = sysconf(_SC_LEVEL2_CACHE_SIZE);
	return n > 0 ? (uint64_t)n : CACHE_GUESS;
}

/* What the ring may take of the memory that is left, for this process and on
 * the machine. */
static uint64_t
memory_share(void)
{
	char text[PROC_TEXT];
	struct cgroup_memory m;
	struct cgroup g;
	uint64_t bytes = RING_MOST, left;

	if (io_read_text(AT_FDCWD, "/proc/meminfo", text, sizeof text) > 0 &&
	    meminfo_get(text, "MemAvailable", &left) == 0 &&
	    left / RING_SHARE < bytes)
		bytes = left / RING_SHARE;
	if (cgroup_find(&g, "/", "memory", NULL) == 0 &&
	    cgroup_memory(&g, &m, NULL) == 0 &&
	    m.free_bytes / RING_SHARE < bytes)
		bytes = m.free_bytes / RING_SHARE;
	return bytes;
}

static uint32_t
count_copies(struct ds_loader *l)
{
	uint64_t cache = last_cache_bytes(), most = memory_share();
	uint64_t want = cache + cache / 4, nr;
	uint64_t bytes = l->shelf.sample_bytes * l->shelf.room;

	if (want > most) {
		steer_note(l->steer, "replayed batches have %llu MiB, and the "
		    "processor's caches %llu MiB",
		    (unsigned long long)(most >> 20),
		    (unsigned long long)(cache >> 20));
		want = most;
	}
	nr = want / bytes + 1;
	nr = nr < RING_BATCHES ? nr : RING_BATCHES;
	return nr > RING_LEAST ? (uint32_t)nr : RING_LEAST;
}

/*--- copying -------------------------------------------------------------*/

static void
copy_batch(struct batch *to, const struct batch *from)
{
	const struct ds_batch *g = &from->given;

	memcpy(to->given.samples, g->samples, g->count * g->sample_bytes);
	memcpy(to->labels, from->labels, g->count * sizeof *to->labels);
	memcpy(to->items, from->items, g->count * sizeof *to->items);
	memcpy(to->positions, from->positions,
	    g->count * sizeof *to->positions);
	memcpy(to->states, from->states, g->count * sizeof *to->states);
	to->nr = from->nr;
	to->given.epoch = g->epoch;
	to->given.number = g->number;
	to->given.type = g->type;
	memcpy(to->given.shape, g->shape, sizeof to->given.shape);
	batch_give(to, g->count);
}

static const struct batch *
master_of(const struct steer_ring *r, uint32_t i)
{
	return r->masters[i % r->nr_masters];
}

/*--- making it -----------------------------------------------------------*/

void
steer_free_ring(struct steer *s)
{
	free(s->ring.masters);
	free(s->ring.copies);
	s->ring = (struct steer_ring){ .nr = 0 };
}

static void
keep_master(struct ds_loader *l, struct batch *b, uint32_t most)
{
	struct steer_ring *r = &l->steer->ring;

	if (r->nr_masters == most || loader_failure(l, b) != NULL) {
		shelf_put(&l->shelf, b);
		return;
	}
	batch_finish(b, l->options.on_bad == ON_BAD_SUBSTITUTE);
	r->masters[r->nr_masters++] = b;
}

static struct batch *
take_made(struct ds_loader *l)
{
	struct batch *b = pipeline_take(&l->pipeline);

	l->steer->samples += b->nr;
	return b;
}

static void
make_masters(struct ds_loader *l, uint32_t most)
{
	struct steer *s = l->steer;

	while (s->given < s->set.nr && s->ring.nr_masters < most) {
		if (loader_open_ahead(l, l->options.prefetch + 1, AHEAD_ALL,
		    NULL) < 0 && l->pipeline.nr_batches == 0)
			return;
		s->given++;
		keep_master(l, take_made(l), most);
	}
	while (l->pipeline.nr_batches > 0)
		shelf_put(&l->shelf, take_made(l));
}

/* As many as there is memory for. */
static void
make_copies(struct ds_loader *l, uint32_t most)
{
	struct steer_ring *r = &l->steer->ring;

	while (r->nr_masters > 0 && r->nr < most) {
		struct batch *b = shelf_take(&l->shelf);

		if (b == NULL)
			return;
		copy_batch(b, master_of(r, r->nr));
		b->lease = &ring_mark;
		b->first = r->nr;
		r->copies[r->nr++].batch = b;
	}
}

/* The ring has taken the memory that the loader had in use, and to use new memory
 * takes a processor's time, half as much as making a picture: no block is to pay
 * for it. */
static void
restock(struct shelf *shelf)
{
	struct batch *taken = NULL, *b;

	for (unsigned i = 0; i < shelf->most; i++) {
		b = shelf_take(shelf);
		if (b == NULL)
			break;
		memset(b->memory, 0, b->bytes);
		b->next = taken;
		taken = b;
	}
	while ((b = taken) != NULL) {
		taken = b->next;
		shelf_put(shelf, b);
	}
}

/* A second set changes nothing: the ring's memory stays where it is. */
int
steer_fill_ring(struct ds_loader *l, struct ds_err *err)
{
	struct steer_ring *r = &l->steer->ring;
	uint32_t most = count_copies(l), nr = l->steer->set.nr;

	if (r->nr > 0)
		return 0;
	steer_free_ring(l->steer);
	r->masters = calloc(nr, sizeof(struct batch *));
	r->copies = calloc(most, sizeof *r->copies);
	if (r->masters == NULL || r->copies == NULL) {
		steer_free_ring(l->steer);
		return err_fail(err, -ENOMEM, "no memory for a ring of %u "
		    "batches", most);
	}
	make_masters(l, nr < most ? nr : most);
	make_copies(l, most);
	restock(&l->shelf);
	if (r->nr < most)
		steer_note(l->steer, "%u batches are replayed instead of %u",
		    r->nr, most);
	return 0;
}

/*--- giving --------------------------------------------------------------*/

static bool
is_out(struct steer_copy *c)
{
	/* acquire: pairs with the release in steer_put(), behind what the job
	 * has written */
	return atomic_load_explicit(&c->is_out, memory_order_acquire);
}

void
steer_restore_ring(struct ds_loader *l)
{
	struct steer_ring *r = &l->steer->ring;

	for (uint32_t i = 0; i < r->nr; i++) {
		struct steer_copy *c = &r->copies[i];

		if (!c->was_out || is_out(c))
			continue;
		copy_batch(c->batch, master_of(r, i));
		c->was_out = false;
	}
}

/* One that the job does not have, or NULL. */
static struct steer_copy *
find_copy(struct steer_ring *r)
{
	for (uint32_t n = 0; n < r->nr; n++) {
		struct steer_copy *c = &r->copies[r->at];

		r->at = (r->at + 1) % r->nr;
		if (!is_out(c))
			return c;
	}
	return NULL;
}

int
steer_replay(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	struct steer_ring *r = &l->steer->ring;
	struct steer_copy *c = find_copy(r);
	struct batch *b;

	if (c != NULL) {
		c->was_out = true;
		/* relaxed: the job's own threads pass it on */
		atomic_store_explicit(&c->is_out, true, memory_order_relaxed);
		*out = &c->batch->given;
		return 1;
	}
	b = shelf_take(&l->shelf);	/* the job keeps them all */
	if (b == NULL)
		return err_fail(err, -ENOMEM, "no memory for a batch");
	copy_batch(b, master_of(r, r->at));
	*out = &b->given;
	return 1;
}

bool
steer_put(struct ds_loader *l, struct batch *b)
{
	struct steer_copy *c;

	if (l->steer == NULL || b->lease != &ring_mark)
		return false;
	must(b->first < l->steer->ring.nr);
	c = &l->steer->ring.copies[b->first];
	must(c->batch == b);
	atomic_store_explicit(&c->is_out, false, memory_order_release);
	return true;
}
