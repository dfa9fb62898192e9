/* SPDX-License-Identifier: Apache-2.0
 *
 * store.h: where the bytes of cached items lie.  Runs in the hub only.
 *
 * Each item is a file of its own on a file system of memory.  One layout serves
 * both kinds of readers: a native one maps the file, an unmodified program is
 * given a descriptor of it.
 *
 *  1. A file has a name only once the kernel has shown that nobody can write
 *     it any more: no descriptor, no mapping (store_publish).
 *  2. Readers have a read-only view of the folder: they open files in it, and
 *     can neither write, make nor remove one.
 *  3. The memory of a file is allocated here, before a producer is given it:
 *     it is charged to the hub's group, and a lack of it is an error here and
 *     not a signal there.
 *  4. Nothing outlives the hub and its readers: the file system is mounted
 *     nowhere.  Where that is not possible it is a folder in /dev/shm; then
 *     rule 2 holds by file modes alone, and what a killed hub left is removed
 *     by the next one.
 */

#ifndef CACHE_STORE_H
#define CACHE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define STORE_FOLDER_PARENT	"/dev/shm"

struct store;

/* A file that is being made. */
struct store_draft {
	int	writer;		/* for the producer; -1 once it is given away */
	int	keeper;		/* the hub's own, read-only */
};

int store_new(struct store **out, uint64_t limit_bytes, struct ds_err *err);
	/* At most limit_bytes of memory, in whole pages. */

int store_new_in(struct store **out, const char *parent, struct ds_err *err);
	/* The second way, as a folder in parent, which is /dev/shm in earnest:
	 * for when store_new() has tried, and for tests. */

void store_free(struct store **sp);

int store_view(const struct store *s);
	/* The folder as readers may have it; the descriptor stays ours. */

bool store_is_detached(const struct store *s);

int store_begin(const struct store *s, uint64_t len, struct store_draft *d,
    struct ds_err *err);
	/* A draft with memory for an item, or of one larger than STORE_PIECE
	 * for the first piece, so that it does not hold up others: 0, 1 when
	 * there is more to allocate, -ENOSPC at the limit. */

#define STORE_PIECE	(UINT64_C(64) << 20)

int store_grow(const struct store_draft *d, uint64_t from, uint64_t len,
    struct ds_err *err);
	/* The piece at from, as store_begin() does it. */

void store_abandon(struct store_draft *d);

int store_freeze(struct store_draft *d, struct ds_err *err);
	/* Closes the writer, and shows that there is no other: what is seen of
	 * the file from now on stays.  -EBUSY as below. */

int store_trim(const struct store_draft *d, uint64_t len, struct ds_err *err);
	/* Of a frozen draft of len bytes: gives back memory past its end, and
	 * puts its mode right: read by us alone, with STORE_MARK (view.h). */

int store_publish(const struct store *s, struct store_draft *d,
    const char *name, struct ds_err *err);
	/* Names the file; the draft is done.  -EBUSY while somebody has it
	 * open or mapped, if only for reading: the draft is still one. */

int store_open(const struct store *s, const char *name, struct ds_err *err);
	/* A published file, for reading. */

int store_used(const struct store *s, uint64_t *bytes);
	/* All memory of the file system: drafts, files, and files without a
	 * name that somebody still holds.  -ENOTSUP for a folder, which is not
	 * alone on its file system. */

int store_free_bytes(const struct store *s, uint64_t *bytes,
    struct ds_err *err);
	/* Of the file system. */

int store_remove(const struct store *s, const char *name, struct ds_err *err);
	/* The name; the memory goes with the last reader. */

#endif
