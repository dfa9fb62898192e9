/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_loader_threads.c: tests of the loader's threads: that they change
 * nothing, and that it can be closed at any time.  ThreadSanitizer runs it.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/harness/heap.h"
#include "tests/harness/oneloader.h"

#define NR	60u		/* pictures: more than a batch of 50 */

static int
start(void **state)
{
	return oneloader_start(state, NR);
}

#define THREADS_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start, oneloader_stop)

static void
threads_and_batches_change_nothing(void **state)
{
	static const unsigned batches[] = { 32, 50 }, threads[] = { 1, 2, 5 },
	    readers[] = { 0, 1, 4 };
	struct loaded want, got;
	char options[128];

	(void)state;
	loaded_all(&want, data, "batch=7 threads=1 readers=0 prefetch=0");
	for (unsigned i = 0; i < NR; i++)
		assert_int_equal(want.at[1][i].times, 1);
	for (unsigned b = 0; b < 2; b++)
		for (unsigned t = 0; t < 3; t++)
			for (unsigned r = 0; r < 3; r++) {
				(void)snprintf(options, sizeof options,
				    "batch=%u threads=%u readers=%u",
				    batches[b], threads[t], readers[r]);
				loaded_all(&got, data, options);
				assert_memory_equal(&want, &got, sizeof got);
			}
}

static void
many_small_batches_change_nothing(void **state)
{
	struct loaded want, got;

	(void)state;
	loaded_all(&want, data, "batch=7 threads=1 readers=0 epochs=4");
	loaded_all(&got, data, "batch=1 threads=5 readers=4 prefetch=90 "
	    "epochs=4");	/* more than an epoch */
	assert_memory_equal(&want, &got, sizeof got);
}

/* After 0, 1, 2... batches, some of which the job has still. */
static void
it_can_be_closed_at_any_time(void **state)
{
	struct ds_batch *b;

	(void)state;
	for (unsigned nr = 0; nr < 20; nr++) {
		oneloader_open("batch=6 threads=3 readers=2 epochs=0");
		for (unsigned i = 0; i < nr; i++) {
			assert_true(ds_loader_next(loader, &b, &err) >= 0);
			if (i % 2 == 1 && b != NULL)
				ds_loader_release(loader, &b);
		}
		ds_loader_close(&loader);
	}
}

/*--- several threads of the job ------------------------------------------*/

#define CONSUMERS	3u

struct consumer {
	pthread_t		thread;
	struct ds_loader	*loader;
	struct loaded		got;
	unsigned		ends;
};

static void *
consume(void *arg)
{
	struct consumer *c = arg;
	struct ds_loader_counts counts;
	struct ds_batch *b;
	char text[DS_POSITION_TEXT];
	int rc;

	while ((rc = ds_loader_next(c->loader, &b, NULL)) >= 0) {
		if (rc == 0) {
			c->ends++;
			continue;
		}
		loaded_add(&c->got, b);
		ds_loader_release(c->loader, &b);
		ds_loader_counts(c->loader, &counts);
		(void)ds_loader_save(c->loader, text, NULL);
	}
	return NULL;
}

static void
several_threads_may_take_batches(void **state)
{
	static struct consumer c[CONSUMERS];
	struct loaded want, got = { 0 };
	unsigned ends = 0;

	(void)state;
	memset(c, 0, sizeof c);
	loaded_all(&want, data, "batch=7");
	oneloader_open("batch=4 threads=2 readers=2");
	for (unsigned i = 0; i < CONSUMERS; i++) {
		c[i].loader = loader;
		assert_int_equal(pthread_create(&c[i].thread, NULL, consume,
		    &c[i]), 0);
	}
	for (unsigned i = 0; i < CONSUMERS; i++) {
		pthread_join(c[i].thread, NULL);
		ends += c[i].ends;
		for (unsigned e = 0; e < 2; e++)
			for (unsigned k = 0; k < NR; k++)
				if (c[i].got.at[e][k].times > 0) {
					assert_int_equal(got.at[e][k].times, 0);
					got.at[e][k] = c[i].got.at[e][k];
				}
	}
	assert_int_equal(ends, 2);
	assert_memory_equal(&want, &got, sizeof got);
}

/*--- guests --------------------------------------------------------------*/

struct seen {
	unsigned	preps, reads;
};

/* One of our threads, by /proc.  It is born with all signals blocked, so that
 * those that are its own are looked for until it has begun. */
static void
look_at_thread(const char *tid, struct seen *seen)
{
	uint64_t blocked, own = UINT64_C(1) << (SIGSEGV - 1);
	char path[512], line[256];
	bool ours = false;
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
	do {
		blocked = 0;
		f = fopen(path, "re");
		assert_non_null(f);
		while (fgets(line, sizeof line, f) != NULL) {
			if (strncmp(line, "Name:", 5) == 0)
				ours = strstr(line, "destall ") != NULL;
			(void)sscanf(line, "SigBlk: %" SCNx64, &blocked);
			if (strstr(line, "destall prep ") != NULL)
				seen->preps |= 1u << (line[19] - '0');
			if (strstr(line, "destall read ") != NULL)
				seen->reads |= 1u << (line[19] - '0');
		}
		fclose(f);
	} while (ours && (blocked & own) != 0 && sched_yield() == 0);
	assert_true(!ours || ((blocked >> (SIGINT - 1) & 1) == 1 &&
	    (blocked >> (SIGCHLD - 1) & 1) == 1));
	assert_int_equal(sched_getscheduler(atoi(tid)),
	    ours ? SCHED_BATCH : SCHED_OTHER);
}

static void
its_threads_are_named_take_no_signals_and_give_way(void **state)
{
	struct seen seen = { 0, 0 };
	struct ds_batch *b;
	struct dirent *e;
	DIR *d;

	(void)state;
	oneloader_open("batch=4 threads=2 readers=3");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	d = opendir("/proc/self/task");
	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			look_at_thread(e->d_name, &seen);
	closedir(d);
	assert_int_equal(seen.preps, 3);	/* 0 and 1 */
	assert_int_equal(seen.reads, 7);
}

/* Where the system gives none, or one. */
static void
it_does_with_the_threads_it_gets(void **state)
{
	struct ds_loader_counts c;
	struct rlimit was, few;
	struct ds_batch *b;
	int rc;

	(void)state;
	if (HEAP_IS_SANITIZED || geteuid() == 0)
		return;		/* root has no such limit */
	assert_int_equal(getrlimit(RLIMIT_NPROC, &was), 0);
	few = was;
	few.rlim_cur = 0;
	oneloader_open("batch=4 threads=2");
	assert_int_equal(setrlimit(RLIMIT_NPROC, &few), 0);
	rc = ds_loader_next(loader, &b, &err);
	assert_int_equal(setrlimit(RLIMIT_NPROC, &was), 0);
	assert_int_equal(rc, -EAGAIN);
	assert_non_null(strstr(err.text, "cannot start a thread"));
	/* It can be tried again. */
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	ds_loader_counts(loader, &c);
	assert_int_equal(c.threads, 2);
}

UNIT_MAIN(
    THREADS_UNIT(threads_and_batches_change_nothing),
    THREADS_UNIT(many_small_batches_change_nothing),
    THREADS_UNIT(it_can_be_closed_at_any_time),
    THREADS_UNIT(several_threads_may_take_batches),
    THREADS_UNIT(its_threads_are_named_take_no_signals_and_give_way),
    THREADS_UNIT(it_does_with_the_threads_it_gets))
