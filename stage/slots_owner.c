/* SPDX-License-Identifier: Apache-2.0
 *
 * slots_owner.c: which process has which slots to write.
 * Runs in the hub only.
 *
 *  1. The FREE slots of an owner are in the order in which they became so: the
 *     freshest is used again first, and those that are too many grow stale.
 */

#include <config.h>

#include "stage/slots_state.h"

#include <stdlib.h>

#include "base/must.h"

static struct slot_owner **
list_of(struct slots *s, uint32_t client)
{
	return &s->owners[client % SLOTS_OWNERS];
}

struct slot_owner *
owner_find(struct slots *s, uint32_t client)
{
	struct slot_owner *o = *list_of(s, client);

	while (o != NULL && o->client != client)
		o = o->next;
	return o;
}

struct slot_owner *
owner_get(struct slots *s, uint32_t client)
{
	struct slot_owner *o = owner_find(s, client);

	if (o != NULL)
		return o;
	o = calloc(1, sizeof *o);
	if (o == NULL)
		return NULL;
	o->client = client;
	o->next = *list_of(s, client);
	*list_of(s, client) = o;
	return o;
}

void
owner_put_away(struct slots *s, struct slot_owner *o)
{
	struct slot_owner **at = list_of(s, o->client);

	if (o->nr > 0)
		return;
	must(o->bytes == 0 && o->freshest == NULL);
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	free(o);
}

struct slot_owner *
owner_richest(struct slots *s)
{
	struct slot_owner *o, *most = NULL;

	for (unsigned i = 0; i < SLOTS_OWNERS; i++) {
		for (o = s->owners[i]; o != NULL; o = o->next) {
			if (most == NULL || o->bytes > most->bytes)
				most = o;
		}
	}
	return most;
}

void
owner_add(struct slot_owner *o, struct stage_slot *slot)
{
	slot->of = o;
	o->nr++;
	o->bytes += slot->room;
}

void
owner_drop(struct slots *s, struct stage_slot *slot)
{
	struct slot_owner *o = slot->of;

	if (o == NULL)
		return;
	if (slot->is == SLOT_IS_FREE)
		owner_take_free(s, slot);
	slot->of = NULL;
	o->nr--;
	o->bytes -= slot->room;
	owner_put_away(s, o);
}

/*--- what is FREE --------------------------------------------------------*/

void
owner_put_free(struct slots *s, struct stage_slot *slot)
{
	struct slot_owner *o = slot->of;

	slot->fresher = NULL;
	slot->staler = o->freshest;
	if (o->freshest != NULL)
		o->freshest->fresher = slot;
	else
		o->stalest = slot;
	o->freshest = slot;
	s->nr_free++;
}

void
owner_take_free(struct slots *s, struct stage_slot *slot)
{
	struct slot_owner *o = slot->of;

	if (slot->fresher != NULL)
		slot->fresher->staler = slot->staler;
	else
		o->freshest = slot->staler;
	if (slot->staler != NULL)
		slot->staler->fresher = slot->fresher;
	else
		o->stalest = slot->fresher;
	slot->fresher = slot->staler = NULL;
	s->nr_free--;
}

struct stage_slot *
owner_find_free(const struct slot_owner *o, uint64_t bytes)
{
	struct stage_slot *slot, *best = NULL;

	for (slot = o->freshest; slot != NULL; slot = slot->staler) {
		if (slot->room >= bytes &&
		    (best == NULL || slot->room < best->room))
			best = slot;
		if (best != NULL && best->room == bytes)
			break;
	}
	return best;
}
