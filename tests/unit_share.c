/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_share.c: tests of loader/share*.c: loaders as jobs at a real hub, each
 * in a thread of its own, or taking turns in one.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/loader.h"
#include "tests/harness/loaded.h"
#include "tests/harness/stagehub.h"

/* The hub of these tests is forked off, and has threads: where that is watched
 * it can only be while there are none here. */
#if defined(__SANITIZE_THREAD__)
#define MAY_FORK_A_HUB	false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MAY_FORK_A_HUB	false
#endif
#endif
#ifndef MAY_FORK_A_HUB
#define MAY_FORK_A_HUB	true
#endif

#define NR	61u		/* pictures */
#define JOBS	4u

static struct pictures files;
static struct loaded plain;

struct job {
	struct ds_data	*data;
	struct ds_loader *loader;
	struct loaded	got;
	struct ds_loader_counts counts;
	struct ds_batch	*kept[128];
	uint32_t	sums[128];
	unsigned	nr_kept;
	bool		keeps, writes;
	pthread_t	thread;
};

static struct job jobs[JOBS];

/* Each is a job of its own, unless the options say otherwise. */
static void
open_job(struct job *j, const char *options)
{
	static unsigned nr;
	char name[32];
	struct ds_err err;

	memset(j, 0, sizeof *j);
	assert_int_equal(ds_data_open(&j->data, NULL, files.path, NULL, &err),
	    0);
	assert_int_equal(ds_loader_open(&j->loader, j->data, &err), 0);
	loaded_set(j->loader, "share=yes threads=2");
	(void)snprintf(name, sizeof name, "job=%u", nr++);
	loaded_set(j->loader, name);
	loaded_set(j->loader, options);
}

static void
close_job(struct job *j)
{
	if (j->loader != NULL)
		ds_loader_counts(j->loader, &j->counts);
	ds_loader_close(&j->loader);
	ds_data_close(&j->data);
}

static int
set_up(void **state)
{
	struct job alone;

	leak_before(state);
	alarm(300);		/* rather than wait for ever */
	if (pictures_make(&files, NR) != 0)
		return -1;
	stagehub_start(0);
	open_job(&alone, "share=no batch=8");
	memset(&plain, 0, sizeof plain);
	loaded_run(&plain, alone.loader, UINT32_MAX);
	close_job(&alone);
	return 0;
}

static int
tear_down(void **state)
{
	for (unsigned i = 0; i < JOBS; i++)
		close_job(&jobs[i]);
	stagehub_stop();
	assert_int_equal(pictures_remove(&files), 0);
	return leak_after(state);
}

#define SHARE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/*--- a job ---------------------------------------------------------------*/

static uint32_t
sum_of(const struct ds_batch *b)
{
	return crc32c(0, b->samples, b->count * b->sample_bytes);
}

static void
use(struct job *j, struct ds_batch *b)
{
	loaded_note(&j->got, b);
	if (j->writes)
		memset(b->samples, 0x5a, b->count * b->sample_bytes);
	if (!j->keeps) {
		ds_loader_release(j->loader, &b);
		return;
	}
	j->sums[j->nr_kept] = sum_of(b);
	j->kept[j->nr_kept++] = b;
}

/* So many batches, or all there are; 0, or why not. */
static int
train(struct job *j, unsigned nr, struct ds_err *err)
{
	struct ds_batch *b;
	int rc = 0;

	while (nr > 0 && rc >= 0) {
		rc = ds_loader_next(j->loader, &b, err);
		if (rc != 1)
			continue;
		use(j, b);
		nr--;
	}
	return rc < 0 && rc != -ENOENT ? rc : 0;
}

static void
train_well(struct job *j, unsigned nr)
{
	struct ds_err err;

	if (train(j, nr, &err) < 0)
		fail_msg("%s", err.text);
}

static void *
run_job(void *arg)
{
	struct job *j = arg;
	struct ds_err err;

	return train(j, UINT32_MAX, &err) < 0 ? j : NULL;
}

