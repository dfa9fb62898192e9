/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_world.h: the model of the stage: lease, publish, take, release, keep,
 * join, leave, die, stop, detach, in a small world of a hub, some processes and
 * the memory between them.
 *
 * Real: stage/line.c and stage/waits.c.  Modelled: what the director does with
 * them, as turns; slots, with who owns, maps and writes them; seats, as words
 * that a client stores and the hub reads later; told messages, as a queue of
 * each process that outlives it; requests, which a process waits for, as one
 * step; futexes, as "was there a wake since".
 *
 * A process runs one thread that takes, in the order of its pattern, from one
 * or two seats, and up to two threads that make.
 *
 * What must hold.  In every state:
 *  1. The rules of stage/line.h that line_broken() counts again.
 *  2. Whoever holds a unit that it took from a slot finds there the bytes of
 *     that unit, whole, and nobody who writes them.
 *  3. A slot is in one state: STAGED is what one unit of the line says, HELD is
 *     pinned by somebody, FREE is written by nobody.
 *  4. Memory that somebody maps is counted, and no more is counted than the
 *     budget.
 * In every step:
 *  5. A member receives each unit that it is owed once, and in order.
 *  6. What is leased is in the window and not further ahead than allowed.
 *  7. What a lease's former holder says changes no unit.
 * And in the end:
 *  8. A member that waits goes on by steps of the hub and of processes that
 *     run and are in the pass: whoever is dead, stopped or away does nothing
 *     for it, and no timer of the hub runs but those of its rules.  So nobody
 *     waits for its own job, nor in a circle.
 *  9. When all are done, nothing is leased, pinned or mapped that is not used.
 *
 * To add an action: a function in a rules file, one line in its table.  To add
 * a fault to be found: one in enum stage_break and in stage_break_names, and
 * the place that is to be wrong asks breaks().
 */

#ifndef MODEL_STAGE_WORLD_H
#define MODEL_STAGE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "stage/line.h"
#include "tests/model/explore.h"

#define PEOPLE		4u
#define PASSES		2u
#define SEATS		2u	/* of a process */
#define THREADS		2u	/* of a process, that make */
#define UNITS		5u	/* at most, of a pass */
#define RING		4u	/* at most, of its window */
#define PLACES		4u
#define SLOTS		4u
#define QUEUE		4u
#define NEVER		0xffu	/* a unit, in a byte */
#define NOBODY		0xffu	/* a process, a place, a slot */

enum stage_break {
	BREAK_NONE,
	BREAK_RETIRE_EARLY,	/* a unit is retired that one has not released */
	BREAK_NO_QUARANTINE,	/* memory is counted as free that is mapped */
	BREAK_NO_GENERATION,	/* a publish counts whatever its generation */
	BREAK_WAIT_OWN_JOB,	/* a member is waited for by its own job */
	BREAK_NO_CYCLE,		/* cycles of waiting jobs are not looked for */
	BREAK_REUSE_LATE_SLOT,	/* a late lease's slot is free at once */
	BREAK_PIN_NONE,		/* what a DETACHED place holds is free at once */
	BREAK_LOST_WAKE,	/* a member looks first, then says that it waits */
	BREAK_NO_RECHECK,	/* the hub shows what it needs, and looks at no
				 * seat after that */
	BREAK_LOOK_ORDER,	/* a member looks at its state before the unit */
	BREAK_NO_PRIVATE,	/* a kept unit is never made private */
	BREAK_WAKE_NO_MAKER,	/* a lease that is free again wakes nobody */
	BREAK_AWAY,		/* a member that ended is waited for */
	BREAK_STOPPED_MAKER,	/* a maker that was woken and does not ask is
				 * relied on */
	BREAK_LATE_ONCE,	/* a lease that was late for one who is gone is
				 * not looked at again */
	STAGE_BREAKS
};
extern const char *const stage_break_names[STAGE_BREAKS];

enum keeping {
	RELEASES_FIRST,		/* before it takes the next */
	RELEASES_AFTER,		/* when it has the next */
	KEEPS_FIRST,		/* the first it took; of the others as above */
	KEEPS_ALL,
};

#define AT_ANY	0u		/* else it begins at AT(unit), or behind it */
#define AT(u)	((u) + 1u)

struct stage_person {		/* a process, in a configuration */
	uint8_t	job;		/* 0: there is no such process */
	uint8_t	seats[SEATS];	/* pass + 1 */
	const char *pattern;	/* of seats; NULL: one after the other */
	uint8_t	at;
	uint8_t	threads;	/* that make; the i-th at seat i % seats */
	uint8_t	keeps;		/* enum keeping */
	bool	no_member;	/* it only makes */
	bool	mortal, stops, leaves, quits;
};

struct stage_config {
	const char *name;
	bool	large;			/* only when all are asked for */
	uint8_t	units, window, ahead;	/* of each pass */
	uint8_t	budget;			/* in slots */
	uint8_t	lates, fails;		/* so many at most */
	uint8_t	lag;			/* 1: who is stopped is detached when it
					 * is waited for; 2: whoever is */
	bool	lockstep;		/* the processes of a job take as many */
	bool	quick;			/* units are made and messages are heard
					 * at once: it is the waiting that counts */
	bool	splits;			/* seats may change before the hub shows
					 * what it needs */
	bool	maps;			/* maps stay until they are to go */
	uint8_t	joined;			/* processes that have begun already */
	struct stage_person person[PEOPLE];
	enum stage_break broken;
};

/*--- the state: bytes only ----------------------------------------------*/

struct m_unit {
	uint8_t	state, generation, maker, slot, is_late;
};

