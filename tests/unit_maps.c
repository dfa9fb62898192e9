/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_maps.c: tests of stage/maps*.c, written.c and watch.c: what a job writes
 * to a batch, keeps of it and passes on to its children, and what comes into the
 * slot meanwhile.
 */

#include <config.h>

#include "stage/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/memfd.h"
#include "stage/written.h"
#include "tests/harness/unit.h"

#define PAGES	100u
#define SLOT	7u

static struct floor fl;
static struct maps *maps;
static size_t page;

/* A slot as this process's own, and sealed: base/memfd.h. */
struct slot {
	uint32_t number;
	int	fd;
	size_t	len;
	char	*bytes;
};

static void
setup(void)
{
	struct ds_err err;

	page = (size_t)sysconf(_SC_PAGESIZE);
	memset(&fl, 0, sizeof fl);
	if (maps_new(&maps, &fl, &err) < 0)
		fail_msg("%s", err.text);
}

static void
new_slot(struct slot *s, uint32_t number, unsigned pages)
{
	struct ds_err err;
	void *base = NULL;

	s->number = number;
	s->len = pages * page;
	s->fd = memfd_new("unit", s->len, &err);
	if (s->fd < 0 ||
	    maps_add_own(maps, number, s->fd, s->len, &base, &err) < 0 ||
	    memfd_seal_new_writers(s->fd, &err) < 0)
		fail_msg("%s", err.text);
	s->bytes = base;
}

static struct map *
add_map(const struct slot *s)
{
	struct map *map;
	struct ds_err err;

	if (maps_add(maps, s->number, s->fd, s->len, &map, &err) < 0)
		fail_msg("%s", err.text);
	return map;
}

static struct map *
hold_map(const struct slot *s)
{
	struct map *map = maps_find(maps, s->number);

	if (map == NULL)
		map = add_map(s);
	maps_hold(map, s->len);
	return map;
}

static size_t
nr_other_pages(const char *bytes, size_t len, char want)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i += page)
		nr += bytes[i] != want || bytes[i + page - 1] != want;
	return nr;
}

static bool
is_mapped(void *base)
{
	unsigned char in;

	return mincore(base, page, &in) == 0;
}

static void
end(struct slot *s)
{
	io_close(&s->fd);
	maps_free(&maps);
}

/*--- what a job writes ---------------------------------------------------*/

static void
what_a_job_writes_is_its_own(void **state)
{
	struct map *map, *other;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	other = hold_map(&s);
	assert_ptr_not_equal(map, other);
	memset(map->base, 'w', s.len);
	assert_int_equal(nr_other_pages(s.bytes, s.len, 'a'), 0);
	assert_int_equal(nr_other_pages(other->base, s.len, 'a'), 0);
	assert_int_equal(nr_other_pages(map->base, s.len, 'w'), 0);
	assert_int_equal(maps_bytes(maps), s.len);
	end(&s);
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
	struct slot s;

	setup();
	new_slot(&s, SLOT, pages);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
	write_pages(map->base, s.len, stride);
	assert_null(maps_find(maps, SLOT));
	maps_release(maps, map);
	memset(s.bytes, 'b', s.len);
	again = hold_map(&s);
	assert_ptr_equal(map, again);
	assert_int_equal(nr_other_pages(again->base, s.len, 'b'), 0);
	end(&s);
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
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = add_map(&s);
	for (size_t used = 0; used < s.len; used += 20 * page + 1) {
		maps_hold(map, used);
		memset(map->base, 'w', used);
		maps_release(maps, map);
		assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
	}
	end(&s);
}

static void
drop_by(enum written_way way, size_t stride)
{
	struct map *map;
	struct slot s;
	size_t nr = stride == 0 ? 0 : (PAGES + stride - 1) / stride;
	struct written w;
	int rc;

	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
	write_pages(map->base, s.len, stride);
	/* Nothing happens where there is no swap space. */
	(void)madvise(map->base, s.len / 2, MADV_PAGEOUT);
	rc = written_drop_by(way, map->base, s.len, &w);
	if (rc == 0) {
		assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
		assert_int_equal(w.own, way == WRITTEN_ALL ? 0 : nr);
	} else	/* Linux < 6.7 */
		assert_true(way == WRITTEN_SCAN && rc == -ENOTTY);
	end(&s);
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
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
	write_pages(map->base, s.len, PAGES);
	maps_release(maps, map);
	assert_true(nr_present(map->base, s.len) >= PAGES / 2);
	end(&s);
}

