/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_slots.c: tests of stage/slots*.c; also run under ThreadSanitizer.
 */

#include <config.h>

#include "stage/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "tests/harness/asleep.h"
#include "tests/harness/slotshub.h"
#include "tests/harness/unit.h"

static uint64_t
floor_word(size_t offset)
{
	struct segment seg = { 0 };
	struct ds_err err;
	uint64_t word;
	int fd = fcntl(slots_floor(slots), F_DUPFD_CLOEXEC, 3);

	assert_int_equal(segment_attach(&seg, &floor_kind, fd, &err), 0);
	memcpy(&word, (const char *)seg.base + offset, sizeof word);
	segment_detach(&seg);
	return word;
}

/*--- failing -------------------------------------------------------------*/

#if WITH_CRASH_POINTS
/* In the child: 0 if all went as it should. */
static int
meet_the_point(int want)
{
	struct asked a;

	slotshub_begin(64 * MIB);
	if (slotshub_ask(&a, 1, 40 * MIB) != SLOTS_LATER)
		return 1;
	slotshub_settle();
	if (a.calls != 1 || a.slot != NULL || a.rc != want)
		return 2;
	if (slotshub_counts().used_bytes != 0 || slotshub_counts().nr != 0 ||
	    slotshub_memory() != 0 || nr_freed != 1)
		return 3;
	if (slotshub_ask(&a, 1, MIB) != SLOTS_LATER)
		return 4;
	slotshub_settle();
	if (a.calls != 1 || a.rc != 0 || slotshub_counts().used_bytes != MIB)
		return 5;
	slotshub_finish();
	return 0;
}

