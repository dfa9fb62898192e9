/* SPDX-License-Identifier: Apache-2.0
 *
 * index.h: the index of a data set: what its items are, and which are cached.
 * Made and written by the hub; clients map it read-only.  Runs in both.
 *
 * One sealed segment: struct index, the items in ascending order of their
 * names, the names.  The visible state of an item is one word:
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
 *     size, that nobody can write.  A reader that does not find it takes the
 *     item for missing.
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

struct index_item {
	_Atomic uint64_t word;
	_Atomic uint64_t file;		/* READY: its name in the store */
	_Atomic uint64_t failed_ns;	/* FAILED: when it was asked for */
	_Atomic uint32_t crc32c;	/* READY */
	_Atomic uint32_t error;		/* FAILED: errno */
	struct listing_item key;
};

struct index {
	struct segment_head head;
	uint64_t	nr_items;
	uint64_t	names_bytes;
	uint64_t	total_bytes;	/* of all items */
	uint32_t	set;
	_Atomic uint32_t closed;	/* to admission */
	_Atomic uint32_t wake;		/* futex */
	uint32_t	unused;
	struct index_item items[];	/* then the names */
};

extern const struct segment_kind index_kind;

size_t index_size(uint64_t nr_items, uint64_t names_bytes);
	/* Of the segment, exactly.  SIZE_MAX: more than there are addresses. */

struct index_map {		/* a client's */
	struct segment	seg;
	const struct index *index;
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

#define STORE_NAME_MAX	20u
void index_file_name(char name[STORE_NAME_MAX], uint64_t file);

int index_wait(const struct index *x, uint32_t seen, uint64_t deadline_ns);
	/* Until wake is no longer what was seen.  0, or -ETIMEDOUT.  The
	 * deadline is of CLOCK_MONOTONIC. */
void index_wake(struct index *x);	/* the hub */

#endif
