/* SPDX-License-Identifier: Apache-2.0
 *
 * item.c: getting and putting items: what a hit does.  Runs in clients, in any
 * of their threads.
 *
 *  1. A hit on a kept mapping makes no system call and takes no lock: four
 *     loads and two additions.
 *  2. An item's priv is the memory of its own that put must free, or NULL for
 *     bytes in a mapping, which stays.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/io.h"
#include "base/must.h"
#include "cache/ask.h"
#include "cache/data.h"

#define VIEW_FLAGS	(O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

/*--- audit ---------------------------------------------------------------*/

/* A number that looks as if drawn (splitmix64). */
static uint64_t
scramble(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ (n >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ (n >> 27)) * UINT64_C(0x94d049bb133111eb);
	return n ^ (n >> 31);
}

static bool
is_chosen(struct ds_data *d)
{
	uint64_t n;

	if (d->set_up.audit == 0)
		return false;
	/* relaxed: a count, which guards nothing */
	n = atomic_fetch_add_explicit(&d->nr_audits, 1, memory_order_relaxed);
	return scramble(n) % DATA_AUDIT_ALL < d->set_up.audit;
}

/* Are these the bytes that were published?  What changed meanwhile cannot be
 * said to be wrong, but it is not what was looked for either. */
static bool
is_sound(struct ds_data *d, uint64_t i, uint64_t word,
    const struct ds_item *item)
{
	const struct index_item *it = &d->index.index->items[i];

	if (crc32c(0, item->bytes, item->len) ==
	    atomic_load_explicit(&it->crc32c, memory_order_relaxed))
		return true;
	if (atomic_load_explicit(&it->word, memory_order_acquire) == word)
		ask_report(d, i, item_generation(word));
	return false;
}

/*--- from the cache ------------------------------------------------------*/

static int
read_file(int fd, struct ds_item *item, size_t len)
{
	void *p = malloc(len);

	if (p == NULL)
		return -ENOMEM;
	if (io_read_all(fd, p, len) != (ssize_t)len) {
		free(p);
		return -EIO;
	}
	*item = (struct ds_item){ p, len, p };
	return 0;
}

/* The first time, and where no more mappings can be kept. */
static int
open_cached(struct ds_data *d, uint64_t i, uint64_t word,
    struct ds_item *item)
{
	const struct index_item *it = &d->index.index->items[i];
	uint64_t size = it->key.size;
	const void *p;
	int fd, rc = 0;

	fd = view_open(&d->view, it, VIEW_FLAGS);
	if (fd < 0)
		return fd;
	p = keep_map(&d->keep, i, item_generation(word), fd, (size_t)size);
	if (p != NULL)
		*item = (struct ds_item){ p, (size_t)size, NULL };
	else
		rc = read_file(fd, item, (size_t)size);
	io_close(&fd);
	return rc;
}

bool
item_cached(struct ds_data *d, uint64_t i, uint64_t word,
    struct ds_item *item)
{
	const void *p = keep_find(&d->keep, i, item_generation(word));

	if (p != NULL)
		*item = (struct ds_item){ p,
		    (size_t)d->index.index->items[i].key.size, NULL };
	else if (open_cached(d, i, word, item) < 0)
		return false;
	if (is_chosen(d) && !is_sound(d, i, word, item)) {
		ds_put(d, item);
		return false;
	}
	data_count(d, COUNT_HITS, 1);
	data_count(d, COUNT_HIT_BYTES, item->len);
	return true;
}

/*--- the job's -----------------------------------------------------------*/

static int
get_bytes(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err)
{
	const struct index *x = d->index.index;
	uint64_t word;

	if (x == NULL)
		return fill_alone(d, i, item, err);
	/* acquire: pairs with the hub's release (index.h, rule 1) */
	word = atomic_load_explicit(&x->items[i].word, memory_order_acquire);
	if (item_state(word) != ITEM_READY)
		return fill_shared(d, i, item, err);
	return item_cached(d, i, word, item) ? 0 : fill_alone(d, i, item, err);
}

int
ds_get(struct ds_data *data, uint64_t i, struct ds_item *item,
    struct ds_err *err)
{
	must_be(data, DATA_MAGIC);
	if (i >= data->nr_items)
		return err_fail(err, -ENOENT, "data set %s: no item %" PRIu64
		    ": it has %" PRIu64, source_uri(data->source), i,
		    data->nr_items);
	/* Its listing says all there is of an empty one. */
	if (data_key(data, i)->size == 0) {
		*item = (struct ds_item){ "", 0, NULL };
		data_count(data, data->index.index != NULL ? COUNT_HITS :
		    COUNT_MISSES, 1);
		return 0;
	}
	return get_bytes(data, i, item, err);
}

void
ds_put(struct ds_data *data, struct ds_item *item)
{
	must_be(data, DATA_MAGIC);
	free(item->priv);
	*item = (struct ds_item){ NULL, 0, NULL };
}
