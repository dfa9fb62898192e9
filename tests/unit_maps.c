/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_maps.c: tests of stage/maps*.c: what a job keeps of batches, copies of
 * them and passes on to its children, and slots that are gone or are none.
 * unit_maps_written.c has what it writes to them.
 */

#include <config.h>

#include "stage/maps.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "stage/written.h"
#include "tests/harness/mapslot.h"
#include "tests/harness/unit.h"

/*--- what a job keeps ----------------------------------------------------*/

static void
a_kept_batch_stays_as_it_is(void **state)
{
	struct map *map, *next;
	struct ds_err err;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	((char *)map->base)[page] = 'w';
	assert_int_equal(maps_make_private(maps, map, &err), 0);
	assert_int_equal(maps_make_private(maps, map, &err), 0);
	memset(s.bytes, 'b', s.len);
	assert_int_equal(mapslot_others(map->base, s.len, 'a'), 1);
	assert_int_equal(((char *)map->base)[page], 'w');
	assert_null(maps_find(maps, SLOT));
	next = mapslot_hold(&s);
	assert_int_equal(mapslot_others(next->base, s.len, 'b'), 0);
	maps_release(maps, map);
	maps_release(maps, next);
	assert_ptr_equal(maps_find(maps, SLOT), next);
	mapslot_end(&s);
}

/* It must not be written to, then. */
static void
one_that_the_job_forbade_to_write_cannot(void **state)
{
	struct map *map;
	struct ds_err err;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	if (madvise(NULL, 0, 23 /* MADV_POPULATE_WRITE */) == 0) {
		assert_int_equal(mprotect(map->base, s.len, PROT_READ), 0);
		assert_int_equal(maps_make_private(maps, map, &err), -EINVAL);
		assert_false(map->is_private);
	}
	maps_release(maps, map);
	mapslot_end(&s);
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
fill_many(struct mapslot *s, uint64_t more)
{
	for (size_t i = 0; i < MANY; i++)
		for (unsigned w = 0; w < WORDS; w++)
			atomic_store_explicit(word_of((void *)s->bytes, i, w),
			    i + more, memory_order_relaxed);
}

/* The slot is written anew as soon as its pages are private.  How many words
 * were wrong. */
static size_t
keep_while_busy(struct mapslot *s, bool by_touch)
{
	struct busy b[NR_WRITERS + NR_READERS];
	_Atomic bool over = false;
	struct map *map;
	size_t nr_wrong = 0;
	int rc;

	fill_many(s, 0);
	map = mapslot_hold(s);
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
	struct mapslot s;

	(void)state;
	mapslot_start(&s, MANY);
	for (unsigned i = 0; i < rounds; i++) {
		assert_int_equal(keep_while_busy(&s, false), 0);
		assert_int_equal(keep_while_busy(&s, true), 0);
	}
	mapslot_end(&s);
}

/*--- copies --------------------------------------------------------------*/

static void
memory_of_copies_is_used_again(void **state)
{
	struct map *a, *b, *c, *map;
	void *at;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, 1);
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
	assert_false(mapslot_is_mapped(at) && at != a->base);
	assert_false(maps_release(maps, a));
	assert_false(maps_release(maps, b));
	at = c->base;
	assert_false(maps_release(maps, c));	/* more than are kept */
	assert_false(mapslot_is_mapped(at));
	at = a->base;
	assert_true(mapslot_is_mapped(at));
	for (unsigned i = 0; i < 64; i++) {
		map = mapslot_hold(&s);
		assert_false(maps_release(maps, map));
	}
	assert_false(mapslot_is_mapped(at));
	a = maps_copy(maps, page);
	at = a->base;
	assert_false(maps_release(maps, a));
	assert_true(mapslot_is_mapped(at));
	mapslot_end(&s);
}

static void
a_map_that_was_copied_is_free_again(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	maps_put(maps, map);
	assert_ptr_equal(mapslot_hold(&s), map);
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	maps_put(maps, map);
	assert_null(maps_find(maps, SLOT));
	mapslot_end(&s);
}

/*--- fork ----------------------------------------------------------------*/

/* In the child: a kept batch, and nothing else of the slot. */
static int
look_in_child(const struct mapslot *s, const struct map *kept, void *other,
    const char *copy)
{
	const char *bytes = kept->base;
	bool is_own = !mapslot_is_mapped(s->bytes) && !mapslot_is_mapped(other);
	size_t nr = mapslot_others(bytes, s->len, 'a') +
	    mapslot_others(copy, s->len, 'c');

	maps_abandon(&maps);
	return is_own && nr == 0 && bytes[0] == 'a' && copy[0] == 'c' ? 0 : 1;
}

static void
a_child_has_what_was_kept(void **state)
{
	struct map *kept, *other, *copy, *spare;
	struct mapslot s;
	int status;
	pid_t pid;

	(void)state;
	mapslot_start(&s, PAGES);
	kept = mapslot_hold(&s);
	other = mapslot_add(&s);
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
	assert_int_equal(mapslot_others(kept->base, s.len, 'a'), 0);
	mapslot_end(&s);
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
	struct mapslot s, other;

	(void)state;
	mapslot_start(&s, PAGES);
	mapslot_new(&other, SLOT + 256, PAGES);
	mapslot_add(&s);
	mapslot_add(&other);
	expect_told(0, 0);
	assert_int_equal(maps_bytes(maps), s.len + other.len);
	set_gone(SLOT);
	set_gone(3);
	expect_told(1, SLOT);
	assert_false(mapslot_is_mapped(s.bytes));
	assert_null(maps_own(maps, SLOT, s.len));
	assert_null(maps_find(maps, SLOT));
	assert_ptr_equal(maps_own(maps, other.number, other.len), other.bytes);
	assert_non_null(maps_find(maps, other.number));
	assert_int_equal(maps_bytes(maps), other.len);
	expect_told(0, 0);
	io_close(&other.fd);
	mapslot_end(&s);
}

