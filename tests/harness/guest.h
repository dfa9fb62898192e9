/* SPDX-License-Identifier: Apache-2.0
 *
 * guest.h: a client of the stage that says each message by itself, and may say
 * what no client of ours does; for unit tests of the hub's side.
 */

#ifndef HARNESS_GUEST_H
#define HARNESS_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/segment.h"
#include "stage/board.h"
#include "stage/messages.h"

struct guest {
	int		sock;
	uint32_t	client;
	uint64_t	job;
};

struct wish {			/* what ATTACH says */
	const char	*group, *key;
	uint32_t	seeded;
	uint64_t	seed, epoch, samples;
	uint32_t	unit, order;
	uint64_t	at;
	uint32_t	ahead;
	uint64_t	window, window_bytes;
};

extern const struct wish wish_plain;
	/* 100 units of 4, random order, seed 7, epoch 0, anywhere, window 4,
	 * ahead 4 */

struct stand {			/* a guest at a pass */
	struct guest	*guest;
	uint32_t	number, place, unit;
	uint64_t	seed, epoch, units;
	struct segment	board;
	const struct board *is;		/* in board */
	struct seat	*seat;		/* mapped for writing */
	struct segment	fl;
};

struct granted {
	int		type;		/* of the answer */
	uint32_t	why;
	uint64_t	unit;
	uint32_t	generation, slot;
	uint64_t	room;
	bool		has_fd;
};

void guesthub_start(uint64_t stage_bytes, unsigned speed);
void guesthub_stop(void);

void guest_join(struct guest *g, uint64_t job);
void guest_leave(struct guest *g);	/* without a word */
void guest_sync(struct guest *g);	/* all that it told was heard */
bool guest_is_expelled(struct guest *g);

int guest_try_attach(struct guest *g, const struct wish *w, struct stand *s);
	/* The type of the answer. */
void guest_attach(struct guest *g, const struct wish *w, struct stand *s);
void stand_forget(struct stand *s);	/* our maps; says nothing */

int stand_try_begin(struct stand *s, uint64_t at, uint64_t end, uint32_t lag,
    uint64_t lag_ns, uint64_t *unit);
	/* The type of the answer, and what it says. */
uint64_t stand_begin(struct stand *s, uint64_t at);
	/* To the end, with the policy `wait`; stores the start in the seat. */
void stand_sit(struct stand *s, uint64_t taken, uint64_t released);
void stand_wait(struct stand *s, uint64_t unit);
	/* In its seat: that it waits for it. */

struct granted stand_lease(struct stand *s, uint64_t bytes, uint32_t threads);
struct granted stand_room(struct stand *s, const struct granted *g,
    uint64_t bytes);
void stand_publish(struct stand *s, const struct granted *g, uint64_t bytes);
void stand_publish_after(struct stand *s, const struct granted *g,
    uint64_t bytes, uint64_t make_ns);
	/* The same, of one who says that making it took so long. */
void stand_give_up(struct stand *s, const struct granted *g, uint32_t how);
void stand_tell(struct stand *s, uint16_t type);	/* NEWS, END, LEAVE */
int stand_map(struct stand *s, uint32_t slot, uint64_t *room);
	/* The type of the answer; the descriptor is closed. */
void stand_make(struct stand *s, uint64_t unit);
	/* Leases this one, the next to be made, and publishes it. */

uint64_t stand_word(const struct stand *s, uint64_t unit);
	/* Of its entry, which is this unit's. */
enum unit_state stand_state(const struct stand *s, uint64_t unit);
uint32_t stand_wakes(const struct stand *s);	/* so far, as a member */
uint32_t stand_works(const struct stand *s);	/* so far, as a maker */

bool guest_stat(struct guest *g, uint32_t after, uint32_t *pass,
    uint64_t word[STAGE_PASS_WORDS]);
	/* The next pass; false: no more. */
uint64_t stand_stat(struct stand *s, enum stage_pass_word which);
	/* Of its pass. */
bool guest_stat_job(struct guest *g, uint32_t pass, uint32_t after,
    uint32_t *place, uint64_t word[STAGE_MEMBER_WORDS]);

#define UNIT_BYTES	5000u		/* two pages */

#endif
