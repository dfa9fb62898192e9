/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_estimate.c: tests of analyzer/estimate.c.
 */

#include <config.h>

#include "analyzer/estimate.h"

#include <math.h>
#include <string.h>

#include "analyzer/found.h"
#include "tests/harness/told.h"

#define MANY	32u

static struct measured blocks[MANY];
static struct measured_list list;

static void
start(uint64_t workers)
{
	told_init();
	list = (struct measured_list){ .list = blocks };
	result.job.workers = workers;
	result.job.batch_size = 10;
}

static struct measured *
add(enum block_kind kind, double rate)
{
	struct measured *m = &blocks[list.nr++];

	assert_true(list.nr <= MANY);
	*m = (struct measured){ .kind = kind, .number = (uint32_t)list.nr,
	    .ranks = 1, .samples = 1000,
	    .s_per_sample = 1 / rate, .handover_s = -1, .resident = -1,
	    .resident_after = -1, .from_storage = -1 };
	return m;
}

static void
every_kind_is_its_own_rate(void **state)
{
	static const enum block_kind kinds[RATES] = { BLOCK_REPLAY,
	    BLOCK_REPLAY_BUSY, BLOCK_ALONE, BLOCK_RAW_COLD, BLOCK_RAW_CACHED,
	    BLOCK_CACHED, BLOCK_COLD, BLOCK_ACTUAL };

	(void)state;
	start(2);
	estimate_rates(&result, &list, 2);
	for (int i = 0; i < RATES; i++)
		assert_false(result.rate[i].is_known);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < RATES; i++)
			add(kinds[i], 100 * (i + 1))->workers = 2;
	}
	estimate_rates(&result, &list, 2);
	for (int i = 0; i < RATES; i++) {
		assert_true(result.rate[i].is_known);
		assert_near(result.rate[i].value, 100 * (i + 1));
		assert_true(result.rate[i].low < result.rate[i].value);
		assert_true(result.rate[i].high > result.rate[i].value);
	}
	assert_int_equal(result.nr_confessions, 0);
	told_fini();
}

/* A rate is the inverse of the mean time, each block the same. */
static void
times_are_averaged_not_rates(void **state)
{
	(void)state;
	start(0);
	add(BLOCK_REPLAY, 100);
	add(BLOCK_REPLAY, 300)->samples = 5;
	estimate_rates(&result, &list, 0);
	assert_near(result.rate[RATE_INGEST].value, 150);
	told_fini();
}

static void
the_loader_alone_by_its_workers(void **state)
{
	(void)state;
	start(4);
	add(BLOCK_ALONE, 100)->workers = 1;
	add(BLOCK_ALONE, 400)->workers = 4;
	add(BLOCK_ALONE, 200)->workers = 2;
	add(BLOCK_ALONE, 100)->workers = 1;
	blocks[1].all_cpu_s = 0.004;
	add(BLOCK_CACHED, 50)->workers = 9;
	estimate_rates(&result, &list, 4);
	assert_near(result.rate[RATE_PREP].value, 400);
	assert_int_equal(result.nr_alone, 3);
	assert_int_equal(result.alone[0].workers, 1);
	assert_near(result.alone[0].samples_per_s.value, 100);
	assert_true(isnan(result.alone[0].cpu_ms_per_sample));
	assert_near(result.alone[1].cpu_ms_per_sample, 4);
	assert_near(result.alone[2].samples_per_s.value, 200);
	told_fini();
}

/* The job as it is, and with its files in memory, are then the same. */
static void
blocks_of_both_count_where_all_is_in_memory(void **state)
{
	(void)state;
	start(2);
	add(BLOCK_CACHED, 100);
	add(BLOCK_ACTUAL, 300)->resident = 0.9;
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value, 100);
	assert_near(result.rate[RATE_ACTUAL].value, 300);
	blocks[1].resident = 1;
	add(BLOCK_COLD, 10);
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value, 150);
	assert_near(result.rate[RATE_ACTUAL].value, 150);
	assert_near(result.rate[RATE_LOADER_COLD].value, 10);
	assert_near(found_resident(&list), 1);
	/* Some is not, and storage is fast, or it is not. */
	blocks[1].resident = 0.9;
	add(BLOCK_RAW_COLD, 10000);
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_ACTUAL].value, 150);
	blocks[3].s_per_sample = 1e-3;
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_ACTUAL].value, 300);
	told_fini();
}

/* A sample takes 10 ms, and 40 more if its file is not in memory.  Half of the data
 * set is there, but blocks find what they find. */