static void
no_descriptor_is_needed(void **state)
{
	struct rlimit before, none;
	struct map *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	memset(map->base, 'w', s.len);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	maps_release(maps, map);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
	end(&s);
}

/* mlock() brings in all of it, as copies. */
static void
locked_memory_is_dropped(void **state)
{
	struct map *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, 10);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	if (mlock(map->base, s.len) == 0) {
		maps_release(maps, map);
		memset(s.bytes, 'b', s.len);
		map = hold_map(&s);
		assert_int_equal(nr_other_pages(map->base, s.len, 'b'), 0);
	}
	end(&s);
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
watched_map(struct slot *s)
{
	struct map *map = NULL;

	setup();
	new_slot(s, SLOT, PAGES);
	for (char c = 'a'; c < 'f'; c++) {
		memset(s->bytes, c, s->len);
		map = hold_map(s);
		assert_int_equal(nr_other_pages(map->base, s->len, c), 0);
		assert_false(maps_release(maps, map));
	}
	assert_int_equal(map->is_watched, can_watch());
	return map;
}

/* As often as it takes to see that nothing of it stays. */
static void
write_and_look(struct slot *s, size_t stride)
{
	for (unsigned i = 0; i < 4; i++) {
		char c = (char)('A' + i);
		struct map *map = hold_map(s);

		write_pages(map->base, s->len, stride);
		(void)maps_release(maps, map);
		memset(s->bytes, c, s->len);
		map = hold_map(s);
		assert_int_equal(nr_other_pages(map->base, s->len, c), 0);
		(void)maps_release(maps, map);
	}
}

/* Also in the unit after which it is. */
static void
nothing_of_before_stays(void **state)
{
	struct slot s;

	(void)state;
	for (unsigned first = 0; first < 5; first++) {
		setup();
		new_slot(&s, SLOT, PAGES);
		for (unsigned i = 0; i < 5; i++) {
			struct map *map;

			memset(s.bytes, 'a' + (int)i, s.len);
			map = hold_map(&s);
			assert_int_equal(nr_other_pages(map->base, s.len,
			    (char)('a' + i)), 0);
			if (i == first)
				write_pages(map->base, s.len, 30);
			(void)maps_release(maps, map);
		}
		end(&s);
	}
}

static void
one_that_is_watched_shows_what_is_new(void **state)
{
	struct slot s;

	(void)state;
	for (size_t k = 0; k < sizeof strides / sizeof strides[0]; k++) {
		(void)watched_map(&s);
		write_and_look(&s, strides[k]);
		end(&s);
	}
}

/* What was not there when it began, and what is locked, or went for a moment. */
static void
pages_come_and_go_while_they_are_watched(void **state)
{
	struct map *map;
	struct slot s;

	(void)state;
	map = watched_map(&s);
	for (char c = 'A'; c < 'D'; c++) {
		memset(s.bytes, c, s.len);
		assert_int_equal(madvise(map->base, s.len / 2,
		    c == 'B' ? MADV_PAGEOUT : MADV_DONTNEED), 0);
		map = hold_map(&s);
		assert_int_equal(nr_other_pages(map->base, s.len, c), 0);
		((char *)map->base)[3 * page] = 'w';
		(void)maps_release(maps, map);
	}
	assert_int_equal(nr_other_pages(map->base, s.len, 'C'), 0);
	end(&s);
}

static void
who_writes_much_is_not_watched(void **state)
{
	struct map *map;
	struct slot s;

	(void)state;
	map = watched_map(&s);
	maps_hold(map, s.len);
	write_pages(map->base, s.len, 10);
	assert_false(maps_release(maps, map));
	assert_false(map->is_watched);
	maps_hold(map, s.len);
	write_pages(map->base, s.len, 2);
	assert_true(maps_release(maps, map));
	end(&s);
}

