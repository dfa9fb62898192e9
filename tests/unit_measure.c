/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_measure.c: tests of analyzer/measure.c: blocks put together by hand, whose
 * values are known exactly.  A batch has 10 samples.
 */

#include <config.h>

#include "analyzer/measure.h"

#include "tests/harness/told.h"

static struct measured_list list;

static void
start(void)
{
	told_init();
	list = (struct measured_list){ 0 };
}

static void
end(void)
{
	measured_fini(&list);
	told_fini();
}

static const struct measured *
only(void)
{
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 1);
	return &list.list[0];
}

/*--- one rank ------------------------------------------------------------*/

/* The time between batches, whatever giving them took. */
static void
replayed_is_the_jobs_own_time(void **state)
{
	const struct measured *m;

	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_block(0, 4, BLOCK_REPLAY, 1000, 12, 20, 7);
	m = only();
	assert_int_equal(m->kind, BLOCK_REPLAY);
	assert_int_equal(m->number, 4);
	assert_near(m->s_per_sample, 0.002);
	assert_near(m->samples, 120);
	assert_false(m->is_disturbed);
	assert_int_equal(m->begin_ns, 1000 * MS);
	assert_int_equal(m->end_ns, (1000 + 12 * 27) * MS);
	assert_near(m->handover_s, -1);
	assert_near(m->resident, -1);
	assert_false(m->has_files);
	end();
}

/* Steps of no time, and a device that is done with them when the block ends. */
static void
a_device_is_waited_for_at_the_end(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_begin(0, 0, BLOCK_REPLAY, 1000);
	for (unsigned i = 0; i < 5; i++)
		tell_step(0, 0, i, 1000 + i, 1000 + i);
	TELL(0, JOURNAL_BLOCK_END, 1, 0, BLOCK_REPLAY, 1100 * MS, 5, 0, 1);
	assert_near(only()->s_per_sample, 0.1 / 50);
	end();
}

static void
processor_time_of_steps_is_told(void **state)
{
	uint64_t at = 1000;

	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_begin(0, 0, BLOCK_REPLAY, at);
	for (unsigned i = 0; i < 5; i++, at += 20)	/* 8 of 20 ms */
		TELL(0, JOURNAL_STEP, 1, 0, i, at * MS, at * MS, 10,
		    (100 + 8 * i) * MS, (100 + 8 * i) * MS);
	tell_end(0, 0, BLOCK_REPLAY, at);
	/* Behind the last nothing is told. */
	assert_near(only()->job_cpu_s, 4 * 0.008 / 50);
	end();
}

/* From the W-th batch given: filling the pipeline is left out.  A block that has no
 * more than two bunches and what is ahead counts to its end. */
static void
made_by_workers_counts_from_the_wth(void **state)
{
	static const uint64_t given[] = { 1900, 1905, 1910, 2200, 2205, 2210,
	    2500, 2505, 2510 };

	(void)state;
	start();
	tell_rank(0, 3, 0, 1);
	tell_begin(0, 0, BLOCK_CACHED, 1000);
	for (unsigned i = 0; i < 9; i++)
		tell_step(0, 0, i, given[i] - 2, given[i]);
	tell_end(0, 0, BLOCK_CACHED, 2600);
	assert_near(only()->s_per_sample, 0.6 / 60);
	assert_near(list.list[0].samples, 60);
	end();
}

/* The last ones are made while others have nothing to do any more. */
static void
made_by_workers_ends_with_all_at_work(void **state)
{
	uint64_t at = 1000;

	(void)state;
	start();
	tell_rank(0, 3, 0, 1);
	tell_begin(0, 0, BLOCK_CACHED, at);
	for (unsigned i = 0; i < 15; i++, at += i < 9 ? 100 : 20)
		tell_step(0, 0, i, at - 2, at);
	tell_end(0, 0, BLOCK_CACHED, at);
	assert_near(only()->s_per_sample, 0.1 / 10);	/* 6 ahead */
	assert_near(list.list[0].samples, 60);
	end();
}

