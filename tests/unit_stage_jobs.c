/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_stage_jobs.c: tests of the client's side of the stage with whole jobs:
 * each is a connection with a thread that takes, two that make and one that
 * releases, against a real hub.  ThreadSanitizer runs it.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/payload.h"
#include "tests/harness/stagehub.h"
#include "tests/harness/unit.h"

#define JOBS_MAX	4u
#define UNITS_MAX	1200u
#define MAKERS		2u
#define QUEUE		8u
#define FORKS		20

struct job {
	/* What it does. */
	uint64_t	units;
	size_t		bytes;
	unsigned	nap_us;		/* on each unit */
	bool		keeps, writes;
	uint64_t	stops_at;	/* until `go`; 0: never */
	const char	*lag;

	/* What became of it. */
	uint64_t	staged, own, alone, wrong;
	bool		is_detached, is_lost;

	struct party	party;
	pthread_t	taker, makers[MAKERS], releaser;
	_Atomic bool	stop;
	struct ds_taken	queue[QUEUE];	/* by the lock */
	unsigned	nr_queued;
	bool		is_over;
	pthread_mutex_t	lock;
	pthread_cond_t	turn;
	struct ds_taken	kept[UNITS_MAX];
};

static struct job *jobs[JOBS_MAX];
static unsigned nr_jobs;
static _Atomic uint64_t furthest;	/* unit taken by anybody */
static _Atomic bool go;

static int
start(void **state)
{
	leak_before(state);
	alarm(200);
	atomic_store(&furthest, 0);
	atomic_store(&go, false);
	nr_jobs = 0;
	stagehub_start(0);
	return 0;
}

static int
stop(void **state)
{
	stagehub_stop();
	for (unsigned i = 0; i < JOBS_MAX; i++) {
		free(jobs[i]);
		jobs[i] = NULL;
	}
	alarm(0);
	return leak_after(state);
}

#define JOBS_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start, stop)

static void
nap(unsigned us)
{
	struct timespec t = { .tv_nsec = (long)us * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}

/*--- making --------------------------------------------------------------*/

static void *
make(void *arg)
{
	struct job *j = arg;
	struct ds_lease l;
	struct ds_err err;
	int rc = 0;

	while (!atomic_load(&j->stop) && rc >= 0) {
		rc = ds_pass_lease(j->party.pass, 10, &l, &err);
		if (rc != 1)
			continue;
		if (l.unit % 101 == 7) {
			ds_pass_give_up(j->party.pass, &l, DS_GIVE_UP_ALONE);
			continue;
		}
		payload_fill(l.bytes, j->bytes, 0, l.unit);
		(void)ds_pass_publish(j->party.pass, &l, j->bytes,
		    payload_hash(0, l.unit), 0, &err);
	}
	return NULL;
}

/*--- releasing -----------------------------------------------------------*/

static void
hand_over(struct job *j, struct ds_taken *t)
{
	pthread_mutex_lock(&j->lock);
	while (j->nr_queued == QUEUE)
		pthread_cond_wait(&j->turn, &j->lock);
	j->queue[j->nr_queued++] = *t;
	pthread_cond_broadcast(&j->turn);
	pthread_mutex_unlock(&j->lock);
}

/* Not in the order in which they came. */
static bool
pick(struct job *j, struct ds_taken *t)
{
	unsigned i;
	bool is_there;

	pthread_mutex_lock(&j->lock);
	while (j->nr_queued == 0 && !j->is_over)
		pthread_cond_wait(&j->turn, &j->lock);
	is_there = j->nr_queued > 0;
	if (is_there) {
		i = j->nr_queued / 2;
		*t = j->queue[i];
		j->queue[i] = j->queue[--j->nr_queued];
		pthread_cond_broadcast(&j->turn);
	}
	pthread_mutex_unlock(&j->lock);
	return is_there;
}

static void *
release(void *arg)
{
	struct job *j = arg;
	struct ds_taken t;

	while (pick(j, &t)) {
		if (j->writes)
			memset(t.bytes, (int)t.unit, t.len);
		ds_stage_release(j->party.stage, &t);
	}
	return NULL;
}

/*--- taking --------------------------------------------------------------*/

static void
use(struct job *j, struct ds_taken *t, uint64_t unit)
{
	j->staged++;
	j->own += t->is_own;
	if (t->unit != unit || t->hash != payload_hash(0, unit) ||
	    t->len != j->bytes || !payload_is(t->bytes, t->len, 0, unit))
		j->wrong++;
	ds_pass_delivered(j->party.pass, 4);
	if (j->keeps)
		j->kept[unit] = *t;
	else
		hand_over(j, t);
}

static void
take(struct job *j, uint64_t unit)
{
	struct ds_taken t;
	struct ds_err err;
	int rc;

	do {
		rc = j->is_detached || j->is_lost ? DS_TAKE_SELF :
		    ds_pass_take(j->party.pass, unit, 20, &t, &err);
	} while (rc == DS_TAKE_WAIT);
	if (rc == DS_TAKEN) {
		use(j, &t, unit);
		return;
	}
	j->alone++;
	if (rc == DS_TAKE_DETACHED)
		j->is_detached = true;
	else if (rc == -ESTALE)
		j->is_lost = true;
	else if (rc == DS_TAKE_SELF)
		ds_pass_skip(j->party.pass, unit);
	else
		j->wrong++;
}

static void *
run(void *arg)
{
	struct job *j = arg;

	for (uint64_t u = 0; u < j->units; u++) {
		if (u == j->stops_at && u > 0) {
			while (!atomic_load(&go))
				nap(1000);
		}
		take(j, u);
		if (u > atomic_load(&furthest))
			atomic_store(&furthest, u);
		nap(j->nap_us);
	}
	ds_pass_end(j->party.pass);
	return NULL;
}

/*--- a job ---------------------------------------------------------------*/

static struct job *
new_job(uint64_t units, size_t bytes)
{
	struct job *j = calloc(1, sizeof *j);

	assert_non_null(j);
	jobs[nr_jobs++] = j;
	j->units = units;
	j->bytes = bytes;
	j->lag = "auto";
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->turn, NULL);
	return j;
}