/* All that it does not know, and a file of its own under the same number. */
static void
a_program_may_close_the_descriptor(void **state)
{
	int own = memfd_create("own", MFD_CLOEXEC), fd = -1;
	struct rlimit most;
	struct slot s;

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
	end(&s);
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
	struct slot s;
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		if (forbid(SYS_userfaultfd) != 0)
			_exit(0);
		setup();
		new_slot(&s, SLOT, PAGES);
		for (unsigned i = 0; i < 5; i++) {
			struct map *map = hold_map(&s);

			if (nr_other_pages(map->base, s.len, 0) != 0)
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
	struct slot s;

	(void)state;
	map = watched_map(&s);
	memset(s.bytes, 'A', s.len);
	maps_hold(map, s.len);
	((char *)map->base)[0] = 'w';
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	memset(s.bytes, 'B', s.len);
	assert_int_equal(nr_other_pages(map->base, s.len, 'A'), 1);
	end(&s);
}

/*--- what a job keeps ----------------------------------------------------*/

static void
a_kept_batch_stays_as_it_is(void **state)
{
	struct map *map, *next;
	struct ds_err err;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	((char *)map->base)[page] = 'w';
	assert_int_equal(maps_make_private(maps, map, &err), 0);
	assert_int_equal(maps_make_private(maps, map, &err), 0);
	memset(s.bytes, 'b', s.len);
	assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 1);
	assert_int_equal(((char *)map->base)[page], 'w');
	assert_null(maps_find(maps, SLOT));
	next = hold_map(&s);
	assert_int_equal(nr_other_pages(next->base, s.len, 'b'), 0);
	maps_release(maps, map);
	maps_release(maps, next);
	assert_ptr_equal(maps_find(maps, SLOT), next);
	end(&s);
}

/* It must not be written to, then. */
static void
one_that_the_job_forbade_to_write_cannot(void **state)
{
	struct map *map;
	struct ds_err err;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	if (madvise(NULL, 0, 23 /* MADV_POPULATE_WRITE */) == 0) {
		assert_int_equal(mprotect(map->base, s.len, PROT_READ), 0);
		assert_int_equal(maps_make_private(maps, map, &err), -EINVAL);
		assert_false(map->is_private);
	}
	maps_release(maps, map);
	end(&s);
}

/* Two threads count up words of all pages, two look at others of them. */
#define MANY	8192u
#define WORDS	4u
#define NR_WRITERS 2u
#define NR_READERS 2u

struct busy {
	pthread_t thread;
	_Atomic uint64_t *bytes;
	unsigned word;			/* of each page */
	bool	is_writer;
	_Atomic bool *over;
	uint64_t rounds;
	size_t	nr_wrong;
};

static _Atomic uint64_t *
word_of(_Atomic uint64_t *bytes, size_t i, unsigned word)
{
	return &bytes[i * (page / sizeof *bytes) + word];
}

/* relaxed, here and below: a thread looks at its own words only. */
static void
work_round(struct busy *b)
{
	for (size_t i = 0; i < MANY; i++) {
		_Atomic uint64_t *w = word_of(b->bytes, i, b->word);
		uint64_t is = atomic_load_explicit(w, memory_order_relaxed);

		b->nr_wrong += is != i + b->rounds;
		if (b->is_writer)
			atomic_store_explicit(w, is + 1, memory_order_relaxed);
	}
	b->rounds += b->is_writer;
}

static void *
work(void *arg)
{
	struct busy *b = arg;

	do
		work_round(b);
	while (!atomic_load_explicit(b->over, memory_order_relaxed));
	work_round(b);
	return NULL;
}

static void
fill_many(struct slot *s, uint64_t more)
{
	for (size_t i = 0; i < MANY; i++)
		for (unsigned w = 0; w < WORDS; w++)
			atomic_store_explicit(word_of((void *)s->bytes, i, w),
			    i + more, memory_order_relaxed);
}

/* The slot is written anew as soon as its pages are private.  How many words
 * were wrong. */
static size_t
keep_while_busy(struct slot *s, bool by_touch)
{
	struct busy b[NR_WRITERS + NR_READERS];
	_Atomic bool over = false;
	struct map *map;
	size_t nr_wrong = 0;
	int rc;

	fill_many(s, 0);
	map = hold_map(s);
	for (unsigned i = 0; i < WORDS; i++) {
		b[i] = (struct busy){ .bytes = map->base, .word = i,
		    .is_writer = i < NR_WRITERS, .over = &over };
		assert_int_equal(pthread_create(&b[i].thread, NULL, work,
		    &b[i]), 0);
	}
	rc = by_touch ? written_own_by(WRITTEN_TOUCH, map->base, s->len) :
	    maps_make_private(maps, map, NULL);
	fill_many(s, 1000000);
	atomic_store_explicit(&over, true, memory_order_relaxed);
	for (unsigned i = 0; i < WORDS; i++) {
		pthread_join(b[i].thread, NULL);
		nr_wrong += b[i].nr_wrong;
	}
	assert_int_equal(rc, 0);
	maps_release(maps, map);
	return nr_wrong;
}

