/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c: making the listing of a data set.  Runs in clients.
 *
 *  1. Items and names are kept as they came; only a small array is sorted.
 *  2. All names begin with the same `common' bytes.
 */

#include <config.h>

#include "cache/listing.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"

static_assert(sizeof(struct listing_head) == 32, "the layout is shared");
static_assert(sizeof(struct listing_item) == 64, "the layout is shared");

#define MAKER_MAGIC	0x4c53544du	/* "LSTM" */
#define FIRST_ITEMS	1024u
#define FIRST_BYTES	(64u << 10)

struct listing_maker {
	unsigned	magic;
	struct listing_item *items;
	char		*names;
	uint64_t	nr_items, max_items;
	uint64_t	names_bytes, max_bytes;
	uint64_t	total_bytes;
	size_t		common;
};

static bool
has_dotdot(const char *name, size_t len)
{
	const char *at = name, *end = name + len;

	while ((at = memmem(at, (size_t)(end - at), "..", 2)) != NULL) {
		if ((at == name || at[-1] == '/') &&
		    (at + 2 == end || at[2] == '/'))
			return true;
		at++;
	}
	return false;
}

const char *
listing_name_fault(const char *name, size_t len)
{
	if (len == 0)
		return "an empty name";
	if (len > LISTING_NAME_MAX)
		return "a name that is too long";
	if (memchr(name, '\0', len) != NULL)
		return "a zero byte in the name";
	if (name[0] == '/')
		return "an absolute name";
	if (has_dotdot(name, len))
		return "a name with `..' in it";
	return NULL;
}

int
listing_new(struct listing_maker **out, struct ds_err *err)
{
	struct listing_maker *m = calloc(1, sizeof *m);

	if (m == NULL)
		return err_fail(err, -ENOMEM, "listing: no memory");
	m->magic = MAKER_MAGIC;
	*out = m;
	return 0;
}

void
listing_free(struct listing_maker **mp)
{
	struct listing_maker *m = *mp;

	*mp = NULL;
	if (m == NULL)
		return;
	must_be(m, MAKER_MAGIC);
	m->magic = 0;
	free(m->items);
	free(m->names);
	free(m);
}

/* Room for `more' elements; twice as many each time. */
static int
reserve(void **array, uint64_t *max, uint64_t used, uint64_t more,
    size_t element, uint64_t first)
{
	uint64_t want = *max > 0 ? *max : first;
	void *p;

	if (more <= *max - used)
		return 0;
	while (want - used < more)
		want *= 2;
	if (want > SIZE_MAX / element)
		return -ENOMEM;
	p = realloc(*array, (size_t)want * element);
	if (p == NULL)
		return -ENOMEM;
	*array = p;
	*max = want;
	return 0;
}

static int
reserve_item(struct listing_maker *m, size_t len)
{
	void *items = m->items, *names = m->names;
	int rc;

	rc = reserve(&items, &m->max_items, m->nr_items, 1,
	    sizeof *m->items, FIRST_ITEMS);
	m->items = items;
	if (rc < 0)
		return rc;
	rc = reserve(&names, &m->max_bytes, m->names_bytes, len + 1, 1,
	    FIRST_BYTES);
	m->names = names;
	return rc;
}

static const char *
fault_of(const struct listing_maker *m, const char *name, size_t len,
    const struct listing_item *key)
{
	const char *fault = listing_name_fault(name, len);

	if (fault != NULL)
		return fault;
	if (key->size > LISTING_SIZE_MAX)
		return "too large";
	if (key->offset > (uint64_t)INT64_MAX - key->size)
		return "an impossible offset";
	if (key->size > UINT64_MAX - m->total_bytes)
		return "the sum of all sizes overflows";
	if (key->shard_len != 0 && (key->shard_len >= len - 1 ||
	    name[key->shard_len] != '/'))
		return "no member of a shard";
	return NULL;
}

static size_t
common_length(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t len = a_len < b_len ? a_len : b_len, i = 0;

	while (i < len && a[i] == b[i])
		i++;
	return i;
}

int
listing_add(struct listing_maker *m, const char *name, size_t len,
    const struct listing_item *key, struct ds_err *err)
{
	struct listing_item *item;
	const char *fault;

	must_be(m, MAKER_MAGIC);
	fault = fault_of(m, name, len, key);
	if (fault != NULL) {
		err_fail(err, -EINVAL, "listing: %.*s",
		    (int)(len > LISTING_NAME_MAX ? LISTING_NAME_MAX : len), name);
		return err_hint(err, -EINVAL, "%s", fault);
	}
	if (m->nr_items == LISTING_ITEMS_MAX)
		return err_fail(err, -E2BIG, "listing: more than %llu items",
		    (unsigned long long)LISTING_ITEMS_MAX);
	if (reserve_item(m, len) < 0)
		return err_fail(err, -ENOMEM,
		    "listing: no memory for %llu items",
		    (unsigned long long)m->nr_items + 1);
	item = &m->items[m->nr_items];
	*item = *key;
	item->name_off = m->names_bytes;
	item->name_len = (uint32_t)len;
	memcpy(m->names + item->name_off, name, len);
	m->names[item->name_off + len] = '\0';
	m->common = common_length(m->names, m->nr_items == 0 ? len : m->common,
	    name, len);
	m->nr_items++;
	m->names_bytes += len + 1;
	m->total_bytes += key->size;
	return 0;
}

