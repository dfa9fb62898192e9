/* SPDX-License-Identifier: Apache-2.0
 *
 * index.c: the index of a data set.  Runs in hub and clients.
 *
 * What a client reads of it is input: how many items and bytes of names there
 * are is checked against the size of the segment once, and from then on taken
 * from this process's own pointers, never from the segment again.
 */

#include <config.h>

#include "cache/index.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define INDEX_MAGIC	0x44534958u	/* "DSIX" */

static_assert(sizeof(struct listing_item) == 56 &&
    sizeof(struct index_item) == 88 && sizeof(struct index) == 72,
    "the layout is shared between processes");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
    "a lock would be in one process only");

const struct segment_kind index_kind = { "destall index", INDEX_MAGIC, 1 };

size_t
index_size(uint64_t nr_items, uint64_t names_bytes)
{
	size_t size;

	if (__builtin_mul_overflow(nr_items, sizeof(struct index_item), &size) ||
	    __builtin_add_overflow(size, sizeof(struct index), &size) ||
	    __builtin_add_overflow(size, names_bytes, &size))
		return SIZE_MAX;
	return size;
}

/*--- attaching -----------------------------------------------------------*/

int
index_attach(struct index_map *m, int fd, struct ds_err *err)
{
	struct segment seg;
	const struct index *x;
	uint64_t nr_items, names_bytes;
	int rc;

	rc = segment_attach(&seg, &index_kind, fd, err);
	if (rc < 0)
		return rc;
	x = seg.base;
	if (seg.len < sizeof *x) {
		rc = err_fail(err, -EBADMSG, "%s: %zu bytes are too few",
		    index_kind.name, seg.len);
		goto detach;
	}
	nr_items = x->nr_items;
	names_bytes = x->names_bytes;
	if (nr_items > LISTING_ITEMS_MAX ||
	    index_size(nr_items, names_bytes) != seg.len) {
		rc = err_fail(err, -EBADMSG, "%s: %" PRIu64 " items and %"
		    PRIu64 " bytes of names do not make %zu bytes",
		    index_kind.name, nr_items, names_bytes, seg.len);
		goto detach;
	}
	*m = (struct index_map){
		.seg = seg,
		.index = x,
		.names = (const char *)(x->items + nr_items),
	};
	return 0;
detach:
	seg.fd = -1;		/* still the caller's */
	segment_detach(&seg);
	return rc;
}

void
index_detach(struct index_map *m)
{
	segment_detach(&m->seg);
	m->index = NULL;
	m->names = NULL;
}

/*--- looking up ----------------------------------------------------------*/

static uint64_t
items_of(const struct index_map *m)
{
	return (uint64_t)((const struct index_item *)m->names -
	    m->index->items);
}

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

	if (i >= items_of(m))
		return NULL;
	name = name_at(m, i, len);
	if (name != NULL && memchr(name, '\0', *len) != NULL)
		return NULL;
	return name;
}

int64_t
index_find(const struct index_map *m, const char *name, size_t len)
{
	uint64_t low = 0, high = items_of(m);

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

void
index_file_name(char name[STORE_NAME_MAX], uint64_t file)
{
	(void)snprintf(name, STORE_NAME_MAX, "%016" PRIx64, file);
}

/*--- waiting -------------------------------------------------------------*/

/* Not private: hub and clients have maps of their own, a read-only one will
 * do to wait. */
static int
futex_wait(const _Atomic uint32_t *word, uint32_t seen, uint64_t left_ns)
{
	struct timespec left = {
		.tv_sec = (time_t)(left_ns / NS_PER_S),
		.tv_nsec = (long)(left_ns % NS_PER_S),
	};

	if (syscall(SYS_futex, word, FUTEX_WAIT, seen, &left, NULL, 0) == 0)
		return 0;
	return -errno;
}

int
index_wait(const struct index *x, uint32_t seen, uint64_t deadline_ns)
{
	uint64_t now;
	int rc;

	for (;;) {
		/* acquire: pairs with the release in index_wake() */
		if (atomic_load_explicit(&x->wake, memory_order_acquire) != seen)
			return 0;
		now = clock_now_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		rc = futex_wait(&x->wake, seen, deadline_ns - now);
		if (rc < 0 && rc != -EINTR && rc != -EAGAIN && rc != -ETIMEDOUT)
			return rc;
	}
}

void
index_wake(struct index *x)
{
	/* release: pairs with the acquire of those who load wake before they
	 * look; what changed comes first */
	atomic_fetch_add_explicit(&x->wake, 1, memory_order_release);
	syscall(SYS_futex, &x->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