/* Two workers that begin together; one of them takes longer once, and is half a
 * batch behind from then on.  The files of the other, but for those of its first
 * batch, are in memory. */
static void
tell_work(uint64_t block)
{
	uint64_t begin = 1000, end;

	for (unsigned i = 0; i < 10; i++) {
		TELL(1, JOURNAL_PAGES, 1, block, 0, 120, i > 0 ? 100 : 0, 20);
		TELL(2, JOURNAL_PAGES, 1, block, 0, 100, 0, 0);
		TELL(1, JOURNAL_MADE, 1, block, 1, (1000 + 100 * i) * MS,
		    (1100 + 100 * i) * MS, 10);
		end = begin + (i == 1 ? 150 : 100);
		TELL(2, JOURNAL_MADE, 1, block, 2, begin * MS, end * MS, 10);
		begin = end;
	}
}

/* And what was given of it, by a job that waits for each so long. */
static void
tell_given(enum block_kind kind, uint64_t wait)
{
	uint64_t at;

	tell_begin(0, 0, kind, 1000);
	for (unsigned i = 0; i < 20; i++) {
		at = 1100 + i / 2 * 100 + (i > 2 && i % 2 == 1 ? 50 : 0);
		tell_step(0, 0, i, at - (i % 5 == 0 ? 1 : wait), at);
	}
	tell_end(0, 0, kind, 2100);
}

static void
what_workers_made_counts_where_they_decide(void **state)
{
	static const enum block_kind kinds[] = { BLOCK_CACHED, BLOCK_ACTUAL };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		start();
		tell_rank(0, 2, 0, 1);
		tell_work(0);
		tell_given(kinds[i], 30);
		/* From 1100 to 1950, when the last was begun: 8.5 and 8
		 * batches. */
		assert_near(only()->s_per_sample, 0.850 / 165);
		assert_near(list.list[0].samples, 165);
		/* All that is looked at, or the files of these samples. */
		assert_near(list.list[0].resident, i == 0 ? 0.45 : 8.5 / 16.5);
		end();
	}
}

static void
what_was_given_counts_where_the_job_decides(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_work(0);
	tell_given(BLOCK_CACHED, 2);
	assert_near(only()->s_per_sample, 0.750 / 140);
	end();
	/* Or where some of them have nothing to do. */
	start();
	tell_rank(0, 3, 0, 1);
	tell_work(0);
	tell_given(BLOCK_CACHED, 30);
	assert_near(only()->s_per_sample, 0.550 / 110);
	end();
}

static void
what_workers_made_alone_counts(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_work(4);
	TELL(0, JOURNAL_ALONE, 1, 4, 1100 * MS, 1850 * MS, 140, 2, 0, 14);
	tell_end(0, 4, BLOCK_ALONE, 2100);
	assert_near(only()->s_per_sample, 0.850 / 165);
	end();
}

static void
threads_of_a_pipeline_are_at_work_to_the_last(void **state)
{
	uint64_t at = 1000;

	(void)state;
	start();
	TELL(0, JOURNAL_HELLO, 0, ROLE_NATIVE, 100, 1, 0, 1, 0);
	TELL(0, JOURNAL_LOADER, 1, 10, 3, 2, 0, 0, LOADER_PIPELINED);
	TELL(0, JOURNAL_TRAINS, 1, 0);
	tell_begin(0, 0, BLOCK_CACHED, at);
	for (unsigned i = 0; i < 15; i++, at += 100)
		tell_step(0, 0, i, at - 2, at);
	tell_end(0, 0, BLOCK_CACHED, at);
	assert_near(only()->samples, 120);
	end();
}

static void
made_without_workers_counts_all(void **state)
{
	(void)state;
	start();
	tell_rank(0, 0, 0, 1);
	tell_block(0, 0, BLOCK_ACTUAL, 500, 8, 5, 15);
	assert_near(only()->s_per_sample, 0.002);
	assert_near(list.list[0].samples, 80);
	end();
}

