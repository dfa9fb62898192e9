/* SPDX-License-Identifier: Apache-2.0
 *
 * world.h: the model of lease, publish, die, quarantine, drop: a small world
 * of a hub, its clients, their orphans and the store.
 *
 * Real: cache/minio.c and the words of items.  Modelled: the store as files
 * with those who can write and read them; the helper, which takes a while; the
 * sockets, as a queue of each client, that outlives it; the futex, as "was
 * there a wake since this client loaded it".
 *
 * What must hold.  In every state:
 *  1. The rules of cache/minio.h, over all items: one lease, admission, cap.
 *  2. A draft belongs to the lease that is out: one for an item at most.
 *  3. READY: one file has the name, of that item and lease, complete, and
 *     nobody can write it.
 *  4. What has a name, or had one and is still mapped, is never written.
 *  5. What has a lease has a holder that the hub does not know to be gone.
 *  6. The users of a set are its clients.
 *  7. Every byte that somebody holds is counted, and no more is counted than
 *     the budget.
 * In every step:
 *  8. What a lease's former holder says changes nothing, and a publish is
 *     counted.
 *  9. Nothing of a set in use is dropped: READY ends by corrupt bytes only.
 * 10. Admission closes with the first item that does not fit, and stays closed
 *     while the set is used.
 * And in the end:
 * 11. When the hub is quiet, no memory is counted that nobody holds, and no
 *     item is leased to a dead client.
 * 12. Who waits goes on by steps of the hub alone, whatever others do or fail
 *     to do, and without the deadline that every wait has besides.
 *
 * To add an action: a function in a rules file, one line in its table.  To add
 * a fault of the hub or a client to be found: one in enum break_rule and in
 * break_names, and the place that is to be wrong asks is_broken_by().
 */

#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache/index.h"
#include "cache/minio.h"
#include "tests/model/explore.h"

#define MAX_SETS	2u
#define MAX_ITEMS	2u
#define MAX_CLIENTS	3u
#define MAX_FILES	6u	/* more than any budget */
#define MAX_QUEUE	3u
#define MAX_VISITS	2u	/* data sets that a client opens in its life */
#define NONE		0xffu

enum break_rule {
	BREAK_NOTHING,
	BREAK_GENERATION,	/* a publish counts whatever its generation */
	BREAK_PROOF,		/* a file is named while somebody can write it */
	BREAK_REVOKE,		/* a dead client keeps its leases */
	BREAK_DROP_IN_USE,	/* a set is dropped while it is used */
	BREAK_WAKE,		/* a publish wakes nobody */
	BREAK_WAKE_REVOKE,	/* a revoked lease wakes nobody */
	BREAK_LOAD_ORDER,	/* a client looks first, then loads wake */
	BREAK_QUARANTINE,	/* memory is given back while an orphan has it */
	BREAK_HOLDS,		/* an allocation is handed out unlooked-at */
	BREAK_LEAVE,		/* a dead client is a user for ever */
	BREAK_REOPEN,		/* corrupt bytes open admission again */
	BREAK_REPORT,		/* a report of corruption is believed */
	BREAKS
};
extern const char *const break_names[BREAKS];

struct config {
	const char *name;
	bool	large;			/* only when all are asked for */
	uint8_t	sets, items, clients;
	uint8_t	cap, budget;		/* in items */
	uint8_t	last_cap_less;		/* what the last client says */
	bool	threads;		/* A and B are of one process */
	uint8_t	visits[MAX_CLIENTS][MAX_VISITS];	/* set + 1 */
	uint8_t	orphans;		/* clients that may fork: bits */
	uint8_t	mortal;			/* clients that may die: bits */
	uint8_t	flips;			/* faults of memory */
	uint8_t	lies;			/* reports of what is sound, publishes
					 * of what another has the lease of */
	uint8_t	early;			/* leases that end in the helper */
	bool	fails;			/* items may fail to be read */
	bool	no_memory;		/* allocations may fail */
	bool	drops;			/* `cache drop` is used */
	enum break_rule broken;
};

