/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c: mappings of cached items, kept from one get to the next.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "cache/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>

#include "base/io.h"
#include "base/parse.h"

#define MAPS_MAX_FILE	"/proc/sys/vm/max_map_count"
#define MAPS_MAX	UINT64_C(65530)		/* where that cannot be read */

/* Of the process, whatever data sets it has open: the limit is one, too. */
static _Atomic uint64_t nr_all, limit;

void
keep_set_limit(uint64_t nr_maps)
{
	atomic_store_explicit(&limit, nr_maps, memory_order_relaxed);
}

/* Relaxed: threads that come first together all find the same. */
static uint64_t
find_limit(void)
{
	uint64_t n = atomic_load_explicit(&limit, memory_order_relaxed);
	char text[32];

	if (n > 0)
		return n;
	if (io_read_text(AT_FDCWD, MAPS_MAX_FILE, text, sizeof text) < 0 ||
	    parse_count(text, 2, UINT64_MAX, &n, NULL) < 0)
		n = MAPS_MAX;
	atomic_store_explicit(&limit, n / 2, memory_order_relaxed);
	return n / 2;
}

int
keep_init(struct keep *k, uint64_t nr_items, struct ds_err *err)
{
	size_t len;
	void *p;

	*k = (struct keep){ .nr_items = nr_items };
	if (nr_items == 0)
		return 0;
	if (__builtin_mul_overflow(nr_items, sizeof *k->maps, &len))
		return err_fail(err, -EOVERFLOW, "cache: %" PRIu64
		    " items are too many", nr_items);
	/* Pages that are not used are never there. */
	p = mmap(NULL, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return err_errno(err, "cache: cannot have a table of %" PRIu64
		    " items", nr_items);
	k->maps = p;
	return 0;
}

void
keep_fini(struct keep *k, keep_size_f *size, const void *arg)
{
	uint64_t left = atomic_load_explicit(&k->nr_kept, memory_order_relaxed);

	if (k->maps == NULL)
		return;
	atomic_fetch_sub_explicit(&nr_all, left, memory_order_relaxed);
	for (uint64_t i = 0; i < k->nr_items && left > 0; i++) {
		uintptr_t e = atomic_load_explicit(&k->maps[i],
		    memory_order_relaxed);

		if (e == 0)
			continue;
		munmap((void *)(e & ~KEEP_GENERATION), (size_t)size(arg, i));
		left--;
	}
	munmap(k->maps, (size_t)k->nr_items * sizeof *k->maps);
	k->maps = NULL;
}

/* One more of the process's mappings, if it may have one. */
static int
take_one(void)
{
	uint64_t max = find_limit();

	/* relaxed: a count, which guards nothing */
	if (atomic_fetch_add_explicit(&nr_all, 1, memory_order_relaxed) < max)
		return 0;
	atomic_fetch_sub_explicit(&nr_all, 1, memory_order_relaxed);
	return -ENOMEM;
}

static void
give_back(void *p, size_t len)
{
	if (p != MAP_FAILED)
		munmap(p, len);
	atomic_fetch_sub_explicit(&nr_all, 1, memory_order_relaxed);
}

const void *
keep_map(struct keep *k, uint64_t i, uint32_t generation, int fd, size_t len)
{
	uintptr_t none = 0, entry;
	void *p;

	/* Of another generation: it stays (rule 1), this one is read. */
	if (atomic_load_explicit(&k->maps[i], memory_order_relaxed) != 0)
		return keep_find(k, i, generation);
	if (take_one() < 0)
		return NULL;
	/* Not MAP_POPULATE: measured no faster, and not all jobs read all. */
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || madvise(p, len, MADV_DONTDUMP) != 0) {
		give_back(p, len);
		return NULL;
	}
	entry = (uintptr_t)p | (generation & KEEP_GENERATION);
	/* release: pairs with the acquire in keep_find() */
	if (!atomic_compare_exchange_strong_explicit(&k->maps[i], &none, entry,
	    memory_order_release, memory_order_relaxed)) {
		give_back(p, len);
		return keep_find(k, i, generation);
	}
	atomic_fetch_add_explicit(&k->nr_kept, 1, memory_order_relaxed);
	return p;
}
