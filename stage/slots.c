/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.c: the memory of the stage: what becomes of a slot, and who has it.
 * Runs in the hub only.
 */

#include <config.h>

#include "stage/slots_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"
#include "hub/room.h"

/*--- life ----------------------------------------------------------------*/

static void
choose_budget(struct slots *s, uint64_t budget_bytes)
{
	uint64_t half, ceiling;

	s->budget_bytes = s->budget_most = budget_bytes;
	if (budget_bytes > 0)
		return;
	half = room_default_budget(hub_machine(s->hub));
	ceiling = hub_options(s->hub)->cache_bytes;
	if (ceiling == 0)
		ceiling = half;
	s->budget_bytes = ceiling / 8;
	s->budget_most = half > s->budget_bytes ? half : s->budget_bytes;
}

int
slots_new(struct slots **out, struct hub *hub, uint64_t budget_bytes,
    struct ds_err *err)
{
	struct slots *s = calloc(1, sizeof *s);
	int rc;

	if (s == NULL)
		return err_fail(err, -ENOMEM, "stage: no memory");
	rc = segment_create(&s->seg, &floor_kind, sizeof *s->fl,
	    hub_generation(hub), err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->magic = SLOTS_MAGIC;
	s->hub = hub;
	s->fl = s->seg.base;
	s->next_number = LINE_NO_SLOT + 1;
	choose_budget(s, budget_bytes);
	*out = s;
	return 0;
}

static void
free_holders(struct stage_slot *slot)
{
	struct slot_holder *h;

	while ((h = slot->holders) != NULL) {
		slot->holders = h->next;
		free(h);
	}
}

void
slots_free(struct slots **sp)
{
	struct slots *s = *sp;
	struct stage_slot *slot;

	must_be(s, SLOTS_MAGIC);
	for (unsigned i = 0; i < SLOTS_LISTS; i++) {
		while ((slot = s->table[i]) != NULL) {
			must(slot->is != SLOT_IS_NEW);
			owner_drop(s, slot);
			slots_forget(s, slot);
			free_holders(slot);
			io_close(&slot->fd);
			free(slot);
		}
	}
	segment_detach(&s->seg);
	s->magic = 0;
	free(s);
	*sp = NULL;
}

int
slots_floor(const struct slots *s)
{
	must_be(s, SLOTS_MAGIC);
	return s->seg.fd;
}

void
slots_on_freed(struct slots *s, void (*freed)(void *arg), void *arg)
{
	must_be(s, SLOTS_MAGIC);
	s->freed = freed;
	s->freed_arg = arg;
}

void
slots_counts(const struct slots *s, struct slots_counts *c)
{
	must_be(s, SLOTS_MAGIC);
	*c = (struct slots_counts){
		.budget_bytes = s->budget_bytes,
		.used_bytes = s->used_bytes,
		.most_bytes = s->most_bytes,
		.made = s->made,
		.gone = s->gone,
		.nr = s->nr,
		.nr_free = s->nr_free,
	};
}

/*--- lists ---------------------------------------------------------------*/

struct stage_slot *
slots_find(struct slots *s, uint32_t number)
{
	struct stage_slot *slot;

	must_be(s, SLOTS_MAGIC);
	slot = s->table[number % SLOTS_LISTS];
	while (slot != NULL && slot->number != number)
		slot = slot->next;
	return slot;
}

static void
unlist_living(struct slots *s, struct stage_slot *slot)
{
	if (slot->older != NULL)
		slot->older->newer = slot->newer;
	else
		s->oldest = slot->newer;
	if (slot->newer != NULL)
		slot->newer->older = slot->older;
	else
		s->newest = slot->older;
}

void
slots_forget(struct slots *s, struct stage_slot *slot)
{
	struct stage_slot **at = &s->table[slot->number % SLOTS_LISTS];

	if (slot->is != SLOT_IS_GONE)
		unlist_living(s, slot);
	while (*at != slot)
		at = &(*at)->next;
	*at = slot->next;
}

/*--- the end of a slot ---------------------------------------------------*/

static bool
is_held(const struct stage_slot *slot)
{
	return slot->is_given || slot->holders != NULL;
}

/* Those who have it look there, and unmap it. */
static void
show_gone(struct slots *s, const struct stage_slot *slot)
{
	/* relaxed: this word is the loop's alone to store */
	uint64_t nr = atomic_load_explicit(&s->fl->nr_gone,
	    memory_order_relaxed);

	atomic_store_explicit(&s->fl->oldest, s->oldest != NULL ?
	    s->oldest->number : s->next_number, memory_order_relaxed);
	if (!is_held(slot))
		return;
	atomic_store_explicit(&s->fl->gone[nr % FLOOR_SLOTS], slot->number,
	    memory_order_relaxed);
	/* release: pairs with the acquire of those who look; the number and
	 * the oldest come first */
	atomic_store_explicit(&s->fl->nr_gone, nr + 1, memory_order_release);
}

static void
free_unless_held(struct slots *s, struct stage_slot *slot)
{
	if (slot->is != SLOT_IS_GONE || is_held(slot))
		return;
	slots_forget(s, slot);
	memory_end(slot);
}

void
slots_end(struct slots *s, struct stage_slot *slot)
{
	s->gone += slot->is != SLOT_IS_NEW;
	owner_drop(s, slot);
	unlist_living(s, slot);
	slot->is = SLOT_IS_GONE;
	s->going_bytes += slot->room;
	s->nr_going++;
	show_gone(s, slot);
	free_unless_held(s, slot);
}

/*--- its states ----------------------------------------------------------*/

int
slots_seal(struct slots *s, struct stage_slot *slot, struct ds_err *err)
{
	int rc = 0;

	must_be(s, SLOTS_MAGIC);
	must(slot->is == SLOT_IS_WRITING);
	if (!slot->is_sealed)
		rc = memfd_seal_new_writers(slot->fd, err);
	slot->is_sealed = rc == 0;
	return rc;
}

void
slots_stage(struct slots *s, struct stage_slot *slot)
{
	must_be(s, SLOTS_MAGIC);
	must(slot->is == SLOT_IS_WRITING && slot->is_sealed);
	slot->is = SLOT_IS_STAGED;
}

void
slots_hold(struct slots *s, struct stage_slot *slot)
{
	must_be(s, SLOTS_MAGIC);
	must(slot->is == SLOT_IS_STAGED);
	slot->is = SLOT_IS_HELD;
}

void
slots_put(struct slots *s, struct stage_slot *slot)
{
	must_be(s, SLOTS_MAGIC);
	if (slot->is == SLOT_IS_GONE)
		return;
	must(slot->is == SLOT_IS_WRITING || slot->is == SLOT_IS_STAGED ||
	    slot->is == SLOT_IS_HELD);
	if (slot->of == NULL) {
		slots_end(s, slot);
	} else if (slots_are_owed(s, slot->of)) {
		slots_pay(s, slot);
	} else {
		slot->is = SLOT_IS_FREE;
		slot->used_ns = clock_now_ns();
		owner_put_free(s, slot);
	}
}

/*--- who has it ----------------------------------------------------------*/

int
slots_give(struct slots *s, struct stage_slot *slot, uint32_t client)
{
	struct slot_holder *h;

	must_be(s, SLOTS_MAGIC);
	if (slot->is == SLOT_IS_GONE || slot->is == SLOT_IS_NEW ||
	    (client != slot->owner && !slot->is_sealed))
		return -ESTALE;
	if (client == slot->owner) {
		slot->is_given = true;
		return 0;
	}
	for (h = slot->holders; h != NULL; h = h->next) {
		if (h->client == client)
			return 0;
	}
	h = malloc(sizeof *h);
	if (h == NULL)
		return -ENOMEM;
	h->client = client;
	h->next = slot->holders;
	slot->holders = h;
	return 0;
}

static bool
drop_holder(struct stage_slot *slot, uint32_t client)
{
	struct slot_holder **at = &slot->holders, *h;
	bool was_given = slot->is_given;

	if (client == slot->owner) {
		slot->is_given = false;
		return was_given;
	}
	while (*at != NULL && (*at)->client != client)
		at = &(*at)->next;
	h = *at;
	if (h == NULL)
		return false;
	*at = h->next;
	free(h);
	return true;
}

void
slots_unmapped(struct slots *s, uint32_t number, uint32_t client)
{
	struct stage_slot *slot = slots_find(s, number);

	if (slot == NULL || !drop_holder(slot, client))
		return;
	if (slot->owner != client || slot->of == NULL)
		free_unless_held(s, slot);
	else if (slot->is == SLOT_IS_FREE)
		slots_end(s, slot);
	else
		owner_drop(s, slot);
}

/* A NEW one: memory_found() ends it. */
static void
lose_owner(struct slots *s, struct stage_slot *slot)
{
	if (slot->is == SLOT_IS_FREE || slot->is == SLOT_IS_WRITING)
		slots_end(s, slot);
	else
		owner_drop(s, slot);
}

static bool
is_held_by(const struct stage_slot *slot, uint32_t client)
{
	const struct slot_holder *h = slot->holders;

	while (h != NULL && h->client != client)
		h = h->next;
	return h != NULL;
}

bool
slots_knows(const struct slots *s, uint32_t client)
{
	must_be(s, SLOTS_MAGIC);
	for (unsigned i = 0; i < SLOTS_LISTS; i++) {
		for (struct stage_slot *slot = s->table[i]; slot != NULL;
		    slot = slot->next) {
			if (slot->owner == client || is_held_by(slot, client))
				return true;
		}
	}
	return false;
}

void
slots_client_gone(struct slots *s, uint32_t client)
{
	struct stage_slot *slot, *next;

	must_be(s, SLOTS_MAGIC);
	for (unsigned i = 0; i < SLOTS_LISTS; i++) {
		for (slot = s->table[i]; slot != NULL; slot = next) {
			next = slot->next;
			(void)drop_holder(slot, client);
			if (slot->owner == client && slot->is != SLOT_IS_GONE)
				lose_owner(s, slot);
			else
				free_unless_held(s, slot);
		}
	}
}
