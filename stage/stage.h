/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.h: what the client's side of the stage is made of: the desk, which all
 * streams of a connection share, a stream, a pass, and what is held.
 * Runs in clients, in any of their threads.
 *
 * Slots belong to a process as the hub knows it, which is a connection: so the
 * maps of them are the desk's, whatever stream uses them.
 *
 *  1. The lock of the desk guards its maps, all holds, and what a pass has
 *     taken and released, in its seat, too.  No message is sent and nothing is
 *     waited for while it is held.
 *  2. What is found out under the lock and must be told is told after it, from
 *     a copy (struct pass_news): the pass may be gone by then.
 *  3. A hold is in the list of its pass, by its unit, as long as its bytes are
 *     the slot's; once they are private it is in the stage's list, and the pass
 *     knows nothing of it.
 *  4. `released` is the unit of the first hold of the pass, or `taken`.
 *  5. END is told when the pass has no holds any more, and not before: until
 *     then its slots must stay.  So is LEAVE; a pass that was closed lives until
 *     then.
 *  6. In a forked child no lock is touched and no call does anything but free
 *     what is the child's: the link tells whose it is.
 *  7. The seat: waits is BOARD_NEVER before taken passes it; taken is stored
 *     before released.  Who reads released, taken, waits, in this order, finds
 *     released <= taken <= waits.
 */

#ifndef STAGE_STAGE_H
#define STAGE_STAGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/segment.h"
#include "hub/api.h"
#include "stage/board.h"
#include "stage/maps.h"
#include "stage/stage_options.h"

#define STAGE_MAGIC	0x53544147u	/* "STAG" */
#define ATTENDED_MAGIC	0x41545041u	/* "ATPA" */
#define STAGE_SLICE_NS	(UINT64_C(50) * 1000000)
				/* of a wait; then the hub is looked at */

/*--- the desk ------------------------------------------------------------*/

struct desk {			/* of a connection */
	struct desk	*next;		/* of this process */
	unsigned	nr_stages;	/* by the lock of all desks */
	struct ds_hub	*hub;		/* kept */
	struct link	*link;		/* its own */
	uint64_t	job;		/* as the hub knows it */
	_Atomic uint64_t heard_ns;	/* when the hub was asked last, by one
					 * who waits, whether it is there */

	pthread_mutex_t	lock;
	struct segment	floor;		/* with the first pass */
	struct maps	*maps;
};

/* desk.c */
int desk_get(struct desk **out, struct ds_hub *hub, struct ds_err *err);
void desk_put(struct desk **dp);
bool desk_is_mine(const struct desk *d);	/* rule 6 */
int desk_check(struct desk *d, struct ds_err *err);
	/* -ESTALE: it is another process's, or the hub is gone. */
void desk_lock(struct desk *d);
void desk_unlock(struct desk *d);
int desk_set_floor(struct desk *d, int *fd, struct ds_err *err);
	/* Takes the descriptor over; of all but the first it does nothing. */
bool desk_hears(struct desk *d);
	/* Is the hub there?  For those who wait: a hub that hung up is noticed
	 * at once, one that is stopped after some seconds. */
void desk_sweep(struct desk *d);
	/* Unmaps what the hub wants unmapped, and tells it. */
void desk_give_idle(struct desk *d);
	/* The same of all that is not in use now. */

/*--- a stream ------------------------------------------------------------*/

struct hold {			/* ds_taken.priv */
	struct hold	*next, *prev;
	struct ds_stage	*stage;
	struct ds_pass	*pass;		/* NULL: it is private */
	uint64_t	unit;
	struct map	*map;
};

struct holds {			/* a list */
	struct hold	*first, *last;
};

struct ds_stage {
	unsigned	magic;
	struct desk	*desk;
	struct stage_options options;
	_Atomic bool	is_used;	/* there was a pass */
	struct holds	kept;		/* private ones; by the desk's lock */
	unsigned	copies;		/* so many units more are copied: maps.h,
					 * rule 5; by that, too */
	struct ds_pass	*closed;	/* that have holds still; by that, too */
	_Atomic uint64_t nr_odd;	/* entries of boards that cannot be */
};

void stage_give_idle(struct ds_stage *s);
	/* For one that is short of memory: unmaps what nobody holds or fills;
	 * it is mapped anew when it is needed. */

/*--- a pass --------------------------------------------------------------*/

enum membership { NO_MEMBER, MEMBER, OWES_END };

struct lease_out {
	uint64_t	unit;
	uint32_t	generation;
	uint32_t	slot;		/* that is filled; 0: none yet */
};

#define PASS_LEASES	64u	/* out at a time, by one process */

struct ds_pass {
	unsigned	magic;
	struct ds_stage	*stage;
	uint32_t	id, place;
	struct segment	board_seg;
	const struct board *board;	/* in it */
	struct seat	*seat;		/* written here alone */
	size_t		seat_len;

	/* Making. */
	_Atomic bool	no_room;	/* said by the last LEASE */
	_Atomic uint64_t told_to_wait;	/* work word + 1 at the last LEASE, if
					 * it was answered so; else 0 */

	/* Changed by the thread that takes, with the desk's lock: it may look
	 * without it. */
	enum membership	is;
	bool		is_detached;	/* since its last begin */
	uint64_t	end, taken;

	/* By the desk's lock. */
	bool		is_closed;
	uint64_t	released;
	struct holds	holds;		/* by unit */
	struct lease_out leases[PASS_LEASES];
	unsigned	nr_leases;
	struct ds_pass	*next_closed;
};

/* What is to be told after the lock; rule 2. */
struct pass_news {
	struct link	*link;
	uint32_t	pass;
	bool		news, end, leave;
};

void pass_news_init(struct pass_news *n, const struct ds_pass *p);
void pass_tell(const struct pass_news *n);

/* pass_hold.c: all of it with the lock held */
int pass_hold(struct ds_pass *p, struct map *map, uint64_t unit, size_t len,
    struct hold **out, struct ds_err *err);
	/* -ENOMEM: it is not held. */
void pass_hold_copy(struct hold *h, struct map *copy);
	/* Instead of what it holds. */
void pass_advance(struct ds_pass *p, uint64_t taken, struct pass_news *n);
	/* All before it is taken, or made by itself. */
int pass_make_private(struct ds_pass *p, uint64_t before,
    struct pass_news *n, struct ds_err *err);
	/* What it holds of units before that one.  -ENOMEM: not all. */
void pass_start(struct ds_pass *p, uint64_t start);
	/* It is a member from now on. */
void pass_stop_waiting(struct ds_pass *p);
void pass_settle(struct ds_pass *p, struct pass_news *n);
	/* What it owes the hub, by rule 5. */
bool pass_is_done(const struct ds_pass *p);
	/* It was closed, and nothing refers to it any more. */
void pass_drop(struct hold *h, struct pass_news *n);
	/* The job has released it. */
void pass_forget_holds(struct holds *list);
	/* In a forked child, where no map is ours. */

/* pass.c */
void pass_free(struct ds_pass *p);	/* without the lock */
int pass_check(const struct ds_pass *p, struct ds_err *err);
	/* -ESTALE as desk_check(). */
int pass_sleep(struct ds_pass *p, const _Atomic uint32_t *word, uint32_t seen,
    uint64_t deadline_ns);
	/* Until the word is another, a slice at most; then looks at the hub and
	 * unmaps what it wants unmapped.  1: the word is another; 0: it is not;
	 * -ESTALE. */

#endif