static void
add_found(double cold_s)
{
	static const double found[] = { 0.4, 0.45, 0.5 };

	add(BLOCK_CACHED, 100);
	add(BLOCK_COLD, 1 / cold_s);
	for (unsigned i = 0; i < 3; i++) {
		struct measured *m = add(BLOCK_ACTUAL,
		    1 / (0.01 + 0.04 * (1 - found[i])));

		m->resident = found[i];
		m->samples = 100;
	}
	add(BLOCK_RAW_COLD, 10);
}

static void
tell_beside(double share, double files)
{
	for (unsigned i = 2; i < 5; i++) {
		blocks[i].beside = share;
		blocks[i].beside_files = files;
	}
	estimate_rates(&result, &list, 2);
}

static void
what_blocks_find_by_chance_does_not_count(void **state)
{
	struct figure *v = &result.rate[RATE_ACTUAL];

	(void)state;
	start(2);
	add_found(0.05);
	estimate_rates(&result, &list, 2);
	assert_near(v->value, 1 / 0.032);
	assert_near(found_resident(&list), 0.45);
	/* 2,700 of them, and 300 samples. */
	tell_beside(0.5, 2700);
	assert_near(found_resident(&list), 0.495);
	assert_near(v->value, 1 / 0.0302);
	/* That is known to 1.8 %. */
	assert_true(v->low < 1 / (0.0302 + 0.04 * 0.0178) &&
	    v->high > 1 / (0.0302 - 0.04 * 0.0178));
	assert_true(v->high - v->low < 0.1 * v->value);
	/* A few say less than samples do. */
	tell_beside(0.5, 3);
	assert_true(fabs(found_resident(&list) - 0.45) < 0.001);
	/* Those that are far from what is loaded are not its data set. */
	tell_beside(0.9, 2700);
	assert_near(v->value, 1 / 0.032);
	assert_near(found_resident(&list), 0.45);
	/* Hostile. */
	tell_beside(1e19, 2700);
	assert_near(found_resident(&list), 0.45);
	told_fini();
}

/* Of almost nothing that is missing, noise is not to be made much. */
static void
what_is_missing_takes_no_longer_than_if_all_is(void **state)
{
	(void)state;
	start(2);
	add_found(0.011);
	tell_beside(0.5, 2700);
	assert_near(result.rate[RATE_ACTUAL].value,
	    1 / (0.032 - 0.001 * 0.045));
	told_fini();
}

/* A job that is as fast whatever it finds waits for something else. */
static void
what_is_found_is_nothing_to_who_does_not_wait_for_it(void **state)
{
	(void)state;
	start(2);
	add(BLOCK_CACHED, 100);
	for (unsigned i = 0; i < 2; i++) {
		struct measured *m = add(BLOCK_ACTUAL, 100);

		m->resident = 0.4 + 0.02 * i;
		m->beside = 0.45;
		m->beside_files = 1000;
	}
	add(BLOCK_RAW_COLD, 10);
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_ACTUAL].value, 100);
	told_fini();
}

/* Of the job as it is. */
static void
processors_are_those_of_the_whole_job(void **state)
{
	(void)state;
	start(2);
	add(BLOCK_ACTUAL, 100)->all_cpu_s = 0.003;
	add(BLOCK_ACTUAL, 100)->all_cpu_s = 0.005;
	add(BLOCK_CACHED, 100)->all_cpu_s = 0.1;
	blocks[0].cpu_s = 0.002;
	estimate_rates(&result, &list, 2);
	assert_near(result.cpu_ms_per_sample.value, 4);
	told_fini();
}

static void
disturbed_blocks_count_if_there_are_no_others(void **state)
{
	(void)state;
	start(2);
	add(BLOCK_CACHED, 100);
	add(BLOCK_CACHED, 10)->is_disturbed = true;
	add(BLOCK_ACTUAL, 70)->is_disturbed = true;
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value, 100);
	assert_near(result.rate[RATE_ACTUAL].value, 70);
	assert_int_equal(result.nr_confessions, 1);
	assert_non_null(strstr(result.confessions[0],
	    rate_names[RATE_ACTUAL]));
	told_fini();
}

