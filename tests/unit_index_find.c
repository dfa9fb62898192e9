/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_index_find.c: tests of cache/index_find.c: the tables of an index, as
 * the hub fills them, and as nobody should.
 */

#include <config.h>

#include "cache/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/unit.h"

#define DEV	UINT64_C(0x803)
#define PROBES	256u		/* as index_find.c has it */
#define GONE	UINT32_MAX
#define NONE	UINT64_MAX

static struct segment seg;		/* the hub's */
static struct index *hub;
static struct index_map map;		/* a client's */

/* nr items without names, with the inodes 1 to nr. */
static void
make(uint64_t nr, bool tables)
{
	uint64_t nr_slots = tables ? index_slots(nr) : 0;
	struct ds_err err;

	assert_int_equal(segment_create(&seg, &index_kind,
	    index_size(nr, nr_slots, 0), 1, &err), 0);
	hub = seg.base;
	hub->nr_items = nr;
	hub->nr_slots = nr_slots;
	for (uint64_t i = 0; i < nr; i++) {
		hub->items[i].key.dev = DEV;
		hub->items[i].key.ino = i + 1;
	}
	assert_int_equal(index_attach(&map,
	    fcntl(seg.fd, F_DUPFD_CLOEXEC, 0), &err), 0);
}

static void
unmake(void)
{
	index_detach(&map);
	segment_detach(&seg);
}

static void
put_files(void)
{
	for (uint64_t i = 0; i < hub->nr_items; i++)
		index_put_file(hub, i);
}

static void
empty(_Atomic uint32_t *table)
{
	for (uint64_t s = 0; s < hub->nr_slots; s++)
		table[s] = 0;
}

static void
fill(_Atomic uint32_t *table, uint32_t value)
{
	for (uint64_t s = 0; s < hub->nr_slots; s++)
		table[s] = value;
}

static unsigned
count_used(const _Atomic uint32_t *table)
{
	unsigned nr = 0;

	for (uint64_t s = 0; s < hub->nr_slots; s++)
		nr += table[s] != 0;
	return nr;
}

/* Where a search for this copy begins; the table is empty then. */
static uint64_t
place_of(uint64_t ino)
{
	_Atomic uint32_t *table = index_by_copy(hub);

	empty(table);
	assert_true(index_put_copy(hub, 0, ino));
	hub->items[0].copy_ino = 0;
	for (uint64_t s = 0; s < hub->nr_slots; s++) {
		if (table[s] != 0) {
			empty(table);
			return s;
		}
	}
	return NONE;
}

/* nr inodes whose search begins at the same place. */
static void
find_alike(uint64_t place, uint64_t ino[], unsigned nr)
{
	uint64_t next = 1000;

	for (unsigned n = 0; n < nr; next++) {
		if (place_of(next) == place)
			ino[n++] = next;
	}
}

/*--- files ---------------------------------------------------------------*/

static void
files_are_found(void **state)
{
	(void)state;
	make(1000, true);
	put_files();
	assert_int_equal(count_used(map.by_file), 1000);
	assert_int_equal(count_used(map.by_copy), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(index_find_file(&map, DEV, i + 1), i);
		assert_int_equal(index_find_file(&map, DEV, i + 1001), -ENOENT);
		assert_int_equal(index_find_file(&map, DEV + 1, i + 1),
		    -ENOENT);
	}
	assert_int_equal(index_find_file(&map, DEV, 0), -ENOENT);
	assert_int_equal(index_find_file(&map, 0, UINT64_MAX), -ENOENT);
	unmake();
}

/* As file systems number them: in sequence, in steps, in groups; on several
 * devices with the same numbers. */
