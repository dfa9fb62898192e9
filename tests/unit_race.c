/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_race.c: the protocol of an index as threads over one mapping: one hub,
 * several clients.  ThreadSanitizer sees nothing across processes or mappings,
 * but it sees this; in other builds the checks of the clients are what counts.
 *
 * What a READY word speaks for is a file that was written before.  Here it is
 * a plain number in an array, so that a missing order is a data race.  As long
 * as a word is READY its item is found by the inode of that file.
 */

#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "cache/index.h"
#include "cache/minio.h"
#include "cache/page.h"
#include "tests/harness/unit.h"

#define ITEMS	4u
#define CLIENTS	4u
#define ROUNDS	2000u
#define FILES	(ROUNDS * ITEMS + 1)
#define WAIT_NS	(UINT64_C(60) * NS_PER_S)
#define INODE	1000u		/* of a file, and its number */

static struct index *index_shared;
static struct index_map map;			/* as a client has it */
static uint64_t bytes_of[FILES];		/* plain, on purpose */
static struct page page;
static struct page_copy copy;

struct reader {
	pthread_t thread;
	uint64_t generation[ITEMS];	/* of the last that was READY */
	uint64_t read, waited;
};

static uint64_t
right_bytes(uint64_t file)
{
	return file * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/*--- the hub -------------------------------------------------------------*/

struct hub {
	struct minio_set set;
	struct minio_item item[ITEMS];
	uint64_t files;
};

/* Release and acquire also on the fields, so that who sees a new one sees that
 * the old word is gone (read_item).  The bytes come after them: it is the word
 * alone that speaks for those. */
static void
publish(struct hub *h, unsigned i, uint32_t generation)
{
	struct index_item *it = &index_shared->items[i];
	uint64_t file = ++h->files;

	must(file < FILES);
	atomic_store_explicit(&it->file, file, memory_order_release);
	atomic_store_explicit(&it->crc32c, (uint32_t)~file,
	    memory_order_release);
	bytes_of[file] = right_bytes(file);
	must(index_put_copy(index_shared, i, INODE + file));
	must(minio_publish(&h->set, h->item[i], 1, generation) == 0);
}

/* Leased, then lost once in a while, then published, then corrupt. */
static void
turn(struct hub *h, unsigned i, unsigned round)
{
	uint64_t word = atomic_load_explicit(h->item[i].word,
	    memory_order_relaxed);

	if (item_state(word) == ITEM_READY) {
		minio_corrupt(&h->set, h->item[i]);
		index_take_copy(index_shared, i);
	}
	must(minio_ask(&h->set, h->item[i], 1, true) == MINIO_GRANT);
	if (round % 3 == 1) {
		minio_revoke(&h->set, h->item[i]);
		index_wake(index_shared);
		must(minio_ask(&h->set, h->item[i], 1, false) == MINIO_GRANT);
	}
	word = atomic_load_explicit(h->item[i].word, memory_order_relaxed);
	publish(h, i, item_generation(word));
	index_wake(index_shared);
}

static void *
run_hub(void *arg)
{
	struct hub *h = arg;
	struct ds_err err;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < ITEMS; i++)
			turn(h, i, round);
		must(page_copy(&page, &copy, &err) == 0);
	}
	/* release: pairs with the acquire in run_reader() */
	atomic_store_explicit(&index_shared->closed, 1, memory_order_release);
	index_wake(index_shared);
	minio_check_set(&h->set, h->item, ITEMS);
	return NULL;
}

/*--- clients -------------------------------------------------------------*/

/* True if it was READY and stayed so while its fields were read. */
static bool
read_item(struct reader *r, unsigned i)
{
	const struct index_item *it = &index_shared->items[i];
	uint64_t word, file;
	int64_t found;
	uint32_t crc;

	/* acquire: pairs with the release in minio.c */
	word = atomic_load_explicit(&it->word, memory_order_acquire);
	if (item_state(word) != ITEM_READY)
		return false;
	file = atomic_load_explicit(&it->file, memory_order_acquire);
	crc = atomic_load_explicit(&it->crc32c, memory_order_acquire);
	found = index_find_copy(&map, INODE + file);
	if (atomic_load_explicit(&it->word, memory_order_relaxed) != word)
		return false;
	must(file > 0 && file < FILES && crc == (uint32_t)~file);
	must(found == i);
	must(bytes_of[file] == right_bytes(file));
	must(item_generation(word) >= r->generation[i]);
	r->generation[i] = item_generation(word);
	r->read++;
	page_count(&page, COUNT_HITS, 1);
	page_fetched(&page, file);
	return true;
}

static void *
run_reader(void *arg)
{
	struct reader *r = arg;

	for (unsigned n = 0;; n++) {
		/* acquire, before it looks: pairs with index_wake() */
		uint32_t seen = atomic_load_explicit(&index_shared->wake,
		    memory_order_acquire);

		if (atomic_load_explicit(&index_shared->closed,
		    memory_order_acquire))
			break;
		if (read_item(r, n % ITEMS))
			continue;
		/* The hub always goes on, so this ends by a wake. */
		must(index_wait(index_shared, seen,
		    clock_now_ns() + WAIT_NS) == 0);
		r->waited++;
	}
	for (unsigned i = 0; i < ITEMS; i++)
		must(read_item(r, i));
	return NULL;
}

static void
make_index(void)
{
	uint64_t nr_slots = index_slots(ITEMS);

	index_shared = calloc(1, index_size(ITEMS, nr_slots, 0));
	assert_non_null(index_shared);
	index_shared->nr_items = ITEMS;
	index_shared->nr_slots = nr_slots;
	map = (struct index_map){
		.index = index_shared, .nr_items = ITEMS, .nr_slots = nr_slots,
		.by_file = index_by_file(index_shared),
		.by_copy = index_by_copy(index_shared),
	};
}

static void
one_hub_and_clients(void **state)
{
	struct reader readers[CLIENTS] = { 0 };
	struct hub hub = { .files = 0 };
	struct ds_err err;
	pthread_t thread;
	uint64_t read = 0;

	(void)state;
	make_index();
	for (unsigned i = 0; i < ITEMS; i++)
		hub.item[i] = (struct minio_item){
			&index_shared->items[i].word, 100
		};
	page_copy_init(&copy);
	minio_join(&hub.set, MINIO_NO_CAP);
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_int_equal(pthread_create(&readers[i].thread, NULL,
		    run_reader, &readers[i]), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_hub, &hub), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
		assert_true(readers[i].read >= ITEMS);
		read += readers[i].read;
	}
	assert_int_equal(hub.files, ROUNDS * ITEMS);
	assert_int_equal(hub.set.late, 0);
	assert_int_equal(page_copy(&page, &copy, &err), 0);
	assert_int_equal(copy.count[COUNT_HITS], read);
	assert_int_equal(copy.fetch.count, read);
	free(index_shared);
}

UNIT_MAIN(UNIT(one_hub_and_clients))