enum life { ALIVE, DEAD, GONE };	/* GONE: the hub knows */
enum orphan { NO_ORPHAN, ORPHAN, ORPHAN_DEAD };

enum at {
	AT_START, AT_OPENING, AT_PICK, AT_LOADED, AT_LOOKED, AT_ASKED, AT_WAIT,
	AT_GRANTED, AT_HALF, AT_FILLED, AT_FOUND, AT_MAPPED, AT_END
};

enum what { NOTHING, OPEN, CLOSE, LEASE, PUBLISH, GIVE_UP, FAIL, REPORT };

struct message {
	uint8_t what, set, item, generation;
};

struct person {			/* a client */
	uint8_t	life, orphan, at;
	uint8_t	visit;		/* which of its visits */
	uint8_t	set, item, generation;
	uint8_t	woken;		/* since it loaded wake */
	uint8_t	done;		/* items of this set: bits */
	uint8_t	member;		/* the hub's view: it uses set + 1 */
	uint8_t	saw;		/* AT_LOOKED: the state */
	uint8_t	unused;
	struct message queue[MAX_QUEUE];
};

enum place { NO_FILE, IN_HELPER, DRAFT, NAMED, QUARANTINE };

struct file {			/* of one lease; sorted by it */
	uint8_t	place, number, item, generation;
	uint8_t	client;		/* whose lease */
	uint8_t	filled;		/* of 2 */
	uint8_t	writers, readers;	/* clients, then orphans: bits */
	uint8_t	claimed;	/* a publish waits for the proof */
	uint8_t	written;	/* after it had a name */
	uint8_t	corrupt;
	uint8_t	unused;
};

struct data_set {
	struct minio_set m;
	_Atomic uint64_t word[MAX_ITEMS];
	uint8_t	number;		/* 0: there is none */
	uint8_t	unused[7];
};

struct world {
	struct data_set set[MAX_SETS];
	struct person	client[MAX_CLIENTS];
	struct file	file[MAX_FILES];
	uint8_t	used;		/* memory, as the hub counts it */
	uint8_t	sets;		/* numbers given so far */
	uint8_t	flips, lies, early;	/* so many are left */
	uint8_t	unused[3];
};

struct turn {			/* of a rule */
	const struct config *cfg;
	struct step *step;
};

/* A rule: what may happen, for each a below as and b below bs. */
struct rule {
	bool	(*apply)(struct world *w, struct turn *t, unsigned a, unsigned b);
		/* False: not now. */
	unsigned as, bs;
	bool	hub;
};
extern const struct rule client_rules[], hub_rules[];	/* end with as 0 */

void world_start(const struct config *cfg, struct world *w);
const char *world_check(const struct config *cfg, const struct world *w);
const char *world_check_quiet(const struct config *cfg, const struct world *w);
const char *world_check_step(const struct config *cfg,
    const struct world *before, const struct world *after);
unsigned world_blocked(const struct config *cfg, const struct world *w);

/* For the rules. */

bool is_broken_by(const struct turn *t, enum break_rule rule);
void tell(struct turn *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
uint32_t number_of(const struct turn *t, unsigned client);
	/* Its number for the hub: threads of a process have the same one. */
struct minio_item item_of(struct world *w, unsigned set, unsigned item);
uint64_t word_of(const struct world *w, unsigned set, unsigned item);
struct file *file_of(struct world *w, unsigned set, unsigned item,
    unsigned generation);
	/* Of this lease of what the set is now, or NULL. */
struct file *file_add(struct world *w, unsigned set, unsigned item,
    unsigned generation);
void file_remove(struct world *w, struct file *f);

static inline uint8_t
bit(unsigned i)
{
	return (uint8_t)(1u << i);
}

static inline uint8_t
orphan_bit(unsigned client)
{
	return bit(MAX_CLIENTS + client);
}

static inline char
letter(unsigned client)
{
	return (char)('A' + client);
}

#endif
