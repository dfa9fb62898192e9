/* SPDX-License-Identifier: Apache-2.0
 *
 * minio.c: who may fetch which item, and what is admitted.  Runs in the hub
 * only, in its loop.
 *
 * The rules are those of minio.h, by their numbers.  The word of an item is the
 * whole of its state: the set only counts over words, so that minio_broken()
 * can count again.  Clients load words with acquire: every store here is a
 * release, and comes after what the caller wrote for it to speak for.
 */

#include <config.h>

#include "cache/minio.h"

#include <errno.h>
#include <stddef.h>

#include "base/must.h"
#include "cache/index.h"

/* Relaxed: the loop that calls us is the only writer. */
static uint64_t
load(struct minio_item it)
{
	return atomic_load_explicit(it.word, memory_order_relaxed);
}

static void
store(struct minio_item it, enum item_state state, uint32_t generation,
    uint32_t owner)
{
	/* release: pairs with the acquire of whoever looks an item up */
	atomic_store_explicit(it.word, item_word(state, generation, owner),
	    memory_order_release);
}

static void
store_unowned(struct minio_item it, enum item_state state)
{
	store(it, state, item_generation(load(it)), 0);
}

static void
end_lease(struct minio_set *s, struct minio_item it)
{
	must(item_state(load(it)) == ITEM_LEASED);
	must(s->leases > 0);
	s->leases--;
}

static void
give_back(struct minio_set *s, uint64_t bytes)
{
	must(s->admitted_bytes >= bytes);
	s->admitted_bytes -= bytes;
}

/* A lease ends and nothing came of it. */
static void
take_back(struct minio_set *s, struct minio_item it, enum item_state state)
{
	end_lease(s, it);
	give_back(s, it.bytes);
	store_unowned(it, state);
}

static bool
fits(const struct minio_set *s, uint64_t bytes)
{
	return bytes <= s->cap_bytes - s->admitted_bytes;
}

static void
lease(struct minio_set *s, struct minio_item it, uint32_t client)
{
	uint64_t word = load(it);

	if (item_state(word) == ITEM_FAILED) {
		must(s->failed_items > 0);
		s->failed_items--;
	}
	s->leases++;
	s->admitted_bytes += it.bytes;
	store(it, ITEM_LEASED, item_generation(word) + 1, client);
}

enum minio_answer
minio_ask(struct minio_set *s, struct minio_item it, uint32_t client,
    bool again)
{
	enum item_state state = item_state(load(it));

	if (state == ITEM_LEASED)
		return MINIO_BUSY;
	if (state == ITEM_READY || (state == ITEM_FAILED && !again))
		return MINIO_LOOK;
	if (!fits(s, it.bytes))
		s->closed = true;
	if (s->closed)
		return MINIO_CLOSED;
	lease(s, it, client);
	return MINIO_GRANT;
}

void
minio_no_room(struct minio_set *s, struct minio_item it, bool for_good)
{
	take_back(s, it, ITEM_EMPTY);
	if (for_good)
		s->closed = true;
}

bool
minio_holds(struct minio_item it, uint32_t client, uint32_t generation)
{
	return load(it) == item_word(ITEM_LEASED, generation, client);
}

int
minio_check(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation)
{
	if (minio_holds(it, client, generation))
		return 0;
	s->late++;
	return -ESTALE;
}

int
minio_publish(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation)
{
	int rc = minio_check(s, it, client, generation);

	if (rc < 0)
		return rc;
	end_lease(s, it);
	s->ready_items++;
	s->ready_bytes += it.bytes;
	store_unowned(it, ITEM_READY);
	return 0;
}

int
minio_fail(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation)
{
	if (!minio_holds(it, client, generation))
		return -ESTALE;
	take_back(s, it, ITEM_FAILED);
	s->failed_items++;
	return 0;
}

int
minio_return(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation)
{
	if (!minio_holds(it, client, generation))
		return -ESTALE;
	take_back(s, it, ITEM_EMPTY);
	return 0;
}

void
minio_revoke(struct minio_set *s, struct minio_item it)
{
	take_back(s, it, ITEM_EMPTY);
}

void
minio_corrupt(struct minio_set *s, struct minio_item it)
{
	must(item_state(load(it)) == ITEM_READY);
	must(s->ready_items > 0 && s->ready_bytes >= it.bytes);
	s->ready_items--;
	s->ready_bytes -= it.bytes;
	give_back(s, it.bytes);
	store_unowned(it, ITEM_EMPTY);
}

void
minio_adopt(struct minio_set *s, struct minio_item it)
{
	must(item_state(load(it)) == ITEM_EMPTY);
	s->ready_items++;
	s->ready_bytes += it.bytes;
	s->admitted_bytes += it.bytes;
	if (s->cap_bytes < s->admitted_bytes)
		s->cap_bytes = s->admitted_bytes;
	store_unowned(it, ITEM_READY);
}

void
minio_join(struct minio_set *s, uint64_t cap_bytes)
{
	if (s->users++ > 0)
		return;
	s->closed = false;
	s->cap_bytes = cap_bytes > s->admitted_bytes ? cap_bytes :
	    s->admitted_bytes;
}

void
minio_leave(struct minio_set *s)
{
	must(s->users > 0);
	s->users--;
}

/*--- the rules, counted again --------------------------------------------*/

static void
count_item(struct minio_set *n, struct minio_item it)
{
	switch (item_state(load(it))) {
	case ITEM_EMPTY:
		break;
	case ITEM_LEASED:
		n->leases++;
		n->admitted_bytes += it.bytes;
		break;
	case ITEM_READY:
		n->ready_items++;
		n->ready_bytes += it.bytes;
		n->admitted_bytes += it.bytes;
		break;
	case ITEM_FAILED:
		n->failed_items++;
		break;
	}
}

const char *
minio_broken(const struct minio_set *s, const struct minio_item items[],
    uint64_t nr_items)
{
	struct minio_set n = { 0 };

	for (uint64_t i = 0; i < nr_items; i++) {
		uint64_t word = load(items[i]);

		if (word >> 56 > ITEM_FAILED)
			return "an item is in no state";
		if (item_state(word) != ITEM_LEASED && item_owner(word) != 0)
			return "rule 1: an item without a lease has an owner";
		count_item(&n, items[i]);
	}
	if (n.leases != s->leases)
		return "rule 1: leases are not those of the items";
	if (s->users == 0 && n.leases != 0)
		return "rule 6: a lease of a set that nobody uses";
	if (n.admitted_bytes != s->admitted_bytes)
		return "rule 3: admitted_bytes is not the sum over the items";
	if (s->admitted_bytes > s->cap_bytes)
		return "rule 3: more admitted than the cap";
	if (n.ready_items != s->ready_items || n.ready_bytes != s->ready_bytes)
		return "ready items or bytes are not those of the items";
	if (n.failed_items != s->failed_items)
		return "failed_items are not those of the items";
	return NULL;
}

void
minio_check_set(const struct minio_set *s, const struct minio_item items[],
    uint64_t nr_items)
{
	must(minio_broken(s, items, nr_items) == NULL);
}
