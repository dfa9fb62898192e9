/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.h: the items of a data set, as a client lists them for the hub.
 * Runs in clients, which make it, and in the hub, which checks it.
 *
 * One sealed memfd: this head, the items, the names, in this order and without
 * gaps.
 *
 *  1. Items are in strictly ascending order of their names as bytes: so none
 *     is there twice, and two processes that list the same files make the same
 *     listing.
 *  2. Names lie one after another, each ended by a zero byte that is not part
 *     of its length; name_off is where it begins, counted from the first name.
 *     A name is 1 to LISTING_NAME_MAX bytes, none of them zero; it is not
 *     absolute and has no component `..'.
 *  3. The key of an item is all of struct listing_item but the place of its
 *     name, and the name: a file that changed is another item.
 *
 * An item is the bytes [offset, offset + size) of a file: of the file with the
 * item's own name, or of a shard, whose name is the item's name up to the
 * member (shard_len bytes; 0 for a file of its own), with a slash between.
 */

#ifndef CACHE_LISTING_H
#define CACHE_LISTING_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define LISTING_NAME_MAX	4095u
#define LISTING_ITEMS_MAX	(UINT64_C(1) << 30)
#define LISTING_SIZE_MAX	(UINT64_C(1) << 36)	/* of an item: 64 GiB */

struct listing_head {
	uint32_t magic;			/* LISTING_MAGIC */
	uint32_t item_size;		/* sizeof(struct listing_item) */
	uint64_t nr_items;
	uint64_t names_bytes;
	uint64_t total_bytes;		/* the sum of all sizes */
};

struct listing_item {
	uint64_t dev;
	uint64_t ino;
	int64_t	 mtime_ns;
	int64_t	 ctime_ns;	/* whoever sets the other cannot set this */
	uint64_t size;
	uint64_t offset;
	uint64_t name_off;
	uint32_t name_len;
	uint32_t shard_len;
};

#define LISTING_MAGIC	0x44534c53u	/* "DSLS" */

const char *listing_name_fault(const char *name, size_t len);
	/* Why it can be no item's name, or NULL. */

/* Making one. */

struct listing_maker;

int listing_new(struct listing_maker **out, struct ds_err *err);
void listing_free(struct listing_maker **mp);
int listing_add(struct listing_maker *m, const char *name, size_t len,
    const struct listing_item *key, struct ds_err *err);
	/* In any order.  The name, and of key all but name_off and name_len.
	 * -EINVAL: an item that listing_check() would refuse; -E2BIG: one
	 * more than LISTING_ITEMS_MAX. */
int listing_seal(struct listing_maker *m, struct ds_err *err);
	/* Sorts; a descriptor that can be sent.  -EEXIST names an item that is
	 * there twice. */

/* Reading one that came from elsewhere. */

struct listing {
	const struct listing_head *head;
	const struct listing_item *items;
	const char	*names;
	size_t		len;		/* of the whole mapping */
};

int listing_map(struct listing *l, int fd, struct ds_err *err);
	/* Checks seals, head and sizes; not yet the items.  The descriptor
	 * stays the caller's and may be closed. */
void listing_unmap(struct listing *l);

int listing_check(const struct listing *l, uint64_t from, uint64_t to,
    uint64_t *total_bytes, struct ds_err *err);
	/* The items [from, to) and their order, that to from - 1 included;
	 * their sizes are added to *total_bytes, which begins at 0 and must be
	 * the head's after the last.  -EBADMSG names the item. */

int listing_compare(const char *a, size_t a_len, const char *b, size_t b_len);
	/* The order of names: as bytes, the shorter of two first. */

static inline const char *
listing_name(const struct listing *l, uint64_t i)
{
	return l->names + l->items[i].name_off;
}

#endif
