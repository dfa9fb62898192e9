/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_saved.c: tests of what the cache is said to have spared a job.
 */

#include <config.h>

#include "loader/saved.h"

#include "tests/harness/unit.h"

#define JOB	7u

static const char *
tell(struct survey_job *jobs, size_t nr)
{
	static char text[SAVED_TEXT];
	struct survey s = { .jobs = jobs, .nr_jobs = nr };
	struct saved saved;

	saved_sum(&saved, &s, JOB);
	return saved_text(text, &saved);
}

/* hits, their bytes; misses, theirs */
#define COUNTS(h, hb, m, b) { [COUNT_HITS] = h, [COUNT_HIT_BYTES] = hb, \
	[COUNT_MISSES] = m, [COUNT_STORAGE_READS] = m, \
	[COUNT_STORAGE_BYTES] = b }

static void
sums_up_one_job(void **state)
{
	struct survey_job jobs[] = {
		{ .job = JOB, .live = true, .set = 1,
		    .count = COUNTS(6, 6144, 4, 4096) },
		{ .job = JOB, .set = 1,
		    .count = COUNTS(994, 1017856, 1000, 1024000) },
		{ .job = JOB + 1, .set = 1, .count = COUNTS(5, 5, 5, 5) },
		{ .job = 0, .set = 2, .count = COUNTS(5, 5, 5, 5) },
		{ .job = JOB, .set = 2, .count = COUNTS(1, 1048576, 0, 0) },
	};

	(void)state;
	assert_string_equal(tell(jobs, 5), "1,001 of 2,005 opens from the "
	    "cache; 1004 KiB read from storage instead of 2.96 MiB");
	assert_string_equal(tell(jobs, 1), "6 of 10 opens from the cache; "
	    "4.00 KiB read from storage instead of 10.0 KiB");
	assert_string_equal(tell(jobs + 2, 2), "no file of the data set was "
	    "opened through destall");
}

static void
no_hits_promise_nothing(void **state)
{
	struct survey_job job = { .job = JOB, .set = 1,
	    .count = COUNTS(0, 0, 2, 2048) };

	(void)state;
	assert_string_equal(tell(&job, 1), "0 of 2 opens from the cache; "
	    "2.00 KiB read from storage");
}

static void
what_was_left_alone_is_told(void **state)
{
	struct survey_job job = { .job = JOB, .set = 1,
	    .count = { [COUNT_CONTAINERS] = 2, [COUNT_LARGE] = 3,
	    [COUNT_CHANGED] = 4 } };

	(void)state;
	assert_string_equal(tell(&job, 1), "0 of 0 opens from the cache; 9 of "
	    "containers, large or changed files left to the kernel; 0 B read "
	    "from storage");
}

/* Counts that a job made up. */
static void
no_count_is_too_large(void **state)
{
	struct survey_job jobs[] = {
		{ .job = JOB, .set = 2,
		    .count = COUNTS(UINT64_MAX, UINT64_MAX, 5, 0) },
		{ .job = JOB, .set = 1, .count = COUNTS(1, 1, 1, UINT64_MAX) },
	};

	(void)state;
	assert_string_equal(tell(jobs, 1), "18,446,744,073,709,551,615 of "
	    "18,446,744,073,709,551,615 opens from the cache; 0 B read from "
	    "storage instead of 16.0 EiB");
	assert_string_equal(tell(jobs + 1, 1), "1 of 2 opens from the cache; "
	    "16.0 EiB read from storage instead of 16.0 EiB");
	assert_string_equal(tell(jobs, 2), "18,446,744,073,709,551,615 of "
	    "18,446,744,073,709,551,615 opens from the cache; 16.0 EiB read "
	    "from storage instead of 16.0 EiB");
}

UNIT_MAIN(
	UNIT(sums_up_one_job),
	UNIT(no_hits_promise_nothing),
	UNIT(what_was_left_alone_is_told),
	UNIT(no_count_is_too_large))
