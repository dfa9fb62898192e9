/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_guard.c: tests of preload/guard.c and preload/real.c.
 */

#include <config.h>

#include "preload/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "preload/real.h"
#include "tests/harness/unit.h"

static int
cancel_state(void)
{
	int now;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &now);
	pthread_setcancelstate(now, NULL);
	return now;
}

static void
is_closed_when_off(void **state)
{
	struct guard g;

	(void)state;
	guard_is_on = false;
	assert_false(guard_is_open());
	assert_false(guard_enter(&g));
	assert_false(guard_is_inside);
}

static void
lets_in_once(void **state)
{
	struct guard g, other;

	(void)state;
	guard_is_on = true;
	assert_true(guard_is_open());
	assert_true(guard_enter(&g));
	assert_false(guard_is_open());
	assert_false(guard_enter(&other));
	guard_leave(&g);
	assert_true(guard_is_open());
	assert_true(guard_enter(&other));
	guard_leave(&other);
	guard_is_on = false;
}

static void
keeps_errno_and_cancellation(void **state)
{
	static const int states[] = { PTHREAD_CANCEL_ENABLE,
		PTHREAD_CANCEL_DISABLE };
	struct guard g;

	(void)state;
	guard_is_on = true;
	for (unsigned i = 0; i < 2; i++) {
		pthread_setcancelstate(states[i], NULL);
		errno = EXDEV;
		assert_true(guard_enter(&g));
		assert_int_equal(cancel_state(), PTHREAD_CANCEL_DISABLE);
		errno = EIO;
		guard_leave(&g);
		assert_int_equal(errno, EXDEV);
		assert_int_equal(cancel_state(), states[i]);
	}
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	guard_is_on = false;
}

static void *
enter_and_leave(void *arg)
{
	struct guard g;

	*(bool *)arg = guard_enter(&g);
	if (*(bool *)arg)
		guard_leave(&g);
	return NULL;
}

static void
is_of_each_thread(void **state)
{
	pthread_t thread;
	struct guard g;
	bool entered = false;

	(void)state;
	guard_is_on = true;
	assert_true(guard_enter(&g));
	assert_int_equal(pthread_create(&thread, NULL, enter_and_leave,
	    &entered), 0);
	pthread_join(thread, NULL);
	assert_true(entered);
	guard_leave(&g);
	guard_is_on = false;
}

struct outcome {
	bool	was_open;		/* in the handlers of cancellation */
	bool	went_on;		/* while it was inside */
	bool	came_out;		/* and was not cancelled */
};

static void
see_guard(void *arg)
{
	struct outcome *o = arg;

	o->was_open = guard_is_open();
}

/* Cancelled inside, it ends as soon as it is out, and as the program's. */
static void *
end_on_the_way_out(void *arg)
{
	struct outcome *o = arg;
	struct guard g;

	pthread_cleanup_push(see_guard, o);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	if (guard_enter(&g)) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
		o->went_on = true;
		guard_leave(&g);
	}
	o->came_out = true;
	pthread_cleanup_pop(0);
	return NULL;
}

static void
is_out_before_a_cancellation(void **state)
{
	struct outcome o = { 0 };
	pthread_t thread;

	(void)state;
	guard_is_on = true;
	assert_int_equal(pthread_create(&thread, NULL, end_on_the_way_out,
	    &o), 0);
	pthread_join(thread, NULL);
	assert_false(o.came_out);
	assert_true(o.went_on);
	assert_true(o.was_open);
	guard_is_on = false;
}

static void
finds_the_real_ones(void **state)
{
	struct stat st;
	void *found;
	int fd;

	(void)state;
	/* Forgotten, as before the start, it is found again. */
	found = REAL(open);
	atomic_store_explicit(&real_addresses[REAL_open], NULL,
	    memory_order_relaxed);
	errno = EXDEV;
	assert_ptr_equal(REAL(open), found);
	assert_int_equal(errno, EXDEV);
	fd = REAL(open)("/", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(REAL(fstat)(fd, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	close(fd);
	for (unsigned i = 0; i < NR_REAL_CALLS; i++)
		assert_non_null(real_get((enum real_call)i));
}

/* The first cancellation in a process loads what unwinds the stack, and that
 * stays: no leak of any test's. */
static int
cancel_once(void **state)
{
	struct outcome o;
	pthread_t thread;

	(void)state;
	guard_is_on = true;
	if (pthread_create(&thread, NULL, end_on_the_way_out, &o) != 0)
		return -1;
	pthread_join(thread, NULL);
	guard_is_on = false;
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(is_closed_when_off),
		UNIT(lets_in_once),
		UNIT(keeps_errno_and_cancellation),
		UNIT(is_of_each_thread),
		UNIT(is_out_before_a_cancellation),
		UNIT(finds_the_real_ones),
	};

	return cmocka_run_group_tests(tests, cancel_once, NULL);
}
