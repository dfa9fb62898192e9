/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.h: what a client of the stage says to the hub (messages.h).
 * Runs in clients, in any of their threads.
 *
 *  1. A hub whose answer cannot be read is taken for gone: the link is ended.
 *  2. What is told may get lost only with the link; the hub then learns from
 *     that what there is to know.
 */

#ifndef STAGE_TALK_H
#define STAGE_TALK_H

#include <stdint.h>

#include "base/err.h"
#include "hub/link.h"
#include "stage/messages.h"
#include "stage/stage_options.h"

struct talk_attached {
	uint32_t pass, place, unit;
	uint64_t seed, epoch, units;
	int	board, seat, floor;	/* descriptors */
};

int talk_attach(struct link *l, const struct stage_options *o, uint64_t epoch,
    uint64_t at, struct talk_attached *a, struct ds_err *err);
	/* The descriptors are the caller's. */
void talk_close_fds(struct talk_attached *a);

int talk_begin(struct link *l, uint32_t pass, uint64_t at, uint64_t end,
    const struct stage_options *o, uint64_t *start, struct ds_err *err);
	/* 1: begun; 0: at is behind the window. */

struct talk_leased {
	uint64_t unit, room;
	uint32_t generation;
	uint32_t slot;		/* 0: no memory yet */
	int	fd;		/* of a slot that is new here, or -1 */
	enum stage_why why;	/* of none */
};

int talk_lease(struct link *l, uint32_t pass, uint64_t bytes, uint32_t threads,
    struct talk_leased *out, struct ds_err *err);
int talk_room(struct link *l, uint32_t pass, uint64_t unit,
    uint32_t generation, uint64_t bytes, struct talk_leased *out,
    struct ds_err *err);
	/* 1: a lease; 0: none, and why. */

int talk_map(struct link *l, uint32_t pass, uint32_t slot, uint64_t *room,
    struct ds_err *err);
	/* The descriptor. */

int talk_publish(struct link *l, uint32_t pass, uint64_t unit,
    uint32_t generation, uint64_t bytes, uint64_t hash, uint64_t make_ns,
    struct ds_err *err);
void talk_give_up(struct link *l, uint32_t pass, uint64_t unit,
    uint32_t generation, enum stage_give_up how);
void talk_unmapped(struct link *l, uint32_t slot);
void talk_ping(struct link *l);
	/* A hub that does not answer is gone. */
int talk_why(struct link *l, struct ds_err *err);
	/* -ESTALE: why a link that is not alive is not. */
int talk_waits_for(struct link *l, uint32_t pass, uint32_t place,
    uint64_t *pid, struct ds_err *err);
	/* The process for whose member a place waits, or 0; pass: the board's
	 * number of it. */
void talk_news(struct link *l, uint32_t pass);
void talk_end(struct link *l, uint32_t pass);
void talk_leave(struct link *l, uint32_t pass);

#endif
