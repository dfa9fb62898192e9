/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.h: mappings of cached items, kept from one get to the next.
 * Runs in clients, in any of their threads.
 *
 *  1. An entry is set once, from nothing, and stays until the data set is
 *     closed: whoever was given its address may be reading there.
 *  2. It says of which generation of the item it is (its low bits, as far as
 *     they go: an address of a page has twelve to spare).  An item that was
 *     published anew is not found here any more.
 *  3. A process keeps at most half as many mappings as it may have; past that
 *     items are read, not mapped.
 *  4. Mappings are read-only and inherited by fork, and so is this table.
 */

#ifndef CACHE_KEEP_H
#define CACHE_KEEP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define KEEP_GENERATION	((uintptr_t)0xfff)

struct keep {
	_Atomic uintptr_t *maps;	/* one per item */
	uint64_t	nr_items;
	_Atomic uint64_t nr_kept;
};

typedef uint64_t keep_size_f(const void *arg, uint64_t i);

int keep_init(struct keep *k, uint64_t nr_items, struct ds_err *err);
void keep_fini(struct keep *k, keep_size_f *size, const void *arg);
	/* Unmaps all; size tells how long item i is. */

static inline const void *
keep_find(const struct keep *k, uint64_t i, uint32_t generation)
{
	/* acquire: pairs with the release in keep_map() */
	uintptr_t e = atomic_load_explicit(&k->maps[i], memory_order_acquire);

	if (e == 0 || ((e ^ generation) & KEEP_GENERATION) != 0)
		return NULL;
	return (const void *)(e & ~KEEP_GENERATION);
}

const void *keep_map(struct keep *k, uint64_t i, uint32_t generation, int fd,
    size_t len);
	/* Maps it, and keeps that.  NULL where it must be read instead.  The
	 * descriptor stays the caller's. */

void keep_set_limit(uint64_t nr_maps);
	/* For tests; 0: half of what the machine allows. */

#endif
