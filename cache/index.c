/* SPDX-License-Identifier: Apache-2.0
 *
 * index.c: the index of a data set.  Runs in hub and clients.
 *
 * What a client reads of it is input: how many items, slots and bytes of names
 * there are is checked against the size of the segment once, and from then on
 * taken from struct index_map, never from the segment again.
 */

#include <config.h>

#include "cache/index.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/futex.h"

#define INDEX_MAGIC	0x44534958u	/* "DSIX" */

static_assert(sizeof(struct listing_item) == 64 &&
    sizeof(struct index_item) == 104 && sizeof(struct index) == 96,
    "the layout is shared between processes");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
    "a lock would be in one process only");

const struct segment_kind index_kind = { "destall index", INDEX_MAGIC, 3 };

uint64_t
index_slots(uint64_t nr_items)
{
	uint64_t slots = nr_items > 0 ? 2 : 0;

	while (slots < 2 * nr_items)
		slots *= 2;
	return slots;
}

size_t
index_size(uint64_t nr_items, uint64_t nr_slots, uint64_t names_bytes)
{
	size_t items, slots, size;

	if (__builtin_mul_overflow(nr_items, sizeof(struct index_item),
	    &items) ||
	    __builtin_mul_overflow(nr_slots, 2 * sizeof(uint32_t), &slots) ||
	    __builtin_add_overflow(items, slots, &size) ||
	    __builtin_add_overflow(size, sizeof(struct index), &size) ||
	    __builtin_add_overflow(size, names_bytes, &size))
		return SIZE_MAX;
	return size;
}

/*--- attaching -----------------------------------------------------------*/

/* Is everything within the segment that says so? */
static int
check_parts(const struct index_map *m, uint64_t names_bytes,
    struct ds_err *err)
{
	if (m->nr_items <= LISTING_ITEMS_MAX &&
	    (m->nr_slots == 0 || m->nr_slots == index_slots(m->nr_items)) &&
	    index_size(m->nr_items, m->nr_slots, names_bytes) == m->seg.len)
		return 0;
	return err_fail(err, -EBADMSG, "%s: %" PRIu64 " items, %" PRIu64
	    " slots and %" PRIu64 " bytes of names do not make %zu bytes",
	    index_kind.name, m->nr_items, m->nr_slots, names_bytes, m->seg.len);
}

int
index_attach(struct index_map *out, int fd, struct ds_err *err)
{
	struct index_map m = { 0 };
	int rc;

	rc = segment_attach(&m.seg, &index_kind, fd, err);
	if (rc < 0)
		return rc;
	m.index = m.seg.base;
	if (m.seg.len < sizeof *m.index) {
		rc = err_fail(err, -EBADMSG, "%s: %zu bytes are too few",
		    index_kind.name, m.seg.len);
		goto detach;
	}
	m.nr_items = m.index->nr_items;
	m.nr_slots = m.index->nr_slots;
	rc = check_parts(&m, m.index->names_bytes, err);
	if (rc < 0)
		goto detach;
	m.by_file = (const _Atomic uint32_t *)(m.index->items + m.nr_items);
	m.by_copy = m.by_file + m.nr_slots;
	m.names = (const char *)(m.by_copy + m.nr_slots);
	*out = m;
	return 0;
detach:
	m.seg.fd = -1;		/* still the caller's */
	segment_detach(&m.seg);
	return rc;
}

void
index_detach(struct index_map *m)
{
	segment_detach(&m->seg);
	m->index = NULL;
	m->by_file = m->by_copy = NULL;
	m->names = NULL;
	m->nr_items = m->nr_slots = 0;
}

/*--- looking up ----------------------------------------------------------*/

static size_t
names_of(const struct index_map *m)
{
	return m->seg.len - (size_t)(m->names - (const char *)m->index);
}

/* Within the names, and ended by a zero byte. */
static const char *
name_at(const struct index_map *m, uint64_t i, size_t *len)
{
	const struct listing_item *key = &m->index->items[i].key;
	uint64_t off = key->name_off;
	size_t n = key->name_len, bytes = names_of(m);

	if (n == 0 || n > LISTING_NAME_MAX || n >= bytes || off >= bytes - n)
		return NULL;
	if (m->names[off + n] != '\0')
		return NULL;
	*len = n;
	return m->names + off;
}

const char *
index_name(const struct index_map *m, uint64_t i, size_t *len)
{
	const char *name;

	if (i >= m->nr_items)
		return NULL;
	name = name_at(m, i, len);
	if (name != NULL && memchr(name, '\0', *len) != NULL)
		return NULL;
	return name;
}

int64_t
index_find(const struct index_map *m, const char *name, size_t len)
{
	uint64_t low = 0, high = m->nr_items;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		size_t there_len;
		const char *there = name_at(m, mid, &there_len);
		int c;

		if (there == NULL)
			return -ENOENT;
		c = listing_compare(name, len, there, there_len);
		if (c == 0)
			return (int64_t)mid;
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -ENOENT;
}

/* By hand: open() may be called in a handler of signals, and is to be quick. */
void
index_file_name(char name[STORE_NAME_MAX], uint64_t file)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++)
		name[i] = digits[file >> (60 - 4 * i) & 15];
	name[16] = '\0';
}

/*--- waiting -------------------------------------------------------------*/

int
index_wait(const struct index *x, uint32_t seen, uint64_t deadline_ns)
{
	return futex_wait(&x->wake, seen, deadline_ns);
}

void
index_wake(struct index *x)
{
	futex_wake(&x->wake);
}