static void
the_point_in_allocation_fails_it(void **state)
{
	static const struct {
		const char *plan;
		int rc;
	} plans[] = {
		{ "hub.stage_allocate:1:ENOMEM", -ENOMEM },
		{ "hub.stage_allocate:2:EIO", -EIO },
		{ "hub.stage_allocate:3:ENOSPC", -ENOSPC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0) {
			setenv("DS_DIE_AT", plans[i].plan, 1);
			_exit(meet_the_point(plans[i].rc));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}
#else
static void
the_point_in_allocation_fails_it(void **state)
{
	(void)state;
}
#endif

/* At each step: nothing of it stays, and the next one works. */
static void
failing_allocation_leaves_nothing(void **state)
{
	struct rlimit before, small;
	struct asked a;

	(void)state;
	slotshub_begin(64 * MIB);
	for (int i = 1; i <= 20; i += 9) {
		atomic_store(&fail_at, i);
		assert_int_equal(slotshub_ask(&a, 1, 40 * MIB), SLOTS_LATER);
		slotshub_settle();
		atomic_store(&fail_at, 0);
		assert_int_equal(a.calls, 1);
		assert_null(a.slot);
		assert_int_equal(a.rc, -ENOSPC);
		assert_int_equal(slotshub_counts().used_bytes, 0);
		assert_int_equal(slotshub_memory(), 0);
	}
	assert_int_equal(nr_freed, 3);
	assert_int_equal(slotshub_counts().made, 0);
	assert_int_equal(slotshub_counts().gone, 0);
	slotshub_get(1, 40 * MIB);

	/* A quarter of the descriptors, and then none at all. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	small = before;
	small.rlim_cur = 8;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	slotshub_get(2, 1);
	slotshub_check_no_room(2, 1);
	small.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	slotshub_check_no_room(3, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	slotshub_get(3, 1);
	slotshub_finish();
}

static void
write_file(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
the_group_keeps_its_reserve(void **state)
{
	static const char *const files[] = { "memory.max", "memory.high",
		"memory.current", "memory.stat" };
	char dir[] = "/tmp/unit_slots.XXXXXX", path[128];
	struct cgroup *g = &hub.machine.cgroup;
	struct asked a;

	(void)state;
	assert_non_null(mkdtemp(dir));
	write_file(dir, "memory.max", "167772160\n");		/* 160 MiB */
	write_file(dir, "memory.high", "max\n");
	write_file(dir, "memory.current", "125829120\n");	/* 120 MiB */
	write_file(dir, "memory.stat", "inactive_file 0\nactive_file 0\n");
	slotshub_begin(100 * MIB);
	hub.machine.has_cgroup = true;
	g->version = 2;
	g->mount_len = strlen(dir);
	(void)snprintf(g->dir, sizeof g->dir, "%s", dir);
	assert_int_equal(slotshub_ask(&a, 1, 31 * MIB), SLOTS_LATER);
	slotshub_settle();
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.rc, -ENOMEM);
	assert_int_equal(slotshub_counts().used_bytes, 0);
	slotshub_get(1, 30 * MIB);		/* 10 of 160 are left */
	assert_int_equal(hub.machine.granted_bytes, 61 * MIB);
	slotshub_finish();
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

/*--- the budget ----------------------------------------------------------*/

static void
a_given_budget_is_strict(void **state)
{
	struct asked a;

	(void)state;
	slotshub_begin(10 * MIB + 5);
	assert_int_equal(slotshub_ask(&a, 1, 11 * MIB), SLOTS_TOO_LARGE);
	assert_int_equal(slotshub_ask(&a, 1, 10 * MIB + 5), SLOTS_TOO_LARGE);
	assert_int_equal(slotshub_ask(&a, 1, UINT64_MAX), SLOTS_TOO_LARGE);
	assert_false(slots_make_room(slots, UINT64_MAX, clock_now_ns()));
	assert_false(slots_will_have_room(slots, UINT64_MAX));
	slotshub_get(1, 6 * MIB);
	assert_int_equal(slotshub_counts().budget_bytes, 10 * MIB + 5);
	assert_int_equal(slotshub_counts().used_bytes, 6 * MIB);
	slotshub_check_no_room(1, 4 * MIB + 1);
	assert_false(slots_will_have_room(slots, 4 * MIB + 1));
	slotshub_get(1, 4 * MIB);
	slotshub_check_no_room(1, 1);
	assert_int_equal(slotshub_memory(), 10 * MIB);
	slotshub_finish();
	slotshub_begin(UINT64_MAX);
	assert_int_equal(slotshub_ask(&a, 1, UINT64_MAX), SLOTS_TOO_LARGE);
	slotshub_get(1, 0);
	assert_int_equal(slotshub_counts().used_bytes, PAGE);
	slotshub_finish();
}

static void
a_default_budget_has_room_for_four(void **state)
{
	struct asked a;
	struct ds_err err;

	(void)state;
	slotshub_begin(1);
	slots_free(&slots);
	options.cache_bytes = 16 * MIB;
	assert_int_equal(slots_new(&slots, &hub, 0, &err), 0);
	assert_int_equal(slotshub_counts().budget_bytes, 2 * MIB);
	slotshub_get(1, 256 << 10);
	assert_int_equal(slotshub_counts().budget_bytes, 2 * MIB);
	slotshub_get(1, MIB);
	assert_int_equal(slotshub_counts().budget_bytes, 4 * MIB);
	slotshub_get(1, MIB);
	slotshub_get(1, MIB);
	slotshub_get(1, MIB - (256 << 10));
	slotshub_check_no_room(1, 1);
	assert_int_equal(slotshub_ask(&a, 1, UINT64_C(1) << 40), SLOTS_TOO_LARGE);
	slotshub_finish();
	slotshub_begin(1);
	slots_free(&slots);
	options.cache_bytes = 0;
	assert_int_equal(slots_new(&slots, &hub, 0, &err), 0);
	assert_true(slotshub_counts().budget_bytes > MIB);
	slotshub_finish();
}

static void
what_is_new_counts(void **state)
{
	struct asked a, b, c;

	(void)state;
	slotshub_begin(3 * MIB);
	assert_int_equal(slotshub_ask(&a, 1, 2 * MIB), SLOTS_LATER);
	assert_int_equal(slotshub_ask(&b, 2, 2 * MIB), SLOTS_NO_ROOM);
	assert_int_equal(slotshub_ask(&c, 2, MIB), SLOTS_LATER);
	assert_int_equal(slotshub_counts().used_bytes, 3 * MIB);
	slotshub_settle();
	assert_true(a.calls == 1 && b.calls == 0 && c.calls == 1);
	assert_int_equal(slotshub_memory(), 3 * MIB);
	assert_int_equal(slotshub_counts().most_bytes, 3 * MIB);
	assert_int_equal(slotshub_counts().made, 2);
	assert_true(a.slot->number != c.slot->number);
	assert_ptr_equal(slots_find(slots, a.slot->number), a.slot);
	assert_null(slots_find(slots, 0));
	assert_null(slots_find(slots, 77));
	slotshub_finish();
}

/*--- using them again ----------------------------------------------------*/

static void
the_smallest_that_fits_is_used_again(void **state)
{
	struct stage_slot *large, *small, *middle, *other;
	struct asked a;

	(void)state;
	slotshub_begin(64 * MIB);
	large = slotshub_get(1, 3 * MIB);
	small = slotshub_get(1, MIB);
	middle = slotshub_get(1, 2 * MIB);
	other = slotshub_get(2, MIB);
	slots_put(slots, large);
	slots_put(slots, small);
	slots_put(slots, middle);
	slots_put(slots, other);
	assert_int_equal(slotshub_counts().nr_free, 4);
	assert_ptr_equal(slotshub_get(1, MIB + 1), middle);
	assert_ptr_equal(slotshub_get(1, 1), small);
	assert_ptr_equal(slotshub_get(1, 1), large);
	assert_int_equal(slotshub_counts().nr_free, 1);
	/* another's is no use: it can be written by its owner alone */
	assert_int_equal(slotshub_ask(&a, 1, 1), SLOTS_LATER);
	slotshub_settle();
	assert_ptr_not_equal(a.slot, other);
	slots_put(slots, small);
	slots_put(slots, large);
	slots_put(slots, middle);
	/* of equal ones the freshest */
	other = slotshub_get(3, MIB);
	small = slotshub_get(3, MIB);
	slots_put(slots, small);
	slots_put(slots, other);
	assert_ptr_equal(slotshub_get(3, MIB), other);
	assert_int_equal(slotshub_counts().gone, 0);
	slotshub_finish();
}

static void
too_small_ones_make_room_at_once(void **state)
{
	struct stage_slot *small, *again;
	uint32_t number;

	(void)state;
	slotshub_begin(4 * MIB);
	small = slotshub_get(1, 3 * MIB);
	again = slotshub_get(1, MIB);
	number = small->number;
	slots_put(slots, again);
	slots_put(slots, small);
	slotshub_check_no_room(1, 4 * MIB);
	assert_true(slots_will_have_room(slots, 4 * MIB));
	slotshub_check_no_room(1, 4 * MIB);
	assert_int_equal(slotshub_counts().gone, 2);
	slots_unmapped(slots, number, 1);
	slots_unmapped(slots, again->number, 1);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 0);
	slotshub_get(1, 4 * MIB);
	slotshub_finish();
}

static void
idle_ones_make_room(void **state)
{
	struct stage_slot *a, *b;
	uint64_t now;

	(void)state;
	slotshub_begin(4 * MIB);
	a = slotshub_get(1, 2 * MIB);
	b = slotshub_get(2, 2 * MIB);
	slots_put(slots, a);
	slots_put(slots, b);
	a->used_ns = b->used_ns - 1;	/* whatever the clock's grain is */
	now = b->used_ns + SLOTS_IDLE_NS - 1;
	assert_false(slots_make_room(slots, 2 * MIB, 0));
	assert_false(slots_make_room(slots, 2 * MIB, a->used_ns));
	assert_true(slots_make_room(slots, 2 * MIB, now));
	assert_int_equal(a->is, SLOT_IS_GONE);
	assert_int_equal(b->is, SLOT_IS_FREE);
	assert_false(slots_make_room(slots, 2 * MIB, now));	/* it will be */
	slotshub_check_no_room(3, 2 * MIB);
	slots_unmapped(slots, a->number, 1);
	slotshub_settle();
	assert_int_equal(nr_freed, 1);
	slotshub_get(3, 2 * MIB);
	assert_false(slots_make_room(slots, 2 * MIB, now));
	assert_true(slots_make_room(slots, 2 * MIB, now + 1));
	assert_int_equal(b->is, SLOT_IS_GONE);
	slotshub_finish();
}

/* The first to come fills the budget; the second gets its part, no more. */
static void
who_has_most_gives(void **state)
{
	struct stage_slot *of[8];

	(void)state;
	slotshub_begin(8 * MIB);
	for (int i = 0; i < 8; i++)
		of[i] = slotshub_stage(1, MIB);
	for (int i = 0; i < 4; i++) {
		slotshub_check_no_room(2, MIB);
		slotshub_check_no_room(2, MIB);		/* asking twice is no more */
		slots_put(slots, of[2 * i]);
		slots_put(slots, of[2 * i + 1]);
		assert_int_equal(of[2 * i]->is, SLOT_IS_GONE);
		assert_int_equal(of[2 * i + 1]->is, SLOT_IS_FREE);
		slots_unmapped(slots, of[2 * i]->number, 1);
		slotshub_settle();
		slotshub_get(2, MIB);
		slotshub_get(1, MIB);			/* what it has left */
	}
	slotshub_check_no_room(2, MIB);
	slots_put(slots, of[1]);
	assert_int_equal(of[1]->is, SLOT_IS_FREE);
	/* What was claimed, and is there by other means, is not taken. */
	slots_client_gone(slots, 2);
	slotshub_settle();
	for (int i = 0; i < 3; i++)
		slotshub_get(1, MIB);
	slots_unmapped(slots, slotshub_get(1, MIB)->number, 1);
	slotshub_check_no_room(2, 2 * MIB);
	slots_client_gone(slots, 1);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 0);
	slotshub_get(1, 8 * MIB);
	slotshub_finish();
}

