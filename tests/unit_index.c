/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_index.c: tests of cache/index.c; those of its tables are in
 * unit_index_find.c.
 */

#include <config.h>

#include "cache/index.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/unit.h"

#define LONG_NS	(UINT64_C(60) * NS_PER_S)

static struct segment seg;		/* the hub's */
static struct index *hub;
static char *names;
static struct ds_err err;

/* An index of these names, which are in order; a NULL ends them. */
static void
make(const char *const list[])
{
	uint64_t nr = 0, bytes = 0, off = 0;

	for (; list[nr] != NULL; nr++)
		bytes += strlen(list[nr]) + 1;
	assert_int_equal(segment_create(&seg, &index_kind,
	    index_size(nr, index_slots(nr), bytes), 1, &err), 0);
	hub = seg.base;
	hub->nr_items = nr;
	hub->nr_slots = index_slots(nr);
	hub->names_bytes = bytes;
	names = index_names(hub);
	for (uint64_t i = 0; i < nr; i++) {
		size_t len = strlen(list[i]);

		memcpy(names + off, list[i], len + 1);
		hub->items[i].key.name_off = off;
		hub->items[i].key.name_len = (uint32_t)len;
		off += len + 1;
	}
}

static int
attach(struct index_map *m)
{
	int fd = fcntl(seg.fd, F_DUPFD_CLOEXEC, 0);
	int rc = index_attach(m, fd, &err);

	if (rc < 0)
		assert_int_equal(close(fd), 0);		/* still ours */
	return rc;
}

static const char *const four[] = { "a", "a/b", "ab", "b\xff", NULL };

static void
sizes_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(index_size(0, 0, 0), sizeof(struct index));
	assert_int_equal(index_size(2, 4, 7), sizeof(struct index) +
	    2 * sizeof(struct index_item) + 2 * 4 * sizeof(uint32_t) + 7);
	assert_int_equal(index_size(UINT64_MAX / 96, 0, 0), SIZE_MAX);
	assert_int_equal(index_size(UINT64_MAX / 80, 0, 0), SIZE_MAX);
	assert_int_equal(index_size(0, UINT64_MAX / 8, 0), SIZE_MAX);
	assert_int_equal(index_size(0, UINT64_MAX / 4, 0), SIZE_MAX);
	assert_int_equal(index_size(UINT64_MAX / 192, UINT64_MAX / 16, 0),
	    SIZE_MAX);
	assert_int_equal(index_size(1, 0, UINT64_MAX - 100), SIZE_MAX);
	assert_int_equal(index_size(0, 0, UINT64_MAX), SIZE_MAX);
}

static void
slots_are_a_power_of_two(void **state)
{
	const struct { uint64_t items, slots; } right[] = {
		{ 0, 0 }, { 1, 2 }, { 2, 4 }, { 3, 8 }, { 4, 8 }, { 5, 16 },
		{ 1024, 2048 }, { 1025, 4096 },
		{ LISTING_ITEMS_MAX, UINT64_C(1) << 31 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof right / sizeof right[0]; i++)
		assert_int_equal(index_slots(right[i].items), right[i].slots);
}

static void
names_are_found(void **state)
{
	const char *const absent[] = { "", "A", "a/", "a/b/", "abc", "b", "c" };
	struct index_map m;

	(void)state;
	make(four);
	assert_int_equal(attach(&m), 0);
	for (unsigned i = 0; i < 4; i++) {
		size_t len;

		assert_string_equal(index_name(&m, i, &len), four[i]);
		assert_int_equal(len, strlen(four[i]));
		assert_int_equal(index_find(&m, four[i], len), i);
	}
	for (unsigned i = 0; i < sizeof absent / sizeof absent[0]; i++)
		assert_int_equal(index_find(&m, absent[i], strlen(absent[i])),
		    -ENOENT);
	assert_int_equal(index_find(&m, "a\0", 2), -ENOENT);
	index_detach(&m);
	assert_null(m.index);
	segment_detach(&seg);
}

static void
empty_has_nothing(void **state)
{
	const char *const none[] = { NULL };
	struct index_map m;
	size_t len;

	(void)state;
	make(none);
	assert_int_equal(attach(&m), 0);
	assert_int_equal(index_find(&m, "a", 1), -ENOENT);
	assert_null(index_name(&m, 0, &len));
	index_detach(&m);
	segment_detach(&seg);
}

static void
wrong_sizes_are_not_attached(void **state)
{
	const uint64_t far = UINT64_C(1) << 61;
	const struct { uint64_t items, slots, names; } bad[] = {
		{ 5, 8, 12 }, { 3, 8, 12 }, { 4, 8, 11 }, { 4, 8, 13 },
		{ 0, 0, 0 }, { UINT64_MAX, 8, 12 }, { 4, 8, UINT64_MAX },
		{ UINT64_MAX / 96, 8, 12 },
		{ 4, 0, 12 }, { 4, 7, 20 }, { 4, 4, 12 + 32 },
		{ 0, 8, 12 + 4 * 96 }, { 4, UINT64_MAX, 12 + 72 },
		{ 4 + far, 8, 12 }, { 4, 8 + far, 12 },	/* the same mod 2^64 */
	};
	struct index_map m = { .names = "unchanged" };

	(void)state;
	make(four);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		hub->nr_items = bad[i].items;
		hub->nr_slots = bad[i].slots;
		hub->names_bytes = bad[i].names;
		assert_int_equal(attach(&m), -EBADMSG);
		assert_non_null(strstr(err.text, "destall index: "));
		assert_string_equal(m.names, "unchanged");
	}
	segment_detach(&seg);
	assert_int_equal(segment_create(&seg, &index_kind,
	    sizeof(struct index) - 1, 1, &err), 0);
	assert_int_equal(attach(&m), -EBADMSG);
	assert_non_null(strstr(err.text, "too few"));
	segment_detach(&seg);
}

