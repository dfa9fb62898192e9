/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_live.c: tests of analyzer/live.c.
 */

#include <config.h>

#include "analyzer/live.h"

#include "tests/harness/told.h"

/* A window of a second from `at` on: 10 batches of 10. */
static void
tell_window(size_t process, uint32_t loader, uint64_t at, uint64_t waited_ms,
    uint64_t found_ms, uint64_t found)
{
	TELL(process, JOURNAL_LIVE, loader, at * 1000 * MS,
	    (at + 1) * 1000 * MS, 10, 100, waited_ms * MS, found_ms * MS, found);
}

static void
tell_made(size_t process, uint64_t worker, uint64_t ms, uint64_t cpu_ms,
    uint64_t kept_ms)
{
	TELL(process, JOURNAL_LIVE_MADE, 1, worker, 5000 * MS, 10, 100, ms * MS,
	    cpu_ms * MS, kept_ms * MS);
}

static void
nothing_told_is_no_result(void **state)
{
	(void)state;
	told_init();
	assert_false(live_estimate(&result, &facts));
	tell_rank(0, 2, 0, 1);			/* it trains, and gave nothing */
	assert_false(live_estimate(&result, &facts));
	TELL(0, JOURNAL_LIVE, 1, 9 * MS, 5 * MS, 10, 100);	/* no time */
	assert_false(live_estimate(&result, &facts));
	assert_int_equal(result.nr_confessions, 0);
	told_fini();
}

/* 600 of 1000 ms waited, 4 batches found in 5 ms each: 20 found, hand-over of
 * all ten 50; workers: a quarter blocked. */
static void
waiting_is_split_as_workers_spend_their_time(void **state)
{
	(void)state;
	told_init();
	tell_rank(0, 2, 0, 1);
	for (uint64_t i = 0; i < 5; i++)
		tell_window(0, 1, i, 600, 20, 4);
	tell_made(1, 1, 400, 250, 50);
	tell_made(2, 2, 800, 500, 100);
	assert_true(live_estimate(&result, &facts));
	assert_near(result.share[SHARE_HANDOVER].value, 0.05);
	assert_near(result.share[SHARE_COMPUTE].value, 0.38);
	assert_near(result.share[SHARE_PREP].value, 0.57 * 0.75);
	assert_near(result.share[SHARE_FETCH].value, 0.57 * 0.25);
	assert_near(result.rate[RATE_ACTUAL].value, 100);
	assert_near(result.rate[RATE_INGEST_BUSY].value, 100 / 0.38);
	assert_near(result.handover_ms_per_batch.value, 5);
	assert_near(result.cpu_ms_per_sample.value, 3.75);
	assert_near(result.job.prep_s, 0.0045);
	assert_int_equal(result.job.workers, 2);
	assert_int_equal(result.nr_workers, 2);
	assert_near(result.workers[0].prep_ms_per_sample, 3);
	assert_near(result.workers[0].fetch_ms_per_sample, 1);
	assert_near(result.workers[1].prep_ms_per_sample, 6);
	assert_int_equal(result.nr_confessions, 1);
	told_fini();
}

static void
shares_are_a_whole(void **state)
{
	(void)state;
	told_init();
	tell_rank(0, 2, 0, 1);
	/* Found more than it waited: hand-over is more than all calls took. */
	tell_window(0, 1, 0, 0, 900, 1);
	assert_true(live_estimate(&result, &facts));
	for (int i = 0; i < SHARES; i++) {
		assert_true(result.share[i].is_known);
		assert_in_range((int)(result.share[i].value * 1000), 0, 1000);
	}
	assert_near(result.share[SHARE_HANDOVER].value, 1);
	assert_near(result.share[SHARE_COMPUTE].value, 0);
	told_fini();
}

static void
ranks_work_side_by_side(void **state)
{
	(void)state;
	told_init();
	tell_rank(0, 1, 0, 2);
	tell_rank(1, 1, 1, 2);
	for (uint64_t i = 0; i < 4; i++) {
		tell_window(0, 1, i, 500, 0, 0);
		tell_window(1, 1, i, 300, 0, 0);
	}
	assert_true(live_estimate(&result, &facts));
	assert_near(result.rate[RATE_ACTUAL].value, 200);
	assert_near(result.share[SHARE_COMPUTE].value, 0.6);
	assert_near(result.share[SHARE_PREP].value, 0.4);
	assert_int_equal(result.job.ranks, 2);
	assert_false(result.handover_ms_per_batch.is_known);
	told_fini();
}

/* Without one that trains, the loader that gave most; else those that train. */
static void
the_loader_that_counts_is_found(void **state)
{
	(void)state;
	told_init();
	TELL(0, JOURNAL_LOADER, 1, 10, 0);
	TELL(0, JOURNAL_LOADER, 2, 20, 0);
	tell_window(0, 1, 0, 100, 0, 0);
	tell_window(0, 2, 1, 200, 0, 0);
	tell_window(0, 2, 2, 200, 0, 0);
	tell_window(0, 200, 3, 200, 0, 0);
	assert_true(live_estimate(&result, &facts));
	assert_int_equal(result.job.batch_size, 20);
	assert_near(result.share[SHARE_COMPUTE].value, 0.8);
	told_fini();

	told_init();
	tell_rank(0, 0, 0, 1);
	tell_window(0, 1, 0, 500, 0, 0);
	tell_window(0, 1, 1, 500, 0, 0);
	/* A process that only evaluates, ten times as fast. */
	TELL(1, JOURNAL_LOADER, 1, 10, 0);
	for (uint64_t i = 0; i < 4; i++)
		TELL(1, JOURNAL_LIVE, 1, i * 1000 * MS, (i + 1) * 1000 * MS, 100,
		    1000, 0, 0, 0);
	assert_true(live_estimate(&result, &facts));
	assert_near(result.share[SHARE_COMPUTE].value, 0.5);
	assert_near(result.share[SHARE_COMPUTE].low, 0.5);	/* all alike */
	assert_near(result.rate[RATE_ACTUAL].value, 100);
	told_fini();
}

/* Times that run backwards, and workers without number. */
static void
no_word_is_trusted(void **state)
{
	(void)state;
	told_init();
	TELL(0, JOURNAL_LOADER, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	    UINT64_MAX, UINT64_MAX);
	TELL(0, JOURNAL_TRAINS, 1, UINT64_MAX);
	tell_window(0, 1, 0, 500, 0, 0);
	tell_window(0, 1, 1, 500, 0, 0);
	TELL(0, JOURNAL_LIVE, 1, 2000 * MS, 1000 * MS, 10, 100);
	TELL(0, JOURNAL_LIVE, 1, 2000 * MS, 3000 * MS, 10, 100, UINT64_MAX,
	    UINT64_MAX, UINT64_MAX);
	TELL(0, JOURNAL_LIVE_MADE, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	assert_true(live_estimate(&result, &facts));
	assert_near(result.rate[RATE_ACTUAL].value, 100);
	for (int i = 0; i < SHARES; i++)
		assert_true(result.share[i].value >= 0 &&
		    result.share[i].value <= 1);
	told_fini();
}

UNIT_MAIN(
	UNIT(nothing_told_is_no_result),
	UNIT(waiting_is_split_as_workers_spend_their_time),
	UNIT(shares_are_a_whole),
	UNIT(ranks_work_side_by_side),
	UNIT(the_loader_that_counts_is_found),
	UNIT(no_word_is_trusted))