static void
start_job(struct job *j)
{
	struct ds_err err;

	party_connect(&j->party);
	party_open(&j->party, "s", (unsigned)j->units, (unsigned)j->bytes);
	party_set(&j->party, "lag", j->lag);
	party_attend(&j->party, 0);
	assert_int_equal(ds_pass_begin(j->party.pass, 0, j->units, NULL, &err),
	    1);
}

static void
start_threads(struct job *j)
{
	for (unsigned i = 0; i < MAKERS; i++)
		assert_int_equal(pthread_create(&j->makers[i], NULL, make, j),
		    0);
	assert_int_equal(pthread_create(&j->releaser, NULL, release, j), 0);
	assert_int_equal(pthread_create(&j->taker, NULL, run, j), 0);
}

static void
start_jobs(void)
{
	for (unsigned i = 0; i < nr_jobs; i++)
		start_job(jobs[i]);
	for (unsigned i = 0; i < nr_jobs; i++)
		start_threads(jobs[i]);
}

static void
check_kept(struct job *j)
{
	for (uint64_t u = 0; u < j->units; u++) {
		struct ds_taken *t = &j->kept[u];

		if (t->bytes == NULL)
			continue;
		if (!payload_is(t->bytes, t->len, 0, u))
			j->wrong++;
		if (u % 3 != 0)		/* others go with the stage */
			ds_stage_release(j->party.stage, t);
	}
}

/* Its makers go on for those who are not there yet. */
static void
end_job(struct job *j)
{
	pthread_join(j->taker, NULL);
	pthread_mutex_lock(&j->lock);
	j->is_over = true;
	pthread_cond_broadcast(&j->turn);
	pthread_mutex_unlock(&j->lock);
	pthread_join(j->releaser, NULL);
}

static void
leave(struct job *j)
{
	atomic_store(&j->stop, true);
	for (unsigned i = 0; i < MAKERS; i++)
		pthread_join(j->makers[i], NULL);
	ds_pass_close(&j->party.pass);
	check_kept(j);
	party_leave(&j->party);
	pthread_cond_destroy(&j->turn);
	pthread_mutex_destroy(&j->lock);
	assert_int_equal(j->wrong, 0);
	assert_int_equal(j->staged + j->alone, j->units);
}

static void
end_jobs(void)
{
	for (unsigned i = 0; i < nr_jobs; i++)
		end_job(jobs[i]);
	for (unsigned i = 0; i < nr_jobs; i++)
		leave(jobs[i]);
}

/*--- tests ---------------------------------------------------------------*/

static void
all_share_at_any_speed(void **state)
{
	uint64_t own = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		new_job(1000, 256)->nap_us = i == 3 ? 100 : 0;
	start_jobs();
	end_jobs();
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(jobs[i]->staged, 990);
		own += jobs[i]->own;
	}
	/* Each of them once. */
	assert_int_equal(own, 990);
}

static void
all_write_into_their_batches(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		new_job(300, 20000)->writes = true;
	start_jobs();
	end_jobs();
}

static void
all_keep_every_batch(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		new_job(200, 20000)->keeps = true;
	start_jobs();
	end_jobs();
	for (unsigned i = 0; i < 3; i++)
		assert_false(jobs[i]->is_detached);
}

/* It holds what it has not released yet. */
static void
one_who_stops_is_left_behind(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		new_job(200, 8192)->lag = "detach:20ms";
	jobs[1]->stops_at = 50;
	jobs[1]->keeps = true;
	start_jobs();
	end_job(jobs[0]);
	end_job(jobs[2]);
	atomic_store(&go, true);
	end_job(jobs[1]);
	assert_true(jobs[1]->is_detached);
	for (unsigned i = 0; i < 3; i++)
		leave(jobs[i]);
}

static void
all_go_on_when_the_hub_does_not(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		new_job(600, 4096)->keeps = i == 1;
	start_jobs();
	while (atomic_load(&furthest) < 200)
		nap(500);
	stagehub_kill();
	end_jobs();
	for (unsigned i = 0; i < 3; i++)
		assert_true(jobs[i]->is_lost);
}

/* A child that does nothing but try: -ESTALE, and no lock that is held. */
static _Noreturn void
be_child(void)
{
	struct ds_lease l;
	struct ds_err err;

	for (unsigned i = 0; i < nr_jobs; i++) {
		struct party *p = &jobs[i]->party;

		if (ds_pass_lease(p->pass, 1000, &l, &err) != -ESTALE)
			_exit(1);
		party_leave(p);
	}
	_exit(0);
}

static void
forks_at_any_time(void **state)
{
	int status;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		new_job(400, 8192)->keeps = i == 1;
		jobs[i]->nap_us = 50;
	}
	start_jobs();
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			be_child();
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	end_jobs();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JOBS_UNIT(all_share_at_any_speed),
		JOBS_UNIT(all_write_into_their_batches),
		JOBS_UNIT(all_keep_every_batch),
		JOBS_UNIT(one_who_stops_is_left_behind),
		JOBS_UNIT(all_go_on_when_the_hub_does_not),
		JOBS_UNIT(forks_at_any_time),
	};

	return cmocka_run_group_tests(tests, stagehub_open, stagehub_close);
}