static void
no_write_is_lost_while_it_becomes_private(void **state)
{
	unsigned rounds = getenv("DS_LONG") != NULL ? 100 : 3;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, MANY);
	for (unsigned i = 0; i < rounds; i++) {
		assert_int_equal(keep_while_busy(&s, false), 0);
		assert_int_equal(keep_while_busy(&s, true), 0);
	}
	end(&s);
}

/*--- copies --------------------------------------------------------------*/

/* A quarter of the pages is much; of few pages nothing is known. */
static void
much_writing_is_told(void **state)
{
	struct map *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	map = hold_map(&s);
	assert_false(maps_release(maps, map));
	map = hold_map(&s);
	write_pages(map->base, s.len, 5);
	assert_false(maps_release(maps, map));
	map = hold_map(&s);
	write_pages(map->base, s.len, 4);
	assert_true(maps_release(maps, map));
	map = hold_map(&s);
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	assert_false(maps_release(maps, map));
	end(&s);
}

static void
memory_of_copies_is_used_again(void **state)
{
	struct map *a, *b, *c, *map;
	void *at;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, 1);
	assert_null(maps_copy(maps, 0));
	a = maps_copy(maps, 3 * page);
	b = maps_copy(maps, 3 * page - 1);
	c = maps_copy(maps, 1);
	assert_true(a->is_private && a->is_held && b->len == 3 * page);
	assert_int_equal(maps_make_private(maps, a, NULL), 0);
	at = a->base;
	assert_false(maps_release(maps, a));
	assert_ptr_equal(maps_copy(maps, 2 * page)->base, at);
	assert_false(maps_release(maps, a));
	a = maps_copy(maps, 4 * page);		/* no spare one has so much */
	assert_false(is_mapped(at) && at != a->base);
	assert_false(maps_release(maps, a));
	assert_false(maps_release(maps, b));
	at = c->base;
	assert_false(maps_release(maps, c));	/* more than are kept */
	assert_false(is_mapped(at));
	at = a->base;
	assert_true(is_mapped(at));
	for (unsigned i = 0; i < 64; i++) {
		map = hold_map(&s);
		assert_false(maps_release(maps, map));
	}
	assert_false(is_mapped(at));
	a = maps_copy(maps, page);
	at = a->base;
	assert_false(maps_release(maps, a));
	assert_true(is_mapped(at));
	end(&s);
}

static void
a_map_that_was_copied_is_free_again(void **state)
{
	struct map *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	map = hold_map(&s);
	maps_put(maps, map);
	assert_ptr_equal(hold_map(&s), map);
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	maps_put(maps, map);
	assert_null(maps_find(maps, SLOT));
	end(&s);
}

/*--- fork ----------------------------------------------------------------*/

/* In the child: a kept batch, and nothing else of the slot. */
static int
look_in_child(const struct slot *s, const struct map *kept, void *other,
    const char *copy)
{
	const char *bytes = kept->base;
	bool is_own = !is_mapped(s->bytes) && !is_mapped(other);
	size_t nr = nr_other_pages(bytes, s->len, 'a') +
	    nr_other_pages(copy, s->len, 'c');

	maps_abandon(&maps);
	return is_own && nr == 0 && bytes[0] == 'a' && copy[0] == 'c' ? 0 : 1;
}

static void
a_child_has_what_was_kept(void **state)
{
	struct map *kept, *other, *copy, *spare;
	struct slot s;
	int status;
	pid_t pid;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	kept = hold_map(&s);
	other = add_map(&s);
	copy = maps_copy(maps, s.len);
	spare = maps_copy(maps, page);
	memset(copy->base, 'c', s.len);
	maps_release(maps, spare);
	maps_forking(maps);
	assert_true(kept->is_private);
	assert_false(other->is_private);
	memset(s.bytes, 'b', s.len);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(look_in_child(&s, kept, other->base, copy->base));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(nr_other_pages(kept->base, s.len, 'a'), 0);
	end(&s);
}

/*--- slots that are gone -------------------------------------------------*/

