/* SPDX-License-Identifier: Apache-2.0
 *
 * listing_check.c: reading a listing that came from elsewhere.  Runs in hub
 * and clients.
 *
 *  1. It is sealed against all writers before it is mapped: what was checked
 *     stays as it was.
 *  2. Nothing is read outside the mapping, whatever the items say.
 */

#include <config.h>

#include "cache/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memfd.h"
#include "base/must.h"

int
listing_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int c = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return c != 0 ? c : (a_len > b_len) - (a_len < b_len);
}

/* Of a whole listing; both counts are at most what fits into 64 bits. */
static bool
is_size_right(const struct listing_head *h, size_t len)
{
	uint64_t left;

	if (h->nr_items > LISTING_ITEMS_MAX ||
	    h->names_bytes > h->nr_items * (LISTING_NAME_MAX + 1))
		return false;
	left = h->nr_items * sizeof(struct listing_item) + h->names_bytes;
	return left == len - sizeof *h;
}

static int
check_head(const struct listing_head *h, size_t len, struct ds_err *err)
{
	if (h->magic != LISTING_MAGIC)
		return err_fail(err, -EBADMSG, "listing: not one of destall");
	if (h->item_size != sizeof(struct listing_item))
		return err_fail(err, -EBADMSG, "listing: items of %u bytes "
		    "where this build has %zu: hub and job run different "
		    "versions of destall", h->item_size,
		    sizeof(struct listing_item));
	if (!is_size_right(h, len))
		return err_fail(err, -EBADMSG, "listing: %zu bytes are not "
		    "%llu items and %llu bytes of names", len,
		    (unsigned long long)h->nr_items,
		    (unsigned long long)h->names_bytes);
	return 0;
}

static int
check_descriptor(int fd, size_t *size, struct ds_err *err)
{
	uint64_t len;
	int rc = memfd_check(fd, &len, err);

	if (rc < 0)
		return rc;
	if ((fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE) == 0)
		return err_fail(err, -EBADMSG, "listing: it can be written");
	if (len < sizeof(struct listing_head) || len > SIZE_MAX)
		return err_fail(err, -EBADMSG, "listing: %llu bytes are none",
		    (unsigned long long)len);
	*size = (size_t)len;
	return 0;
}

int
listing_map(struct listing *l, int fd, struct ds_err *err)
{
	const struct listing_head *head;
	size_t len;
	void *base;
	int rc;

	rc = check_descriptor(fd, &len, err);
	if (rc < 0)
		return rc;
	rc = memfd_map_reader(fd, len, &base, err);
	if (rc < 0)
		return rc;
	head = base;
	rc = check_head(head, len, err);
	if (rc < 0) {
		munmap(base, len);
		return rc;
	}
	l->head = head;
	l->items = (const void *)(head + 1);
	l->names = (const char *)(l->items + head->nr_items);
	l->len = len;
	return 0;
}

void
listing_unmap(struct listing *l)
{
	if (l->head != NULL)
		munmap((void *)(uintptr_t)l->head, l->len);
	*l = (struct listing){ .head = NULL };
}

/*--- items ---------------------------------------------------------------*/

/* Is the name with its end within the names? */
static bool
is_within(const struct listing *l, const struct listing_item *item)
{
	uint64_t bytes = l->head->names_bytes;

	return item->name_len <= LISTING_NAME_MAX && item->name_off < bytes &&
	    item->name_len < bytes - item->name_off;
}

static const char *
name_fault(const struct listing *l, const struct listing_item *item)
{
	const char *name, *fault;

	if (!is_within(l, item))
		return "a name out of bounds";
	name = l->names + item->name_off;
	fault = listing_name_fault(name, item->name_len);
	if (fault != NULL)
		return fault;
	if (name[item->name_len] != '\0')
		return "a name without its end";
	if (item->shard_len != 0 && (item->shard_len >= item->name_len - 1 ||
	    name[item->shard_len] != '/'))
		return "no member of its shard";
	return NULL;
}

/* To the item before, NULL for the first: both names are sound. */
static const char *
order_fault(const struct listing *l, const struct listing_item *prev,
    const struct listing_item *item)
{
	if (prev == NULL)
		return item->name_off == 0 ? NULL : "names with a gap";
	if (item->name_off != prev->name_off + prev->name_len + 1)
		return "names with a gap";
	if (strcmp(l->names + prev->name_off, l->names + item->name_off) >= 0)
		return "not in ascending order";
	return NULL;
}

static const char *
size_fault(const struct listing_item *item, uint64_t total)
{
	if (item->size > LISTING_SIZE_MAX)
		return "too large";
	if (item->offset > (uint64_t)INT64_MAX - item->size)
		return "an impossible offset";
	if (item->size > UINT64_MAX - total)
		return "the sum of all sizes overflows";
	return NULL;
}

static int
fail_item(uint64_t i, const char *fault, struct ds_err *err)
{
	return err_fail(err, -EBADMSG, "listing: item %llu: %s",
	    (unsigned long long)i, fault);
}

/* After the last item. */
static int
check_end(const struct listing *l, uint64_t total, struct ds_err *err)
{
	const struct listing_head *h = l->head;
	const struct listing_item *last;

	if (total != h->total_bytes)
		return err_fail(err, -EBADMSG,
		    "listing: its items are %llu bytes and not %llu",
		    (unsigned long long)total,
		    (unsigned long long)h->total_bytes);
	if (h->nr_items == 0)
		return 0;
	last = &l->items[h->nr_items - 1];
	if (last->name_off + last->name_len + 1 != h->names_bytes)
		return err_fail(err, -EBADMSG, "listing: bytes after the names");
	return 0;
}

int
listing_check(const struct listing *l, uint64_t from, uint64_t to,
    uint64_t *total_bytes, struct ds_err *err)
{
	const struct listing_item *prev = NULL, *item;
	const char *fault;

	must(from <= to && to <= l->head->nr_items);
	if (from > 0) {
		prev = &l->items[from - 1];
		fault = name_fault(l, prev);
		if (fault != NULL)
			return fail_item(from - 1, fault, err);
	}
	for (uint64_t i = from; i < to; i++, prev = item) {
		item = &l->items[i];
		fault = name_fault(l, item);
		if (fault == NULL)
			fault = order_fault(l, prev, item);
		if (fault == NULL)
			fault = size_fault(item, *total_bytes);
		if (fault != NULL)
			return fail_item(i, fault, err);
		*total_bytes += item->size;
	}
	return to == l->head->nr_items ? check_end(l, *total_bytes, err) : 0;
}