static void
start_job(struct job *j)
{
	assert_int_equal(pthread_create(&j->thread, NULL, run_job, j), 0);
}

static void
join_job(struct job *j)
{
	void *failed;

	assert_int_equal(pthread_join(j->thread, &failed), 0);
	assert_null(failed);
}

static void
run_jobs(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		start_job(&jobs[i]);
	for (unsigned i = 0; i < nr; i++)
		join_job(&jobs[i]);
}

static void
check_kept(struct job *j)
{
	for (unsigned i = 0; i < j->nr_kept; i++) {
		assert_int_equal(sum_of(j->kept[i]), j->sums[i]);
		ds_loader_release(j->loader, &j->kept[i]);
	}
	j->nr_kept = 0;
}

/* All epochs, sample by sample. */
static void
check_job(struct job *j)
{
	struct ds_loader_counts c;

	check_kept(j);
	ds_loader_counts(j->loader, &c);
	assert_int_equal(c.samples + c.skipped, 2 * NR);
	assert_int_equal(c.epochs, 2);
	assert_memory_equal(&j->got, &plain, sizeof plain);
	j->counts = c;
}

static const char *
how_of(struct job *j)
{
	static char text[DS_ERR_TEXT];

	assert_true(ds_loader_shared(j->loader, text, sizeof text) >= 0);
	return text;
}

/*--- sharing -------------------------------------------------------------*/

static void
one_job_is_as_alone(void **state)
{
	char text[DS_ERR_TEXT];

	(void)state;
	open_job(&jobs[0], "batch=8");
	assert_int_equal(ds_loader_shared(jobs[0].loader, text, sizeof text),
	    -EAGAIN);
	train_well(&jobs[0], UINT32_MAX);
	check_job(&jobs[0]);
	assert_int_equal(jobs[0].counts.own_units, 16);
	assert_int_equal(jobs[0].counts.staged_units, 0);
	assert_int_equal(jobs[0].counts.published_units, 0);
	assert_int_equal(jobs[0].counts.others_units, 0);
	/* Four ahead, some of the next epoch, and the one that the job has. */
	assert_true(jobs[0].counts.memory_bytes <= 10 * 8 * 32 * 32 * 3 * 4);
	assert_int_equal(jobs[0].counts.audited_units, 0);
	assert_string_equal(how_of(&jobs[0]),
	    "ready to share: no other job of its stream yet");
}

/* In turns: the second is given what the first has made. */
static void
what_one_makes_the_other_takes(void **state)
{
	(void)state;
	open_job(&jobs[0], "batch=8");
	open_job(&jobs[1], "batch=8");
	for (unsigned i = 0; i < 16; i++) {
		train_well(&jobs[0], 1);
		train_well(&jobs[1], 1);
		if (i == 0)
			assert_string_equal(how_of(&jobs[1]),
			    "shared with 1 other job");
	}
	train_well(&jobs[0], 1);
	train_well(&jobs[1], 1);
	check_job(&jobs[0]);
	check_job(&jobs[1]);
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
		open_job(&jobs[i], options[i]);
		jobs[i].keeps = keeps[i];
		jobs[i].writes = writes[i];
	}
	run_jobs(JOBS);
	for (unsigned i = 0; i < JOBS; i++) {
		check_job(&jobs[i]);
		assert_int_equal(jobs[i].counts.different_units, 0);
		close_job(&jobs[i]);
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
		struct job alone;

		open_job(&alone, parts[k]);
		loaded_set(alone.loader, "share=no");
		train_well(&alone, UINT32_MAX);
		for (unsigned i = 0; i < 3; i++)
			open_job(&jobs[i], parts[k]);
		/* Together from the first batch on. */
		for (unsigned i = 0; i < 3; i++)
			train_well(&jobs[i], 1);
		run_jobs(3);
		for (unsigned i = 0; i < 3; i++) {
			assert_memory_equal(&jobs[i].got, &alone.got,
			    sizeof alone.got);
			close_job(&jobs[i]);
			assert_true(jobs[i].counts.staged_units > 0);
		}
		close_job(&alone);
	}
}

