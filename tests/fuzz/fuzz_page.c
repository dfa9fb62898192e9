/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_page.c: a client that writes anything into its page.
 *
 * The input is what it writes: a number of a word (2 bytes, low byte first) and
 * its value (8), over and over; a number past the last word is the moment at
 * which the hub copies.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>

#include "cache/page.h"
#include "tests/fuzz/fuzz.h"

#define WORDS	(CACHE_COUNTS + HIST_BUCKETS)
#define COPIES	8u		/* enough for one input */

const char fuzz_name[] = "page";

/* The same words as plain ones: what the hub must have seen. */
struct plain {
	uint64_t word[WORDS];
};

static void
add_copy(struct page_copy *into, const struct page_copy *from)
{
	struct page_copy none;

	page_copy_init(&none);
	page_add_counts(into, from);
	page_add_fetches(into, &none, from);
	page_sum_up(into);
}

static void
write_word(struct page *p, struct plain *now, unsigned i, uint64_t value)
{
	now->word[i] = value;
	if (i < CACHE_COUNTS)
		atomic_store_explicit(&p->count[i], value,
		    memory_order_relaxed);
	else
		atomic_store_explicit(&p->fetch_bucket[i - CACHE_COUNTS], value,
		    memory_order_relaxed);
}

static bool
went_back(const struct plain *now, const struct plain *before)
{
	for (unsigned i = 0; i < WORDS; i++)
		if (now->word[i] < before->word[i])
			return true;
	return false;
}

static void
check_copy(const struct page_copy *c, const struct plain *p)
{
	const struct hist *h = &c->fetch;
	uint64_t count = 0;

	must(memcmp(c->count, p->word, sizeof c->count) == 0);
	must(memcmp(h->bucket, p->word + CACHE_COUNTS, sizeof h->bucket) == 0);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		count = count > UINT64_MAX - h->bucket[i] ? UINT64_MAX :
		    count + h->bucket[i];
	must(h->count == count && (h->min > h->max) == (count == 0));
	for (unsigned i = 0; i <= 4 && count > 0; i++) {
		uint64_t value = hist_quantile(h, i / 4.0);

		must(value >= h->min && value <= h->max);
	}
}

static void
copy_page(const struct page *p, struct page_copy *c, const struct plain *now,
    struct plain *before)
{
	struct page_copy was = *c, twice = *c;
	struct ds_err err;
	int rc = page_copy(p, c, &err);

	must(rc == (went_back(now, before) ? -EBADMSG : 0));
	if (rc < 0) {
		fuzz_check_error(&err, rc);
		must(memcmp(c, &was, sizeof was) == 0);
		return;
	}
	*before = *now;
	check_copy(c, now);
	add_copy(&twice, c);
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		must(twice.count[i] >= c->count[i]);
	must(twice.fetch.count >= c->fetch.count);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct page page;
	static struct plain now, before;
	static struct page_copy copy;
	unsigned copies = 0;

	memset(&page, 0, sizeof page);
	memset(&now, 0, sizeof now);
	memset(&before, 0, sizeof before);
	page_copy_init(&copy);
	for (; len >= 2; bytes += 10, len -= 10) {
		unsigned i = bytes[0] | (unsigned)bytes[1] << 8;
		uint64_t value;

		if (i >= WORDS && ++copies <= COPIES)
			copy_page(&page, &copy, &now, &before);
		if (len < 10)
			break;
		memcpy(&value, bytes + 2, sizeof value);
		if (i < WORDS)
			write_word(&page, &now, i, value);
	}
	copy_page(&page, &copy, &now, &before);
	return 0;
}