static void
all_numberings_are_even(void **state)
{
	enum { NR = 3000 };

	(void)state;
	make(NR, true);
	for (unsigned shift = 0; shift < 50; shift++) {
		empty(index_by_file(hub));
		for (uint64_t i = 0; i < NR; i++) {
			hub->items[i].key.ino = i << shift;
			hub->items[i].key.dev = DEV;
			if (shift >= 40) {	/* a few inodes, many devices */
				hub->items[i].key.ino = i % 3;
				hub->items[i].key.dev = (i / 3) << (shift - 40);
			}
		}
		put_files();
		assert_int_equal(count_used(map.by_file), NR);
		for (uint64_t i = 0; i < NR; i++)
			assert_int_equal(index_find_file(&map,
			    hub->items[i].key.dev, hub->items[i].key.ino), i);
	}
	unmake();
}

/* One slot for all: 300 would be more than a search looks at. */
static void
hard_links_are_one(void **state)
{
	int64_t i;

	(void)state;
	make(1000, true);
	for (unsigned n = 100; n < 400; n++)
		hub->items[n].key.ino = 77777;
	put_files();
	assert_int_equal(count_used(map.by_file), 1000 - 300 + 1);
	i = index_find_file(&map, DEV, 77777);
	assert_in_range(i, 100, 399);
	for (uint64_t n = 0; n < 1000; n++) {
		if (n < 100 || n >= 400)
			assert_int_equal(index_find_file(&map, DEV, n + 1), n);
	}
	unmake();
}

static void
members_are_no_files(void **state)
{
	(void)state;
	make(4, true);
	hub->items[1].key.shard_len = 1;
	put_files();
	assert_int_equal(count_used(map.by_file), 3);
	assert_int_equal(index_find_file(&map, DEV, 2), -ENOENT);
	fill(index_by_file(hub), 2);		/* no hub would */
	assert_int_equal(index_find_file(&map, DEV, 2), -ENOENT);
	unmake();
}

static void
without_tables_nothing_is_found(void **state)
{
	(void)state;
	make(4, false);
	put_files();
	assert_int_equal(index_find_file(&map, DEV, 1), -ENOENT);
	assert_true(index_put_copy(hub, 2, 5000));
	assert_int_equal(hub->items[2].copy_ino, 5000);
	assert_int_equal(index_find_copy(&map, 5000), -ENOENT);
	index_take_copy(hub, 2);
	unmake();
	make(0, true);
	assert_int_equal(index_find_file(&map, DEV, 1), -ENOENT);
	assert_int_equal(index_find_copy(&map, 0), -ENOENT);
	unmake();
}

/*--- copies --------------------------------------------------------------*/

static void
copies_are_found(void **state)
{
	(void)state;
	make(1000, true);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(index_find_copy(&map, 5000 + i), -ENOENT);
		assert_true(index_put_copy(hub, i, 5000 + i));
		assert_int_equal(index_find_copy(&map, 5000 + i), i);
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(index_find_copy(&map, 5000 + i), i);
	assert_int_equal(count_used(map.by_copy), 1000);
	assert_int_equal(count_used(map.by_file), 0);
	unmake();
}

