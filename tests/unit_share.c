/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_share.c: tests of loader/share*.c: what jobs make for each other, where
 * one that joins late begins, and what goes wrong.  unit_share_own.c has jobs
 * that are alone, unit_share_prove.c what is compared before it is believed.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/sharers.h"

/*--- sharing -------------------------------------------------------------*/

/* In turns: the second is given what the first has made. */
static void
what_one_makes_the_other_takes(void **state)
{
	(void)state;
	sharer_open(&jobs[0], "batch=8");
	sharer_open(&jobs[1], "batch=8");
	for (unsigned i = 0; i < 16; i++) {
		sharer_train(&jobs[0], 1);
		sharer_train(&jobs[1], 1);
		if (i == 0)
			assert_string_equal(sharer_how(&jobs[1]),
			    "shared with 1 other job");
	}
	sharer_train(&jobs[0], 1);
	sharer_train(&jobs[1], 1);
	sharer_check(&jobs[0]);
	sharer_check(&jobs[1]);
	assert_int_equal(jobs[0].counts.published_units +
	    jobs[1].counts.published_units, 16);
	assert_int_equal(jobs[0].counts.others_units,
	    jobs[1].counts.published_units);
	assert_int_equal(jobs[0].counts.audited_units, 0);
	assert_int_equal(jobs[1].counts.audited_units, 1);
}

/* As threads, at their own pace, with batches of their own, kept or written
 * to. */
static void
run_mix(const char *const options[JOBS], const bool keeps[JOBS],
    const bool writes[JOBS])
{
	for (unsigned i = 0; i < JOBS; i++) {
		sharer_open(&jobs[i], options[i]);
		jobs[i].keeps = keeps[i];
		jobs[i].writes = writes[i];
	}
	sharers_run(JOBS);
	for (unsigned i = 0; i < JOBS; i++) {
		sharer_check(&jobs[i]);
		assert_int_equal(jobs[i].counts.different_units, 0);
		sharer_close(&jobs[i]);
	}
}

static void
four_jobs_at_once(void **state)
{
	static const bool none[JOBS], some[JOBS] = { false, true, true, false };
	static const bool others[JOBS] = { false, false, true, true };

	(void)state;
	run_mix((const char *const[JOBS]){ "batch=8", "batch=8", "batch=8",
	    "batch=8" }, some, others);
	run_mix((const char *const[JOBS]){ "batch=4", "batch=6", "batch=7",
	    "batch=64" }, none, others);
	run_mix((const char *const[JOBS]){ "batch=5 threads=1", "batch=9",
	    "batch=9 prefetch=0", "batch=3 audit=1" }, some, others);
}

/* Parts of the order: of a rank, and without the last samples. */
static void
parts_are_shared_too(void **state)
{
	static const char *const parts[] = { "ranks=2 rank=1 batch=4",
	    "drop-last=yes batch=8", "drop-last=yes ranks=2 batch=7" };

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct sharer alone;

		sharer_open(&alone, parts[k]);
		loaded_set(alone.loader, "share=no");
		sharer_train(&alone, UINT32_MAX);
		for (unsigned i = 0; i < 3; i++)
			sharer_open(&jobs[i], parts[k]);
		/* Together from the first batch on. */
		for (unsigned i = 0; i < 3; i++)
			sharer_train(&jobs[i], 1);
		sharers_run(3);
		for (unsigned i = 0; i < 3; i++) {
			assert_memory_equal(&jobs[i].got, &alone.got,
			    sizeof alone.got);
			sharer_close(&jobs[i]);
			assert_true(jobs[i].counts.staged_units > 0);
		}
		sharer_close(&alone);
	}
}

static void
another_order_is_another_stream(void **state)
{
	(void)state;
	sharer_open(&jobs[0], "batch=8 seed=1");
	sharer_open(&jobs[1], "batch=8");
	sharer_open(&jobs[2], "batch=8 flip=1");
	sharer_open(&jobs[3], "batch=8 simd=plain on-bad=skip labels=none "
	    "threads=1");
	for (unsigned i = 0; i < JOBS; i++)
		sharer_train(&jobs[i], 1);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(sharer_how(&jobs[i]),
		    "ready to share: no other job of its stream yet");
	assert_string_equal(sharer_how(&jobs[3]), "shared with 1 other job");
}

/* Far smaller than an epoch; until stagehub_clear(). */
static void
wait_in_a_small_window(void)
{
	static char lag[] = "DESTALL_LAG=wait", window[] = "DESTALL_WINDOW=4";

	putenv(lag);
	putenv(window);
}

