/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_law.c: in which orders the demo reads, and what caches would have to
 * read from storage then.  Runs in the command only.
 */

#include <config.h>

#include "tool/demo_law.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/gen_rng.h"

static int
fail_memory(struct ds_err *err)
{
	return err_fail(err, -ENOMEM, "demo: no memory");
}

/*--- orders --------------------------------------------------------------*/

/* Fisher and Yates. */
static void
shuffle(uint32_t *order, uint32_t n, uint64_t seed, unsigned epoch)
{
	struct gen_rng rng;
	uint32_t other, keep;

	gen_rng_init(&rng, seed, epoch, GEN_STREAM_ORDER);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		other = (uint32_t)gen_rng_range(&rng, 0, (int)i - 1);
		keep = order[i - 1];
		order[i - 1] = order[other];
		order[other] = keep;
	}
}

int
demo_law_init(struct demo_law *l, uint32_t items, unsigned epochs,
    uint64_t seed, struct ds_err *err)
{
	*l = (struct demo_law){ .items = items, .epochs = epochs,
	    .seed = seed };
	l->size = calloc(items, sizeof *l->size);
	l->order = calloc(epochs, sizeof *l->order);
	if (l->size == NULL || l->order == NULL)
		return fail_memory(err);
	for (unsigned c = 0; c < DEMO_CACHES; c++) {
		l->miss[c] = calloc(epochs, sizeof *l->miss[c]);
		if (l->miss[c] == NULL)
			return fail_memory(err);
	}
	for (unsigned e = 0; e < epochs; e++) {
		l->order[e] = calloc(items, sizeof *l->order[e]);
		if (l->order[e] == NULL)
			return fail_memory(err);
		shuffle(l->order[e], items, seed, e);
	}
	return 0;
}

void
demo_law_fini(struct demo_law *l)
{
	for (unsigned e = 0; l->order != NULL && e < l->epochs; e++)
		free(l->order[e]);
	free(l->order);
	free(l->size);
	for (unsigned c = 0; c < DEMO_CACHES; c++)
		free(l->miss[c]);
	*l = (struct demo_law){ 0 };
}

/*--- misses --------------------------------------------------------------*/

uint64_t
demo_law_pages(uint64_t bytes)
{
	return (bytes + DEMO_LAW_PAGE - 1) / DEMO_LAW_PAGE * DEMO_LAW_PAGE;
}

static void
count_miss(struct demo_law *l, enum demo_cache c, unsigned epoch, uint32_t i)
{
	l->miss[c][epoch].items++;
	l->miss[c][epoch].bytes += demo_law_pages(l->size[i]);
}

/*--- MinIO ---------------------------------------------------------------*/

#define LARGE_PART	4u	/* of the cache is too much for one item */

static void
admit(struct demo_law *l)
{
	uint64_t size;

	for (uint32_t i = 0; i < l->items; i++) {
		size = l->size[l->order[0][i]];
		if (size > l->cap_bytes / LARGE_PART)
			continue;
		if (size > l->cap_bytes - l->admitted_bytes)
			return;
		l->admitted++;
		l->admitted_bytes += size;
		l->admitted_pages += demo_law_pages(size);
	}
}

static void
run_minio(struct demo_law *l)
{
	struct demo_misses *m = l->miss[DEMO_MINIO];

	l->admitted = l->admitted_bytes = l->admitted_pages = 0;
	l->largest = l->too_large = 0;
	admit(l);
	for (uint32_t i = 0; i < l->items; i++) {
		if (l->size[i] > l->largest)
			l->largest = l->size[i];
		l->too_large += l->size[i] > l->cap_bytes / LARGE_PART;
		count_miss(l, DEMO_MINIO, 0, i);
	}
	for (unsigned e = 1; e < l->epochs; e++)
		m[e] = (struct demo_misses){
			.items = m[0].items - l->admitted,
			.bytes = m[0].bytes - l->admitted_pages,
		};
}

/*--- LRU -----------------------------------------------------------------*/

/* A ring of items through a head, number n: the newest follows it, the oldest
 * precedes it.  An item that is not held points to itself. */
