/* SPDX-License-Identifier: Apache-2.0
 *
 * slotshub.c: the memory of the stage on a loop and a helper as the hub has
 * them, for tests.
 */

#include <config.h>

#include "tests/harness/slotshub.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/unit.h"

struct hub hub;
struct hub_options options;
struct slots *slots;
unsigned nr_freed;
atomic_int fail_at;
atomic_bool is_held_up;
sem_t is_there, go_on;

/* Linked before the C library's. */
int
fallocate(int fd, int mode, off_t offset, off_t len)
{
	if (atomic_load(&fail_at) > 0 && atomic_fetch_sub(&fail_at, 1) == 1) {
		errno = ENOSPC;
		return -1;
	}
	if (atomic_load(&is_held_up)) {
		sem_post(&is_there);
		while (sem_wait(&go_on) != 0)
			continue;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

/*--- the hub -------------------------------------------------------------*/

static void
note_freed(void *arg)
{
	assert_ptr_equal(arg, &hub);
	nr_freed++;
}

void
slotshub_begin(uint64_t budget_bytes)
{
	struct ds_err err;

	memset(&hub, 0, sizeof hub);
	hub.magic = HUB_MAGIC;
	hub.options = &options;
	hub.generation = 1;
	options = hub_defaults;
	nr_freed = 0;
	assert_int_equal(loop_new(&hub.loop, &err), 0);
	assert_int_equal(helper_new(&hub.helper, hub.loop, &err), 0);
	assert_int_equal(slots_new(&slots, &hub, budget_bytes, &err), 0);
	slots_on_freed(slots, note_freed, &hub);
}

void
slotshub_finish(void)
{
	if (hub.helper != NULL)
		helper_free(&hub.helper);
	slots_free(&slots);
	assert_null(slots);
	loop_free(&hub.loop);
}

static bool
do_nothing(struct helper_job *job)
{
	(void)job;
	return false;
}

static void
stop_loop(struct helper_job *job)
{
	(void)job;
	loop_stop(hub.loop);
}

void
slotshub_settle(void)
{
	struct helper_job mark = { .work = do_nothing, .done = stop_loop };
	struct ds_err err;

	while (helper_waiting(hub.helper) > 0) {
		helper_submit(hub.helper, &mark);
		assert_int_equal(loop_run(hub.loop, &err), 0);
	}
}

/*--- clients -------------------------------------------------------------*/

static void
note_ready(void *arg, struct stage_slot *slot, int rc)
{
	struct asked *a = arg;

	a->calls++;
	a->slot = slot;
	a->rc = rc;
	assert_true((slot == NULL) == (rc < 0));
}

enum slots_answer
slotshub_ask(struct asked *a, uint32_t client, uint64_t bytes)
{
	memset(a, 0, sizeof *a);
	return slots_get(slots, client, bytes, clock_now_ns(), &a->slot,
	    note_ready, a);
}

struct stage_slot *
slotshub_get(uint32_t client, uint64_t bytes)
{
	struct asked a;
	enum slots_answer answer = slotshub_ask(&a, client, bytes);

	if (answer == SLOTS_LATER) {
		assert_int_equal(a.calls, 0);
		slotshub_settle();
		assert_int_equal(a.calls, 1);
		assert_int_equal(a.rc, 0);
	} else {
		assert_int_equal(answer, SLOTS_NOW);
		assert_int_equal(a.calls, 0);
	}
	assert_non_null(a.slot);
	assert_int_equal(a.slot->is, SLOT_IS_WRITING);
	assert_int_equal(a.slot->owner, client);
	assert_true(a.slot->room >= bytes && a.slot->room % PAGE == 0);
	a.slot->is_given = true;
	return a.slot;
}

struct stage_slot *
slotshub_stage(uint32_t client, uint64_t bytes)
{
	struct stage_slot *slot = slotshub_get(client, bytes);
	struct ds_err err;

	assert_int_equal(slots_seal(slots, slot, &err), 0);
	slots_stage(slots, slot);
	return slot;
}

void
slotshub_check_no_room(uint32_t client, uint64_t bytes)
{
	struct asked a;

	assert_int_equal(slotshub_ask(&a, client, bytes), SLOTS_NO_ROOM);
	slotshub_settle();
	assert_int_equal(a.calls, 0);
}

struct slots_counts
slotshub_counts(void)
{
	struct slots_counts c;

	slots_counts(slots, &c);
	return c;
}

uint64_t
slotshub_memory(void)
{
	static ino_t seen[4096];
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	uint64_t sum = 0;
	size_t nr = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL) {
		char to[64];
		ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof to - 1);
		struct stat st;
		size_t i = 0;

		if (n < 0)
			continue;
		to[n] = '\0';
		if (strncmp(to, "/memfd:destall slot", 19) != 0)
			continue;
		if (fstatat(dirfd(dir), e->d_name, &st, 0) != 0)
			continue;	/* the helper has freed it */
		while (i < nr && seen[i] != st.st_ino)
			i++;
		if (i < nr)
			continue;
		assert_true(nr < sizeof seen / sizeof seen[0]);
		seen[nr++] = st.st_ino;
		sum += (uint64_t)st.st_blocks * 512;
	}
	closedir(dir);
	return sum;
}