/*--- who has it ----------------------------------------------------------*/

static void
readers_come_after_the_seal(void **state)
{
	struct stage_slot *slot;
	struct ds_err err;
	char *mine, *theirs;
	void *p;

	(void)state;
	slotshub_begin(4 * MIB);
	slot = slotshub_get(1, MIB);
	assert_int_equal(slots_give(slots, slot, 2), -ESTALE);
	assert_int_equal(slots_give(slots, slot, 1), 0);
	mine = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, slot->fd, 0);
	assert_ptr_not_equal(mine, MAP_FAILED);
	assert_int_equal(ftruncate(slot->fd, 2), -1);	/* its size is sealed */
	assert_int_equal(slots_seal(slots, slot, &err), 0);
	assert_int_equal(slots_seal(slots, slot, &err), 0);
	slots_stage(slots, slot);
	assert_int_equal(slots_give(slots, slot, 2), 0);
	assert_int_equal(slots_give(slots, slot, 2), 0);
	p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, slot->fd, 0);
	assert_ptr_equal(p, MAP_FAILED);
	theirs = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE, slot->fd,
	    0);
	assert_ptr_not_equal(theirs, MAP_FAILED);
	mine[5] = 'm';			/* its owner can write on */
	assert_int_equal(theirs[5], 'm');
	theirs[5] = 't';
	assert_int_equal(mine[5], 'm');
	assert_int_equal(munmap(mine, MIB), 0);
	assert_int_equal(munmap(theirs, MIB), 0);
	slots_put(slots, slot);
	assert_true(slot->is_sealed);
	assert_ptr_equal(slotshub_get(1, MIB), slot);	/* sealed as it is */
	slots_stage(slots, slot);
	slotshub_finish();
}

