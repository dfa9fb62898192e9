/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_get_threads.c: tests of cache/item.c and fill.c with several threads,
 * and with forks in between, at a hub of tests/harness/fakehub.c.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/data.h"
#include "cache/messages.h"
#include "tests/harness/fakehub.h"
#include "tests/harness/heap.h"
#include "tests/harness/unit.h"

#define THREADS	8u
#define ROUNDS	40u

#define FORKS	(HEAP_IS_SANITIZED ? 100u : 1000u)

static struct fake_files files;
static struct fake hub;
static struct link *link_;
static struct ds_data *data;
static atomic_bool done;
static _Atomic unsigned nr_wrong, nr_gets;

static int
start(void **state)
{
	struct ds_err err;

	leak_before(state);
	done = false;
	nr_wrong = nr_gets = 0;
	fake_files_new(&files);
	fake_start(&hub, &link_);
	return data_open_on(&data, link_, files.path, NULL, &err);
}

static int
stop(void **state)
{
	ds_data_close(&data);
	link_free(&link_);
	fake_stop(&hub);
	fake_files_free(&files);
	keep_set_limit(0);
	return leak_after(state) != 0 || hub.nr_bad > 0 ? -1 : 0;
}

#define THREADS_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start, stop)

static void
get(uint64_t i)
{
	struct ds_item item;
	struct ds_err err;

	if (ds_get(data, i, &item, &err) < 0 ||
	    !fake_bytes_right(i, item.bytes, item.len)) {
		nr_wrong++;
		return;
	}
	ds_put(data, &item);
	nr_gets++;
}

/* Each in another order. */
static void *
get_all(void *arg)
{
	uint64_t at = (uintptr_t)arg;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < FAKE_FILES; i++) {
			at = (at + 7) % FAKE_FILES;
			get(at);
		}
	return NULL;
}

static void
run_threads(void *(*body)(void *))
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body,
		    (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* One fetch of each item, however many want it. */
static void
each_item_is_fetched_once(void **state)
{
	struct ds_counts c;

	(void)state;
	run_threads(get_all);
	assert_int_equal(nr_wrong, 0);
	assert_int_equal(nr_gets, THREADS * ROUNDS * FAKE_FILES);
	ds_data_counts(data, &c);
	assert_int_equal(c.hits + c.misses, nr_gets);
	assert_int_equal(c.storage_reads, FAKE_FILES - FAKE_FILES / 6);
	assert_int_equal(c.misses, c.storage_reads);
}

static void *
get_and_hang_up(void *arg)
{
	if ((uintptr_t)arg == 0)
		hub.hang_up_at = MSG_PUBLISH;
	return get_all(arg);
}

static void
the_hub_may_go_at_any_time(void **state)
{
	struct ds_counts c;

	(void)state;
	run_threads(get_and_hang_up);
	assert_int_equal(nr_wrong, 0);
	ds_data_counts(data, &c);
	assert_int_equal(c.cached, 0);
	assert_int_equal(c.hits + c.misses, nr_gets);
}

/*--- forks ---------------------------------------------------------------*/

/* A sanitizer's allocator, unlike that of libc, may be locked for ever in a
 * child that is born while a thread is in it: then all is cached, and children
 * do what needs no memory. */
static void *
get_until_done(void *arg)
{
	uint64_t at = (uintptr_t)arg;

	while (!done) {
		at = (at + 7) % FAKE_FILES;
		get(at);
		/* Not cached any more: so that some always ask. */
		if (!HEAP_IS_SANITIZED && at == 4)
			fake_forget(&hub, at);
	}
	return NULL;
}

/* With its parent's handles a child reads all there is, says nothing to the
 * hub, counts nothing, and closes them. */
static int
use_in_child(bool closes)
{
	struct ds_counts c;

	alarm(60);
	nr_wrong = 0;
	for (uint64_t i = 0; i < FAKE_FILES; i++)
		get(i);
	if (nr_wrong > 0)
		return 1;
	ds_data_counts(data, &c);
	if (c.hits + c.misses + c.storage_reads > 0 || c.cached)
		return 2;
	if (closes) {
		ds_data_close(&data);
		link_free(&link_);
	}
	return 0;
}

/* Its status; 256 and more for what waitpid(2) says of a signal. */
static int
run_child(bool closes)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(use_in_child(closes));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static void
a_child_reads_and_closes(void **state)
{
	struct ds_counts before, after;
	uint64_t frames;

	(void)state;
	for (uint64_t i = 0; i < FAKE_FILES / 2; i++)
		get(i);
	/* A question: when it is answered all that was told has been taken. */
	hub.grant = FAKE_CLOSED;
	get(FAKE_FILES - 1);
	ds_data_counts(data, &before);
	frames = hub.nr_frames;
	assert_int_equal(run_child(true), 0);
	assert_int_equal(hub.nr_frames, frames);
	ds_data_counts(data, &after);
	assert_memory_equal(&before, &after, sizeof before);
	assert_true(link_alive(link_));
	for (uint64_t i = 0; i < FAKE_FILES; i++)
		get(i);
	assert_int_equal(nr_wrong, 0);
}

/* Children may be born while threads are anywhere in here. */
static void
no_child_waits_for_a_thread_it_has_not(void **state)
{
	pthread_t threads[2];
	unsigned nr = 0;
	int rc = 0;

	(void)state;
	for (uint64_t i = 0; i < FAKE_FILES && HEAP_IS_SANITIZED; i++)
		if (fake_size(i) > 0) {
			fake_publish(&hub, i);
			get(i);
		}
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
		    get_until_done, (void *)i), 0);
	for (; nr < FORKS && rc == 0; nr++)
		rc = run_child(!HEAP_IS_SANITIZED);
	done = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(rc, 0);
	assert_int_equal(nr, FORKS);
	assert_int_equal(nr_wrong, 0);
}

UNIT_MAIN(
    THREADS_UNIT(each_item_is_fetched_once),
    THREADS_UNIT(the_hub_may_go_at_any_time),
    THREADS_UNIT(a_child_reads_and_closes),
    THREADS_UNIT(no_child_waits_for_a_thread_it_has_not))