/*--- sorting -------------------------------------------------------------*/

/* Most comparisons end with the prefix: the first eight bytes behind those
 * that all names share. */
struct place {
	uint64_t prefix;
	uint64_t item;
};

static uint64_t
prefix_of(const struct listing_maker *m, const struct listing_item *item)
{
	const char *at = m->names + item->name_off + m->common;
	size_t len = item->name_len - m->common;
	uint64_t prefix = 0;

	for (size_t i = 0; i < sizeof prefix; i++)
		prefix = prefix << 8 | (i < len ? (uint8_t)at[i] : 0);
	return prefix;
}

static int
compare_places(const void *a, const void *b, void *arg)
{
	const struct listing_maker *m = arg;
	const struct place *p = a, *q = b;
	const struct listing_item *x, *y;

	if (p->prefix != q->prefix)
		return p->prefix < q->prefix ? -1 : 1;
	x = &m->items[p->item];
	y = &m->items[q->item];
	/* No name has a zero byte but its end: the shorter comes first. */
	return strcmp(m->names + x->name_off + m->common,
	    m->names + y->name_off + m->common);
}

/* Members of a shard may well have one name; then their places help. */
static int
refuse_twice(const struct listing_maker *m, const struct place *p,
    struct ds_err *err)
{
	const struct listing_item *a = &m->items[p[0].item];
	const struct listing_item *b = &m->items[p[1].item];

	err_fail(err, -EEXIST, "listing: %s", m->names + a->name_off);
	if (a->shard_len == 0)
		return err_hint(err, -EEXIST, "there twice");
	return err_hint(err, -EEXIST, "there twice, at bytes %llu and %llu",
	    (unsigned long long)(a->offset < b->offset ? a : b)->offset,
	    (unsigned long long)(a->offset < b->offset ? b : a)->offset);
}

static int
sort_places(struct listing_maker *m, struct place **out, struct ds_err *err)
{
	size_t nr = (size_t)m->nr_items;
	struct place *places;

	places = calloc(nr > 0 ? nr : 1, sizeof *places);
	if (places == NULL)
		return err_fail(err, -ENOMEM, "listing: no memory to sort");
	for (size_t i = 0; i < nr; i++) {
		places[i].prefix = prefix_of(m, &m->items[i]);
		places[i].item = i;
	}
	qsort_r(places, nr, sizeof *places, compare_places, m);
	for (size_t i = 1; i < nr; i++) {
		if (compare_places(&places[i - 1], &places[i], m) == 0) {
			refuse_twice(m, &places[i - 1], err);
			free(places);
			return -EEXIST;
		}
	}
	*out = places;
	return 0;
}

/*--- sealing -------------------------------------------------------------*/

static size_t
size_of(const struct listing_maker *m)
{
	return sizeof(struct listing_head) +
	    (size_t)m->nr_items * sizeof(struct listing_item) +
	    (size_t)m->names_bytes;
}

static void
write_listing(const struct listing_maker *m, const struct place *places,
    void *base)
{
	struct listing_head *head = base;
	struct listing_item *items = (void *)(head + 1);
	char *names = (char *)(items + m->nr_items);
	uint64_t off = 0;

	*head = (struct listing_head){
		.magic = LISTING_MAGIC, .item_size = sizeof *items,
		.nr_items = m->nr_items, .names_bytes = m->names_bytes,
		.total_bytes = m->total_bytes,
	};
	for (uint64_t i = 0; i < m->nr_items; i++) {
		const struct listing_item *from = &m->items[places[i].item];
		size_t len = (size_t)from->name_len + 1;

		items[i] = *from;
		items[i].name_off = off;
		memcpy(names + off, m->names + from->name_off, len);
		off += len;
	}
}

int
listing_seal(struct listing_maker *m, struct ds_err *err)
{
	struct place *places;
	void *base;
	int fd, rc;

	must_be(m, MAKER_MAGIC);
	rc = sort_places(m, &places, err);
	if (rc < 0)
		return rc;
	fd = memfd_new("destall listing", size_of(m), err);
	if (fd < 0) {
		rc = fd;
		goto free_places;
	}
	rc = memfd_map_writer(fd, size_of(m), &base, err);
	if (rc < 0)
		goto close_fd;
	write_listing(m, places, base);
	munmap(base, size_of(m));
	rc = memfd_seal_all(fd, err);
	if (rc < 0)
		goto close_fd;
	free(places);
	return fd;
close_fd:
	io_close(&fd);
free_places:
	free(places);
	return rc;
}