static void
gone_counts_until_unmapped(void **state)
{
	struct stage_slot *slot;
	uint32_t number;

	(void)state;
	slotshub_begin(4 * MIB);
	slot = slotshub_stage(1, 4 * MIB);
	number = slot->number;
	assert_int_equal(slots_give(slots, slot, 2), 0);
	assert_int_equal(slots_give(slots, slot, 3), 0);
	slots_put(slots, slot);
	assert_int_equal(floor_word(offsetof(struct floor, nr_gone)), 0);
	assert_true(slots_make_room(slots, 1, clock_now_ns() +
	    2 * SLOTS_IDLE_NS));
	assert_int_equal(floor_word(offsetof(struct floor, nr_gone)), 1);
	assert_int_equal((uint32_t)floor_word(offsetof(struct floor, gone)),
	    number);
	assert_int_equal(floor_word(offsetof(struct floor, oldest)),
	    number + 1);
	assert_int_equal(slots_give(slots, slot, 4), -ESTALE);
	slots_put(slots, slot);			/* nothing */
	slots_unmapped(slots, number, 2);
	slots_unmapped(slots, number, 2);
	slots_unmapped(slots, number, 4);	/* was not given it */
	slots_unmapped(slots, number + 1, 3);	/* there is none */
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 4 * MIB);
	slotshub_check_no_room(5, 1);
	slots_unmapped(slots, number, 1);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 4 * MIB);
	assert_int_equal(nr_freed, 0);
	slots_client_gone(slots, 3);
	assert_null(slots_find(slots, number));
	assert_int_equal(slotshub_counts().used_bytes, 4 * MIB);	/* until it is free */
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 0);
	assert_int_equal(slotshub_memory(), 0);
	assert_int_equal(nr_freed, 1);
	assert_true(slotshub_get(5, 1)->number > number);
	slotshub_finish();
}

