/* SPDX-License-Identifier: Apache-2.0
 *
 * board.h: what the hub shows and what a client shows, in memory.
 * The board (of a pass) and the floor (of all slots) are written by the hub and
 * mapped read-only by clients; a seat is written by one client.  Runs in both.
 *
 * A unit of the pass has the entry of its number modulo BOARD_RING:
 *
 *     FREE -> LEASED -> STAGED -> (retired: the entry is another unit's)
 *       ^       |  |
 *       +-------+  +--> ALONE          the holder died, was late, or gave up;
 *                                      it failed: each job makes it itself
 *
 *  1. The hub stores an entry's word last, with release; who loads it, with
 *     acquire, may then look at the rest.  When the entry becomes another
 *     unit's, its word is emptied before the number is stored: who has looked
 *     at all of it, and finds the same word again, has seen what belongs
 *     together.  A reader that finds a later number there has been too slow.
 *  2. An entry that is STAGED stays as it is as long as a member lives that has
 *     not released its unit (line.h, 4).
 *  3. Whoever waits loads its wake word, stores in its seat what it waits for,
 *     looks once more, and sleeps until the word changes.  The hub stores what
 *     there is to see, looks at the seats, and increments the words of those
 *     who wait for it.  Both put a sequentially consistent fence between the
 *     two: one of them sees the other.  A maker loads its word before it
 *     asks for a lease.
 *  4. In the same way a client that has taken or released something stores it
 *     in its seat and then looks at need_taken and need_released; the hub
 *     stores these and then looks at the seats.
 *  5. A seat is input to the hub: copied, and checked.
 *  6. Numbers of slots are never used twice in the life of a hub.
 *  7. Of a member that has begun, a seat counts from when it says something
 *     else than at BEGIN, or the start itself: its client stores the start
 *     first in taken, then in released, when it is told BEGUN; and it always
 *     stores taken before released.
 */

#ifndef STAGE_BOARD_H
#define STAGE_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/segment.h"
#include "stage/line.h"

#define BOARD_RING	LINE_RING
#define BOARD_PLACES	LINE_PLACES
#define BOARD_NEVER	UINT64_MAX

/* state 8 bits, generation 24, maker (a client's number) 32 */
static inline uint64_t
board_word(enum unit_state state, uint32_t generation, uint32_t maker)
{
	return (uint64_t)state << 56 |
	    (uint64_t)(generation % LINE_GENERATIONS) << 32 | maker;
}

static inline enum unit_state
board_state(uint64_t word)
{
	return (enum unit_state)(word >> 56);
}

static inline uint32_t
board_generation(uint64_t word)
{
	return (uint32_t)(word >> 32) % LINE_GENERATIONS;
}

static inline uint32_t
board_maker(uint64_t word)
{
	return (uint32_t)word;
}

struct board_entry {			/* a cache line */
	_Atomic uint64_t word;
	_Atomic uint64_t unit;
	_Atomic uint64_t bytes;		/* STAGED: of its payload */
	_Atomic uint64_t hash;		/* STAGED: of what it is made of */
	_Atomic uint64_t job;		/* STAGED: of its maker */
	_Atomic uint32_t slot;		/* STAGED */
	uint32_t	unused[5];
};

struct board_place {
	_Atomic uint32_t wake;		/* futex: of a member that waits */
	_Atomic uint32_t work;		/* futex: of a maker that was told to
					 * wait, so that a unit that was made
					 * does not make every maker ask */
	_Atomic uint32_t state;		/* enum place_state */
	uint32_t	unused;
};

struct board {
	struct segment_head head;
	uint32_t	pass;
	uint32_t	unit;		/* samples in a unit */
	uint64_t	units;
	_Atomic uint64_t base;		/* the first unit that is kept */
	_Atomic uint64_t window;
	_Atomic uint64_t need_taken;	/* whose `taken` gets there (was less,
					 * is as much or more) sends NEWS;
					 * BOARD_NEVER */
	_Atomic uint64_t need_released;	/* who releases this one, or passes it,
					 * sends NEWS; BOARD_NEVER */
	_Atomic uint64_t wants_room;	/* kept units before this one are to be
					 * made private at the next take */
	_Atomic uint32_t nr_members;
	_Atomic uint32_t nr_jobs;	/* of members */
	uint32_t	unused[8];	/* entries begin with a cache line */
	struct board_entry entries[BOARD_RING];
	struct board_place places[BOARD_PLACES];
};

struct seat {
	struct segment_head head;
	_Atomic uint64_t taken;		/* all units before it: taken, or made
					 * by itself */
	_Atomic uint64_t released;	/* all before it: not needed any more */
	_Atomic uint64_t waits;		/* for this unit; BOARD_NEVER */
	_Atomic uint64_t samples;	/* delivered to the job, ever */
	_Atomic uint64_t own;		/* units made for itself alone, ever */
};

/* Which slots are to be unmapped. */
#define FLOOR_SLOTS	8192u

struct floor {
	struct segment_head head;
	_Atomic uint64_t nr_gone;	/* ever: look again when it grew */
	_Atomic uint32_t gone[FLOOR_SLOTS];	/* the last of them, by their
					 * ordinal modulo FLOOR_SLOTS; one that
					 * came too late looks at all it has */
	_Atomic uint64_t oldest;	/* no slot with a smaller number lives */
};

extern const struct segment_kind board_kind, seat_kind, floor_kind;

int board_wait(const _Atomic uint32_t *wake, uint32_t seen,
    uint64_t deadline_ns);
	/* 0, or -ETIMEDOUT; of CLOCK_MONOTONIC. */
void board_wake(_Atomic uint32_t *wake);	/* the hub */

#endif
