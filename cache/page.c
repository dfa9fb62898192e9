/* SPDX-License-Identifier: Apache-2.0
 *
 * page.c: the client page.  Runs in clients, which count, and in the hub,
 * which copies.
 *
 * A page has no least, largest or total time of a fetch: those of a copy are
 * made from the buckets, each taken for its middle, and so right to 1/32 of
 * the value.
 */

#include <config.h>

#include "cache/page.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/must.h"

#define PAGE_MAGIC	0x44535047u	/* "DSPG" */

static_assert(sizeof(struct page) == 32 + 8 * (CACHE_COUNTS + HIST_BUCKETS),
    "the layout is shared between processes");

const struct segment_kind page_kind = { "destall page", PAGE_MAGIC, 3 };

/*--- the client ----------------------------------------------------------*/

/* Relaxed, here and in the copy: no count speaks for anything else. */
void
page_count(struct page *p, enum cache_count what, uint64_t n)
{
	must(what < CACHE_COUNTS);
	atomic_fetch_add_explicit(&p->count[what], n, memory_order_relaxed);
}

void
page_fetched(struct page *p, uint64_t ns)
{
	atomic_fetch_add_explicit(&p->fetch_bucket[hist_bucket(ns)], 1,
	    memory_order_relaxed);
}

/*--- the hub -------------------------------------------------------------*/

static uint64_t
add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t
multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* All of a histogram that its buckets tell.  Numbers that a client made up
 * stop at the last one instead of starting anew. */
static void
sum_up(struct hist *h)
{
	h->count = h->sum = h->max = 0;
	h->min = UINT64_MAX;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		uint64_t n = h->bucket[i], value = hist_value(i);

		if (n == 0)
			continue;
		h->count = add(h->count, n);
		h->sum = add(h->sum, multiply(n, value));
		if (h->min > value)
			h->min = value;
		h->max = value;
	}
}

/* One load for each word: a second one may see another number.  False if one
 * of them went back. */
static bool
copy_words(const _Atomic uint64_t *from, uint64_t *to, const uint64_t *before,
    unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
		if (to[i] < before[i])
			return false;
	}
	return true;
}

int
page_copy_counts(const struct page *p, struct page_copy *c, struct ds_err *err)
{
	uint64_t next[CACHE_COUNTS];

	if (!copy_words(p->count, next, c->count, CACHE_COUNTS))
		return err_fail(err, -EBADMSG, "%s: a count went back",
		    page_kind.name);
	memcpy(c->count, next, sizeof next);
	return 0;
}

int
page_copy(const struct page *p, struct page_copy *c, struct ds_err *err)
{
	struct page_copy next;

	if (!copy_words(p->count, next.count, c->count, CACHE_COUNTS) ||
	    !copy_words(p->fetch_bucket, next.fetch.bucket, c->fetch.bucket,
	    HIST_BUCKETS))
		return err_fail(err, -EBADMSG, "%s: a count went back",
		    page_kind.name);
	sum_up(&next.fetch);
	*c = next;
	return 0;
}

void
page_copy_init(struct page_copy *c)
{
	memset(c->count, 0, sizeof c->count);
	hist_init(&c->fetch);
}

void
page_add_counts(struct page_copy *into, const struct page_copy *from)
{
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		into->count[i] = add(into->count[i], from->count[i]);
}

void
page_add_fetches(struct page_copy *into, const struct page_copy *before,
    const struct page_copy *now)
{
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->fetch.bucket[i] = add(into->fetch.bucket[i],
		    now->fetch.bucket[i] - before->fetch.bucket[i]);
}

void
page_sum_up(struct page_copy *c)
{
	sum_up(&c->fetch);
}