/* At the last slot: the search goes on at the first. */
static void
those_alike_follow_each_other(void **state)
{
	uint64_t ino[5];

	(void)state;
	make(4, true);
	find_alike(7, ino, 5);
	for (uint64_t i = 0; i < 4; i++)
		assert_true(index_put_copy(hub, i, ino[i]));
	assert_int_equal(map.by_copy[7], 1);
	assert_int_equal(map.by_copy[0], 2);
	assert_int_equal(map.by_copy[2], 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(index_find_copy(&map, ino[i]), i);
	assert_int_equal(index_find_copy(&map, ino[4]), -ENOENT);
	unmake();
}

/* What was taken back does not end a search, and its slot is used again. */
static void
slots_are_used_again(void **state)
{
	uint64_t ino[4];

	(void)state;
	make(4, true);
	find_alike(3, ino, 4);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(index_put_copy(hub, i, ino[i]));
	index_take_copy(hub, 1);
	assert_int_equal(map.by_copy[4], GONE);
	assert_int_equal(index_find_copy(&map, ino[1]), -ENOENT);
	assert_int_equal(index_find_copy(&map, ino[2]), 2);
	index_take_copy(hub, 1);		/* once more is nothing */
	index_take_copy(hub, 3);		/* nor what was never there */
	assert_int_equal(count_used(map.by_copy), 3);
	assert_true(index_put_copy(hub, 1, ino[3]));
	assert_int_equal(map.by_copy[4], 2);
	assert_int_equal(index_find_copy(&map, ino[3]), 1);
	assert_int_equal(index_find_copy(&map, ino[1]), -ENOENT);
	assert_int_equal(index_find_copy(&map, ino[0]), 0);
	assert_int_equal(index_find_copy(&map, ino[2]), 2);
	for (unsigned n = 0; n < 1000; n++) {	/* for ever */
		index_take_copy(hub, n % 4);
		assert_true(index_put_copy(hub, n % 4, 9000 + n));
		assert_int_equal(index_find_copy(&map, 9000 + n), n % 4);
	}
	unmake();
}

/*--- what nobody should --------------------------------------------------*/

static void
slots_are_only_hints(void **state)
{
	const uint32_t bad[] = { 5, 1u << 31, GONE, GONE - 1, 1, 4 };

	(void)state;
	make(4, true);
	for (unsigned n = 0; n < 4; n++)
		hub->items[n].copy_ino = 5000 + n;
	/* Full, so that no free slot ends the search. */
	for (unsigned n = 0; n < sizeof bad / sizeof bad[0]; n++) {
		fill(index_by_file(hub), bad[n]);
		fill(index_by_copy(hub), bad[n]);
		assert_int_equal(index_find_file(&map, DEV, 2), -ENOENT);
		assert_int_equal(index_find_copy(&map, 5001), -ENOENT);
	}
	assert_int_equal(index_find_file(&map, DEV, 4), 3);
	assert_int_equal(index_find_copy(&map, 5003), 3);
	/* How many slots there are was settled when it was attached. */
	hub->nr_slots = hub->nr_items = UINT64_MAX;
	assert_int_equal(index_find_file(&map, DEV, 4), 3);
	assert_int_equal(index_find_file(&map, DEV, 2), -ENOENT);
	unmake();
}

/* What is further away than a search looks is not there, to put or to find. */
static void
searches_are_short(void **state)
{
	_Atomic uint32_t *table;
	uint64_t at;

	(void)state;
	make(1000, true);
	at = place_of(5000);
	table = index_by_copy(hub);
	hub->items[9].copy_ino = 5000;
	fill(table, 1);
	table[(at + PROBES) & (hub->nr_slots - 1)] = 10;
	assert_int_equal(index_find_copy(&map, 5000), -ENOENT);
	table[(at + PROBES - 1) & (hub->nr_slots - 1)] = 10;
	assert_int_equal(index_find_copy(&map, 5000), 9);

	fill(table, 1);
	table[(at + PROBES) & (hub->nr_slots - 1)] = 0;
	assert_false(index_put_copy(hub, 9, 5000));
	assert_int_equal(index_find_copy(&map, 5000), -ENOENT);
	table[(at + PROBES - 1) & (hub->nr_slots - 1)] = 0;
	assert_true(index_put_copy(hub, 9, 5000));
	assert_int_equal(index_find_copy(&map, 5000), 9);

	fill(index_by_file(hub), 1);
	index_put_file(hub, 9);
	assert_int_equal(count_used(map.by_file), hub->nr_slots);
	assert_int_equal(index_find_file(&map, DEV, 10), -ENOENT);
	unmake();
}

UNIT_MAIN(
	UNIT(files_are_found),
	UNIT(all_numberings_are_even),
	UNIT(hard_links_are_one),
	UNIT(members_are_no_files),
	UNIT(without_tables_nothing_is_found),
	UNIT(copies_are_found),
	UNIT(those_alike_follow_each_other),
	UNIT(slots_are_used_again),
	UNIT(slots_are_only_hints),
	UNIT(searches_are_short))