/* The first is asked for before files are arranged, and the block begins after it. */
static void
arranging_files_is_no_part_of_it(void **state)
{
	(void)state;
	start();
	tell_rank(0, 0, 0, 1);
	tell_step(0, 0, 0, 100, 520);
	tell_begin(0, 0, BLOCK_COLD, 500);
	tell_step(0, 0, 1, 525, 545);
	tell_end(0, 0, BLOCK_COLD, 550);
	assert_near(only()->s_per_sample, 0.050 / 20);
	end();
}

static void
less_than_the_first_bunch_is_nothing(void **state)
{
	(void)state;
	start();
	tell_rank(0, 4, 0, 1);
	tell_block(0, 0, BLOCK_COLD, 500, 4, 5, 5);
	tell_block(0, 1, BLOCK_REPLAY, 900, 0, 5, 5);
	tell_block(0, 2, BLOCK_SET, 1200, 0, 5, 5);
	tell_end(0, 3, BLOCK_END, 2000);
	tell_block(0, 4, BLOCK_COLD, 2500, 5, 5, 5);
	assert_int_equal(only()->number, 4);
	assert_near(list.list[0].samples, 10);
	end();
}

/* Some receive what others find there; some are delayed. */
static void
handing_over_is_that_of_a_batch(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	TELL(0, JOURNAL_READY, 1, 6, 10 * MS, 12 * MS, 1);
	TELL(0, JOURNAL_READY, 1, 6, 20 * MS, 29 * MS, 2);
	TELL(0, JOURNAL_READY, 1, 6, 30 * MS, 30 * MS, 0);
	TELL(0, JOURNAL_READY, 1, 6, 40 * MS, 43 * MS, 1);
	TELL(0, JOURNAL_READY, 1, 6, 50 * MS, 90 * MS, 1);
	tell_block(0, 6, BLOCK_REPLAY_BUSY, 1000, 6, 10, 10);
	assert_near(only()->handover_s, 0.003);
	end();
}

static void
a_block_counts_once_it_has_ended(void **state)
{
	(void)state;
	start();
	tell_rank(0, 0, 0, 1);
	tell_begin(0, 0, BLOCK_ACTUAL, 500);
	tell_step(0, 0, 0, 500, 510);
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 0);
	tell_end(0, 0, BLOCK_ACTUAL, 520);
	assert_near(only()->s_per_sample, 0.002);
	assert_near(only()->s_per_sample, 0.002);	/* and once only */
	measure_blocks(&list, &facts, 1);		/* of the next start */
	assert_int_equal(list.nr, 2);
	assert_int_equal(list.list[1].start, 1);
	end();
}

/*--- disturbed -----------------------------------------------------------*/

/* A loader 2, between two batches of the one that trains. */
static void
another_loader_is_cut_out_of_what_is_replayed(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_begin(0, 0, BLOCK_REPLAY, 1000);
	for (unsigned i = 0; i < 4; i++)
		tell_step(0, 0, i, 1000 + 20 * i, 1000 + 20 * i);
	TELL(0, JOURNAL_STEP, 2, JOURNAL_NO_BLOCK, 0, 1070 * MS, 1075 * MS, 10);
	tell_step(0, 0, 4, 1100, 1100);			/* 40 instead of 20 */
	tell_end(0, 0, BLOCK_REPLAY, 1120);
	assert_near(only()->s_per_sample, 0.002);
	assert_near(list.list[0].samples, 40);
	assert_false(list.list[0].is_disturbed);
	assert_int_equal(list.cut.nr_other, 1);
	assert_near(list.cut.other_s, 0.02);
	assert_int_equal(list.cut.nr_outlier, 0);
	end();
}