static void
blocks_that_the_host_slowed_do_not_count(void **state)
{
	(void)state;
	start(2);
	/* Of their kind: what is usual for one is not for another. */
	add(BLOCK_CACHED, 100)->stolen = 0.10;
	add(BLOCK_CACHED, 102)->stolen = 0.12;
	add(BLOCK_CACHED, 60)->stolen = 0.14;
	add(BLOCK_REPLAY, 200);
	add(BLOCK_REPLAY, 200);
	add(BLOCK_REPLAY, 150)->stolen = 0.04;
	add(BLOCK_REPLAY_BUSY, 10)->handover_s = 0.002;
	add(BLOCK_REPLAY_BUSY, 10)->handover_s = 0.002;
	add(BLOCK_REPLAY_BUSY, 10)->handover_s = 0.1;
	blocks[list.nr - 1].stolen = 0.2;
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value,
	    3 / (1 / 100.0 + 1 / 102.0 + 1 / 60.0));
	assert_near(result.rate[RATE_INGEST].value, 200);
	assert_near(result.handover_ms_per_batch.value, 2);
	assert_int_equal(result.nr_confessions, 0);
	told_fini();
}

/* Unless one alone is left, which says nothing of how sure it is. */
static void
blocks_with_counters_do_not_count(void **state)
{
	(void)state;
	start(2);
	add(BLOCK_CACHED, 50)->is_counted = true;
	add(BLOCK_CACHED, 100);
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value, 1 / 0.015);
	add(BLOCK_CACHED, 100);
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value, 100);
	told_fini();
}

static void
blocks_whose_files_were_elsewhere_do_not_count(void **state)
{
	struct measured *m;

	(void)state;
	start(2);
	for (int i = 0; i < 2; i++) {
		m = add(BLOCK_CACHED, i == 0 ? 100 : 50);
		m->has_files = true;
		m->resident = 1;
		m->resident_after = i == 0 ? 0.996 : 0.9;
		m = add(BLOCK_RAW_COLD, i == 0 ? 30 : 60);
		m->has_files = true;
		m->resident = i == 0 ? 0.01 : 0.2;
		m->resident_after = 1;
	}
	m = add(BLOCK_COLD, 20);	/* there is no other */
	m->has_files = true;
	m->resident = 0.5;
	estimate_rates(&result, &list, 2);
	assert_near(result.rate[RATE_LOADER_CACHED].value, 100);
	assert_near(result.rate[RATE_STORAGE].value, 30);
	assert_near(result.rate[RATE_LOADER_COLD].value, 20);
	told_fini();
}

static void
handing_over_is_never_quite_sure(void **state)
{
	(void)state;
	start(2);
	for (int i = 0; i < 20; i++)
		add(BLOCK_REPLAY_BUSY, 10)->handover_s = 0.002;
	estimate_rates(&result, &list, 2);
	assert_near(result.handover_ms_per_batch.value, 2);
	assert_near(result.handover_ms_per_batch.low, 1.8);
	assert_near(result.handover_ms_per_batch.high, 2.2);
	told_fini();
}

static void
handing_over_is_nothing_without_workers(void **state)
{
	(void)state;
	start(0);
	estimate_rates(&result, &list, 0);
	assert_true(result.handover_ms_per_batch.is_known);
	assert_near(result.handover_ms_per_batch.value, 0);
	told_fini();

	start(2);
	estimate_rates(&result, &list, 2);
	assert_false(result.handover_ms_per_batch.is_known);
	result.job.is_pipelined = true;
	estimate_rates(&result, &list, 2);
	assert_near(result.handover_ms_per_batch.value, 0);
	add(BLOCK_REPLAY_BUSY, 10)->handover_s = 0.002;
	add(BLOCK_REPLAY_BUSY, 10)->handover_s = 0.004;
	estimate_rates(&result, &list, 2);
	assert_near(result.handover_ms_per_batch.value, 3);
	estimate_job(&result, &list);
	assert_near(result.job.handover_s, 0.0003);
	told_fini();
}

static void
the_job_is_what_models_need(void **state)
{
	struct measured *m;

	(void)state;
	start(2);
	estimate_job(&result, &list);
	assert_near(result.job.prep_s, 0);
	assert_near(result.job.fetch_s, 0);
	assert_near(result.job.bytes_per_sample, 0);
	assert_near(result.job.resident, -1);
	m = add(BLOCK_CACHED, 100);
	m->worker_s = 0.010;
	m->cpu_s = 0.008;
	add(BLOCK_COLD, 50)->worker_s = 0.025;
	add(BLOCK_RAW_COLD, 70)->bytes = 5000;
	add(BLOCK_ACTUAL, 60)->resident = 0.25;
	add(BLOCK_ACTUAL, 60);
	estimate_job(&result, &list);
	assert_near(result.job.prep_s, 0.010);
	assert_near(result.job.prep_cpu_s, 0.008);
	assert_near(result.job.fetch_s, 0.015);
	assert_near(result.job.bytes_per_sample, 5);
	assert_near(result.job.resident, 0.25);
	/* What it takes alone is told better by itself. */
	m = add(BLOCK_ALONE, 90);
	m->workers = 2;
	m->worker_s = 0.009;
	estimate_job(&result, &list);
	assert_near(result.job.prep_s, 0.009);
	blocks[1].worker_s = 0.001;		/* faster than from memory */
	estimate_job(&result, &list);
	assert_near(result.job.fetch_s, 0);
	told_fini();
}