static void
an_interrupt_ends_a_wait(void **state)
{
	struct ds_err err;

	(void)state;
	wait_in_a_small_window();
	sharer_open(&jobs[0], "batch=1");
	sharer_open(&jobs[1], "batch=3");
	sharer_train(&jobs[0], 1);
	for (int i = 0; i < 3; i++) {
		ds_loader_interrupt(jobs[1].loader);
		assert_int_equal(sharer_try(&jobs[1], UINT32_MAX, &err),
		    -EINTR);
	}
	stagehub_clear();
	sharers_run(2);
	sharer_check(&jobs[0]);
	sharer_check(&jobs[1]);
}

static void
a_job_does_not_wait_for_itself(void **state)
{
	(void)state;
	wait_in_a_small_window();
	sharer_open(&jobs[0], "batch=1 job=one");
	sharer_open(&jobs[1], "batch=1 job=one");
	sharer_train(&jobs[0], 1);
	sharer_train(&jobs[1], UINT32_MAX);
	sharer_train(&jobs[0], UINT32_MAX);
	stagehub_clear();
	for (unsigned i = 0; i < 2; i++) {
		sharer_close(&jobs[i]);
		assert_memory_equal(&jobs[i].got, &plain, sizeof plain);
	}
	assert_int_equal(jobs[0].counts.detached, 1);
}

/*--- joining late --------------------------------------------------------*/

/* Forty of one picture each are behind when it joins. */
static void
a_late_job_begins_where_the_other_is(void **state)
{
	char text[DS_POSITION_TEXT];
	struct ds_err err;

	(void)state;
	sharer_open(&jobs[0], "batch=1");
	sharer_train(&jobs[0], 40);
	sharer_open(&jobs[1], "batch=2");
	sharer_train(&jobs[1], 4);
	assert_int_equal(jobs[1].got.at[0][0].times, 0);
	assert_int_equal(jobs[1].got.at[0][40].times, 1);
	assert_int_equal(ds_loader_save(jobs[1].loader, text, &err), 0);
	assert_non_null(strstr(text, "samples=8 from="));
	sharer_close(&jobs[1]);
	/* From there with others, in the shared part and in the other. */
	sharer_launch(&jobs[0]);
	for (unsigned at = 4; at <= 10; at += 3) {
		sharer_open(&jobs[2], "batch=3");
		jobs[2].got = jobs[1].got;
		assert_int_equal(ds_loader_restore(jobs[2].loader, text, &err),
		    0);
		sharer_train(&jobs[2], at);
		assert_int_equal(ds_loader_save(jobs[2].loader, text, &err), 0);
		jobs[1].got = jobs[2].got;
		sharer_close(&jobs[2]);
	}
	sharer_open(&jobs[2], "batch=7");
	jobs[2].got = jobs[1].got;
	assert_int_equal(ds_loader_restore(jobs[2].loader, text, &err), 0);
	sharer_train(&jobs[2], UINT32_MAX);
	assert_memory_equal(&jobs[2].got, &plain, sizeof plain);
	sharer_join(&jobs[0]);
	sharer_check(&jobs[0]);
}

static void
a_listed_order_stays_listed(void **state)
{
	uint64_t next = 0;
	struct ds_batch *b;
	struct ds_err err;

	(void)state;
	sharer_open(&jobs[0], "batch=1 order=listed epochs=1");
	sharer_train(&jobs[0], 40);
	sharer_open(&jobs[1], "batch=4 order=listed epochs=1");
	while (ds_loader_next(jobs[1].loader, &b, &err) == 1) {
		for (uint32_t i = 0; i < b->count; i++)
			assert_int_equal(b->positions[i], next++);
		/* The other goes on, so that nobody waits. */
		if (next > 44)
			sharer_train(&jobs[0], 4);
		ds_loader_release(jobs[1].loader, &b);
	}
	assert_int_equal(next, PICTURES);
	ds_loader_counts(jobs[1].loader, &jobs[1].counts);
	assert_true(jobs[1].counts.others_units > 0);
}

/*--- what goes wrong -----------------------------------------------------*/