static void
outliers_are_cut_out_of_what_is_replayed(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_begin(0, 0, BLOCK_REPLAY, 1000);
	for (unsigned i = 0; i < 6; i++)		/* 20 ms, then 5 s */
		tell_step(0, 0, i, 1000 + 20 * i, 1000 + 20 * i);
	tell_step(0, 0, 6, 6100, 6100);
	tell_end(0, 0, BLOCK_REPLAY, 6120);
	assert_near(only()->s_per_sample, 0.002);
	assert_int_equal(list.cut.nr_outlier, 1);
	assert_near(list.cut.outlier_s, 4.98);
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.cut.nr_outlier, 1);
	end();
}

static void
made_batches_are_disturbed(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_block(0, 0, BLOCK_CACHED, 1000, 6, 10, 10);
	tell_begin(0, 1, BLOCK_CACHED, 5000);
	for (unsigned i = 0; i < 6; i++)
		tell_step(0, 1, i, 5000 + 20 * i + (i > 3 ? 2000 : 0),
		    5010 + 20 * i + (i > 3 ? 2000 : 0));
	tell_end(0, 1, BLOCK_CACHED, 7120);
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 2);
	assert_false(list.list[0].is_disturbed);
	assert_true(list.list[1].is_disturbed);
	assert_int_equal(list.cut.nr_outlier, 1);
	end();
}

/* What is cut of a block that has no value is counted once or not at all. */
static void
cuts_are_not_counted_again(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_begin(0, 0, BLOCK_REPLAY, 1000);
	tell_step(0, 0, 0, 1000, 1000);
	TELL(0, JOURNAL_STEP, 2, JOURNAL_NO_BLOCK, 0, 1010 * MS, 1015 * MS, 10);
	tell_end(0, 0, BLOCK_REPLAY, 1100);
	for (unsigned i = 0; i < 5; i++)
		measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 0);
	assert_in_range(list.cut.nr_other, 0, 1);
	end();
}

/*--- several ranks -------------------------------------------------------*/

static void
rates_of_ranks_add_up(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 2);
	tell_rank(5, 2, 1, 2);
	tell_block(0, 0, BLOCK_REPLAY, 1000, 10, 20, 1);	/* 500 /s */
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 0);
	tell_begin(5, 0, BLOCK_REPLAY, 900);
	for (unsigned i = 0; i < 10; i++)
		tell_step(5, 0, i, 900 + 40 * i, 900 + 40 * i);	/* 250 /s */
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 0);			/* one is under way */
	tell_end(5, 0, BLOCK_REPLAY, 1300);
	assert_near(only()->s_per_sample, 1 / 750.0);
	assert_near(list.list[0].samples, 200);
	assert_int_equal(list.list[0].begin_ns, 900 * MS);
	assert_int_equal(list.list[0].end_ns, 1300 * MS);
	end();
}

/* Reading, or making, alone: no rank is left out, whoever is first. */
static void
alone_waits_for_all_ranks(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 2);
	tell_rank(1, 2, 1, 2);
	TELL(0, JOURNAL_READ, 1, 3, 1000 * MS, 2000 * MS, 5, 7000, 100, 2);
	tell_end(0, 3, BLOCK_RAW_COLD, 2000);
	TELL(0, JOURNAL_ALONE, 1, 4, 3000 * MS, 4000 * MS, 100, 2);
	tell_end(0, 4, BLOCK_ALONE, 4000);
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 0);
	TELL(1, JOURNAL_READ, 1, 3, 900 * MS, 1900 * MS, 5, 1000, 300, 2);
	tell_end(1, 3, BLOCK_RAW_COLD, 1900);
	TELL(1, JOURNAL_ALONE, 1, 4, 3100 * MS, 3900 * MS, 80, 2);
	tell_end(1, 4, BLOCK_ALONE, 3900);
	measure_blocks(&list, &facts, 0);
	assert_int_equal(list.nr, 2);
	assert_near(list.list[0].s_per_sample, 1 / 400.0);
	assert_near(list.list[0].bytes, 8000);
	assert_int_equal(list.list[0].begin_ns, 900 * MS);
	assert_int_equal(list.list[0].end_ns, 2000 * MS);
	assert_near(list.list[1].s_per_sample, 1 / 200.0);
	assert_int_equal(list.list[1].workers, 2);	/* as the job has: each */
	end();
}

