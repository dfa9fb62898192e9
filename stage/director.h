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
 *     can be leased, in the order in which they asked.
 *  5. Nobody is promised a unit: a maker that was woken asks again.
 *  6. At most MAKING_PER_CPU threads per processor make units of one pass at a
 *     time, and two leases are always possible.
 *  7. A job that gave no token is its own: its client's number.
 */

#ifndef STAGE_DIRECTOR_H
#define STAGE_DIRECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/segment.h"
#include "base/wire.h"
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
#define MAKING_PER_CPU	3u
#define LATE_MIN_NS	UINT64_C(100000000)	/* a lease is late after this, */
#define LATE_TIMES	4u			/* and so many mean times */

struct attachment_seat {	/* what its seat said last */
	uint64_t taken, released, waits, samples, own;
};

struct stage_lease {		/* that is out, in the order of granting */
	struct stage_lease *next;
	uint64_t	unit;
	uint32_t	generation, place, threads;
	uint32_t	slot;		/* 0: it has no memory yet */
	uint64_t	granted_ns;
};

struct seated {			/* an attachment; by its place in the line */
	uint32_t	client;		/* 0: nobody */
	uint64_t	job;
	struct segment	seat;		/* mapped read-only */
	struct attachment_seat said;
	bool		is_idle;	/* rule 4 */
	uint64_t	idle_order;
	uint32_t	serial;		/* of a LEASE or ROOM that waits for
					 * memory; 0: none */
	struct lag	lag;
	struct pace	pace;
	struct making	making;
	uint64_t	waits_since_ns;	/* for a member; 0: it does not */
	uint64_t	waited_ns;	/* in all */
	uint64_t	took_ns;	/* last */
	uint64_t	made;
};

struct pass {
	unsigned	magic;
	uint32_t	id;
	char		*group, *key;
	uint64_t	seed, epoch;
	bool		is_hub_seed;
	enum stage_order order;
	uint64_t	samples;
	uint32_t	unit;
	struct segment	seg;
	struct board	*board;		/* in seg */
	struct line	line;
	struct line_unit unit_of[LINE_RING];
	struct line_place place_of[LINE_PLACES];
	struct seated	seated[LINE_PLACES];
	uint32_t	nr_seated;
	struct stage_lease *leases;
	uint32_t	threads;	/* making now */
	uint64_t	make_mean_ns;	/* of a unit, from grant to publish */
	uint64_t	wanted_bytes;	/* of a unit, as last asked for */
	struct pass	*next;
};

struct director {
	unsigned	magic;
	struct hub	*hub;
	struct slots	*slots;
	unsigned	cpus;
	struct pass	*passes;
	unsigned	nr_passes;
	uint32_t	next_pass;
	uint64_t	next_idle;
};

extern const struct hub_module director_module;

#endif
