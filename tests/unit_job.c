/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_job.c: tests of hub/job.c.
 */

#include <config.h>

#include "hub/job.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/unit.h"

#define THREADS	8

/* Not by setenv(), which never gives its memory back. */
static void
set_job(const char *value)
{
	static char text[64], *list[2];
	extern char **environ;

	(void)snprintf(text, sizeof text, "DESTALL_JOB=%s",
	    value != NULL ? value : "");
	list[0] = value != NULL ? text : NULL;
	environ = list;
}

static int
set_up(void **state)
{
	set_job(NULL);
	return leak_before(state);
}

static int
tear_down(void **state)
{
	set_job(NULL);
	return leak_after(state);
}

static void
the_environment_names_it(void **state)
{
	(void)state;
	set_job("00000000deadBEEF");
	assert_int_equal(job_token(NULL), UINT64_C(0xdeadbeef));
	set_job(NULL);
	assert_int_not_equal(job_token(NULL), UINT64_C(0xdeadbeef));
}

static void
what_is_no_token_names_nothing(void **state)
{
	static const char *const wrong[] = { "", "1", "job",
	    "00000000deadBEEFF", "0x00000000000001", "               1",
	    "0000000000000000", "-000000000000001" };
	uint64_t own = job_token(NULL);

	(void)state;
	assert_int_not_equal(own, 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		set_job(wrong[i]);
		assert_int_equal(job_token(NULL), own);
	}
}

static void
a_token_as_a_name_is_the_job(void **state)
{
	(void)state;
	assert_int_equal(job_token("00000000deadBEEF"), UINT64_C(0xdeadbeef));
	set_job("0000000000000005");
	assert_int_equal(job_token("00000000deadBEEF"), UINT64_C(0xdeadbeef));
	assert_int_not_equal(job_token("deadBEEF"), UINT64_C(0xdeadbeef));
}

static void *
ask(void *arg)
{
	*(uint64_t *)arg = job_token(NULL);
	return NULL;
}

static void
threads_are_of_one(void **state)
{
	pthread_t thread[THREADS];
	uint64_t token[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ask,
		    &token[i]), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(token[i], job_token(NULL));
}

static void
forked_children_belong_to_it(void **state)
{
	uint64_t own = job_token(NULL);
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(job_token(NULL) == own ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
names_tell_jobs_apart(void **state)
{
	uint64_t a = job_token("a");

	(void)state;
	assert_int_not_equal(a, job_token(NULL));
	assert_int_not_equal(a, job_token("b"));
	assert_int_not_equal(a, job_token(""));
	assert_int_equal(a, job_token("a"));
	/* In another launch they are others'. */
	set_job("0123456789abcdef");
	assert_int_not_equal(a, job_token("a"));
}

static void
no_two_are_drawn_alike(void **state)
{
	(void)state;
	assert_int_not_equal(job_draw(), 0);
	assert_int_not_equal(job_draw(), job_draw());
}

#define JOB_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JOB_UNIT(the_environment_names_it),
		JOB_UNIT(what_is_no_token_names_nothing),
		JOB_UNIT(a_token_as_a_name_is_the_job),
		JOB_UNIT(threads_are_of_one),
		JOB_UNIT(forked_children_belong_to_it),
		JOB_UNIT(names_tell_jobs_apart),
		JOB_UNIT(no_two_are_drawn_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