static struct told {
	unsigned nr;
	uint32_t slot;
} told;

static void
tell(void *arg, uint32_t slot)
{
	assert_ptr_equal(arg, &told);
	told.nr++;
	told.slot = slot;
}

static void
set_gone(uint32_t slot)
{
	uint64_t nr = atomic_load(&fl.nr_gone);

	atomic_store(&fl.gone[nr % FLOOR_SLOTS], slot);
	atomic_store(&fl.nr_gone, nr + 1);
}

static void
expect_told(unsigned nr, uint32_t slot)
{
	maps_sweep(maps, tell, &told);
	assert_int_equal(told.nr, nr);
	if (nr > 0)
		assert_int_equal(told.slot, slot);
	told = (struct told){ 0 };
}

static void
a_slot_that_is_gone_is_unmapped(void **state)
{
	struct slot s, other;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	new_slot(&other, SLOT + 256, PAGES);
	add_map(&s);
	add_map(&other);
	expect_told(0, 0);
	assert_int_equal(maps_bytes(maps), s.len + other.len);
	set_gone(SLOT);
	set_gone(3);
	expect_told(1, SLOT);
	assert_false(is_mapped(s.bytes));
	assert_null(maps_own(maps, SLOT));
	assert_null(maps_find(maps, SLOT));
	assert_ptr_equal(maps_own(maps, other.number), other.bytes);
	assert_non_null(maps_find(maps, other.number));
	assert_int_equal(maps_bytes(maps), other.len);
	expect_told(0, 0);
	io_close(&other.fd);
	end(&s);
}

/* The hub may take a thread that fills it for dead. */
static void
nor_one_that_is_filled(void **state)
{
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	maps_fill(maps, SLOT, true);
	maps_fill(maps, SLOT, true);
	set_gone(SLOT);
	expect_told(0, 0);
	maps_fill(maps, SLOT, false);
	expect_told(0, 0);
	memset(s.bytes, 'a', s.len);
	maps_fill(maps, SLOT, false);
	expect_told(1, SLOT);
	assert_false(is_mapped(s.bytes));
	end(&s);
}

static void
one_that_is_held_is_not(void **state)
{
	struct map *map, *kept;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	memset(s.bytes, 'a', s.len);
	map = hold_map(&s);
	kept = hold_map(&s);
	assert_int_equal(maps_make_private(maps, kept, NULL), 0);
	set_gone(SLOT);
	expect_told(0, 0);
	assert_false(is_mapped(s.bytes));
	assert_int_equal(nr_other_pages(map->base, s.len, 'a'), 0);
	maps_release(maps, map);
	expect_told(0, 0);
	assert_int_equal(nr_other_pages(kept->base, s.len, 'a'), 0);
	maps_release(maps, kept);
	assert_int_equal(maps_bytes(maps), 0);
	expect_told(1, SLOT);
	end(&s);
}

static void
one_that_is_short_of_memory_keeps_what_is_in_use(void **state)
{
	struct slot idle, held, filled;
	struct map *map, *spare;
	void *copy;

	(void)state;
	setup();
	new_slot(&idle, SLOT, PAGES);
	new_slot(&held, SLOT + 1, PAGES);
	new_slot(&filled, SLOT + 2, PAGES);
	memset(held.bytes, 'a', held.len);
	add_map(&idle);
	map = hold_map(&held);
	maps_fill(maps, filled.number, true);
	spare = maps_copy(maps, idle.len);
	copy = spare->base;
	maps_release(maps, spare);
	maps_give_idle(maps, tell, &told);
	expect_told(1, idle.number);
	assert_false(is_mapped(idle.bytes) || is_mapped(copy));
	assert_int_equal(nr_other_pages(map->base, held.len, 'a'), 0);
	assert_true(is_mapped(filled.bytes));
	/* What it gave back it may be given again. */
	assert_non_null(add_map(&idle));
	maps_release(maps, map);
	expect_told(1, held.number);
	maps_fill(maps, filled.number, false);
	expect_told(1, filled.number);
	assert_int_equal(maps_bytes(maps), idle.len);
	io_close(&held.fd);
	io_close(&filled.fd);
	end(&idle);
}

/* The hub waits to be told also if there is no map any more. */
static void
one_without_a_map_is_told(void **state)
{
	struct map *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	map = hold_map(&s);
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	maps_release(maps, map);
	expect_told(0, 0);
	set_gone(SLOT);
	expect_told(1, SLOT);
	end(&s);
}

