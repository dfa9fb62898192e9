/* SPDX-License-Identifier: Apache-2.0
 *
 * index.h: the index of a data set: what its items are, and which are cached.
 * Made and written by the hub; clients map it read-only.  Runs in both.
 *
 * One sealed segment: struct index, the items in ascending order of their
 * names, two tables that find items by inodes (index_find.c), the names.  The
 * visible state of an item is one word:
 *
 *     EMPTY -> LEASED -> READY       asked for, fetched, published
 *       ^        |  |
 *       |        |  +--> FAILED -> LEASED    could not be read; tried anew
 *       +--------+                           the holder died or gave up
 *       +---- READY                          its bytes were found corrupt
 *
 *  1. Words are stored by the hub's loop alone.  READY and FAILED are stored
 *     with release after the fields they speak for; a reader loads the word
 *     with acquire before it looks at them.
 *  2. A key (struct listing_item) and a name never change.
 *  3. Admission to a set goes from open to closed while anybody uses it, never
 *     back.
 *  4. wake is incremented (release) after each change that somebody may wait
 *     for, then all waiters are woken; who waits loads it before it looks.
 *  5. READY means: the store has a file named by `file`, of exactly the item's
 *     size, with the inode `copy_ino`, that nobody can write.  A reader that
 *     does not find it takes the item for missing.
 *  6. by_file is whole before the segment is given away, and never changes.
 *  7. A slot of by_copy is stored by the loop, with release, after the item's
 *     copy_ino and before its word becomes READY: whoever has a file of the
 *     store finds its item.  It is taken back after the word.
 */

#ifndef CACHE_INDEX_H
#define CACHE_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/segment.h"
#include "cache/listing.h"

enum item_state { ITEM_EMPTY, ITEM_LEASED, ITEM_READY, ITEM_FAILED };

/* state 8 bits, generation 24, owner (a client's number) 32 */
#define ITEM_GENERATIONS	(1u << 24)

static inline uint64_t
item_word(enum item_state state, uint32_t generation, uint32_t owner)
{
	return (uint64_t)state << 56 |
	    (uint64_t)(generation % ITEM_GENERATIONS) << 32 | owner;
}

static inline enum item_state
item_state(uint64_t word)
{
	return (enum item_state)(word >> 56);
}

static inline uint32_t
item_generation(uint64_t word)
{
	return (uint32_t)(word >> 32) % ITEM_GENERATIONS;
}

static inline uint32_t
item_owner(uint64_t word)
{
	return (uint32_t)word;
}

/* What open() looks at comes first, in one or two cache lines. */
struct index_item {
	_Atomic uint64_t word;
	_Atomic uint64_t file;		/* READY: its name in the store */
	_Atomic uint64_t copy_ino;	/* READY: the inode of that file */
	struct listing_item key;
	_Atomic uint64_t failed_ns;	/* FAILED: when it was asked for */
	_Atomic uint32_t crc32c;	/* READY */
	_Atomic uint32_t error;		/* FAILED: errno */
};

struct index {
	struct segment_head head;
	uint64_t	nr_items;
	uint64_t	nr_slots;	/* of each table: index_slots(), or 0 */
	uint64_t	names_bytes;
	uint64_t	total_bytes;	/* of all items */
	_Atomic uint64_t large_bytes;	/* larger files are not brought in by
					 * programs that know nothing of the
					 * cache */
	uint32_t	set;
	_Atomic uint32_t closed;	/* to admission */
	_Atomic uint32_t wake;		/* futex */
	uint32_t	unused[3];	/* items begin at a multiple of 32 */
	struct index_item items[];	/* then by_file, by_copy, the names */
};

extern const struct segment_kind index_kind;

uint64_t index_slots(uint64_t nr_items);
	/* A power of two, twice the items at least, which are
	 * LISTING_ITEMS_MAX at most; 0 for none. */

size_t index_size(uint64_t nr_items, uint64_t nr_slots, uint64_t names_bytes);
	/* Of the segment, exactly.  SIZE_MAX: more than there are addresses. */

/* Its parts, as struct index says where they lie: the hub's own, or checked. */

static inline _Atomic uint32_t *
index_by_file(const struct index *x)
{
	return (_Atomic uint32_t *)(uintptr_t)&x->items[x->nr_items];
}

static inline _Atomic uint32_t *
index_by_copy(const struct index *x)
{
	return index_by_file(x) + x->nr_slots;
}

static inline char *
index_names(const struct index *x)
{
	return (char *)(index_by_copy(x) + x->nr_slots);
}

/*--- a client's ----------------------------------------------------------*/

struct index_map {		/* its own copy of what says where things lie */
	struct segment	seg;
	const struct index *index;
	uint64_t	nr_items;
	uint64_t	nr_slots;
	const _Atomic uint32_t *by_file, *by_copy;
	const char	*names;
};

int index_attach(struct index_map *m, int fd, struct ds_err *err);
	/* Takes the descriptor over on success.  Checks that everything lies
	 * within the segment. */
void index_detach(struct index_map *m);

const char *index_name(const struct index_map *m, uint64_t i, size_t *len);
	/* Terminated, and *len bytes long; NULL if the index is not sound. */

int64_t index_find(const struct index_map *m, const char *name, size_t len);
	/* -ENOENT */

int64_t index_find_file(const struct index_map *m, uint64_t dev, uint64_t ino);
	/* The item that is this file, of hard links one of them; -ENOENT.
	 * Never one of a shard. */
int64_t index_find_copy(const struct index_map *m, uint64_t ino);
	/* The item whose bytes the store has in the file with this inode;
	 * -ENOENT. */

/*--- the hub's -----------------------------------------------------------*/

void index_put_file(struct index *x, uint64_t i);
	/* Into by_file, if it is a file of its own.  One whose place is
	 * crowded is left out, and then not found. */

bool index_put_copy(struct index *x, uint64_t i, uint64_t ino);
	/* copy_ino and the slot.  False: its place is crowded, and it must not
	 * become READY. */
void index_take_copy(struct index *x, uint64_t i);
	/* Its slot may be another's. */

/*--- both ----------------------------------------------------------------*/

#define STORE_NAME_MAX	20u
void index_file_name(char name[STORE_NAME_MAX], uint64_t file);

int index_wait(const struct index *x, uint32_t seen, uint64_t deadline_ns);
	/* Until wake is no longer what was seen.  0, or -ETIMEDOUT.  The
	 * deadline is of CLOCK_MONOTONIC. */
void index_wake(struct index *x);	/* the hub */

#endif
