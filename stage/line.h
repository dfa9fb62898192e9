/* SPDX-License-Identifier: Apache-2.0
 *
 * line.h: the rules of a pass: who makes which unit, who may take it, and when
 * its memory is free.  Runs in the hub; pure: no I/O, no clock, no memory of
 * its own, so that a model can drive it through every order of events
 * (tests/model).
 *
 * A pass is one epoch of a stream for those jobs that are near each other.  Its
 * units 0 .. units - 1 are made in about this order; those in the window,
 * base .. base + window - 1, are FREE, LEASED, STAGED or ALONE; those before it
 * are retired.
 *
 * A place is one process: it makes units, or is a member, or both.
 *
 *     NONE -> MAKER -> LIVE -> MAKER -> NONE       attach, begin, end, leave
 *                       |        ^
 *                       +-> DETACHED               until it says so
 *
 *  1. A unit has one lease at a time.
 *  2. What a lease's holder says counts only with the generation of that lease:
 *     whoever is late is refused, and counted.
 *  3. A unit is made once, unless its maker died, gave up, or was late.
 *  4. What is STAGED stays STAGED, with the same slot, until it is retired; it
 *     is retired only when every LIVE member has released it.
 *  5. The slot of a retired unit is pinned while a DETACHED place may look at
 *     it: one that was LIVE while it was STAGED, and had not released it.  What
 *     is STAGED later it must not look at: it loads the unit's word first, its
 *     own state after that.
 *  6. A member begins within the window, at `start`, and is owed every unit
 *     from there to its end exactly once, by taking or by making it itself.
 *  7. No unit is leased further than `ahead` beyond the member that is first.
 *  8. Retiring is lazy: only for room, in the window or in memory.
 *  9. A member waits for another only for room in the window, and never for
 *     one of its own job.
 */

#ifndef STAGE_LINE_H
#define STAGE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_RING	1024u	/* units in a window at most; a power of two */
#define LINE_PLACES	512u
#define LINE_GENERATIONS (1u << 24)
#define LINE_ANY	UINT64_MAX
#define LINE_NOBODY	UINT32_MAX
#define LINE_NO_SLOT	0u

enum unit_state { UNIT_FREE, UNIT_LEASED, UNIT_STAGED, UNIT_ALONE };
enum place_state { PLACE_NONE, PLACE_MAKER, PLACE_LIVE, PLACE_DETACHED };

struct line_unit {
	uint32_t	state;		/* enum unit_state */
	uint32_t	generation;	/* of its last lease */
	uint32_t	maker;		/* LEASED: its holder's place;
					 * else LINE_NOBODY */
	uint32_t	slot;		/* STAGED */
	uint32_t	is_late;	/* LEASED: another may have it */
	uint32_t	unused;
};

struct line_place {
	uint32_t	state;		/* enum place_state */
	uint32_t	leases;		/* out now */
	uint64_t	job;
	uint64_t	start, end;	/* LIVE: the units it is owed */
	uint64_t	taken, released;
	uint64_t	waits;		/* for this unit, or LINE_ANY: it does
					 * not */
	uint64_t	pin_end;	/* DETACHED: it may look at units from
					 * released to here */
};

struct line {
	uint64_t	units;		/* of the pass */
	uint64_t	window;		/* of them, 1 .. ring; may be changed */
	uint64_t	base;
	uint64_t	front;		/* no unit from here on was ever leased */
	uint64_t	ahead;		/* rule 7; the window, if not set */
	uint32_t	ring;		/* entries of unit[], a power of two */
	uint32_t	nr_places;	/* of place[] */
	uint32_t	used;		/* all places from here on are NONE */
	uint32_t	members;	/* LIVE */
	uint32_t	leases;
	uint32_t	holes;		/* units before front that are FREE */
	uint32_t	overdue;	/* units that are late */
	bool		begun;		/* there was a member, ever */
	uint64_t	made, alone, late, revoked, detached;	/* ever */
	struct line_unit  *unit;	/* unit u is at u % ring */
	struct line_place *place;

	/* What the rules want done; may be NULL. */
	void		(*changed)(void *arg, uint64_t unit);
			/* its state, generation, maker or slot */
	void		(*retired)(void *arg, uint64_t unit, uint32_t slot);
			/* it left the window; slot: it had been STAGED.  Ask
			 * line_pinned() whether that is free.  Units that were
			 * never leased may leave it unnamed: see base */
	void		*arg;
};

void line_init(struct line *l, uint64_t units, uint64_t window, uint64_t at,
    struct line_unit *unit, uint32_t ring, struct line_place *place,
    uint32_t nr_places);
	/* base = front = at; all units FREE, all places NONE.  The caller sets
	 * ahead and the callbacks afterwards. */

/*--- places --------------------------------------------------------------*/

int line_attach(struct line *l, uint64_t job);
	/* A place, as MAKER; -EUSERS: there is none left. */