static void
bad_pictures_are_each_jobs_own(void **state)
{
	struct ds_err err, why;
	struct sharer alone;

	(void)state;
	assert_int_equal(pictures_cut(&files, 3), 0);
	assert_int_equal(pictures_cut(&files, 30), 0);
	sharer_open(&alone, "share=no batch=8 on-bad=skip");
	memset(&plain, 0, sizeof plain);
	sharer_train(&alone, UINT32_MAX);
	plain = alone.got;
	sharer_close(&alone);
	sharer_open(&jobs[0], "batch=8 on-bad=skip");
	sharer_open(&jobs[1], "batch=8 on-bad=skip");
	sharer_open(&jobs[2], "batch=5 on-bad=skip");
	sharers_run(3);
	for (unsigned i = 0; i < 3; i++) {
		sharer_check(&jobs[i]);
		assert_int_equal(jobs[i].counts.skipped, 4);
		assert_true(jobs[i].counts.own_units > 0);
	}
	sharer_open(&alone, "share=no batch=8");
	assert_true(sharer_try(&alone, UINT32_MAX, &why) < 0);
	sharer_close(&alone);
	sharer_close(&jobs[0]);
	sharer_open(&jobs[0], "batch=8");
	assert_true(sharer_try(&jobs[0], UINT32_MAX, &err) < 0);
	assert_string_equal(err.text, why.text);
}

static void
when_the_hub_dies_jobs_go_on(void **state)
{
	(void)state;
	stagehub_prepare();
	sharer_open(&jobs[0], "batch=8");
	sharer_open(&jobs[1], "batch=6");
	jobs[1].keeps = true;
	sharer_train(&jobs[0], 3);
	sharer_train(&jobs[1], 4);
	stagehub_kill();
	sharer_train(&jobs[0], 2);
	assert_memory_equal(sharer_how(&jobs[0]), "alone: the hub is gone: ",
	    24);
	/* The next epoch finds the new one. */
	stagehub_begin();
	sharers_run(2);
	sharer_check(&jobs[0]);
	sharer_check(&jobs[1]);
	assert_null(strstr(sharer_how(&jobs[0]), "alone"));
}

static void
without_memory_each_makes_its_own(void **state)
{
	(void)state;
	stagehub_stop();
	stagehub_start(8192);
	sharer_open(&jobs[0], "batch=8");
	sharer_open(&jobs[1], "batch=8");
	/* The first finds out when there are others. */
	sharer_train(&jobs[0], 1);
	sharer_train(&jobs[1], 1);
	sharers_run(2);
	for (unsigned i = 0; i < 2; i++) {
		sharer_check(&jobs[i]);
		assert_int_equal(jobs[i].counts.staged_units, 0);
	}
	assert_memory_equal(sharer_how(&jobs[0]), "alone: a batch of ", 18);
	assert_non_null(strstr(sharer_how(&jobs[0]), " does not fit four times "
	    "into the stage: give it more with DESTALL_STAGE"));
}

static void
without_a_hub_it_is_alone(void **state)
{
	(void)state;
	stagehub_stop();
	sharer_open(&jobs[0], "batch=8");
	sharer_train(&jobs[0], UINT32_MAX);
	sharer_check(&jobs[0]);
	assert_memory_equal(sharer_how(&jobs[0]), "alone: ", 7);
}

/* It keeps what it was given, and can close. */
static void
a_child_reads_what_was_held(void **state)
{
	struct ds_err err;
	pid_t pid;
	int status;

	(void)state;
	sharer_open(&jobs[0], "batch=8");
	jobs[0].keeps = jobs[0].writes = true;
	sharer_train(&jobs[0], 3);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		bool same = true;

		for (unsigned i = 0; i < jobs[0].nr_kept; i++)
			same &= sharer_sum(jobs[0].kept[i]) == jobs[0].sums[i];
		same &= sharer_try(&jobs[0], 1, &err) == -ECHILD;
		ds_loader_release(jobs[0].loader, &jobs[0].kept[0]);
		ds_loader_close(&jobs[0].loader);
		_exit(!same);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	sharer_train(&jobs[0], UINT32_MAX);
	sharer_check(&jobs[0]);
}

SHARE_MAIN(
	SHARE_UNIT(what_one_makes_the_other_takes),
	SHARE_UNIT(four_jobs_at_once),
	SHARE_UNIT(parts_are_shared_too),
	SHARE_UNIT(another_order_is_another_stream),
	SHARE_UNIT(an_interrupt_ends_a_wait),
	SHARE_UNIT(a_job_does_not_wait_for_itself),
	SHARE_UNIT(a_late_job_begins_where_the_other_is),
	SHARE_UNIT(a_listed_order_stays_listed),
	SHARE_UNIT(bad_pictures_are_each_jobs_own),
	SHARE_UNIT(when_the_hub_dies_jobs_go_on),
	SHARE_UNIT(without_memory_each_makes_its_own),
	SHARE_UNIT(without_a_hub_it_is_alone),
	SHARE_UNIT(a_child_reads_what_was_held))
