/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_saved.c: tests of what the cache is said to have spared a job.
 */

#include <config.h>

#include "loader/saved.h"

#include "cache/keeper.h"
#include "tests/harness/unit.h"

#define JOB	7u

static struct survey_set sets[] = {
	{ .set = 1, .word = { [CACHE_STAT_ITEMS] = 10,
	    [CACHE_STAT_BYTES] = 10240 } },
	{ .set = 2, .word = { [CACHE_STAT_ITEMS] = 1,
	    [CACHE_STAT_BYTES] = 1048576 } },
	{ .set = 3 },
};

static const char *
tell(struct survey_job *jobs, size_t nr)
{
	static char text[SAVED_TEXT];
	struct survey s = { .sets = sets, .nr_sets = 3, .jobs = jobs,
	    .nr_jobs = nr };
	struct saved saved;

	saved_sum(&saved, &s, JOB);
	return saved_text(text, &saved);
}

#define COUNTS(h, m, b) { [COUNT_HITS] = h, [COUNT_MISSES] = m, \
	[COUNT_STORAGE_READS] = m, [COUNT_STORAGE_BYTES] = b }

static void
sums_up_one_job(void **state)
{
	struct survey_job jobs[] = {
		{ .job = JOB, .live = true, .set = 1,
		    .count = COUNTS(6, 4, 4096) },
		{ .job = JOB, .set = 1, .count = COUNTS(994, 1000, 1024000) },
		{ .job = JOB + 1, .set = 1, .count = COUNTS(5, 5, 5) },
		{ .job = 0, .set = 2, .count = COUNTS(5, 5, 5) },
		{ .job = JOB, .set = 2, .count = COUNTS(1, 0, 0) },
	};

	(void)state;
	assert_string_equal(tell(jobs, 5), "1,001 of 2,005 opens from the "
	    "cache; 1004 KiB read from storage instead of about 2.96 MiB");
	assert_string_equal(tell(jobs, 1), "6 of 10 opens from the cache; "
	    "4.00 KiB read from storage instead of about 10.0 KiB");
	assert_string_equal(tell(jobs + 2, 2), "no file of the data set was "
	    "opened through destall");
}

static void
no_hits_promise_nothing(void **state)
{
	struct survey_job job = { .job = JOB, .set = 1,
	    .count = COUNTS(0, 2, 2048) };

	(void)state;
	assert_string_equal(tell(&job, 1), "0 of 2 opens from the cache; "
	    "2.00 KiB read from storage");
}

/* A data set without items, and one that was dropped meanwhile. */
static void
odd_sets_do_no_harm(void **state)
{
	struct survey_job jobs[] = {
		{ .job = JOB, .set = 3, .count = COUNTS(2, 1, 1024) },
		{ .job = JOB, .set = 9, .count = COUNTS(2, 1, 1024) },
	};

	(void)state;
	assert_string_equal(tell(jobs, 2), "4 of 6 opens from the cache; "
	    "2.00 KiB read from storage instead of about 2.00 KiB");
}

/* As many as the hub remembers: there may have been more. */
static void
says_that_it_is_the_least(void **state)
{
	static struct survey_job jobs[KEEPER_JOBS_KEPT];

	(void)state;
	for (unsigned i = 0; i < KEEPER_JOBS_KEPT; i++)
		jobs[i] = (struct survey_job){ .job = i == 0 ? JOB : 0,
		    .set = 1, .count = COUNTS(1, 1, 1024) };
	assert_string_equal(tell(jobs, KEEPER_JOBS_KEPT), "at least 1 of 2 "
	    "opens from the cache; 1.00 KiB read from storage instead of "
	    "about 2.00 KiB");
	jobs[1].live = true;
	assert_string_equal(tell(jobs, KEEPER_JOBS_KEPT), "1 of 2 "
	    "opens from the cache; 1.00 KiB read from storage instead of "
	    "about 2.00 KiB");
}

UNIT_MAIN(
	UNIT(sums_up_one_job),
	UNIT(no_hits_promise_nothing),
	UNIT(odd_sets_do_no_harm),
	UNIT(says_that_it_is_the_least))
