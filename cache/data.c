/* SPDX-License-Identifier: Apache-2.0
 *
 * data.c: an open data set, as a job has it.  Runs in clients, in any of their
 * threads.
 */

#include <config.h>

#include "cache/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/must.h"
#include "cache/ask.h"
#include "hub/api.h"

int
ds_data_open(struct ds_data **out, struct ds_hub *hub, const char *uri,
    const char *budget, struct ds_err *err)
{
	int rc;

	if (hub == NULL)
		return data_open_on(out, NULL, uri, budget, err);
	rc = data_open_on(out, hub_api_link(hub), uri, budget, err);
	if (rc == 0) {
		hub_api_keep(hub);
		(*out)->hub = hub;
	}
	return rc;
}

/*--- closing -------------------------------------------------------------*/

static uint64_t
size_of(const void *data, uint64_t i)
{
	return data_key(data, i)->size;
}

/* In a forked child its address may be anything's by now. */
static void
drop_page(struct ds_data *d)
{
	if (d->hubs_page_len == 0)
		free(d->page);
	else if (data_is_ours(d))
		munmap(d->page, d->hubs_page_len);
}

void
ds_data_close(struct ds_data **data)
{
	struct ds_data *d = *data;

	if (d == NULL)
		return;
	must_be(d, DATA_MAGIC);
	*data = NULL;
	if (d->index.index != NULL) {
		ask_close(d->link, d->set);
		keep_fini(&d->keep, size_of, d);
		view_fini(&d->view);
		index_detach(&d->index);
	}
	if (d->listing.head != NULL)
		listing_unmap(&d->listing);
	drop_page(d);
	source_close(&d->source);
	hub_api_drop(&d->hub);
	d->magic = 0;
	free(d);
}

/*--- items ---------------------------------------------------------------*/

const struct listing_item *
data_key(const struct ds_data *d, uint64_t i)
{
	return d->index.index != NULL ? &d->index.index->items[i].key :
	    &d->listing.items[i];
}

const char *
data_name(const struct ds_data *d, uint64_t i)
{
	size_t len;

	return d->index.index != NULL ? index_name(&d->index, i, &len) :
	    listing_name(&d->listing, i);
}

uint64_t
ds_data_count(const struct ds_data *data)
{
	must_be(data, DATA_MAGIC);
	return data->nr_items;
}

int
ds_data_info(const struct ds_data *data, uint64_t i, struct ds_info *info)
{
	const char *name;

	must_be(data, DATA_MAGIC);
	if (i >= data->nr_items)
		return -ENOENT;
	name = data_name(data, i);
	if (name == NULL)
		return -EBADMSG;
	*info = (struct ds_info){ name, data_key(data, i)->size };
	return 0;
}

static int64_t
find_listed(const struct listing *l, const char *name)
{
	uint64_t low = 0, high = l->head->nr_items;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		int order = strcmp(name, listing_name(l, mid));

		if (order == 0)
			return (int64_t)mid;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -ENOENT;
}

int64_t
ds_data_find(const struct ds_data *data, const char *name)
{
	must_be(data, DATA_MAGIC);
	return data->index.index != NULL ?
	    index_find(&data->index, name, strlen(name)) :
	    find_listed(&data->listing, name);
}

bool
data_is_ready(const struct ds_data *d, uint64_t i)
{
	const struct index *x = d->index.index;

	/* relaxed: a guess; the get looks again */
	return x != NULL && item_state(atomic_load_explicit(&x->items[i].word,
	    memory_order_relaxed)) == ITEM_READY;
}

/*--- epochs and counts ---------------------------------------------------*/

void
ds_data_epoch(struct ds_data *data)
{
	must_be(data, DATA_MAGIC);
	/* relaxed: a thread that gets meanwhile is of either epoch */
	atomic_store_explicit(&data->epoch_ns, clock_now_ns(),
	    memory_order_relaxed);
}

static uint64_t
count_of(const struct ds_data *d, enum cache_count what)
{
	/* relaxed: no count speaks for anything else */
	return atomic_load_explicit(&d->page->count[what],
	    memory_order_relaxed);
}

void
ds_data_counts(const struct ds_data *data, struct ds_counts *counts)
{
	must_be(data, DATA_MAGIC);
	*counts = (struct ds_counts){ 0 };
	if (!data_is_ours(data))
		return;
	counts->hits = count_of(data, COUNT_HITS);
	counts->misses = count_of(data, COUNT_MISSES);
	counts->storage_reads = count_of(data, COUNT_STORAGE_READS);
	counts->storage_bytes = count_of(data, COUNT_STORAGE_BYTES);
	counts->failures = count_of(data, COUNT_FAILURES);
	counts->cached = data->index.index != NULL && link_alive(data->link);
}

const char *
ds_data_uncached(const struct ds_data *data)
{
	must_be(data, DATA_MAGIC);
	if (data->link == NULL)
		return "no hub was given";
	if (!link_mine(data->link))
		return "opened before the fork: a child opens anew";
	if (data->index.index == NULL)
		return data->no_cache.text;
	return link_alive(data->link) ? NULL : "the hub is gone";
}
