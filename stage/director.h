/* SPDX-License-Identifier: Apache-2.0
 *
 * director.h: the hub's side of the stage, shared by the files director*.c.
 * Runs in the hub only, in its loop.
 *
 * A stream is (group, key, seed); a pass is one epoch of it, for jobs that are
 * near each other: there may be several of one epoch, where jobs have resumed
 * far apart.  An attachment is a process at a pass: it has a place in the line.
 *
 *  1. A pass lives from its first ATTACH until its last attachment is gone.
 *  2. The line decides; the board shows what it decided, in the same turn.
 *  3. Before the line is asked anything, the seats of all members are read.
 *  4. A maker that was told to wait is idle: it is woken, one for each unit that
 *     can be leased, in the order in which they asked.  One that found no
 *     memory is woken when some was given back, or a tick has passed.
 *  5. Nobody is promised a unit: a maker that was woken asks again.
 *  6. At most MAKING_PER_CPU threads per processor make units of one pass at a
 *     time, those that are late not counted, and two leases are always
 *     possible.
 *  7. A client that names no job is its own: its number is that of the job.
 *  8. A lease is in the list of its pass from the grant until its holder has
 *     said that it writes no more, or has left; if it was published, it is in
 *     the list of what is staged until its unit is retired, and then, while one
 *     that was detached may look at it, in that of what is held.  So every slot
 *     that is not FREE or GONE is in exactly one list of one pass, or a ghost
 *     may still write it (director_ghost.c).
 */

#ifndef STAGE_DIRECTOR_H
#define STAGE_DIRECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/segment.h"
#include "base/wire.h"
#include "hub/caller.h"
#include "hub/hub.h"
#include "stage/board.h"
#include "stage/lag.h"
#include "stage/line.h"
#include "stage/messages.h"
#include "stage/slots.h"
#include "stage/waits.h"

#define DIRECTOR_MAGIC	0x44495245u	/* "DIRE" */
#define PASS_MAGIC	0x50415353u	/* "PASS" */
#define DIRECTOR_PASSES	1024u
#define DIRECTOR_ATTACHED 64u		/* by one process */
#define DIRECTOR_LEASES	256u		/* by one attachment */
#define DIRECTOR_EDGES	512u		/* of the wait-for graph */
#define PASS_IDS	(UINT32_MAX / LINE_PLACES)
#define WINDOW_UNITS	16u		/* unless somebody asks for more */
#define WINDOW_LEAST	2u
#define WINDOW_MEMORY	4u		/* for want of memory, not less */
#define AHEAD_UNITS	4u
#define MAKING_PER_CPU	3u
#define LATE_MIN_NS	UINT64_C(100000000)	/* a lease is late after this, */
#define LATE_TIMES	4u			/* and so many mean times, */
#define LATE_DOUBLINGS	16u			/* twice that after each, */
#define LATE_FIRST_NS	UINT64_C(5000000000)	/* or this: none is known */

struct director;
struct pass;
struct ghost;		/* director_ghost.c */

struct stage_lease {		/* rule 8 */
	struct stage_lease *next;
	struct director	*director;
	struct pass	*pass;		/* NULL: its holder has left, and only
					 * its memory is still to come */
	uint64_t	unit;
	uint32_t	generation, place, client, threads;
	uint32_t	slot;		/* 0: it has no memory yet */
	uint64_t	room;		/* bytes of it */
	bool		is_pending;	/* memory is being allocated */
	bool		is_begun;	/* it is being made, and needs memory
					 * only then */
	uint32_t	serial;		/* whom to answer then */
	uint64_t	granted_ns;
};

struct said {			/* by a seat */
	uint64_t taken, released, waits, samples, own;
};

struct seated {			/* an attachment; by its place in the line */
	uint32_t	client;
	pid_t		pid;
	char		name[CALLER_NAME];
	uint64_t	job;
	uint64_t	ahead;		/* as it asked for */
	struct segment	seat;		/* mapped read-only */
	struct said	said;		/* last */
	bool		is_fresh;	/* it has begun, and its seat says what
					 * it said then: board.h, 7 */
	bool		is_idle;	/* rule 4 */
	bool		may_be_idle;	/* it was, and has asked again: another
					 * of its threads may not have */
	bool		lacks_room;	/* idle for want of memory */
	uint64_t	idle_order;
	struct lag	lag;
	struct pace	pace;
	struct making	making;		/* by this process */
	uint64_t	waits_since_ns;	/* for room in the window; 0: no */
	uint64_t	waited_ns;	/* in all */
	uint64_t	took_ns;	/* last */
	uint64_t	made;
};

