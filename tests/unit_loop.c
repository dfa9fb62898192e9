/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_loop.c: tests of hub/loop.c.
 */

#include <config.h>

#include "hub/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/unit.h"

#define NR	4

/* Pipes that are ready to be read, each with a watch. */
static struct loop *loop;
static struct loop_watch *watches[NR];
static int pipes[NR][2];
static unsigned calls[NR], ticks;

static void
open_pipes(loop_ready_f *ready)
{
	struct ds_err err;

	ticks = 0;
	assert_int_equal(loop_new(&loop, &err), 0);
	for (int i = 0; i < NR; i++) {
		calls[i] = 0;
		assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
		assert_int_equal(write(pipes[i][1], "x", 1), 1);
		assert_int_equal(loop_watch(loop, &watches[i], pipes[i][0],
		    EPOLLIN, ready, &calls[i], &err), 0);
	}
}

static void
close_pipes(void)
{
	loop_free(&loop);
	assert_null(loop);
	for (int i = 0; i < NR; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static void
run(void)
{
	struct ds_err err;

	assert_int_equal(loop_run(loop, &err), 0);
}

static unsigned
all_calls(void)
{
	unsigned sum = 0;

	for (int i = 0; i < NR; i++)
		sum += calls[i];
	return sum;
}

static void
count_to_forty(void *arg, uint32_t events)
{
	assert_int_equal(events, EPOLLIN);
	++*(unsigned *)arg;
	if (all_calls() == 40)
		loop_stop(loop);
}

/* Whoever is always ready gets as many turns as the others. */
static void
turns_are_fair(void **state)
{
	(void)state;
	open_pipes(count_to_forty);
	run();
	for (int i = 0; i < NR; i++)
		assert_int_equal(calls[i], 40 / NR);
	assert_int_equal(loop_turns(loop)->turns, 40);
	assert_true(loop_turns(loop)->longest_wall_ns > 0);
	close_pipes();
}

static void
remove_all(void *arg, uint32_t events)
{
	(void)events;
	++*(unsigned *)arg;
	for (int i = 0; i < NR; i++)
		loop_unwatch(&watches[i]);
	loop_stop(loop);
}

static void
stop_at_once(void *arg)
{
	(void)arg;
	ticks++;
	loop_stop(loop);
}

/* The first of a batch removes all of it, itself included. */
static void
what_is_removed_is_not_called(void **state)
{
	(void)state;
	open_pipes(remove_all);
	run();
	assert_int_equal(all_calls(), 1);
	for (int i = 0; i < NR; i++)
		assert_null(watches[i]);
	loop_every(loop, NS_PER_MS, stop_at_once, NULL);
	run();
	assert_int_equal(all_calls(), 1);
	close_pipes();
}

static void
change_to_nothing(void *arg, uint32_t events)
{
	unsigned *mine = arg;

	(void)events;
	++*mine;
	assert_int_equal(loop_rewatch(watches[mine - calls], 0, NULL), 0);
	if (all_calls() == NR)
		loop_every(loop, NS_PER_MS, stop_at_once, NULL);
}

static void
what_is_watched_can_be_changed(void **state)
{
	(void)state;
	open_pipes(change_to_nothing);
	run();
	assert_int_equal(all_calls(), NR);
	assert_int_equal(ticks, 1);
	for (int i = 0; i < NR; i++)
		assert_int_equal(loop_rewatch(watches[i], EPOLLIN, NULL), 0);
	run();
	assert_true(all_calls() >= NR);
	close_pipes();
}

/* A clock that tests move. */
static uint64_t now_ns;

static uint64_t
tell_time(void *arg)
{
	(void)arg;
	return now_ns;
}

static void
move_clock(void *arg, uint32_t events)
{
	(void)events;
	now_ns += NS_PER_MS;
	if (++*(unsigned *)arg == 1000)
		loop_stop(loop);
}

static void
count_ticks(void *arg)
{
	(void)arg;
	ticks++;
}

/* However busy the loop is. */
static void
the_timer_comes_in_time(void **state)
{
	(void)state;
	now_ns = NS_PER_S;
	clock_replace(tell_time, NULL);
	open_pipes(move_clock);
	loop_every(loop, 10 * NS_PER_MS, count_ticks, NULL);
	run();
	assert_in_range(ticks, 300, 400);
	assert_true(loop_turns(loop)->longest_wall_ns == NS_PER_MS);
	close_pipes();
	clock_replace(NULL, NULL);
}

static void
sleep_long(void *arg, uint32_t events)
{
	(void)events;
	++*(unsigned *)arg;
	now_ns += all_calls() == 1 ? 1000 * NS_PER_S : 0;
	if (all_calls() == 100)
		loop_stop(loop);
}

static void
time_slept_through_is_one_tick(void **state)
{
	(void)state;
	now_ns = NS_PER_S;
	clock_replace(tell_time, NULL);
	open_pipes(sleep_long);
	loop_every(loop, 10 * NS_PER_MS, count_ticks, NULL);
	run();
	assert_int_equal(ticks, 1);
	close_pipes();
	clock_replace(NULL, NULL);
}

static volatile sig_atomic_t signals;

static void
count_signal(int sig)
{
	(void)sig;
	signals++;
}

static void
stop_after_signals(void *arg)
{
	(void)arg;
	if (signals >= 20)
		loop_stop(loop);
}

static void
signals_do_not_show(void **state)
{
	struct sigaction act = { .sa_handler = count_signal }, before;
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };

	(void)state;
	open_pipes(count_to_forty);
	for (int i = 0; i < NR; i++)
		loop_unwatch(&watches[i]);
	loop_every(loop, 5 * NS_PER_MS, stop_after_signals, NULL);
	sigaction(SIGALRM, &act, &before);
	setitimer(ITIMER_REAL, &every, NULL);
	run();
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	close_pipes();
}

static void
what_cannot_be_watched_is_an_error(void **state)
{
	struct loop_watch *w;
	struct ds_err err;

	(void)state;
	assert_int_equal(loop_new(&loop, &err), 0);
	assert_int_equal(loop_watch(loop, &w, -1, EPOLLIN, count_to_forty,
	    calls, &err), -EBADF);
	assert_string_equal(err.text,
	    "hub: cannot watch a descriptor: Bad file descriptor");
	loop_free(&loop);
}

UNIT_MAIN(
	UNIT(turns_are_fair),
	UNIT(what_is_removed_is_not_called),
	UNIT(what_is_watched_can_be_changed),
	UNIT(the_timer_comes_in_time),
	UNIT(time_slept_through_is_one_tick),
	UNIT(signals_do_not_show),
	UNIT(what_cannot_be_watched_is_an_error))