struct ring {
	uint32_t	*next, *prev;
	uint32_t	head;
	uint64_t	bytes;
};

static void
take_out(struct ring *r, uint32_t i)
{
	r->next[r->prev[i]] = r->next[i];
	r->prev[r->next[i]] = r->prev[i];
	r->next[i] = r->prev[i] = i;
}

static void
put_first(struct ring *r, uint32_t i)
{
	r->next[i] = r->next[r->head];
	r->prev[i] = r->head;
	r->prev[r->next[i]] = i;
	r->next[r->head] = i;
}

/* True if it was missing. */
static bool
read_lru(struct ring *r, uint32_t i, const uint64_t *size, uint64_t cap)
{
	bool missing = r->next[i] == i;
	uint32_t oldest;

	if (missing)
		r->bytes += size[i];
	else
		take_out(r, i);
	put_first(r, i);
	while (r->bytes > cap) {
		oldest = r->prev[r->head];
		take_out(r, oldest);
		r->bytes -= size[oldest];
	}
	return missing;
}

static int
run_lru(struct demo_law *l, struct ds_err *err)
{
	struct ring r = { .head = l->items };

	r.next = calloc((size_t)l->items + 1, sizeof *r.next);
	r.prev = calloc((size_t)l->items + 1, sizeof *r.prev);
	if (r.next == NULL || r.prev == NULL) {
		free(r.next);
		free(r.prev);
		return fail_memory(err);
	}
	for (uint32_t i = 0; i <= l->items; i++)
		r.next[i] = r.prev[i] = i;
	for (unsigned e = 0; e < l->epochs; e++) {
		for (uint32_t i = 0; i < l->items; i++)
			if (read_lru(&r, l->order[e][i], l->size,
			    l->cap_bytes))
				count_miss(l, DEMO_LRU, e, l->order[e][i]);
	}
	free(r.next);
	free(r.prev);
	return 0;
}

/*--- random replacement --------------------------------------------------*/

struct bag {
	uint32_t	*held;		/* nr of them, in any order */
	bool		*is_held;
	uint32_t	nr;
	uint64_t	bytes;
};

static bool
read_random(struct bag *b, uint32_t i, const uint64_t *size, uint64_t cap,
    struct gen_rng *rng)
{
	uint32_t victim;

	if (b->is_held[i])
		return false;
	while (b->nr > 0 && b->bytes + size[i] > cap) {
		victim = (uint32_t)gen_rng_range(rng, 0, (int)b->nr - 1);
		b->bytes -= size[b->held[victim]];
		b->is_held[b->held[victim]] = false;
		b->held[victim] = b->held[--b->nr];
	}
	if (b->bytes + size[i] <= cap) {
		b->held[b->nr++] = i;
		b->is_held[i] = true;
		b->bytes += size[i];
	}
	return true;
}

static int
run_random(struct demo_law *l, struct ds_err *err)
{
	struct gen_rng rng;
	struct bag b = { 0 };

	b.held = calloc(l->items, sizeof *b.held);
	b.is_held = calloc(l->items, sizeof *b.is_held);
	if (b.held == NULL || b.is_held == NULL) {
		free(b.held);
		free(b.is_held);
		return fail_memory(err);
	}
	for (unsigned e = 0; e < l->epochs; e++) {
		gen_rng_init(&rng, l->seed, e, GEN_STREAM_VICTIM);
		for (uint32_t i = 0; i < l->items; i++)
			if (read_random(&b, l->order[e][i], l->size,
			    l->cap_bytes, &rng))
				count_miss(l, DEMO_RANDOM, e, l->order[e][i]);
	}
	free(b.held);
	free(b.is_held);
	return 0;
}

int
demo_law_run(struct demo_law *l, uint64_t cap_bytes, struct ds_err *err)
{
	int rc;

	l->cap_bytes = cap_bytes;
	for (unsigned c = 0; c < DEMO_CACHES; c++)
		memset(l->miss[c], 0, l->epochs * sizeof *l->miss[c]);
	run_minio(l);
	rc = run_lru(l, err);
	return rc < 0 ? rc : run_random(l, err);
}
