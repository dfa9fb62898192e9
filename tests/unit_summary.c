/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_summary.c: tests of analyzer/summary.c.
 */

#include <config.h>

#include "analyzer/summary.h"

#include <string.h>

#include "tests/harness/told.h"

static void
loaders_are_told_of_the_first_rank(void **state)
{
	static const uint64_t words[7] = { 16, 3 };

	(void)state;
	told_init();
	tell_rank(0, 2, 0, 2);
	tell_words(0, JOURNAL_LOADER, 2, "validation", words);
	tell_rank(1, 2, 1, 2);
	tell_words(1, JOURNAL_LOADER, 2, "validation", words);
	tell_words(2, JOURNAL_LOADER, 1, "of one that does not train", words);
	tell_step(0, 0, 0, 100, 350);
	tell_step(0, 0, 1, 400, 650);
	summary_loaders(&result, &facts);
	assert_int_equal(result.nr_loaders, 3);
	assert_true(result.loaders[0].is_training);
	assert_int_equal(result.loaders[0].batch_size, 10);
	assert_int_equal(result.loaders[0].batches, 2);
	assert_near(result.loaders[0].seconds, 0.5);
	assert_string_equal(result.loaders[1].name, "validation");
	assert_false(result.loaders[1].is_training);
	assert_int_equal(result.loaders[1].workers, 3);
	assert_string_equal(result.loaders[2].name, "of one that does not train");
	told_fini();
}

static void
what_the_host_took_is_told(void **state)
{
	struct measured blocks[2] = {
		{ .begin_ns = 0, .end_ns = 30, .stolen = 0.01 },
		{ .begin_ns = 40, .end_ns = 50, .stolen = 0.21 },
	};
	struct measured_list list = { .list = blocks };

	(void)state;
	told_init();
	summary_stolen(&result, &list);
	list.nr = 1;
	summary_stolen(&result, &list);
	assert_int_equal(result.nr_confessions, 0);
	list.nr = 2;
	summary_stolen(&result, &list);
	assert_int_equal(result.nr_confessions, 1);
	assert_non_null(strstr(result.confessions[0],
	    "took 6 % of the processor time that was wanted (1 to 21 % in a "));
	told_fini();
}

static void
time_left_out_is_told(void **state)
{
	struct measured_list list = { 0 };

	(void)state;
	told_init();
	summary_cuts(&result, &list);
	assert_int_equal(result.nr_cuts, 0);
	list.cut.nr_other = 3;
	list.cut.other_s = 1.5;
	summary_cuts(&result, &list);
	assert_int_equal(result.nr_cuts, 1);
	assert_int_equal(result.cuts[0].times, 3);
	assert_near(result.cuts[0].seconds, 1.5);
	list.cut.nr_outlier = 1;
	list.cut.outlier_s = 20;
	summary_cuts(&result, &list);
	assert_int_equal(result.nr_cuts, 3);
	assert_near(result.cuts[2].seconds, 20);
	told_fini();
}

/* What is confessed of one block. */
static const char *
confess(enum block_kind kind, double before, double after)
{
	static char text[256];
	struct measured m = { .kind = kind, .has_files = true,
	    .resident = before, .resident_after = after };
	struct measured_list list = { .list = &m, .nr = 1 };

	told_init();
	summary_residency(&result, &list);
	assert_true(result.nr_confessions <= 1);
	(void)strcpy(text, "");
	if (result.nr_confessions > 0)
		(void)strncat(text, result.confessions[0], sizeof text - 1);
	told_fini();
	return text;
}

static void
files_that_were_elsewhere_are_confessed(void **state)
{
	(void)state;
	assert_string_equal(confess(BLOCK_COLD, 0, 1), "");
	assert_string_equal(confess(BLOCK_COLD, 0.01, 1), "");
	assert_non_null(strstr(confess(BLOCK_COLD, 0.5, 1), "stayed in memory"));
	assert_non_null(strstr(confess(BLOCK_RAW_COLD, 1, 1), "stayed in memory"));
	assert_string_equal(confess(BLOCK_CACHED, 1, 1), "");
	assert_non_null(strstr(confess(BLOCK_CACHED, 1, 0.9), "left memory"));
	assert_non_null(strstr(confess(BLOCK_ALONE, 1, 0), "left memory"));
	assert_non_null(strstr(confess(BLOCK_CACHED, -1, -1),
	    "verified in 1 of 1"));
	/* Blocks whose files are as they are. */
	assert_string_equal(confess(BLOCK_ACTUAL, 0.5, 0.5), "");
	assert_string_equal(confess(BLOCK_REPLAY, -1, -1), "");
}

/* Samples that come from nowhere. */
static void
without_files_there_is_nothing_to_verify(void **state)
{
	struct measured m = { .kind = BLOCK_CACHED, .resident = -1,
	    .resident_after = -1 };
	struct measured_list list = { .list = &m, .nr = 1 };

	(void)state;
	told_init();
	summary_residency(&result, &list);
	assert_int_equal(result.nr_confessions, 0);
	told_fini();
}

static void
ranks_that_are_missing_are_confessed(void **state)
{
	(void)state;
	told_init();
	summary_ranks(&result, &facts);
	assert_int_equal(result.nr_confessions, 0);
	tell_rank(0, 2, 0, 3);
	tell_rank(1, 2, 1, 3);
	summary_ranks(&result, &facts);
	assert_int_equal(result.nr_confessions, 1);
	assert_non_null(strstr(result.confessions[0], "2 of 3 ranks"));
	tell_rank(2, 2, 2, 3);
	summary_ranks(&result, &facts);
	assert_int_equal(result.nr_confessions, 1);
	told_fini();
}

UNIT_MAIN(
	UNIT(loaders_are_told_of_the_first_rank),
	UNIT(what_the_host_took_is_told),
	UNIT(time_left_out_is_told),
	UNIT(files_that_were_elsewhere_are_confessed),
	UNIT(without_files_there_is_nothing_to_verify),
	UNIT(ranks_that_are_missing_are_confessed))
