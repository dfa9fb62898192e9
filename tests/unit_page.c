/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_page.c: tests of cache/page.c.
 */

#include <config.h>

#include "cache/page.h"

#include <errno.h>
#include <string.h>

#include "tests/harness/unit.h"

static void
add_copy(struct page_copy *into, const struct page_copy *from)
{
	struct page_copy none;

	page_copy_init(&none);
	page_add_counts(into, from);
	page_add_fetches(into, &none, from);
	page_sum_up(into);
}

static struct page page;
static struct page_copy copy;
static struct ds_err err;

static void
start(void)
{
	memset(&page, 0, sizeof page);
	page_copy_init(&copy);
}

static void
counts_arrive(void **state)
{
	(void)state;
	start();
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	assert_int_equal(copy.fetch.count, 0);
	assert_int_equal(hist_quantile(&copy.fetch, 0.5), 0);
	page_count(&page, COUNT_HITS, 3);
	page_count(&page, COUNT_HITS, 4);
	page_count(&page, COUNT_STORAGE_BYTES, 110000);
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	assert_int_equal(copy.count[COUNT_HITS], 7);
	assert_int_equal(copy.count[COUNT_STORAGE_BYTES], 110000);
	assert_int_equal(copy.count[COUNT_MISSES], 0);
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	assert_int_equal(copy.count[COUNT_HITS], 7);
}

/* As a histogram that saw the values themselves, to 1/32 of each. */
static void
times_are_near(void **state)
{
	struct hist exact;

	(void)state;
	start();
	hist_init(&exact);
	for (uint64_t v = 1; v < UINT64_C(1) << 40; v = v * 3 + 1) {
		page_fetched(&page, v);
		hist_add(&exact, v);
	}
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	assert_memory_equal(copy.fetch.bucket, exact.bucket,
	    sizeof exact.bucket);
	assert_int_equal(copy.fetch.count, exact.count);
	assert_int_equal(copy.fetch.min, exact.min);
	assert_in_range(copy.fetch.max, exact.max - exact.max / 32,
	    exact.max + exact.max / 32);
	assert_in_range(copy.fetch.sum, exact.sum - exact.sum / 32,
	    exact.sum + exact.sum / 32);
	assert_int_equal(hist_quantile(&copy.fetch, 0), copy.fetch.min);
	assert_int_equal(hist_quantile(&copy.fetch, 1), copy.fetch.max);
}

static void
going_back_is_refused(void **state)
{
	struct page_copy before;

	(void)state;
	start();
	page_count(&page, COUNT_MISSES, 5);
	page_fetched(&page, 1000);
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	before = copy;
	page_count(&page, COUNT_HITS, 1);
	page_count(&page, COUNT_MISSES, UINT64_MAX);	/* one less */
	assert_int_equal(page_copy(&page, &copy, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "went back"));
	assert_memory_equal(&copy, &before, sizeof copy);
	page_count(&page, COUNT_MISSES, 1);
	atomic_store(&page.fetch_bucket[hist_bucket(1000)], 0);
	assert_int_equal(page_copy(&page, &copy, &err), -EBADMSG);
	assert_memory_equal(&copy, &before, sizeof copy);
	page_fetched(&page, 1000);
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	assert_int_equal(copy.count[COUNT_HITS], 1);
}

static void
made_up_numbers_stop_at_the_last(void **state)
{
	struct page_copy all;

	(void)state;
	start();
	page_copy_init(&all);
	memset(page.count, 0xff, sizeof page.count);
	memset(page.fetch_bucket, 0xff, sizeof page.fetch_bucket);
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	for (int i = 0; i < 2; i++) {
		add_copy(&all, &copy);
		assert_int_equal(all.count[COUNT_HITS], UINT64_MAX);
		assert_int_equal(all.fetch.bucket[17], UINT64_MAX);
		assert_int_equal(all.fetch.count, UINT64_MAX);
		assert_int_equal(all.fetch.sum, UINT64_MAX);
		(void)hist_quantile(&all.fetch, 0.99);
	}
}

static void
copies_add(void **state)
{
	struct page_copy all;

	(void)state;
	start();
	page_copy_init(&all);
	for (uint64_t i = 0; i < 10; i++) {
		page_count(&page, COUNT_HITS, i);
		page_fetched(&page, i);
	}
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	add_copy(&all, &copy);
	add_copy(&all, &copy);
	assert_int_equal(all.count[COUNT_HITS], 90);
	assert_int_equal(all.fetch.count, 20);
	assert_int_equal(all.fetch.sum, 90);
	assert_int_equal(all.fetch.min, 0);
	assert_int_equal(all.fetch.max, 9);
}

UNIT_MAIN(
	UNIT(counts_arrive),
	UNIT(times_are_near),
	UNIT(going_back_is_refused),
	UNIT(made_up_numbers_stop_at_the_last),
	UNIT(copies_add))
