/* SPDX-License-Identifier: Apache-2.0
 *
 * page.h: the client page: what one process did with one data set.
 * Made by the hub, written by that client, runs in both.
 *
 *  1. One process writes it, by atomic additions of its threads; the counts
 *     only grow.
 *  2. To the hub it is hostile input: copied word by word, compared with the
 *     copy before, and a client whose counts went back is expelled.  A wrong
 *     count harms nobody but a statistic.
 *  3. It is not inherited by fork (MADV_DONTFORK): a child cannot count on it.
 */

#ifndef CACHE_PAGE_H
#define CACHE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "base/segment.h"

enum cache_count {
	COUNT_HITS,		/* gets answered from the cache */
	COUNT_HIT_BYTES,
	COUNT_MISSES,		/* gets answered by reading storage */
	COUNT_STORAGE_READS,	/* items read from storage */
	COUNT_STORAGE_BYTES,
	COUNT_FAILURES,		/* gets answered by an error */

	/* Opens that the preload object left to the kernel: */
	COUNT_CONTAINERS,	/* of files that are read here and there */
	COUNT_LARGE,		/* larger than large_bytes (index.h) */
	COUNT_CHANGED,		/* no longer as they were listed */
	CACHE_COUNTS
};

struct page {
	struct segment_head	head;
	_Atomic uint64_t	count[CACHE_COUNTS];
	_Atomic uint64_t	fetch_bucket[HIST_BUCKETS]; /* ns per fetch */
};

extern const struct segment_kind page_kind;

struct page_copy {		/* the hub's */
	uint64_t	count[CACHE_COUNTS];
	struct hist	fetch;
};

void page_count(struct page *p, enum cache_count what, uint64_t n);
void page_fetched(struct page *p, uint64_t ns);

int page_copy_counts(const struct page *p, struct page_copy *c,
    struct ds_err *err);
	/* The same of the counts alone, which is quick. */
int page_copy(const struct page *p, struct page_copy *c, struct ds_err *err);
	/* Brings the copy up to date.  -EBADMSG: a count went back; the copy
	 * is as it was. */

void page_copy_init(struct page_copy *c);
void page_add_counts(struct page_copy *into, const struct page_copy *from);
void page_add_fetches(struct page_copy *into, const struct page_copy *before,
    const struct page_copy *now);
	/* What came to a copy between two times. */
void page_sum_up(struct page_copy *c);
	/* After additions of fetches: the rest of its histogram. */

#endif
