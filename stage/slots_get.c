/* SPDX-License-Identifier: Apache-2.0
 *
 * slots_get.c: the memory of the stage: who gets it, and who makes room.
 * Runs in the hub only.
 */

#include <config.h>

#include "stage/slots_state.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/must.h"
#include "hub/room.h"
#include "stage/messages.h"

#define UNITS_LEAST	4u	/* of the largest size, in the budget */

/* As much as was asked for is within a default budget several times. */
static void
grow_budget(struct slots *s, uint64_t pages)
{
	uint64_t want = pages > s->budget_most / UNITS_LEAST ?
	    s->budget_most : pages * UNITS_LEAST;

	if (want > s->budget_bytes)
		s->budget_bytes = want;
}

/* Each has a descriptor here: most of those are for clients. */
static uint64_t
count_most(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur / 4 > FLOOR_SLOTS)
		return FLOOR_SLOTS;
	return l.rlim_cur / 4;
}

static bool
has_room(const struct slots *s, uint64_t pages)
{
	return s->used_bytes + pages <= s->budget_bytes &&
	    s->nr < count_most() && s->next_number < UINT32_MAX;
}

static bool
will_have_room(const struct slots *s, uint64_t pages)
{
	return s->used_bytes - s->going_bytes + pages <= s->budget_bytes &&
	    s->nr - s->nr_going < count_most();
}

/* Of an owner's FREE slots that are this small, and were not used since, as
 * many as it takes.  The owner stays, though it may have none left. */
static void
end_some(struct slots *s, struct slot_owner *o, uint64_t pages,
    uint64_t below_bytes, uint64_t since_ns)
{
	struct stage_slot *slot, *next;

	o->nr++;
	for (slot = o->stalest; slot != NULL && !will_have_room(s, pages);
	    slot = next) {
		next = slot->fresher;
		if (slot->room < below_bytes && slot->used_ns <= since_ns)
			slots_end(s, slot);
	}
	o->nr--;
}

/*--- those who have more: slots.h, 6 -------------------------------------*/

static void
claim(struct slots *s, const struct slot_owner *poor, uint64_t pages)
{
	struct slot_owner *rich = owner_richest(s);

	if (will_have_room(s, pages) ||
	    rich->bytes < poor->bytes + 2 * pages)
		return;
	end_some(s, rich, pages, UINT64_MAX, UINT64_MAX);
	if (!will_have_room(s, pages))
		rich->owes_bytes = pages;
	owner_put_away(s, rich);
}

/* Unless there is room by now. */
bool
slots_are_owed(struct slots *s, struct slot_owner *o)
{
	if (o->owes_bytes > 0 && will_have_room(s, o->owes_bytes))
		o->owes_bytes = 0;
	return o->owes_bytes > 0;
}

void
slots_pay(struct slots *s, struct stage_slot *slot)
{
	struct slot_owner *o = slot->of;

	o->nr++;
	slots_end(s, slot);
	o->nr--;
	(void)slots_are_owed(s, o);
	owner_put_away(s, o);
}

bool
slots_will_have_room(const struct slots *s, uint64_t bytes)
{
	must_be(s, SLOTS_MAGIC);
	return bytes <= s->budget_bytes && will_have_room(s, room_pages(bytes));
}

/*--- asking --------------------------------------------------------------*/

static void
enlist(struct slots *s, struct stage_slot *slot)
{
	struct stage_slot **first = &s->table[slot->number % SLOTS_LISTS];

	slot->next = *first;
	*first = slot;
	slot->older = s->newest;
	if (s->newest != NULL)
		s->newest->newer = slot;
	else
		s->oldest = slot;
	s->newest = slot;
}

static struct stage_slot *
new_slot(struct slots *s, struct slot_owner *o, uint64_t pages)
{
	struct stage_slot *slot = calloc(1, sizeof *slot);

	if (slot == NULL)
		return NULL;
	slot->slots = s;
	slot->number = s->next_number++;
	slot->owner = o->client;
	slot->is = SLOT_IS_NEW;
	slot->fd = -1;
	slot->room = pages;
	/* Counted from now on, so that the next one sees it. */
	s->used_bytes += pages;
	if (s->used_bytes > s->most_bytes)
		s->most_bytes = s->used_bytes;
	s->nr++;
	owner_add(o, slot);
	enlist(s, slot);
	return slot;
}

bool
slots_hold_several(struct slots *s, uint64_t bytes)
{
	uint64_t pages;

	must_be(s, SLOTS_MAGIC);
	if (bytes > s->budget_most)
		return false;
	pages = room_pages(bytes > 0 ? bytes : 1);
	grow_budget(s, pages);
	return pages <= s->budget_bytes / UNITS_LEAST;
}

enum slots_answer
slots_get(struct slots *s, uint32_t client, uint64_t bytes, uint64_t now_ns,
    struct stage_slot **out, slots_ready_f *ready, void *arg)
{
	struct slot_owner *o;
	struct stage_slot *slot;
	uint64_t pages;

	must_be(s, SLOTS_MAGIC);
	if (bytes > s->budget_most || bytes > STAGE_BYTES_MAX)
		return SLOTS_TOO_LARGE;
	pages = room_pages(bytes > 0 ? bytes : 1);
	grow_budget(s, pages);
	if (pages > s->budget_bytes)
		return SLOTS_TOO_LARGE;
	o = owner_get(s, client);
	if (o == NULL)
		return SLOTS_NO_ROOM;
	slot = owner_find_free(o, pages);
	if (slot != NULL) {
		owner_take_free(s, slot);
		slot->is = SLOT_IS_WRITING;
		slot->used_ns = now_ns;
		*out = slot;
		return SLOTS_NOW;
	}
	slot = has_room(s, pages) ? new_slot(s, o, pages) : NULL;
	if (slot != NULL) {
		slot->ready = ready;
		slot->arg = arg;
		memory_begin(slot);
		return SLOTS_LATER;
	}
	end_some(s, o, pages, pages, UINT64_MAX);
	claim(s, o, pages);
	owner_put_away(s, o);
	return SLOTS_NO_ROOM;
}

bool
slots_make_room(struct slots *s, uint64_t bytes, uint64_t now_ns)
{
	uint64_t pages, gone, since_ns;

	must_be(s, SLOTS_MAGIC);
	if (bytes > s->budget_bytes || now_ns < SLOTS_IDLE_NS)
		return false;
	pages = room_pages(bytes);
	since_ns = now_ns - SLOTS_IDLE_NS;
	gone = s->gone;
	for (unsigned i = 0; i < SLOTS_OWNERS; i++) {
		struct slot_owner *o, *next;

		for (o = s->owners[i]; o != NULL; o = next) {
			next = o->next;
			end_some(s, o, pages, UINT64_MAX, since_ns);
			owner_put_away(s, o);
		}
	}
	return s->gone > gone;
}
