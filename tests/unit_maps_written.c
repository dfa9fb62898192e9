/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_maps_written.c: tests of stage/maps.c, written.c and watch.c: what a job
 * writes to a batch is its own, and gone when the slot has another.
 */

#include <config.h>

#include "stage/written.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/mapslot.h"
#include "tests/harness/unit.h"

/*--- what a job writes ---------------------------------------------------*/

static void
what_a_job_writes_is_its_own(void **state)
{
	struct map *map, *other;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	other = mapslot_hold(&s);
	assert_ptr_not_equal(map, other);
	memset(map->base, 'w', s.len);
	assert_int_equal(mapslot_others(s.bytes, s.len, 'a'), 0);
	assert_int_equal(mapslot_others(other->base, s.len, 'a'), 0);
	assert_int_equal(mapslot_others(map->base, s.len, 'w'), 0);
	assert_int_equal(maps_bytes(maps), s.len);
	mapslot_end(&s);
}

/* Which pages a job writes: each stride-th, from the first. */
static const size_t strides[] = { 0, 1, 2, 15, 16, 17, 18, 40, PAGES };

static void
write_pages(char *bytes, size_t len, size_t stride)
{
	for (size_t i = 0; stride > 0 && i < len; i += stride * page)
		bytes[i] = 'w';
}

/* The map is found again, and shows what is in the slot. */
static void
use_again(unsigned pages, size_t stride)
{
	struct map *map, *again;
	struct mapslot s;

	mapslot_start(&s, pages);
	map = mapslot_hold(&s);
	assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
	write_pages(map->base, s.len, stride);
	assert_null(maps_find(maps, SLOT));
	maps_release(maps, map);
	memset(s.bytes, 'b', s.len);
	again = mapslot_hold(&s);
	assert_ptr_equal(map, again);
	assert_int_equal(mapslot_others(again->base, s.len, 'b'), 0);
	mapslot_end(&s);
}

static void
a_slot_used_again_shows_what_is_new(void **state)
{
	static const unsigned sizes[] = { 1, 16, 17, PAGES };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (size_t k = 0; k < sizeof strides / sizeof strides[0]; k++)
			use_again(sizes[i], strides[k]);
}

/* Only what was taken is looked at; that may be less than the slot. */
static void
a_part_of_a_slot_is_enough(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_add(&s);
	for (size_t used = 0; used < s.len; used += 20 * page + 1) {
		maps_hold(map, used);
		memset(map->base, 'w', used);
		maps_release(maps, map);
		assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
	}
	mapslot_end(&s);
}

static void
drop_by(enum written_way way, size_t stride)
{
	struct map *map;
	struct mapslot s;
	size_t nr = stride == 0 ? 0 : (PAGES + stride - 1) / stride;
	struct written w;
	int rc;

	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
	write_pages(map->base, s.len, stride);
	/* Nothing happens where there is no swap space. */
	(void)madvise(map->base, s.len / 2, MADV_PAGEOUT);
	rc = written_drop_by(way, map->base, s.len, &w);
	if (rc == 0) {
		assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
		assert_int_equal(w.own, way == WRITTEN_ALL ? 0 : nr);
	} else	/* Linux < 6.7 */
		assert_true(way == WRITTEN_SCAN && rc == -ENOTTY);
	mapslot_end(&s);
}

static void
every_way_drops_what_was_written(void **state)
{
	(void)state;
	for (unsigned way = 0; way < WRITTEN_WAYS; way++)
		for (size_t k = 0; k < sizeof strides / sizeof strides[0]; k++)
			drop_by(way, strides[k]);
}

static size_t
nr_present(const void *base, size_t len)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t nr = 0;

	assert_true(fd >= 0);
	for (size_t i = 0; i < len / page; i++) {
		uint64_t entry;

		assert_int_equal(pread(fd, &entry, sizeof entry,
		    (off_t)(((uintptr_t)base / page + i) * sizeof entry)),
		    sizeof entry);
		nr += entry >> 63;
	}
	close(fd);
	return nr;
}

/* Else every batch would be brought in again. */
static void
other_pages_stay(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
	write_pages(map->base, s.len, PAGES);
	maps_release(maps, map);
	assert_true(nr_present(map->base, s.len) >= PAGES / 2);
	mapslot_end(&s);
}

static void
no_descriptor_is_needed(void **state)
{
	struct rlimit before, none;
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	memset(map->base, 'w', s.len);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	maps_release(maps, map);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
	mapslot_end(&s);
}

/* mlock() brings in all of it, as copies. */
static void
locked_memory_is_dropped(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, 10);
	map = mapslot_hold(&s);
	if (mlock(map->base, s.len) == 0) {
		maps_release(maps, map);
		memset(s.bytes, 'b', s.len);
		map = mapslot_hold(&s);
		assert_int_equal(mapslot_others(map->base, s.len, 'b'), 0);
	}
	mapslot_end(&s);
}

/* A quarter of the pages is much; of few pages nothing is known. */
static void
much_writing_is_told(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	assert_false(maps_release(maps, map));
	map = mapslot_hold(&s);
	write_pages(map->base, s.len, 5);
	assert_false(maps_release(maps, map));
	map = mapslot_hold(&s);
	write_pages(map->base, s.len, 4);
	assert_true(maps_release(maps, map));
	map = mapslot_hold(&s);
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	assert_false(maps_release(maps, map));
	mapslot_end(&s);
}

/*--- maps that are watched -----------------------------------------------*/

/* Linux >= 6.7, and the process may. */
static bool
can_watch(void)
{
	struct watch w = { 0 };
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc = watch_add(&w, p, page);

	munmap(p, page);
	watch_end(&w);
	return rc == 0;
}

