/* SPDX-License-Identifier: Apache-2.0
 *
 * slots_state.h: what the memory of the stage consists of, for the files
 * slots*.c.  Runs in the hub only.
 *
 *  1. A slot is in the table from the grant until its memory is being freed,
 *     and in the list of the living until it is GONE.
 *  2. An owner is there as long as it has slots that it can write.
 */

#ifndef STAGE_SLOTS_STATE_H
#define STAGE_SLOTS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/segment.h"
#include "hub/hub.h"
#include "stage/slots.h"

#define SLOTS_MAGIC	0x534c4f54u	/* "SLOT" */
#define SLOTS_LISTS	1024u
#define SLOTS_OWNERS	256u

struct slot_holder {			/* another than the owner */
	struct slot_holder *next;
	uint32_t	client;
};

struct slot_owner {
	struct slot_owner *next;	/* in its list */
	uint32_t	client;
	unsigned	nr;		/* slots that it can write */
	uint64_t	bytes;		/* of them */
	uint64_t	owes_bytes;	/* slots.h, 6 */
	struct stage_slot *freshest, *stalest;	/* that are FREE */
};

struct slots {
	unsigned	magic;
	struct hub	*hub;
	struct segment	seg;
	struct floor	*fl;		/* in seg */
	uint64_t	budget_bytes;
	uint64_t	budget_most;	/* what it may grow to */
	uint64_t	used_bytes, most_bytes;
	uint64_t	going_bytes;	/* of them, in slots that are GONE */
	uint64_t	made, gone;
	unsigned	nr, nr_free, nr_going;
	uint32_t	next_number;
	void		(*freed)(void *arg);
	void		*freed_arg;
	struct stage_slot *oldest, *newest;	/* that are not GONE */
	struct stage_slot *table[SLOTS_LISTS];	/* by number */
	struct slot_owner *owners[SLOTS_OWNERS];	/* by client */
};

/*--- slots_owner.c -------------------------------------------------------*/

struct slot_owner *owner_find(struct slots *s, uint32_t client);
struct slot_owner *owner_get(struct slots *s, uint32_t client);
	/* The same, or a new one without slots; NULL: no memory. */
struct slot_owner *owner_richest(struct slots *s);
void owner_add(struct slot_owner *o, struct stage_slot *slot);
void owner_drop(struct slots *s, struct stage_slot *slot);
	/* Nobody can write it again. */
void owner_put_away(struct slots *s, struct slot_owner *o);
	/* If it has no slots. */
void owner_put_free(struct slots *s, struct stage_slot *slot);
void owner_take_free(struct slots *s, struct stage_slot *slot);
struct stage_slot *owner_find_free(const struct slot_owner *o, uint64_t bytes);
	/* The smallest that has room for it. */

/*--- slots_memory.c ------------------------------------------------------*/

void memory_begin(struct stage_slot *slot);
	/* Allocates it in the helper, which calls ready(). */
void memory_end(struct stage_slot *slot);
	/* Frees it in the helper, and then the slot: it is out of all lists. */

/*--- slots_get.c ---------------------------------------------------------*/

bool slots_are_owed(struct slots *s, struct slot_owner *o);
	/* By this one; slots.h, 6. */
void slots_pay(struct slots *s, struct stage_slot *slot);
	/* Ends it for that. */

/*--- slots.c -------------------------------------------------------------*/

void slots_end(struct slots *s, struct stage_slot *slot);
	/* GONE, and freed unless somebody has it. */
void slots_forget(struct slots *s, struct stage_slot *slot);
	/* Out of all lists. */

#endif
