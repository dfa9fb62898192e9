/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_helper.c: tests of hub/helper.c; also run under ThreadSanitizer.
 */

#include <config.h>

#include "hub/helper.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

#include "tests/harness/unit.h"

#define NR_JOBS	200u

/* A job that adds up in so many pieces; plain fields, so that a sanitizer sees
 * it when two threads have a job at once. */
struct sum {
	struct helper_job job;
	struct helper	*helper;
	unsigned	pieces;
	unsigned	worked;
	unsigned	ended;		/* the how-many-th */
	unsigned	again;		/* times to be submitted anew */
	bool		in_helper;	/* not the thread of the loop */
};

static struct loop *loop;
static struct helper *helper;
static pthread_t loop_thread;
static unsigned nr_ended, nr_wanted;

static bool
add(struct helper_job *job)
{
	struct sum *s = (struct sum *)job;

	s->in_helper = pthread_equal(pthread_self(), loop_thread) == 0;
	return ++s->worked < s->pieces;
}

static void
end(struct helper_job *job)
{
	struct sum *s = (struct sum *)job;

	assert_true(pthread_equal(pthread_self(), loop_thread) != 0);
	s->ended = ++nr_ended;
	if (nr_ended == nr_wanted)
		loop_stop(loop);
	if (s->again > 0) {
		s->again--;
		s->worked = 0;
		helper_submit(s->helper, &s->job);
	}
}

static void
begin(void)
{
	struct ds_err err;

	loop_thread = pthread_self();
	nr_ended = 0;
	assert_int_equal(loop_new(&loop, &err), 0);
	assert_int_equal(helper_new(&helper, loop, &err), 0);
}

static void
submit(struct sum *s, unsigned pieces)
{
	memset(s, 0, sizeof *s);
	s->job.work = add;
	s->job.done = end;
	s->helper = helper;
	s->pieces = pieces;
	helper_submit(helper, &s->job);
}

static void
finish(void)
{
	if (helper != NULL)
		helper_free(&helper);
	assert_null(helper);
	loop_free(&loop);
}

static void
run_until(unsigned nr)
{
	struct ds_err err;

	nr_wanted = nr;
	assert_int_equal(loop_run(loop, &err), 0);
	assert_int_equal(nr_ended, nr);
}

static void
every_job_is_done_once(void **state)
{
	static struct sum sums[NR_JOBS];

	(void)state;
	begin();
	for (unsigned i = 0; i < NR_JOBS; i++)
		submit(&sums[i], 1);
	assert_int_equal(helper_waiting(helper), NR_JOBS);
	run_until(NR_JOBS);
	assert_int_equal(helper_waiting(helper), 0);
	for (unsigned i = 0; i < NR_JOBS; i++) {
		assert_int_equal(sums[i].worked, 1);
		assert_int_equal(sums[i].ended, i + 1);	/* in their order */
		assert_true(sums[i].in_helper);
	}
	finish();
}

/* A long job does not keep a short one waiting. */
static void
jobs_take_turns(void **state)
{
	struct sum longer, shorter;

	(void)state;
	begin();
	submit(&longer, 100000);
	submit(&shorter, 1);
	run_until(2);
	assert_int_equal(longer.worked, 100000);
	assert_int_equal(shorter.ended, 1);
	finish();
}

static void
done_may_submit(void **state)
{
	struct sum s;

	(void)state;
	begin();
	submit(&s, 2);
	s.again = 0;
	run_until(1);
	submit(&s, 3);
	run_until(2);
	assert_int_equal(s.worked, 3);
	finish();
}

/*--- the end -------------------------------------------------------------*/

static sem_t begun, go_on;

static bool
wait_for_leave(struct helper_job *job)
{
	struct sum *s = (struct sum *)job;

	if (s->worked++ > 0)
		return true;
	sem_post(&begun);
	while (sem_wait(&go_on) != 0)
		continue;
	return true;		/* more to do, but nobody will */
}

static void *
let_go(void *arg)
{
	(void)arg;
	sem_post(&go_on);
	return NULL;
}

/* The one in hand is waited for, though it has more to do; done() comes for
 * each, and for what done() submits too. */
static void
the_end_leaves_nothing(void **state)
{
	struct sum first, others[3];
	pthread_t thread;

	(void)state;
	begin();
	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	memset(&first, 0, sizeof first);
	first.job.work = wait_for_leave;
	first.job.done = end;
	helper_submit(helper, &first.job);
	while (sem_wait(&begun) != 0)
		continue;
	for (int i = 0; i < 3; i++)
		submit(&others[i], 1);
	others[1].again = 1;
	nr_wanted = 0;
	assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
	helper_free(&helper);
	pthread_join(thread, NULL);
	assert_int_equal(nr_ended, 5);
	assert_true(first.worked >= 1 && first.ended > 0);
	assert_int_equal(others[1].again, 0);
	sem_destroy(&begun);
	sem_destroy(&go_on);
	finish();
}

static sigset_t mask_of_helper;

static bool
look_at_mask(struct helper_job *job)
{
	(void)job;
	pthread_sigmask(SIG_SETMASK, NULL, &mask_of_helper);
	return false;
}

static void
signals_are_not_the_helpers(void **state)
{
	struct sum s;
	sigset_t mine;

	(void)state;
	begin();
	memset(&s, 0, sizeof s);
	s.job.work = look_at_mask;
	s.job.done = end;
	helper_submit(helper, &s.job);
	run_until(1);
	assert_true(sigismember(&mask_of_helper, SIGTERM) == 1);
	assert_true(sigismember(&mask_of_helper, SIGCHLD) == 1);
	pthread_sigmask(SIG_SETMASK, NULL, &mine);
	assert_true(sigismember(&mine, SIGTERM) == 0);
	finish();
}

UNIT_MAIN(
	UNIT(every_job_is_done_once),
	UNIT(jobs_take_turns),
	UNIT(done_may_submit),
	UNIT(the_end_leaves_nothing),
	UNIT(signals_are_not_the_helpers))