/* A job that reads only: after some units the kernel watches for it. */
static struct map *
watched_map(struct mapslot *s)
{
	struct map *map = NULL;

	mapslot_start(s, PAGES);
	for (char c = 'a'; c < 'f'; c++) {
		memset(s->bytes, c, s->len);
		map = mapslot_hold(s);
		assert_int_equal(mapslot_others(map->base, s->len, c), 0);
		assert_false(maps_release(maps, map));
	}
	assert_int_equal(map->is_watched, can_watch());
	return map;
}

/* As often as it takes to see that nothing of it stays. */
static void
write_and_look(struct mapslot *s, size_t stride)
{
	for (unsigned i = 0; i < 4; i++) {
		char c = (char)('A' + i);
		struct map *map = mapslot_hold(s);

		write_pages(map->base, s->len, stride);
		(void)maps_release(maps, map);
		memset(s->bytes, c, s->len);
		map = mapslot_hold(s);
		assert_int_equal(mapslot_others(map->base, s->len, c), 0);
		(void)maps_release(maps, map);
	}
}

/* Also in the unit after which it is. */
static void
nothing_of_before_stays(void **state)
{
	struct mapslot s;

	(void)state;
	for (unsigned first = 0; first < 5; first++) {
		mapslot_start(&s, PAGES);
		for (unsigned i = 0; i < 5; i++) {
			struct map *map;

			memset(s.bytes, 'a' + (int)i, s.len);
			map = mapslot_hold(&s);
			assert_int_equal(mapslot_others(map->base, s.len,
			    (char)('a' + i)), 0);
			if (i == first)
				write_pages(map->base, s.len, 30);
			(void)maps_release(maps, map);
		}
		mapslot_end(&s);
	}
}

static void
one_that_is_watched_shows_what_is_new(void **state)
{
	struct mapslot s;

	(void)state;
	for (size_t k = 0; k < sizeof strides / sizeof strides[0]; k++) {
		(void)watched_map(&s);
		write_and_look(&s, strides[k]);
		mapslot_end(&s);
	}
}

/* What was not there when it began, and what is locked, or went for a moment. */
static void
pages_come_and_go_while_they_are_watched(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	map = watched_map(&s);
	for (char c = 'A'; c < 'D'; c++) {
		memset(s.bytes, c, s.len);
		assert_int_equal(madvise(map->base, s.len / 2,
		    c == 'B' ? MADV_PAGEOUT : MADV_DONTNEED), 0);
		map = mapslot_hold(&s);
		assert_int_equal(mapslot_others(map->base, s.len, c), 0);
		((char *)map->base)[3 * page] = 'w';
		(void)maps_release(maps, map);
	}
	assert_int_equal(mapslot_others(map->base, s.len, 'C'), 0);
	mapslot_end(&s);
}

static void
who_writes_much_is_not_watched(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	map = watched_map(&s);
	maps_hold(map, s.len);
	write_pages(map->base, s.len, 10);
	assert_false(maps_release(maps, map));
	assert_false(map->is_watched);
	maps_hold(map, s.len);
	write_pages(map->base, s.len, 2);
	assert_true(maps_release(maps, map));
	mapslot_end(&s);
}

/* All that it does not know, and a file of its own under the same number. */
static void
a_program_may_close_the_descriptor(void **state)
{
	int own = memfd_create("own", MFD_CLOEXEC), fd = -1;
	struct rlimit most;
	struct mapslot s;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
	(void)watched_map(&s);
	for (rlim_t i = most.rlim_cur; fd < 0 && i-- > 3;)
		if ((int)i != s.fd && (int)i != own &&
		    fcntl((int)i, F_GETFD) >= 0)
			fd = (int)i;
	if (can_watch())
		assert_int_equal(dup2(own, fd), fd);
	write_and_look(&s, 50);
	mapslot_end(&s);
	if (fd >= 0)
		assert_int_equal(close(fd), 0);
	close(own);
}

/* A call that the kernel is told to end the process for. */
static int
forbid(int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ?
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) : -1;
}

static void
what_is_forbidden_is_not_tried(void **state)
{
	pid_t pid = fork();
	struct mapslot s;
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		if (forbid(SYS_userfaultfd) != 0)
			_exit(0);
		mapslot_start(&s, PAGES);
		for (unsigned i = 0; i < 5; i++) {
			struct map *map = mapslot_hold(&s);

			if (mapslot_others(map->base, s.len, 'a') != 0)
				_exit(1);
			maps_release(maps, map);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
one_that_is_watched_can_be_kept(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	map = watched_map(&s);
	memset(s.bytes, 'A', s.len);
	maps_hold(map, s.len);
	((char *)map->base)[0] = 'w';
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	memset(s.bytes, 'B', s.len);
	assert_int_equal(mapslot_others(map->base, s.len, 'A'), 1);
	mapslot_end(&s);
}

UNIT_MAIN(UNIT(what_a_job_writes_is_its_own),
    UNIT(a_slot_used_again_shows_what_is_new),
    UNIT(a_part_of_a_slot_is_enough),
    UNIT(every_way_drops_what_was_written),
    UNIT(other_pages_stay),
    UNIT(no_descriptor_is_needed),
    UNIT(locked_memory_is_dropped),
    UNIT(nothing_of_before_stays),
    UNIT(one_that_is_watched_shows_what_is_new),
    UNIT(pages_come_and_go_while_they_are_watched),
    UNIT(who_writes_much_is_not_watched),
    UNIT(a_program_may_close_the_descriptor),
    UNIT(what_is_forbidden_is_not_tried),
    UNIT(one_that_is_watched_can_be_kept),
    UNIT(much_writing_is_told))