/* What the hub would never write, and a client must live through. */
static void
unsound_names_are_not_read(void **state)
{
	const struct { uint64_t off; uint32_t len; } bad[] = {
		{ 12, 1 }, { 11, 1 }, { 0, 12 }, { 1, 11 }, { 0, 13 }, { 0, 0 },
		{ UINT64_MAX, 1 }, { UINT64_MAX - 1, 2 }, { 0, UINT32_MAX },
		{ 2, 2 },	/* no zero byte there */
		{ 0, 5 },	/* and one within */
	};
	struct index_map m;
	size_t len = 99;

	(void)state;
	make(four);
	assert_int_equal(attach(&m), 0);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		hub->items[2].key.name_off = bad[i].off;
		hub->items[2].key.name_len = bad[i].len;
		assert_null(index_name(&m, 2, &len));
		assert_int_equal(index_find(&m, "ab", 2), -ENOENT);
	}
	/* How many there are was settled when it was attached. */
	hub->nr_items = hub->nr_slots = hub->names_bytes = UINT64_MAX;
	assert_null(index_name(&m, 4, &len));
	assert_non_null(index_name(&m, 0, &len));
	index_detach(&m);
	segment_detach(&seg);
}

static void
file_names(void **state)
{
	char name[STORE_NAME_MAX];

	(void)state;
	index_file_name(name, 0x2a);
	assert_string_equal(name, "000000000000002a");
	index_file_name(name, UINT64_MAX);
	assert_string_equal(name, "ffffffffffffffff");
}

/*--- waiting -------------------------------------------------------------*/

static uint64_t
fake_now(void *arg)
{
	uint64_t *now = arg;

	return *now += NS_PER_MS;
}

static void
waiting_ends_with_the_deadline(void **state)
{
	uint64_t now = 5 * NS_PER_S;

	(void)state;
	make(four);
	assert_int_equal(index_wait(hub, 0, 0), -ETIMEDOUT);
	clock_replace(fake_now, &now);
	assert_int_equal(index_wait(hub, 0, now + 3 * NS_PER_MS), -ETIMEDOUT);
	assert_in_range(now, 5 * NS_PER_S + 3 * NS_PER_MS, 6 * NS_PER_S);
	clock_replace(NULL, NULL);
	index_wake(hub);
	assert_int_equal(index_wait(hub, 0, 0), 0);
	assert_int_equal(index_wait(hub, 1, 0), -ETIMEDOUT);
	segment_detach(&seg);
}

static volatile sig_atomic_t *signals;	/* shared with the child */

static void
count_signal(int sig)
{
	(void)sig;
	++*signals;
}

/* A client in a process of its own, with a read-only map. */
static void
be_a_client(void)
{
	struct index_map m;

	if (attach(&m) < 0)
		_exit(2);
	if (index_wait(m.index, 0, clock_now_ns() + LONG_NS) != 0)
		_exit(3);
	_exit(0);
}

static char
state_of(pid_t pid)
{
	char path[64], text[512] = "";
	const char *end;
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof text - 1, f) > 0);
	fclose(f);
	end = strrchr(text, ')');
	assert_non_null(end);
	return end[2];
}

static void
wait_asleep(pid_t pid)
{
	while (state_of(pid) != 'S')
		continue;
}

static void
another_process_is_woken(void **state)
{
	struct sigaction sa = { .sa_handler = count_signal }, was;
	int status;
	pid_t pid;

	(void)state;
	make(four);
	assert_int_equal(sigaction(SIGUSR1, &sa, &was), 0);
	signals = mmap(NULL, sizeof *signals, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(signals != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_a_client();
	wait_asleep(pid);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	while (*signals == 0)
		continue;
	wait_asleep(pid);		/* it waits on */
	index_wake(hub);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(*signals, 1);
	assert_int_equal(sigaction(SIGUSR1, &was, NULL), 0);
	assert_int_equal(munmap((void *)signals, sizeof *signals), 0);
	segment_detach(&seg);
}

UNIT_MAIN(
	UNIT(sizes_do_not_wrap),
	UNIT(slots_are_a_power_of_two),
	UNIT(names_are_found),
	UNIT(empty_has_nothing),
	UNIT(wrong_sizes_are_not_attached),
	UNIT(unsound_names_are_not_read),
	UNIT(file_names),
	UNIT(waiting_ends_with_the_deadline),
	UNIT(another_process_is_woken))