int line_begin(struct line *l, uint32_t p, uint64_t at, uint64_t end,
    uint64_t *start);
	/* A MAKER becomes LIVE, with taken = released = *start.
	 * at LINE_ANY: where it shares most without holding anybody up: base,
	 * if the lead is in the first half of the window, else a quarter of the
	 * window behind the lead; end, if that is before it.
	 * Any other at is where it begins, or nowhere: -EAGAIN, if it has left
	 * the window, or is behind its end: then room is made as far as the
	 * members allow, and where there is neither a member nor a lease, the
	 * window moves there.
	 * -EINVAL: at > end, end > units, or it is no MAKER. */

void line_end(struct line *l, uint32_t p);
	/* LIVE or DETACHED to MAKER: it holds nothing of ours any more.  Its
	 * leases stay. */

void line_detach(struct line *l, uint32_t p);
	/* LIVE to DETACHED: nobody waits for it from now on. */

void line_revoke(struct line *l, uint32_t p);
	/* All its leases: they are FREE again. */

void line_leave(struct line *l, uint32_t p);
	/* To NONE, from any state: it said so, or it died.  Its leases are
	 * FREE again. */

int line_progress(struct line *l, uint32_t p, uint64_t taken,
    uint64_t released, uint64_t waits);
	/* What its seat says, if it is LIVE or DETACHED.  One that has said
	 * nothing yet may still show what is before its start: that counts as
	 * its start.  -EBADMSG, and nothing is changed: it went back, or past
	 * its end, or released more than was taken, or waits for what it has
	 * taken. */

uint64_t line_lead(const struct line *l);
	/* What the first of the members takes next; base, if there is none. */

/*--- units ---------------------------------------------------------------*/

enum line_answer {
	LINE_LEASED,
	LINE_WAIT,		/* what is next is as far ahead as it may be; or
				 * the window is full, and there is no member */
	LINE_FULL,		/* the window is: somebody has not released its
				 * first unit */
	LINE_OVER,		/* no unit is FREE: none is left to make, unless
				 * a maker dies or gives up */
};

enum line_answer line_lease(struct line *l, uint32_t p, uint64_t *unit);
	/* The first unit that may be made now.  A late one that a member waits
	 * for comes first; what all members have passed is left out.  Retires
	 * what it needs to, but nothing while there is no member. */

enum line_answer line_would_lease(const struct line *l);
	/* What somebody would get now. */

bool line_can_lease(const struct line *l);
	/* Is that LINE_LEASED? */

uint64_t line_first(const struct line *l);
	/* The first unit that some member has not released, and what base is
	 * once all is retired that can be.  Where the answer is LINE_FULL, this
	 * is the unit to be released. */

bool line_holds(const struct line *l, uint64_t unit, uint32_t p,
    uint32_t generation);

int line_publish(struct line *l, uint64_t unit, uint32_t p,
    uint32_t generation, uint32_t slot);
	/* -ESTALE: too late. */

int line_give_up(struct line *l, uint64_t unit, uint32_t p,
    uint32_t generation, bool alone);
	/* -ESTALE */

int line_call_late(struct line *l, uint64_t unit);
	/* A member waits for it, and its maker takes too long: another may be
	 * given it, as long as somebody waits.  So it is worth a look again
	 * when another member comes to wait, though it is late already.
	 * -ESTALE: it is not LEASED any more. */

bool line_retire(struct line *l);
	/* The first of the window, if every member has released it and there
	 * was one, ever; for room.  A LEASED one is revoked by it.  False:
	 * somebody has not, or nothing of the window was ever leased. */

bool line_pinned(const struct line *l, uint64_t unit);
	/* May a DETACHED place look at this retired unit? */

/*--- waiting -------------------------------------------------------------*/

/* The window here begins at line_first(): what can be retired blocks nobody. */

bool line_is_blocked(const struct line *l, uint32_t p);
	/* A LIVE member that waits for a unit behind the window. */

uint32_t line_blocker(const struct line *l, uint32_t after);
	/* Of the LIVE who have not released that first unit, the next place
	 * behind `after` (LINE_NOBODY: the first); LINE_NOBODY: no more.  One
	 * that is blocked may be among them, by what it keeps. */

bool line_is_blocked_at(const struct line *l, uint32_t p, uint64_t first);
bool line_blocks_at(const struct line *l, uint32_t p, uint64_t first);
	/* The same of one place, for those who look at many, and have asked
	 * line_first() once. */

bool line_keeps(const struct line *l, uint32_t p);
	/* A LIVE member that has taken that first unit, not released it, and
	 * waits: it makes it private when it is asked to.  So nobody waits for
	 * it in a circle, itself included. */

const char *line_broken(const struct line *l);
	/* A rule that does not hold, or NULL.  For tests, the model, and debug
	 * builds. */

#endif
