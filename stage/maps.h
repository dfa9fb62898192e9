/* SPDX-License-Identifier: Apache-2.0
 *
 * maps.h: where this process has slots in its memory.  Runs in clients, in any
 * of their threads; the caller's lock guards it.
 *
 * A slot is mapped for writing by its owner, and privately, copy-on-write, by
 * everyone who takes what is in it, its owner too.  Both maps are made once and
 * stay, because a fresh map of a large batch costs as much as copying it.
 *
 *  1. What a job writes to a batch it has taken stays in its own pages; they are
 *     dropped when it releases the batch, before the hub learns of it.  The
 *     other pages stay, but for a few between them.
 *  2. A map that is held (a batch that was taken and not released) and whose
 *     slot is wanted becomes private in place: every page of it is the job's
 *     own from then on, and no write by any thread is lost.  It is no map of
 *     the slot any more; the next use of the slot makes another.
 *  3. Maps are not inherited by fork, except those that are private by 2.
 *  4. A slot that is GONE (board.h) is unmapped as soon as nobody holds it or
 *     fills it.
 *  5. A job that writes to much of what it takes is better given copies, in
 *     memory that was used for copies before: 5 ms for 38.5 MB, where writing
 *     to every page of a map takes 28 ms, and dropping them 3 ms.  A copy is
 *     private (rule 2) from the start.
 */

#ifndef STAGE_MAPS_H
#define STAGE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stage/board.h"

struct map {			/* private */
	struct map	*next;
	uint32_t	slot;
	void		*base;
	size_t		len;		/* whole pages */
	size_t		used;		/* bytes of what was taken; the rest was
					 * not given to anybody */
	bool		is_held;
	bool		is_private;	/* rule 2 */
	bool		is_copy;	/* rule 5; it has no slot */
	bool		is_watched;	/* watch.c */
	unsigned	nr_quiet;	/* releases since it was written to */
};

struct maps;

int maps_new(struct maps **out, const struct floor *fl, struct ds_err *err);
	/* The floor stays the caller's, and longer than this. */
void maps_free(struct maps **mp);
	/* All of them; what is held is gone, too. */
void maps_abandon(struct maps **mp);
	/* In a forked child: what rule 3 left there stays mapped, for the job
	 * may use it; the rest is forgotten. */

int maps_add_own(struct maps *m, uint32_t slot, int fd, size_t room,
    void **base, struct ds_err *err);
	/* Maps an own slot for writing.  The descriptor stays the caller's. */
void *maps_own(const struct maps *m, uint32_t slot, uint64_t room);
	/* Where it is; NULL: it is not known, or there is less of it. */
void maps_fill(struct maps *m, uint32_t slot, bool begins);
	/* Someone begins to write to an own slot, or has done so: it is not
	 * unmapped in between, whatever the hub says. */

struct map *maps_find(struct maps *m, uint32_t slot);
	/* The private map that nobody holds, or NULL: there is none. */
int maps_add(struct maps *m, uint32_t slot, int fd, size_t room,
    struct map **out, struct ds_err *err);
	/* The descriptor stays the caller's. */

void maps_hold(struct map *map, size_t used);
bool maps_release(struct maps *m, struct map *map);
	/* By rule 1; or unmaps it, if it is private, or gone, or cannot be
	 * used again.  map is not to be used any more.  True: so much of it was
	 * written to that rule 5 would have been better. */
void maps_put(struct maps *m, struct map *map);
	/* The same of one that nobody can have written to. */
struct map *maps_copy(struct maps *m, size_t len);
	/* Memory for a copy, held, and private; NULL: there is none.
	 * maps_release() as with the others. */

#define MAPS_COPIES	31u	/* of units, after one of which rule 5 is true;
				 * then it is seen whether it is still so */

int maps_make_private(struct maps *m, struct map *map, struct ds_err *err);
	/* Rule 2; while other threads read and write it.  -ENOMEM, or as
	 * written_own(): it is as it was. */
void maps_forking(struct maps *m);
	/* Before a fork: all that is held is made private and inherited. */

typedef void maps_gone_f(void *arg, uint32_t slot);

void maps_sweep(struct maps *m, maps_gone_f *unmapped, void *arg);
	/* By rule 4; unmapped() is called for each such slot of which this
	 * process has no map left, once.  It costs nothing if none is GONE. */

void maps_give_idle(struct maps *m, maps_gone_f *unmapped, void *arg);
	/* As maps_sweep(), of every slot: for one that is short of memory. */
void maps_give_all(struct maps *m, maps_gone_f *unmapped, void *arg);
	/* Unmaps everything, held or not, before maps_free(); unmapped() is
	 * called for each slot. */

uint64_t maps_bytes(const struct maps *m);
	/* Of slots mapped, each counted once. */

#endif