struct pass {
	unsigned	magic;
	uint32_t	id;
	struct director	*director;
	char		*group, *key;
	uint64_t	seed, epoch;
	bool		is_hub_seed;
	enum stage_order order;
	uint64_t	samples;
	uint32_t	unit;
	struct segment	seg;
	struct board	*board;		/* in seg */
	uint64_t	shown_end;	/* units before it are on the board */
	struct line	line;
	struct line_unit unit_of[LINE_RING];
	struct line_place place_of[LINE_PLACES];
	struct seated	*seated[LINE_PLACES];
	uint32_t	nr_seated;
	uint32_t	high;		/* no place from here on is taken */
	struct stage_lease *leases, *staged, *held;	/* rule 8 */
	uint8_t		lates[LINE_RING];	/* how often its maker was */
	uint64_t	window_units, window_bytes;	/* most asked for */
	uint64_t	unit_bytes;	/* most asked for, in whole pages */
	bool		is_too_large;	/* one was, and the log says so */
	uint64_t	make_mean_ns;	/* of a unit, from grant to publish */
	uint64_t	delivered;	/* units, ever */
	uint64_t	used_ns;	/* last leased or taken */
	struct { uint64_t bytes, hash, job; } publishing;
	uint64_t	need_taken, need_released;	/* as shown */
	uint64_t	news_from, news_to;	/* units that became STAGED or
					 * ALONE in this turn; from > to: none */
	struct pass	*next;
};

struct director {
	unsigned	magic;
	struct hub	*hub;
	struct slots	*slots;
	unsigned	cpus;
	struct pass	*passes;
	struct ghost	*ghosts;
	bool		is_leaving;	/* with its hub */
	unsigned	nr_passes;
	uint32_t	last_pass;
	uint64_t	last_idle;
	unsigned	nr_orphans;	/* leases without a pass: rule 8 */
	struct wait_edge edges[DIRECTOR_EDGES];
	uint32_t	marks[DIRECTOR_EDGES];
	uint64_t	waiting[DIRECTOR_EDGES];	/* jobs */
};

typedef int director_handler_f(struct director *d, struct client *c,
    struct wire_frame *f, struct ds_err *err);

director_handler_f director_attach, director_leave;
director_handler_f director_begin, director_end, director_news;
director_handler_f director_lease, director_room;
director_handler_f director_publish, director_give_up;
director_handler_f director_map, director_unmapped;
director_handler_f director_stat, director_stat_job;

/*--- passes and places ---------------------------------------------------*/

struct pass *director_pass_of(struct director *d, uint32_t number,
    const struct client *c, uint32_t *place);
	/* Of the attachment with this number, if it is this client's; NULL. */
struct pass *director_pass(struct director *d, uint32_t id);
uint32_t director_number(const struct pass *p, uint32_t place);
	/* As clients call an attachment. */
void director_end_pass(struct director *d, struct pass *p);
int director_new_seated(struct director *d, const struct client *c,
    struct seated **out, struct ds_err *err);
void director_free_seated(struct seated **sp);
uint32_t director_seat(struct pass *p, struct seated *s);
	/* Gives it a place: there is one. */
void director_leave_place(struct director *d, struct pass *p, uint32_t place);
	/* The last one ends the pass. */
uint32_t director_count_jobs(const struct pass *p);
	/* Of members. */
void director_fit(struct pass *p);
	/* The window to what is asked for, and what memory there is. */

/*--- ghosts --------------------------------------------------------------*/

void director_client_gone(struct director *d, const struct client *c);
	/* It hung up, or died. */
void director_end_ghosts(struct director *d);

/*--- the board -----------------------------------------------------------*/

void director_show_unit(void *pass, uint64_t unit);
	/* line.changed */
void director_show_place(struct pass *p, uint32_t place);
void director_show_members(struct pass *p);
void director_wake(struct pass *p, uint32_t place);
	/* A member. */
void director_room_grew(void *director);
	/* Those who lack memory may try again. */
void director_settle(struct pass *p, uint64_t now_ns);
	/* At the end of whatever may have changed a pass: shows it, and wakes
	 * whom it concerns. */

/*--- members -------------------------------------------------------------*/

void director_look(struct pass *p, uint64_t now_ns);
	/* Rule 3. */
void director_note_wait(struct pass *p, uint32_t place, uint64_t now_ns);
	/* Whether it waits for room in the window. */

/*--- leases --------------------------------------------------------------*/

void director_retired(void *pass, uint64_t unit, uint32_t slot);
	/* line.retired */
void director_put_held(struct pass *p);
	/* What nobody can look at any more. */
struct stage_lease *director_find_lease(struct pass *p, uint32_t place,
    uint64_t unit, uint32_t generation);
void director_end_lease(struct stage_lease *l);
	/* Of the list of leases; its slot is free. */
void director_end_leases(struct pass *p, uint32_t place);
	/* All of a place that has left the line. */
void director_abandon_leases(struct pass *p, uint32_t place);
	/* The same of one whose process may still write: its slots stay as they
	 * are until that has ended. */
void director_end_units(struct pass *p);
	/* Before the pass ends: nothing of it is needed any more. */
void director_idle(struct pass *p, uint32_t place, bool lacks_room);
	/* It was told to wait. */
bool director_may_make(const struct pass *p, uint32_t threads,
    uint32_t *left);
	/* Rule 6; left: how many threads more. */

/*--- waiting -------------------------------------------------------------*/

void director_wait(struct director *d, uint64_t now_ns);
	/* Detaches whom nobody is to wait for any more. */
uint32_t director_waits_for(const struct pass *p, uint32_t place);
	/* The first other member that it waits for, or LINE_NOBODY. */
void director_late(struct pass *p, uint64_t now_ns);
	/* Calls leases late. */
bool director_is_overdue(const struct pass *p, const struct stage_lease *l,
    uint64_t now_ns);
	/* It could be called late. */

extern const struct hub_module director_module;

#endif