struct m_place {		/* what its seat says is read in every turn */
	uint8_t	state, leases, start, pin_end;
	uint8_t	owner;		/* process * SEATS + seat */
};

struct m_pass {			/* the hub's, and what its board shows */
	uint8_t	lives;		/* somebody is attached */
	uint8_t	base, front, begun;
	uint8_t	need_taken, need_released, wants_room;
	uint8_t	recheck;	/* what it needs is not shown yet: */
	uint8_t	to_take, to_release;
	struct m_unit unit[RING];
	struct m_place place[PLACES];
};

enum slot_in { NO_SLOT, FREE, WRITING, STAGED, HELD, GONE };

struct m_slot {
	uint8_t	in;		/* enum slot_in */
	uint8_t	owner, owner_gone;
	uint8_t	pass, unit, generation;	/* WRITING, STAGED, HELD: for which */
	uint8_t	mapped;		/* by whom: bits */
	uint8_t	has_pass, has_unit, has_half;	/* what was written to it */
};

enum phase { OUT, ATTACHED, MEMBER, ALONE, DONE };
enum taking { READY, CHECKED, STORED, ASLEEP };

struct m_seat {			/* of a process at a pass */
	uint8_t	phase, place, at;
	uint8_t	taking, woken, self;	/* self: there was no memory */
	uint8_t	next, got;	/* the unit that is to come; those that did */
	uint8_t	taken, released, waits;	/* in its page */
	uint8_t	held[UNITS];	/* slot + 1 */
	uint8_t	saw;		/* for BREAK_LOST_WAKE and _LOOK_ORDER */
};

enum making { IDLE, WAITS, WRITING_IT };
					/* one half was written; the other is
					 * when it publishes */

struct m_thread {
	uint8_t	making, woken, no_room;
	uint8_t	unit, generation, slot;
};

enum telling { NOTHING, PUBLISH, LATER, FAILED, NEWS, END, LEAVE };

struct m_message {
	uint8_t	what, seat, unit, generation, slot;
};

enum life { ALIVE, DEAD, REAPED };

struct m_person {
	uint8_t	life, stopped;
	uint8_t	steps;		/* units taken, as the pattern counts */
	struct m_seat	seat[SEATS];
	struct m_thread	thread[THREADS];
	struct m_message queue[QUEUE];
	uint8_t	unused[3];
};

struct stage_world {
	uint8_t	people;
	uint8_t	lates, fails;	/* so many are left */
	uint8_t	unused[1];
	struct m_slot	slot[SLOTS];
	struct m_pass	pass[PASSES];
	struct m_person	person[PEOPLE];	/* only those that there are count */
};

/*--- rules ---------------------------------------------------------------*/

struct stage_turn {
	const struct stage_config *cfg;
	struct step *step;
};

/* What may happen, for each a below as and b below bs. */
struct stage_rule {
	bool	(*apply)(struct stage_world *w, struct stage_turn *t,
		    unsigned a, unsigned b);
		/* False: not now. */
	unsigned as, bs;
	bool	goes_on;	/* it counts for what is to hold in the end, 8 */
};
extern const struct stage_rule taker_rules[], maker_rules[], hub_rules[],
    time_rules[], fault_rules[];	/* end with as 0 */

void stage_start(const struct stage_config *cfg, struct stage_world *w);
const char *stage_check(const struct stage_config *cfg,
    const struct stage_world *w);
unsigned stage_people(const struct stage_config *cfg);
unsigned stage_passes(const struct stage_config *cfg);
unsigned stage_blocked(const struct stage_config *cfg,
    const struct stage_world *w);
void stage_normalise(const struct stage_config *cfg, struct stage_world *w);
	/* Worlds that differ in nothing that matters become the same. */

/* The real line of a pass, while it is looked at. */
struct view {
	struct line	line;
	struct line_unit unit[RING];
	struct line_place place[PLACES];
};

void view_open(struct view *v, const struct stage_config *cfg,
    const struct stage_world *w, unsigned pass);

/* For the rules. */

bool breaks(const struct stage_turn *t, enum stage_break rule);
void say(struct stage_turn *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
	/* Adds to what is told of this step. */
bool can_run(const struct stage_world *w, unsigned p);
unsigned pass_of(const struct stage_turn *t, unsigned p, unsigned s);
struct m_unit *entry_of(struct stage_world *w, const struct stage_turn *t,
    unsigned pass, unsigned unit);
	/* What the board shows of a unit, or NULL: it is not there. */
unsigned ring_of(const struct stage_config *cfg);
unsigned seat_of(const struct stage_config *cfg, unsigned p, unsigned thread);
	/* For which of its seats a thread makes. */
bool push(struct m_person *person, enum telling what, unsigned s, unsigned unit,
    unsigned generation, unsigned slot);
	/* False: too much is on its way already. */
void free_if_unused(struct stage_turn *t, struct m_slot *slot);

/* stage_hub.c: what a request does. */

bool hub_attach(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s);
int hub_begin(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned s, unsigned at);
	/* Where, or -1: not there. */
void hub_lease(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned thread);

bool hub_handle(struct stage_world *w, struct stage_turn *t, unsigned p,
    unsigned b);
	/* The next message of a process, if there is one. */

/* stage_taker.c */

void client_join(struct stage_world *w, struct stage_turn *t, unsigned p);
	/* At the beginning of time. */
bool has_finished(const struct m_person *m);
	/* It takes nothing any more. */
void clear_seat(struct m_seat *seat);
	/* Nothing in the stage is of any use to it now. */

static inline uint8_t
bit_of(unsigned i)
{
	return (uint8_t)(1u << i);
}

static inline char
name_of(unsigned p)
{
	return (char)('A' + p);
}

#endif