/* It can never map it for writing again. */
static void
an_owner_that_unmaps_is_none(void **state)
{
	struct stage_slot *slot;
	uint32_t number;

	(void)state;
	slotshub_begin(4 * MIB);
	slot = slotshub_get(1, MIB);
	number = slot->number;
	slots_put(slots, slot);
	slots_unmapped(slots, number, 1);
	assert_null(slots_find(slots, number));
	slot = slotshub_get(1, MIB);
	slots_unmapped(slots, slot->number, 1);
	assert_int_equal(slot->is, SLOT_IS_WRITING);
	assert_int_equal(slots_seal(slots, slot, NULL), 0);	/* as it says */
	slots_stage(slots, slot);
	assert_int_equal(slots_give(slots, slot, 2), 0);
	slots_put(slots, slot);
	assert_int_equal(slot->is, SLOT_IS_GONE);
	slots_unmapped(slots, slot->number, 2);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 0);
	slotshub_finish();
}

/*--- a client is gone ----------------------------------------------------*/

static void
gone_while_its_memory_is_made(void **state)
{
	struct asked a;

	(void)state;
	slotshub_begin(64 * MIB);
	assert_int_equal(sem_init(&is_there, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	atomic_store(&is_held_up, true);
	assert_int_equal(slotshub_ask(&a, 1, MIB), SLOTS_LATER);
	while (sem_wait(&is_there) != 0)
		continue;
	slots_client_gone(slots, 1);
	assert_int_equal(a.calls, 0);
	assert_int_equal(slotshub_counts().used_bytes, MIB);
	atomic_store(&is_held_up, false);
	sem_post(&go_on);
	slotshub_settle();
	assert_int_equal(a.calls, 1);
	assert_null(a.slot);
	assert_int_equal(a.rc, -ESTALE);
	assert_int_equal(slotshub_counts().used_bytes, 0);
	assert_int_equal(slotshub_memory(), 0);
	sem_destroy(&is_there);
	sem_destroy(&go_on);
	slotshub_finish();
}

static void
gone_in_every_other_state(void **state)
{
	struct stage_slot *writing, *free_one, *stage, *held, *going, *foreign;
	uint32_t n_writing, n_free;

	(void)state;
	slotshub_begin(64 * MIB);
	foreign = slotshub_stage(2, MIB);
	assert_int_equal(slots_give(slots, foreign, 1), 0);
	writing = slotshub_get(1, MIB);
	free_one = slotshub_get(1, MIB);
	stage = slotshub_stage(1, MIB);
	held = slotshub_stage(1, MIB);
	going = slotshub_stage(1, MIB);
	slots_hold(slots, held);
	assert_int_equal(slots_give(slots, stage, 2), 0);
	assert_int_equal(slots_give(slots, going, 2), 0);
	slots_put(slots, going);
	assert_true(slots_make_room(slots, 64 * MIB, clock_now_ns() +
	    2 * SLOTS_IDLE_NS));
	assert_int_equal(going->is, SLOT_IS_GONE);
	slots_put(slots, free_one);
	n_writing = writing->number;
	n_free = free_one->number;
	slots_client_gone(slots, 1);
	assert_null(slots_find(slots, n_writing));
	assert_null(slots_find(slots, n_free));
	assert_int_equal(stage->is, SLOT_IS_STAGED);
	assert_int_equal(held->is, SLOT_IS_HELD);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 4 * MIB);
	assert_int_equal(floor_word(offsetof(struct floor, oldest)),
	    foreign->number);
	slots_put(slots, held);			/* nobody has it */
	slots_put(slots, stage);		/* 2 has */
	assert_int_equal(stage->is, SLOT_IS_GONE);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 3 * MIB);
	slots_client_gone(slots, 1);		/* nothing */
	slots_client_gone(slots, 2);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, MIB);
	slots_put(slots, foreign);
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 0);
	assert_int_equal(slotshub_memory(), 0);
	assert_int_equal(slotshub_counts().made, slotshub_counts().gone);
	assert_int_equal(slotshub_counts().nr, 0);
	slotshub_finish();
}

