/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.h: the memory of the stage: one memfd a slot, one byte budget over all.
 * Runs in the hub; memory is allocated and freed in the helper.
 *
 * A slot belongs to one process, its owner, which alone can write it; others
 * map it privately, once.
 *
 *     NEW -> WRITING -> STAGED -> FREE -> WRITING ...      by its owner
 *              |  ^        |
 *              |  +--------+---> HELD -> FREE   pinned by one who was detached
 *              +-> FREE                         given up, or published too late
 *     any -> GONE                               its owner is gone, or it is
 *                                               needed elsewhere
 *
 *  1. The sum of bytes of all slots, NEW and GONE ones included, is at most the
 *     budget: checked before anything is allocated.
 *  2. A slot is given to readers only after its owner has mapped it and no
 *     further writer can (F_SEAL_FUTURE_WRITE).
 *  3. A slot that is GONE counts until its owner and all who were given it have
 *     said that it is unmapped, or are gone themselves.
 *  4. A slot is WRITING from the grant until its holder has said that it writes
 *     no more, or is gone, whatever became of the lease meanwhile.
 *  5. A FREE slot that was not used for a while makes room for another's; one
 *     that is too small for what its owner needs, at once.
 *  6. Whoever gets no memory, and would have less than another even with it,
 *     is given what that other has FREE next.
 *  7. The machine and the hub's control group keep their reserve (hub/room.h).
 */

#ifndef STAGE_SLOTS_H
#define STAGE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/segment.h"
#include "hub/helper.h"
#include "hub/hub.h"
#include "stage/board.h"

#define SLOTS_IDLE_NS	(UINT64_C(1) * 1000000000)	/* rule 5 */

enum slot_is { SLOT_IS_NEW, SLOT_IS_FREE, SLOT_IS_WRITING, SLOT_IS_STAGED,
	SLOT_IS_HELD, SLOT_IS_GONE };

struct slots;
struct stage_slot;
struct slot_holder;		/* a client that was given it */
struct slot_owner;

typedef void slots_ready_f(void *arg, struct stage_slot *slot, int rc);
	/* There is memory, or none: slot is NULL then, and rc why: -ENOMEM, of
	 * the machine, -ESTALE, its client is gone, -ESHUTDOWN, the hub
	 * leaves, or another error. */

struct stage_slot {
	struct helper_job job;		/* allocates it, later frees it */
	struct slots	*slots;
	uint32_t	number;		/* of no other in the hub's life */
	uint32_t	owner;		/* client */
	enum slot_is	is;
	int		fd;		/* -1: not yet, or closed */
	uint64_t	room;		/* bytes, whole pages */
	bool		is_given;	/* its owner was sent the descriptor;
					 * the director's */
	bool		is_sealed;	/* rule 2 */
	uint64_t	used_ns;	/* last */
	uint32_t	pass;		/* WRITING, STAGED, HELD: for which unit */
	uint64_t	unit;
	uint32_t	generation;	/* WRITING: of the lease */

	/* Of slots*.c alone. */
	struct slot_owner *of;		/* NULL: nobody can write it again */
	struct slot_holder *holders;
	struct stage_slot *next;	/* in the table */
	struct stage_slot *older, *newer;	/* of all that are not GONE */
	struct stage_slot *fresher, *staler;	/* FREE: of its owner's */
	slots_ready_f	*ready;		/* NEW */
	void		*arg;
	uint64_t	grown_bytes;
	int		rc;
};

struct slots_counts {
	uint64_t budget_bytes, used_bytes, most_bytes;	/* most: ever */
	uint64_t made, gone;		/* slots, ever */
	uint32_t nr, nr_free;
};

int slots_new(struct slots **out, struct hub *hub, uint64_t budget_bytes,
    struct ds_err *err);
	/* budget 0: an eighth of the hub's ceiling, and room for four of the
	 * largest that is asked for, within half of what is free now. */
void slots_free(struct slots **sp);
	/* The helper is done. */

int slots_floor(const struct slots *s);
	/* The descriptor of the floor segment, borrowed. */

void slots_on_freed(struct slots *s, void (*freed)(void *arg), void *arg);
	/* Is called whenever the budget has more room than before. */

enum slots_answer { SLOTS_NOW, SLOTS_LATER, SLOTS_NO_ROOM, SLOTS_TOO_LARGE };

enum slots_answer slots_get(struct slots *s, uint32_t client, uint64_t bytes,
    uint64_t now_ns, struct stage_slot **slot, slots_ready_f *ready,
    void *arg);
	/* A slot of that client with room for as many bytes, WRITING from now
	 * on; pass, unit and generation are the caller's to fill in.
	 * SLOTS_NOW: it had one that was FREE.  SLOTS_LATER: one is being
	 * allocated; ready() is called in a later turn, exactly once.
	 * SLOTS_NO_ROOM: not now; slots_make_room() may help.
	 * SLOTS_TOO_LARGE: more than the budget. */

bool slots_hold_several(struct slots *s, uint64_t bytes);
	/* Do four slots of that size fit into the budget?  One that was not
	 * given grows for it.  With fewer, jobs wait for each other's memory
	 * most of the time: each is faster alone. */

bool slots_make_room(struct slots *s, uint64_t bytes, uint64_t now_ns);
	/* Ends FREE slots by rule 5, until as many bytes will be free, or there
	 * are no more.  True if anything was ended. */

bool slots_will_have_room(const struct slots *s, uint64_t bytes);
	/* Once all who have a slot that is GONE have unmapped it: ending more of
	 * them would not help. */

struct stage_slot *slots_find(struct slots *s, uint32_t number);
	/* NULL: there is none, or its memory is being freed. */

int slots_seal(struct slots *s, struct stage_slot *slot, struct ds_err *err);
	/* When its owner publishes the first time: rule 2. */
void slots_stage(struct slots *s, struct stage_slot *slot);
	/* WRITING to STAGED. */
void slots_hold(struct slots *s, struct stage_slot *slot);
	/* STAGED to HELD. */
void slots_put(struct slots *s, struct stage_slot *slot);
	/* WRITING, STAGED or HELD to FREE, or GONE by the rules; one that is
	 * GONE stays so.  It may not be looked at afterwards. */

int slots_give(struct slots *s, struct stage_slot *slot, uint32_t client);
	/* Remembers that this client has it from now on; of the owner is_given
	 * says so.  The descriptor is slot->fd.  -ESTALE: it is GONE, or by
	 * rule 2 not yet for others; -ENOMEM. */
void slots_unmapped(struct slots *s, uint32_t number, uint32_t client);
	/* It says so.  Nothing that it says can be wrong: it does not count if
	 * it was not given.  An owner that says it writes it no more: it is
	 * GONE as soon as it is not needed. */

bool slots_knows(const struct slots *s, uint32_t client);
	/* Was it given a slot that it may still have mapped? */

void slots_client_gone(struct slots *s, uint32_t client);
	/* Its maps are; its own slots become GONE, those that are STAGED or
	 * HELD when they are put.  What it was WRITING need not be put. */

void slots_counts(const struct slots *s, struct slots_counts *c);

#endif