static void
another_order_is_another_stream(void **state)
{
	(void)state;
	open_job(&jobs[0], "batch=8 seed=1");
	open_job(&jobs[1], "batch=8");
	open_job(&jobs[2], "batch=8 flip=1");
	open_job(&jobs[3], "batch=8 simd=plain on-bad=skip labels=none "
	    "threads=1");
	for (unsigned i = 0; i < JOBS; i++)
		train_well(&jobs[i], 1);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(how_of(&jobs[i]),
		    "ready to share: no other job of its stream yet");
	assert_string_equal(how_of(&jobs[3]), "shared with 1 other job");
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
	open_job(&jobs[0], "batch=1");
	open_job(&jobs[1], "batch=3");
	train_well(&jobs[0], 1);
	for (int i = 0; i < 3; i++) {
		ds_loader_interrupt(jobs[1].loader);
		assert_int_equal(train(&jobs[1], UINT32_MAX, &err), -EINTR);
	}
	stagehub_clear();
	run_jobs(2);
	check_job(&jobs[0]);
	check_job(&jobs[1]);
}

static void
a_job_does_not_wait_for_itself(void **state)
{
	(void)state;
	wait_in_a_small_window();
	open_job(&jobs[0], "batch=1 job=one");
	open_job(&jobs[1], "batch=1 job=one");
	train_well(&jobs[0], 1);
	train_well(&jobs[1], UINT32_MAX);
	train_well(&jobs[0], UINT32_MAX);
	stagehub_clear();
	for (unsigned i = 0; i < 2; i++) {
		close_job(&jobs[i]);
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
	open_job(&jobs[0], "batch=1");
	train_well(&jobs[0], 40);
	open_job(&jobs[1], "batch=2");
	train_well(&jobs[1], 4);
	assert_int_equal(jobs[1].got.at[0][0].times, 0);
	assert_int_equal(jobs[1].got.at[0][40].times, 1);
	assert_int_equal(ds_loader_save(jobs[1].loader, text, &err), 0);
	assert_non_null(strstr(text, "samples=8 from="));
	close_job(&jobs[1]);
	/* From there with others, in the shared part and in the other. */
	start_job(&jobs[0]);
	for (unsigned at = 4; at <= 10; at += 3) {
		open_job(&jobs[2], "batch=3");
		jobs[2].got = jobs[1].got;
		assert_int_equal(ds_loader_restore(jobs[2].loader, text, &err),
		    0);
		train_well(&jobs[2], at);
		assert_int_equal(ds_loader_save(jobs[2].loader, text, &err), 0);
		jobs[1].got = jobs[2].got;
		close_job(&jobs[2]);
	}
	open_job(&jobs[2], "batch=7");
	jobs[2].got = jobs[1].got;
	assert_int_equal(ds_loader_restore(jobs[2].loader, text, &err), 0);
	train_well(&jobs[2], UINT32_MAX);
	assert_memory_equal(&jobs[2].got, &plain, sizeof plain);
	join_job(&jobs[0]);
	check_job(&jobs[0]);
}

static void
a_listed_order_stays_listed(void **state)
{
	uint64_t next = 0;
	struct ds_batch *b;
	struct ds_err err;

	(void)state;
	open_job(&jobs[0], "batch=1 order=listed epochs=1");
	train_well(&jobs[0], 40);
	open_job(&jobs[1], "batch=4 order=listed epochs=1");
	while (ds_loader_next(jobs[1].loader, &b, &err) == 1) {
		for (uint32_t i = 0; i < b->count; i++)
			assert_int_equal(b->positions[i], next++);
		/* The other goes on, so that nobody waits. */
		if (next > 44)
			train_well(&jobs[0], 4);
		ds_loader_release(jobs[1].loader, &b);
	}
	assert_int_equal(next, NR);
	ds_loader_counts(jobs[1].loader, &jobs[1].counts);
	assert_true(jobs[1].counts.others_units > 0);
}

/*--- what goes wrong -----------------------------------------------------*/

static void
bad_pictures_are_each_jobs_own(void **state)
{
	struct ds_err err, why;
	struct job alone;

	(void)state;
	assert_int_equal(pictures_cut(&files, 3), 0);
	assert_int_equal(pictures_cut(&files, 30), 0);
	open_job(&alone, "share=no batch=8 on-bad=skip");
	memset(&plain, 0, sizeof plain);
	train_well(&alone, UINT32_MAX);
	plain = alone.got;
	close_job(&alone);
	open_job(&jobs[0], "batch=8 on-bad=skip");
	open_job(&jobs[1], "batch=8 on-bad=skip");
	open_job(&jobs[2], "batch=5 on-bad=skip");
	run_jobs(3);
	for (unsigned i = 0; i < 3; i++) {
		check_job(&jobs[i]);
		assert_int_equal(jobs[i].counts.skipped, 4);
		assert_true(jobs[i].counts.own_units > 0);
	}
	open_job(&alone, "share=no batch=8");
	assert_true(train(&alone, UINT32_MAX, &why) < 0);
	close_job(&alone);
	close_job(&jobs[0]);
	open_job(&jobs[0], "batch=8");
	assert_true(train(&jobs[0], UINT32_MAX, &err) < 0);
	assert_string_equal(err.text, why.text);
}

static void
when_the_hub_dies_jobs_go_on(void **state)
{
	(void)state;
	open_job(&jobs[0], "batch=8");
	open_job(&jobs[1], "batch=6");
	jobs[1].keeps = true;
	train_well(&jobs[0], 3);
	train_well(&jobs[1], 4);
	stagehub_kill();
	train_well(&jobs[0], 2);
	assert_memory_equal(how_of(&jobs[0]), "alone: the hub is gone: ", 24);
	/* The next epoch finds the new one. */
	if (MAY_FORK_A_HUB)
		stagehub_start(0);
	run_jobs(2);
	check_job(&jobs[0]);
	check_job(&jobs[1]);
	if (MAY_FORK_A_HUB)
		assert_null(strstr(how_of(&jobs[0]), "alone"));
}

static void
without_memory_each_makes_its_own(void **state)
{
	(void)state;
	stagehub_stop();
	stagehub_start(8192);
	open_job(&jobs[0], "batch=8");
	open_job(&jobs[1], "batch=8");
	/* The first finds out when there are others. */
	train_well(&jobs[0], 1);
	train_well(&jobs[1], 1);
	run_jobs(2);
	for (unsigned i = 0; i < 2; i++) {
		check_job(&jobs[i]);
		assert_int_equal(jobs[i].counts.staged_units, 0);
	}
	assert_memory_equal(how_of(&jobs[0]), "alone: a batch of ", 18);
	assert_non_null(strstr(how_of(&jobs[0]), " does not fit four times "
	    "into the stage: give it more with DESTALL_STAGE"));
}

static void
without_a_hub_it_is_alone(void **state)
{
	(void)state;
	stagehub_stop();
	open_job(&jobs[0], "batch=8");
	train_well(&jobs[0], UINT32_MAX);
	check_job(&jobs[0]);
	assert_memory_equal(how_of(&jobs[0]), "alone: ", 7);
}

/* A job that says it makes the same, and does not: its first unit is of the
 * right length and hash. */
static void
publish_other_bytes(struct party *p, struct ds_loader *l, uint64_t epoch)
{
	struct plan_run run = { .at = { .epoch = epoch }, .count = 8 };
	size_t bytes = share_bytes(8, l->shelf.sample_bytes);
	struct ds_lease lease;
	struct batch *b;
	struct ds_err err;

	assert_int_equal(ds_pass_lease(p->pass, 5000, &lease, &err), 1);
	assert_int_equal(lease.unit, 0);
	assert_int_equal(ds_pass_room(p->pass, &lease, bytes, &err), 0);
	memset(lease.bytes, 0, bytes);
	b = batch_new_bare(8, 1);
	assert_true(plan_epoch(&l->plan, epoch));
	loader_number(l, &l->plan, b, &run);
	assert_int_equal(ds_pass_publish(p->pass, &lease, bytes, share_hash(b),
	    0, &err), 0);
	batch_free(b);
}

/* Beside a loader of the same stream that shares nothing itself. */
static void
attend_other(struct party *p, struct job *j, uint64_t epoch)
{
	struct ds_err err;
	char key[SHARE_KEY];

	open_job(j, "batch=8");
	j->loader->options.share = false;
	assert_int_equal(loader_start(j->loader, &err), 0);
	share_key(j->loader, key);
	party_connect(p);
	assert_int_equal(ds_stage_open(&p->stage, p->hub, &err), 0);
	party_set(p, "stream", key);
	party_set(p, "seed", "0");
	party_set(p, "unit", "8");
	party_set(p, "samples", "61");
	party_attend(p, epoch);
}

/* And what the newcomer would have made is given to nobody. */
static void
what_is_different_is_named(void **state)
{
	struct ds_err err;
	struct party p;

	(void)state;
	attend_other(&p, &jobs[0], 0);
	publish_other_bytes(&p, jobs[0].loader, 0);
	assert_int_equal(ds_pass_begin(p.pass, 0, 8, NULL, &err), 1);
	open_job(&jobs[1], "batch=8");
	train_well(&jobs[1], UINT32_MAX);
	check_job(&jobs[1]);
	assert_int_equal(jobs[1].counts.different_units, 1);
	assert_int_equal(jobs[1].counts.published_units, 0);
	assert_non_null(strstr(how_of(&jobs[1]), "alone: unit 0 of epoch 0, "
	    "which another job made, is not what this job makes of class"));
	party_leave(&p);
}

/* Who is proven has not proved those of another root. */
static void
each_maker_of_another_root_is_compared(void **state)
{
	struct party p;

	(void)state;
	open_job(&jobs[0], "batch=8");
	open_job(&jobs[1], "batch=8");
	train_well(&jobs[0], 1);
	train_well(&jobs[1], 2);
	attend_other(&p, &jobs[2], 1);
	publish_other_bytes(&p, jobs[2].loader, 1);
	run_jobs(2);
	for (unsigned i = 0; i < 2; i++) {
		check_job(&jobs[i]);
		assert_int_equal(jobs[i].counts.different_units, 1);
	}
	party_leave(&p);
}

static void
one_proof_is_enough(void **state)
{
	(void)state;
	for (unsigned i = 0; i < JOBS; i++) {
		open_job(&jobs[i], "batch=4");
		train_well(&jobs[i], 1);
	}
	run_jobs(JOBS);
	for (unsigned i = 0; i < JOBS; i++) {
		check_job(&jobs[i]);
		/* All by the first, which is the root. */
		assert_int_equal(jobs[i].counts.audited_units, i > 0);
	}
}

/* Before its proof a job makes nothing for others: but it does not wait for
 * those who make nothing, either. */
static void
one_that_is_not_proven_goes_on(void **state)
{
	struct ds_err err;
	struct party p;

	(void)state;
	attend_other(&p, &jobs[0], 0);
	assert_int_equal(ds_pass_begin(p.pass, 0, 8, NULL, &err), 1);
	open_job(&jobs[1], "batch=8");
	train_well(&jobs[1], UINT32_MAX);
	check_job(&jobs[1]);
	/* It makes two for itself, and then for all. */
	assert_in_range(jobs[1].counts.own_units, 2, 15);
	assert_int_equal(jobs[1].counts.own_units +
	    jobs[1].counts.staged_units, 16);
	party_leave(&p);
}

/* It leased a unit of a pass that the job is alone at, and is gone: the job has
 * as many ahead as it wants, but not that one. */
static void
a_maker_that_is_gone_is_not_waited_for(void **state)
{
	struct ds_loader_counts c;
	struct ds_lease lease;
	struct ds_err err;
	struct party p;

	(void)state;
	attend_other(&p, &jobs[0], 0);
	assert_int_equal(ds_pass_lease(p.pass, 5000, &lease, &err), 1);
	open_job(&jobs[1], "batch=8");
	start_job(&jobs[1]);
	do {
		usleep(1000);
		ds_loader_counts(jobs[1].loader, &c);
	} while (c.waits_ns < 50 * UINT64_C(1000000));
	party_leave(&p);
	join_job(&jobs[1]);
	check_job(&jobs[1]);
}

static unsigned
count_kept(struct job *j)
{
	struct share *s = &j->loader->share;
	unsigned nr;

	pthread_mutex_lock(&s->lock);
	nr = s->is_paused ? s->nr_kept : 0;
	pthread_mutex_unlock(&s->lock);
	return nr;
}

/* A job that joined late has units of the next epoch, and is busy with what it
 * missed of its own: another that is there already is given them. */
static void
what_is_kept_of_the_next_epoch_can_be_had(void **state)
{
	char text[DS_POSITION_TEXT];
	struct ds_err err;

	(void)state;
	open_job(&jobs[0], "batch=1");
	train_well(&jobs[0], NR);
	while (jobs[0].loader->given.epoch == 0)
		train_well(&jobs[0], 1);
	assert_int_equal(ds_loader_save(jobs[0].loader, text, &err), 0);
	close_job(&jobs[0]);
	open_job(&jobs[1], "batch=1");
	train_well(&jobs[1], 40);
	open_job(&jobs[2], "batch=1");
	train_well(&jobs[2], 4);
	close_job(&jobs[1]);
	for (unsigned i = 0; i < 40 && count_kept(&jobs[2]) == 0; i++) {
		train_well(&jobs[2], 1);
		usleep(10000);		/* for its makers, to get ahead */
	}
	open_job(&jobs[3], "batch=1");
	assert_int_equal(ds_loader_restore(jobs[3].loader, text, &err), 0);
	train_well(&jobs[3], 10);
	train_well(&jobs[2], UINT32_MAX);
	check_job(&jobs[2]);
}

/* It keeps what it was given, and can close. */
static void
a_child_reads_what_was_held(void **state)
{
	struct ds_err err;
	pid_t pid;
	int status;

	(void)state;
	open_job(&jobs[0], "batch=8");
	jobs[0].keeps = jobs[0].writes = true;
	train_well(&jobs[0], 3);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		bool same = true;

		for (unsigned i = 0; i < jobs[0].nr_kept; i++)
			same &= sum_of(jobs[0].kept[i]) == jobs[0].sums[i];
		same &= train(&jobs[0], 1, &err) == -ECHILD;
		ds_loader_release(jobs[0].loader, &jobs[0].kept[0]);
		ds_loader_close(&jobs[0].loader);
		_exit(!same);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	train_well(&jobs[0], UINT32_MAX);
	check_job(&jobs[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SHARE_UNIT(one_job_is_as_alone),
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
		SHARE_UNIT(what_is_different_is_named),
		SHARE_UNIT(each_maker_of_another_root_is_compared),
		SHARE_UNIT(one_proof_is_enough),
		SHARE_UNIT(one_that_is_not_proven_goes_on),
		SHARE_UNIT(a_maker_that_is_gone_is_not_waited_for),
		SHARE_UNIT(what_is_kept_of_the_next_epoch_can_be_had),
		SHARE_UNIT(a_child_reads_what_was_held),
	};

	return cmocka_run_group_tests(tests, stagehub_open, stagehub_close);
}