/*--- the end -------------------------------------------------------------*/

/* When the main thread waits for the helper: it will begin nothing more. */
static void *
let_go(void *arg)
{
	(void)arg;
	await_asleep(getpid());
	sem_post(&go_on);
	return NULL;
}

static void
the_hub_leaves_meanwhile(void **state)
{
	struct asked in_hand, waiting;
	struct stage_slot *slot;
	pthread_t thread;

	(void)state;
	slotshub_begin(64 * MIB);
	slot = slotshub_stage(1, MIB);
	assert_int_equal(slots_give(slots, slot, 2), 0);
	slots_put(slots, slotshub_get(1, MIB));
	assert_int_equal(sem_init(&is_there, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	atomic_store(&is_held_up, true);
	assert_int_equal(slotshub_ask(&in_hand, 1, 2 * MIB), SLOTS_LATER);
	while (sem_wait(&is_there) != 0)
		continue;
	assert_int_equal(slotshub_ask(&waiting, 3, 2 * MIB), SLOTS_LATER);
	slots_client_gone(slots, 1);	/* frees one, too */
	atomic_store(&is_held_up, false);
	assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
	helper_free(&hub.helper);
	pthread_join(thread, NULL);
	assert_true(in_hand.calls == 1 && in_hand.rc == -ESTALE);
	assert_true(waiting.calls == 1 && waiting.rc == -ESHUTDOWN);
	assert_int_equal(slotshub_counts().used_bytes, MIB);
	sem_destroy(&is_there);
	sem_destroy(&go_on);
	slotshub_finish();
	assert_int_equal(slotshub_memory(), 0);
}

UNIT_MAIN(
	UNIT(the_point_in_allocation_fails_it),	/* before any point is met */
	UNIT(failing_allocation_leaves_nothing),
	UNIT(the_group_keeps_its_reserve),
	UNIT(a_given_budget_is_strict),
	UNIT(a_default_budget_has_room_for_four),
	UNIT(what_is_new_counts),
	UNIT(the_smallest_that_fits_is_used_again),
	UNIT(too_small_ones_make_room_at_once),
	UNIT(idle_ones_make_room),
	UNIT(who_has_most_gives),
	UNIT(readers_come_after_the_seal),
	UNIT(gone_counts_until_unmapped),
	UNIT(an_owner_that_unmaps_is_none),
	UNIT(gone_while_its_memory_is_made),
	UNIT(gone_in_every_other_state),
	UNIT(the_hub_leaves_meanwhile))
