/* SPDX-License-Identifier: Apache-2.0
 *
 * data.h: an open data set, as a job has it.  Runs in clients, in any of their
 * threads.
 *
 *  1. All but the atomic members and what keep.h guards is set while it is
 *     opened, and only read afterwards: gets take no lock.
 *  2. A hub that fails, at opening or later, costs the cache and nothing else:
 *     every item can be read from its source.
 *  3. In a forked child the client page is not there (page.h): its address
 *     must not be touched.  The index, the kept mappings and the source are.
 *     Nothing is said to the hub, and no lock is taken, because a thread that
 *     the child does not have may hold it.
 *  4. No descriptor is used or closed without proof that it is ours still
 *     (view.h, link.h); those of the index and the page are not kept.
 */

#ifndef CACHE_DATA_H
#define CACHE_DATA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/index.h"
#include "cache/keep.h"
#include "cache/listing.h"
#include "cache/page.h"
#include "cache/source.h"
#include "cache/view.h"
#include "hub/link.h"

#define DATA_MAGIC	0x64a7a5e7u

/* How long a get waits, in all, for others who fetch what it wants. */
#define DATA_PATIENCE_NS	(UINT64_C(15) * 1000000000)

struct data_settings {
	uint32_t	share;	/* of the data set, in CACHE_SHARE_ONE; 0: none */
	uint32_t	audit;	/* of hits, in DATA_AUDIT_ALL */
};

#define DATA_AUDIT_ALL	(1u << 31)

struct ds_data {
	unsigned	magic;
	struct data_settings set_up;
	struct source	*source;
	struct ds_hub	*hub;		/* kept for its link; NULL in tests */
	struct link	*link;		/* NULL: never had one */
	uint32_t	set;		/* its number at the hub */
	uint64_t	nr_items;
	struct index_map index;		/* .index NULL: not cached */
	struct ds_err	no_cache;	/* and why, if the hub was asked */
	struct listing	listing;	/* .head NULL: the index lists them */
	struct view	view;
	struct keep	keep;
	struct page	*page;		/* the hub's, or our own */
	size_t		hubs_page_len;	/* 0: our own */
	uint64_t	patience_ns;
	_Atomic uint64_t epoch_ns;	/* when this one began */
	_Atomic uint64_t nr_audits;	/* hits that might have been chosen */
};

int data_settings_read(struct data_settings *s, const char *budget,
    struct ds_err *err);
	/* From what the job gave, and the environment. */

int data_open_on(struct ds_data **out, struct link *link, const char *uri,
    const char *budget, struct ds_err *err);
	/* ds_data_open() on a link, which may be NULL and must live longer. */

int data_open_current(struct ds_data **out, struct link *link,
    const char *uri, struct ds_err *err);
	/* The same, but as the hub has it listed, if it has: nothing is listed
	 * then, and what changed since is seen item by item. */

int data_open_listed(struct ds_data **out, struct link *link,
    const char *uri, struct ds_err *err);
	/* The same, and -EAGAIN if the hub has not: nothing is listed, ever.
	 * What it opens is cached. */

const struct listing_item *data_key(const struct ds_data *d, uint64_t i);
const char *data_name(const struct ds_data *d, uint64_t i);
	/* NULL if the index is not sound. */

bool data_is_ready(const struct ds_data *d, uint64_t i);
	/* Was it in the cache just now?  A get will hardly wait then. */

static inline bool
data_is_ours(const struct ds_data *d)
{
	return d->link == NULL || link_mine(d->link);
}

static inline void
data_count(struct ds_data *d, enum cache_count what, uint64_t n)
{
	if (data_is_ours(d))
		page_count(d->page, what, n);
}

/* item.c */
bool item_cached(struct ds_data *d, uint64_t i, uint64_t word,
    struct ds_item *item);
	/* The bytes of an item whose word was READY, counted as a hit; false
	 * where it must be taken for missing. */

/* fill.c */
int fill_shared(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err);
	/* The bytes of an item that was not READY when we looked. */
int fill_alone(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err);
	/* From storage, without the hub. */

#endif