static void
tell_made(uint64_t block, uint64_t worker, uint64_t ms)
{
	TELL(3, JOURNAL_MADE, 1, block, worker, 1000 * MS, (1000 + ms) * MS, 10,
	    0, 0);
}

static void
workers_are_told_apart(void **state)
{
	(void)state;
	start(2);
	tell_end(0, 1, BLOCK_ACTUAL, 1);
	tell_end(0, 2, BLOCK_CACHED, 1);
	tell_made(1, 1, 100);
	tell_made(2, 1, 40);
	tell_made(1, 2, 50);
	tell_made(2, 2, 80);
	tell_made(3, 1, 9000);			/* of no such block */
	tell_made(UINT64_MAX, 1, 9000);
	TELL(3, JOURNAL_MADE, 1, 1, 1, 9, 5, 10);	/* no time */
	estimate_workers(&result, &facts);
	assert_int_equal(result.nr_workers, 2);
	assert_near(result.workers[0].prep_ms_per_sample, 4);
	assert_near(result.workers[0].fetch_ms_per_sample, 6);
	assert_near(result.workers[1].prep_ms_per_sample, 8);
	assert_near(result.workers[1].fetch_ms_per_sample, 0);
	told_fini();

	/* Of the next start the blocks are others. */
	start(0);
	tell_end(0, 1, BLOCK_CACHED, 1);
	tell_end(0, 2, BLOCK_ACTUAL, 1);
	tell_made(1, 0, 40);
	tell_made(2, 0, 100);
	estimate_workers(&result, &facts);
	assert_int_equal(result.nr_workers, 1);
	assert_near(result.workers[0].prep_ms_per_sample, 4);
	assert_near(result.workers[0].fetch_ms_per_sample, 6);
	told_fini();
}

static void
narrow_is_when_all_that_judge_are(void **state)
{
	(void)state;
	start(2);
	assert_true(estimate_is_narrow(&list, 2, 0.02));	/* nothing to wait for */
	add(BLOCK_ACTUAL, 100);
	add(BLOCK_ACTUAL, 100);
	add(BLOCK_ACTUAL, 100);
	assert_true(estimate_is_narrow(&list, 2, 0.5));
	assert_false(estimate_is_narrow(&list, 2, 1e-9));
	add(BLOCK_RAW_COLD, 100);
	add(BLOCK_RAW_COLD, 900);
	assert_false(estimate_is_narrow(&list, 2, 0.5));
	blocks[4] = blocks[3];
	add(BLOCK_RAW_COLD, 100);
	assert_true(estimate_is_narrow(&list, 2, 0.5));
	/* Other numbers of workers are not waited for. */
	add(BLOCK_ALONE, 100)->workers = 1;
	assert_true(estimate_is_narrow(&list, 2, 0.5));
	told_fini();
}

UNIT_MAIN(
	UNIT(every_kind_is_its_own_rate),
	UNIT(times_are_averaged_not_rates),
	UNIT(the_loader_alone_by_its_workers),
	UNIT(blocks_of_both_count_where_all_is_in_memory),
	UNIT(what_blocks_find_by_chance_does_not_count),
	UNIT(what_is_missing_takes_no_longer_than_if_all_is),
	UNIT(what_is_found_is_nothing_to_who_does_not_wait_for_it),
	UNIT(processors_are_those_of_the_whole_job),
	UNIT(disturbed_blocks_count_if_there_are_no_others),
	UNIT(blocks_that_the_host_slowed_do_not_count),
	UNIT(blocks_with_counters_do_not_count),
	UNIT(blocks_whose_files_were_elsewhere_do_not_count),
	UNIT(handing_over_is_never_quite_sure),
	UNIT(handing_over_is_nothing_without_workers),
	UNIT(the_job_is_what_models_need),
	UNIT(workers_are_told_apart),
	UNIT(narrow_is_when_all_that_judge_are))