/*--- from within workers -------------------------------------------------*/

static void
workers_tell_of_their_time(void **state)
{
	const struct measured *m;

	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	for (unsigned i = 0; i < 4; i++) {
		TELL(1 + i % 2, JOURNAL_MADE, 1, 6, 1 + i % 2, 100 * MS,
		    140 * MS, 10, 25 * MS, 5 * MS);
		TELL(1, JOURNAL_MADE, 1, 7, 1, 0, 900 * MS, 10, 900 * MS, 0);
	}
	TELL(0, JOURNAL_READY, 1, 6, 10 * MS, 11 * MS, 0);
	TELL(0, JOURNAL_READY, 1, 6, 20 * MS, 22 * MS, 4);
	TELL(0, JOURNAL_READY, 1, 6, 30 * MS, 39 * MS, 0);
	TELL(0, JOURNAL_PAGES, 1, 6, 0, 100, 10, 20);
	TELL(1, JOURNAL_PAGES, 1, 6, 0, 100, 30, 0);
	TELL(0, JOURNAL_PAGES, 1, 6, 1, 50, 50, 0);
	tell_block(0, 6, BLOCK_ACTUAL, 1000, 6, 10, 10);
	m = only();
	assert_near(m->worker_s, 0.004);
	assert_near(m->cpu_s, 0.0025);
	assert_near(m->handover_s, 0.003);
	assert_near(m->resident, 40.0 / 180);
	assert_near(m->resident_after, 1);
	assert_true(m->has_files);
	end();
}

/* Threads of the native loader, all together: making 2 s, fetching 1 s. */
static void
totals_of_threads_are_taken(void **state)
{
	(void)state;
	start();
	tell_rank(0, 4, 0, 1);
	TELL(0, JOURNAL_MADE, 1, 0, JOURNAL_ALL_WORKERS, 1, 2, 500, 2000 * MS,
	    1000 * MS);
	tell_block(0, 0, BLOCK_CACHED, 1000, 8, 10, 10);
	assert_near(only()->worker_s, 3.0 / 500);
	assert_near(list.list[0].cpu_s, 2.0 / 500);
	end();
}

/* The process has used 3 s for them, of which 0.2 s are of the job's own thread; by
 * the clock it made them in 2 s. */
static void
processors_of_a_native_job(void **state)
{
	(void)state;
	start();
	tell_rank(0, 0, 0, 1);
	TELL(0, JOURNAL_MADE, 1, 0, JOURNAL_ALL_WORKERS, 1, 2, 500, 2000 * MS,
	    1000 * MS);
	TELL(0, JOURNAL_STORAGE, 1, 0, 4096, 1, 2, 3000 * MS);
	TELL(0, JOURNAL_ALONE, 1, 0, 1000 * MS, 2000 * MS, 500, 2, 200 * MS);
	tell_end(0, 0, BLOCK_ALONE, 2000);
	assert_near(only()->all_cpu_s, 3.0 / 500);
	assert_near(list.list[0].cpu_s, 2.8 / 500);
	end();
}

/* Workers 2.5 ms for a sample, and what the main process has used beside them. */
static void
processors_of_a_job_with_workers(void **state)
{
	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	TELL(1, JOURNAL_MADE, 1, 3, 1, 100 * MS, 140 * MS, 10, 25 * MS, 0);
	TELL(0, JOURNAL_ALONE, 1, 3, 1000 * MS, 2000 * MS, 10, 2, 5 * MS);
	tell_end(0, 3, BLOCK_ALONE, 2000);
	assert_near(only()->cpu_s, 0.0025);
	assert_near(list.list[0].all_cpu_s, 0.003);
	/* Batches that do not count are of the block, too. */
	assert_int_equal(list.list[0].begin_ns, 100 * MS);
	assert_int_equal(list.list[0].end_ns, 2000 * MS);
	assert_near(list.list[0].s_per_sample, 0.1);
	end();
}

/*--- strangers, and before anything --------------------------------------*/