/* The ring is too short for all that went: then others' slots are believed to
 * be, and its own only if they are. */
static void
one_that_looks_too_late_loses_no_slot(void **state)
{
	struct maps *other;
	struct map *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	other = maps;
	assert_int_equal(maps_new(&maps, &fl, NULL), 0);
	(void)add_map(&s);
	set_gone(SLOT);
	for (uint32_t i = 0; i <= FLOOR_SLOTS; i++)
		set_gone(100 + i);
	expect_told(1, SLOT);
	map = add_map(&s);
	assert_ptr_equal(maps_find(maps, SLOT), map);
	maps_free(&maps);
	maps = other;
	expect_told(0, 0);
	assert_ptr_equal(maps_own(maps, SLOT), s.bytes);
	atomic_store(&fl.oldest, SLOT + 1);
	atomic_fetch_add(&fl.nr_gone, FLOOR_SLOTS);
	expect_told(1, SLOT);
	end(&s);
}

/* Given once more, it is alive. */
static void
one_that_is_given_again_is_not_gone(void **state)
{
	struct map *kept, *map;
	struct slot s;

	(void)state;
	setup();
	new_slot(&s, SLOT, PAGES);
	kept = hold_map(&s);
	set_gone(SLOT);
	expect_told(0, 0);
	map = add_map(&s);
	assert_ptr_equal(maps_find(maps, SLOT), map);
	maps_release(maps, kept);
	expect_told(0, 0);
	assert_ptr_not_equal(maps_find(maps, SLOT), NULL);
	end(&s);
}

/*--- what is not a slot --------------------------------------------------*/

static void
what_is_not_a_slot_is_refused(void **state)
{
	int fd = memfd_create("unit", MFD_CLOEXEC);
	struct ds_err err;
	struct map *map;
	struct slot s;
	void *base;

	(void)state;
	setup();
	assert_true(fd >= 0);
	new_slot(&s, SLOT, PAGES);
	assert_int_equal(maps_add(maps, 1, -1, page, &map, &err), -EBADMSG);
	assert_int_equal(maps_add(maps, 1, fd, page, &map, &err), -EBADMSG);
	assert_int_equal(maps_add(maps, 1, s.fd, 0, &map, &err), -EBADMSG);
	assert_int_equal(maps_add(maps, 1, s.fd, SIZE_MAX, &map, &err),
	    -EBADMSG);
	assert_int_equal(maps_add(maps, 1, s.fd, s.len + 1, &map, &err),
	    -EBADMSG);
	assert_int_equal(maps_add(maps, SLOT, s.fd, page, &map, &err),
	    -EBADMSG);
	assert_int_equal(maps_add_own(maps, 1, -1, page, &base, &err),
	    -EBADMSG);
	assert_int_equal(maps_add_own(maps, 1, fd, page, &base, &err),
	    -EBADMSG);
	assert_int_equal(maps_add_own(maps, 1, s.fd, s.len + 1, &base, &err),
	    -EBADMSG);
	assert_int_equal(maps_add_own(maps, SLOT, s.fd, s.len, &base, &err),
	    -EBADMSG);
	/* sealed: nobody else can write to it */
	assert_int_equal(maps_add_own(maps, 1, s.fd, s.len, &base, &err),
	    -EPERM);
	assert_null(maps_own(maps, 1));
	assert_null(maps_find(maps, SLOT));
	close(fd);
	end(&s);
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
    UNIT(a_kept_batch_stays_as_it_is),
    UNIT(one_that_the_job_forbade_to_write_cannot),
    UNIT(no_write_is_lost_while_it_becomes_private),
    UNIT(much_writing_is_told),
    UNIT(memory_of_copies_is_used_again),
    UNIT(a_map_that_was_copied_is_free_again),
    UNIT(a_child_has_what_was_kept),
    UNIT(a_slot_that_is_gone_is_unmapped),
    UNIT(one_that_is_held_is_not),
    UNIT(nor_one_that_is_filled),
    UNIT(one_that_is_short_of_memory_keeps_what_is_in_use),
    UNIT(one_without_a_map_is_told),
    UNIT(one_that_looks_too_late_loses_no_slot),
    UNIT(one_that_is_given_again_is_not_gone),
    UNIT(what_is_not_a_slot_is_refused))