/* The hub may take a thread that fills it for dead. */
static void
nor_one_that_is_filled(void **state)
{
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	maps_fill(maps, SLOT, true);
	maps_fill(maps, SLOT, true);
	set_gone(SLOT);
	expect_told(0, 0);
	maps_fill(maps, SLOT, false);
	expect_told(0, 0);
	memset(s.bytes, 'a', s.len);
	maps_fill(maps, SLOT, false);
	expect_told(1, SLOT);
	assert_false(mapslot_is_mapped(s.bytes));
	mapslot_end(&s);
}

static void
one_that_is_held_is_not(void **state)
{
	struct map *map, *kept;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	kept = mapslot_hold(&s);
	assert_int_equal(maps_make_private(maps, kept, NULL), 0);
	set_gone(SLOT);
	expect_told(0, 0);
	assert_false(mapslot_is_mapped(s.bytes));
	assert_int_equal(mapslot_others(map->base, s.len, 'a'), 0);
	maps_release(maps, map);
	expect_told(0, 0);
	assert_int_equal(mapslot_others(kept->base, s.len, 'a'), 0);
	maps_release(maps, kept);
	assert_int_equal(maps_bytes(maps), 0);
	expect_told(1, SLOT);
	mapslot_end(&s);
}

static void
one_that_is_short_of_memory_keeps_what_is_in_use(void **state)
{
	struct mapslot idle, held, filled;
	struct map *map, *spare;
	void *copy;

	(void)state;
	mapslot_start(&idle, PAGES);
	mapslot_new(&held, SLOT + 1, PAGES);
	mapslot_new(&filled, SLOT + 2, PAGES);
	memset(held.bytes, 'a', held.len);
	mapslot_add(&idle);
	map = mapslot_hold(&held);
	maps_fill(maps, filled.number, true);
	spare = maps_copy(maps, idle.len);
	copy = spare->base;
	maps_release(maps, spare);
	maps_give_idle(maps, tell, &told);
	expect_told(1, idle.number);
	assert_false(mapslot_is_mapped(idle.bytes));
	assert_false(mapslot_is_mapped(copy));
	assert_int_equal(mapslot_others(map->base, held.len, 'a'), 0);
	assert_true(mapslot_is_mapped(filled.bytes));
	/* What it gave back it may be given again. */
	assert_non_null(mapslot_add(&idle));
	maps_release(maps, map);
	expect_told(1, held.number);
	maps_fill(maps, filled.number, false);
	expect_told(1, filled.number);
	assert_int_equal(maps_bytes(maps), idle.len);
	io_close(&held.fd);
	io_close(&filled.fd);
	mapslot_end(&idle);
}

/* The hub waits to be told also if there is no map any more. */
static void
one_without_a_map_is_told(void **state)
{
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	map = mapslot_hold(&s);
	assert_int_equal(maps_make_private(maps, map, NULL), 0);
	maps_release(maps, map);
	expect_told(0, 0);
	set_gone(SLOT);
	expect_told(1, SLOT);
	mapslot_end(&s);
}

/* The ring is too short for all that went: then others' slots are believed to
 * be, and its own only if they are. */
static void
one_that_looks_too_late_loses_no_slot(void **state)
{
	struct maps *other;
	struct map *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	other = maps;
	assert_int_equal(maps_new(&maps, &fl, NULL), 0);
	(void)mapslot_add(&s);
	set_gone(SLOT);
	for (uint32_t i = 0; i <= FLOOR_SLOTS; i++)
		set_gone(100 + i);
	expect_told(1, SLOT);
	map = mapslot_add(&s);
	assert_ptr_equal(maps_find(maps, SLOT), map);
	maps_free(&maps);
	maps = other;
	expect_told(0, 0);
	assert_ptr_equal(maps_own(maps, SLOT, s.len), s.bytes);
	assert_null(maps_own(maps, SLOT, s.len + 1));
	atomic_store(&fl.oldest, SLOT + 1);
	atomic_fetch_add(&fl.nr_gone, FLOOR_SLOTS);
	expect_told(1, SLOT);
	mapslot_end(&s);
}

/* Given once more, it is alive. */
static void
one_that_is_given_again_is_not_gone(void **state)
{
	struct map *kept, *map;
	struct mapslot s;

	(void)state;
	mapslot_start(&s, PAGES);
	kept = mapslot_hold(&s);
	set_gone(SLOT);
	expect_told(0, 0);
	map = mapslot_add(&s);
	assert_ptr_equal(maps_find(maps, SLOT), map);
	maps_release(maps, kept);
	expect_told(0, 0);
	assert_ptr_not_equal(maps_find(maps, SLOT), NULL);
	mapslot_end(&s);
}

/*--- what is not a slot --------------------------------------------------*/

static void
what_is_not_a_slot_is_refused(void **state)
{
	int fd = memfd_create("unit", MFD_CLOEXEC);
	struct ds_err err;
	struct map *map;
	struct mapslot s;
	void *base;

	(void)state;
	assert_true(fd >= 0);
	mapslot_start(&s, PAGES);
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
	assert_null(maps_own(maps, 1, s.len));
	assert_null(maps_find(maps, SLOT));
	close(fd);
	mapslot_end(&s);
}

UNIT_MAIN(UNIT(a_kept_batch_stays_as_it_is),
    UNIT(one_that_the_job_forbade_to_write_cannot),
    UNIT(no_write_is_lost_while_it_becomes_private),
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