static void
numbers_of_no_block_are_left_out(void **state)
{
	(void)state;
	start();
	tell_rank(0, 0, 0, 1);
	tell_block(0, 1, BLOCK_ACTUAL, 1000, 5, 5, 5);
	tell_end(0, (UINT64_C(1) << 32) + 1, BLOCK_ACTUAL, 3000);
	tell_end(0, UINT64_MAX, BLOCK_ACTUAL, 3000);
	TELL(0, JOURNAL_BLOCK_END, 1, 2, UINT64_MAX, 3000 * MS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(only()->number, 1);
	end();
}

static void
plain_batches_tell_how_fast_it_is(void **state)
{
	struct plain plain;

	(void)state;
	start();
	measure_plain(&plain, &facts);
	assert_near(plain.s_per_sample, 0);
	/* A rank that has told of none, and one that has. */
	tell_rank(0, 2, 0, 2);
	tell_rank(1, 2, 1, 2);
	for (unsigned i = 0; i < 6; i++)
		tell_step(1, JOURNAL_NO_BLOCK, i, 100 + 30 * i, 110 + 30 * i);
	measure_plain(&plain, &facts);
	assert_near(plain.s_per_sample, 0.003);
	assert_near(plain.samples, 40);
	assert_near(plain.step_s, 0.02);
	assert_int_equal(plain.nr_first, 0);
	/* Batches of workers come in bunches, and each takes 200 ms. */
	for (unsigned i = 0; i < 2; i++)
		TELL(1, JOURNAL_MADE, 1, JOURNAL_NO_BLOCK, 1 + i, 0, 200 * MS,
		    10, 0, 0);
	measure_plain(&plain, &facts);
	assert_near(plain.s_per_sample, 0.01);
	end();
}

/* It compiles something. */
static void
first_steps_that_take_long_are_told(void **state)
{
	struct plain plain;

	(void)state;
	start();
	tell_rank(0, 2, 0, 1);
	tell_step(0, JOURNAL_NO_BLOCK, 0, 100, 110);
	for (unsigned i = 1; i < 8; i++)
		tell_step(0, JOURNAL_NO_BLOCK, i, 20080 + 30 * i,
		    20090 + 30 * i);
	measure_plain(&plain, &facts);
	assert_near(plain.step_s, 0.02);
	assert_int_equal(plain.nr_first, 1);
	assert_near(plain.first_s, 19.98);
	end();
}

UNIT_MAIN(
	UNIT(replayed_is_the_jobs_own_time),
	UNIT(a_device_is_waited_for_at_the_end),
	UNIT(processor_time_of_steps_is_told),
	UNIT(made_by_workers_counts_from_the_wth),
	UNIT(made_by_workers_ends_with_all_at_work),
	UNIT(what_workers_made_counts_where_they_decide),
	UNIT(what_was_given_counts_where_the_job_decides),
	UNIT(what_workers_made_alone_counts),
	UNIT(threads_of_a_pipeline_are_at_work_to_the_last),
	UNIT(made_without_workers_counts_all),
	UNIT(arranging_files_is_no_part_of_it),
	UNIT(less_than_the_first_bunch_is_nothing),
	UNIT(handing_over_is_that_of_a_batch),
	UNIT(a_block_counts_once_it_has_ended),
	UNIT(another_loader_is_cut_out_of_what_is_replayed),
	UNIT(outliers_are_cut_out_of_what_is_replayed),
	UNIT(made_batches_are_disturbed),
	UNIT(cuts_are_not_counted_again),
	UNIT(rates_of_ranks_add_up),
	UNIT(alone_waits_for_all_ranks),
	UNIT(workers_tell_of_their_time),
	UNIT(totals_of_threads_are_taken),
	UNIT(processors_of_a_native_job),
	UNIT(processors_of_a_job_with_workers),
	UNIT(numbers_of_no_block_are_left_out),
	UNIT(plain_batches_tell_how_fast_it_is),
	UNIT(first_steps_that_take_long_are_told))
