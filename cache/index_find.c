/* SPDX-License-Identifier: Apache-2.0
 *
 * index_find.c: finding items of an index by inodes.  Runs in clients, in any
 * of their threads; putting them there, in the hub only.
 *
 * by_file leads from device and inode of a data set's file to its item, by_copy
 * from the inode of a store's file.  Both are tables of slots, a power of two
 * and at least twice the items: an item is in the first slot that was free from
 * the place on that its numbers give.
 *
 *  1. A slot is an item's number + 1; 0 ends a search; GONE does not, and may
 *     be taken.
 *  2. No search looks at more than PROBES slots: what is not put within them is
 *     not there.  (A table half full has runs of 40 for a million items, of
 *     70 for a thousand million.)
 *  3. A slot is a hint.  What a search gives is an item of the index whose own
 *     numbers are those that were looked for.
 */

#include <config.h>

#include "cache/index.h"

#include <errno.h>

#define PROBES	256u
#define GONE	UINT32_MAX

/* Inodes are often in sequence, or in steps of a power of two: every bit of
 * both numbers must count. */
static inline uint64_t
mix(uint64_t dev, uint64_t ino)
{
	uint64_t n = ino ^ dev * UINT64_C(0x9e3779b97f4a7c15);

	n = (n ^ (n >> 32)) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ (n >> 29)) * UINT64_C(0x94d049bb133111eb);
	return n ^ (n >> 32);
}

/*--- clients -------------------------------------------------------------*/

int64_t
index_find_file(const struct index_map *m, uint64_t dev, uint64_t ino)
{
	uint64_t at = mix(dev, ino);

	if (m->nr_slots == 0)
		return -ENOENT;
	for (unsigned n = 0; n < PROBES; n++, at++) {
		/* relaxed: index.h, rule 6 */
		uint32_t slot = atomic_load_explicit(
		    &m->by_file[at & (m->nr_slots - 1)], memory_order_relaxed);
		const struct listing_item *key;

		if (slot == 0)
			break;
		if (slot > m->nr_items)
			continue;
		key = &m->index->items[slot - 1].key;
		if (key->ino == ino && key->dev == dev && key->shard_len == 0)
			return (int64_t)slot - 1;
	}
	return -ENOENT;
}

int64_t
index_find_copy(const struct index_map *m, uint64_t ino)
{
	uint64_t at = mix(0, ino);

	if (m->nr_slots == 0)
		return -ENOENT;
	for (unsigned n = 0; n < PROBES; n++, at++) {
		/* acquire: pairs with the release in index_put_copy() */
		uint32_t slot = atomic_load_explicit(
		    &m->by_copy[at & (m->nr_slots - 1)], memory_order_acquire);

		if (slot == 0)
			break;
		if (slot <= m->nr_items && atomic_load_explicit(
		    &m->index->items[slot - 1].copy_ino,
		    memory_order_relaxed) == ino)
			return (int64_t)slot - 1;
	}
	return -ENOENT;
}

/*--- the hub -------------------------------------------------------------*/

static uint32_t
load(const _Atomic uint32_t *slot)
{
	/* relaxed: nobody else stores */
	return atomic_load_explicit(slot, memory_order_relaxed);
}

/* Hard links would crowd each other out: one is enough. */
void
index_put_file(struct index *x, uint64_t i)
{
	const struct listing_item *key = &x->items[i].key, *there;
	_Atomic uint32_t *table = index_by_file(x), *slot;
	uint64_t at = mix(key->dev, key->ino);

	if (x->nr_slots == 0 || key->shard_len != 0)
		return;
	for (unsigned n = 0; n < PROBES; n++, at++) {
		slot = &table[at & (x->nr_slots - 1)];
		if (load(slot) == 0) {
			/* relaxed: the segment is given away later */
			atomic_store_explicit(slot, (uint32_t)i + 1,
			    memory_order_relaxed);
			return;
		}
		there = &x->items[load(slot) - 1].key;
		if (there->ino == key->ino && there->dev == key->dev)
			return;
	}
}

bool
index_put_copy(struct index *x, uint64_t i, uint64_t ino)
{
	_Atomic uint32_t *table = index_by_copy(x), *slot;
	uint64_t at = mix(0, ino);

	/* relaxed: published by the slot, and by the word */
	atomic_store_explicit(&x->items[i].copy_ino, ino, memory_order_relaxed);
	if (x->nr_slots == 0)
		return true;
	for (unsigned n = 0; n < PROBES; n++, at++) {
		slot = &table[at & (x->nr_slots - 1)];
		if (load(slot) == 0 || load(slot) == GONE) {
			/* release: pairs with the acquire in
			 * index_find_copy() */
			atomic_store_explicit(slot, (uint32_t)i + 1,
			    memory_order_release);
			return true;
		}
	}
	return false;
}

void
index_take_copy(struct index *x, uint64_t i)
{
	_Atomic uint32_t *table = index_by_copy(x), *slot;
	uint64_t at = mix(0, atomic_load_explicit(&x->items[i].copy_ino,
	    memory_order_relaxed));

	for (unsigned n = 0; n < PROBES && x->nr_slots > 0; n++, at++) {
		slot = &table[at & (x->nr_slots - 1)];
		if (load(slot) != (uint32_t)i + 1)
			continue;
		/* release: who finds it gone sees the word gone, by the
		 * acquire in index_find_copy() */
		atomic_store_explicit(slot, GONE, memory_order_release);
		return;
	}
}
