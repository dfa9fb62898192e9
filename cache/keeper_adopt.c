/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_adopt.c: a new listing takes over the items that did not change.
 * Runs in the hub only.
 *
 * It writes metadata, so it is done in the loop, some items a turn; between
 * two turns the loop serves the others.
 *
 *  1. An item is taken over when name and key are equal and it is READY: then
 *     both sets name the same file, and it belongs to the new one.
 *  2. The old set is not dropped before this is done (it is pinned), and the
 *     new one not while the old one is in use (keeper.h, rule 2).
 */

#include <config.h>

#include "cache/keeper_adopt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define PIECE	512u		/* items in a turn */

struct adopt {
	struct helper_job job;
	struct make	*make;
	struct dataset	*from, *to;
	uint64_t	i, j;		/* in from, in to */
};

static int
compare_names(const struct index *x, uint64_t i, const struct index *y,
    uint64_t j)
{
	const struct listing_item *a = &x->items[i].key, *b = &y->items[j].key;

	return listing_compare(
	    index_names(x) + a->name_off, a->name_len,
	    index_names(y) + b->name_off, b->name_len);
}

static bool
is_unchanged(const struct listing_item *a, const struct listing_item *b)
{
	return a->dev == b->dev && a->ino == b->ino &&
	    a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
	    a->size == b->size &&
	    a->offset == b->offset && a->shard_len == b->shard_len;
}

static void
take_over(struct adopt *a)
{
	struct index_item *from = &a->from->index->items[a->i];
	struct index_item *to = &a->to->index->items[a->j];
	uint64_t word = atomic_load_explicit(&from->word, memory_order_relaxed);
	uint64_t pages = room_pages(from->key.size);

	if (item_state(word) != ITEM_READY ||
	    !is_unchanged(&from->key, &to->key) ||
	    dataset_gave(a->from, a->i) || !index_put_copy(a->to->index, a->j,
	    atomic_load_explicit(&from->copy_ino, memory_order_relaxed)))
		return;
	/* relaxed: published by the word's release store */
	atomic_store_explicit(&to->file, atomic_load_explicit(&from->file,
	    memory_order_relaxed), memory_order_relaxed);
	atomic_store_explicit(&to->crc32c, atomic_load_explicit(&from->crc32c,
	    memory_order_relaxed), memory_order_relaxed);
	minio_adopt(&a->to->minio, dataset_item(a->to, a->j));
	a->from->given[a->i / 8] |= (uint8_t)(1u << a->i % 8);
	a->from->stored_bytes -= pages;
	a->to->stored_bytes += pages;
}

static bool
adopt_one(struct adopt *a)
{
	const struct index *x = a->from->index, *y = a->to->index;
	int c;

	if (a->i == x->nr_items || a->j == y->nr_items)
		return false;
	c = compare_names(x, a->i, y, a->j);
	if (c == 0)
		take_over(a);
	a->i += c <= 0;
	a->j += c >= 0;
	return true;
}

static bool
yield(struct helper_job *job)
{
	(void)job;
	return false;
}

static void
adopt_piece(struct helper_job *job)
{
	struct adopt *a = (struct adopt *)job;

	for (unsigned n = 0; n < PIECE; n++) {
		if (!adopt_one(a)) {
			make_answer(a->make, a->to);
			free(a);
			return;
		}
	}
	helper_submit(hub_helper(a->make->keeper->hub), &a->job);
}

int
adopt_begin(struct make *m, struct dataset *d)
{
	struct dataset *old = m->old;
	struct adopt *a = calloc(1, sizeof *a);

	if (a == NULL)
		return -ENOMEM;
	must(old->given == NULL && !old->superseded);
	old->given = calloc(1, old->index->nr_items / 8 + 1);
	if (old->given == NULL) {
		free(a);
		return -ENOMEM;
	}
	old->superseded = true;
	old->minio.closed = true;
	dataset_changed(old);
	d->older = old;
	a->make = m;
	a->from = old;
	a->to = d;
	a->job.work = yield;
	a->job.done = adopt_piece;
	helper_submit(hub_helper(m->keeper->hub), &a->job);
	return 0;
}
