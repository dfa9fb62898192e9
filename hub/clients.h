/* SPDX-License-Identifier: Apache-2.0
 *
 * clients.h: the table of clients, and what passes between the hub and one of
 * them.  Runs in the hub only.
 *
 *  1. Every client ends in clients_reap(), and there once.
 *  2. A client dies when its pidfd says so, whoever else still holds its
 *     socket.  What it had sent by then is still handled, and nothing more.
 *  3. A hang-up ends the connection too: the process may have closed it, or
 *     have become another program.
 *  4. One frame of a client in a turn.
 *  5. Nothing here waits for a client: answers it does not read are kept, a few
 *     of them, then it is expelled.
 *  6. A client that there is no room for is told so, in answer to its hello.
 */

#ifndef HUB_CLIENTS_H
#define HUB_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/wire.h"
#include "hub/hub.h"
#include "hub/loop.h"
#include "hub/caller.h"

#define CLIENTS_MAX	1000u
#define CLIENTS_SLOTS	1024u	/* the rest is for those being refused */
#define CLIENTS_QUEUE	64u	/* answers that wait to be read */
#define CLIENTS_HELLO_NS	(5 * NS_PER_S)

struct answer {				/* one that waits */
	struct answer	*next;
	struct wire_frame frame;	/* with descriptors of our own */
};

struct client {
	unsigned	magic;
	uint32_t	id;
	uint64_t	job;
	uint64_t	since_ns;
	int		sock;
	struct caller	caller;
	struct loop_watch *on_sock, *on_pid;
	bool		is_welcome;	/* modules know it */
	bool		is_leaving;	/* was refused: ends when that is sent */
	bool		is_last;	/* waits for its last turns */
	bool		is_dead;	/* they are for what it had sent */
	unsigned	nr_frames_left;	/* of those */
	int		refusal;	/* -errno for its hello, or 0 */
	struct answer	*queue, **queue_end;
	unsigned	nr_queued;
	struct client	*next_last;
	struct clients	*all;
};

struct clients_counts {			/* since the start */
	uint64_t connects, deaths, refused, expelled;
};

struct clients {
	unsigned	magic;
	struct loop	*loop;
	struct log	*log;
	uint64_t	generation;
	int		control;	/* the segment, for a welcome */
	int	(*frame)(void *arg, struct client *c, struct wire_frame *f,
		    struct ds_err *err);
		/* As a module's; for whatever is no hello. */
	void	(*gone)(void *arg, struct client *c);
	void		*arg;

	int		listener;
	struct loop_watch *on_listener;
	bool		is_paused;	/* nobody is let in for the moment */
	int		spare;		/* a descriptor to refuse with */
	int		last;		/* an eventfd: how many have last turns */
	struct loop_watch *on_last;
	struct client	*first_last, **last_end;
	struct client	*slots[CLIENTS_SLOTS];
	unsigned	nr, nr_strangers;	/* have not been welcomed */
	uint32_t	last_id;
	struct clients_counts counts;
};

int clients_init(struct clients *all, struct loop *l, struct log *log,
    struct ds_err *err);
void clients_fini(struct clients *all);
	/* All are gone then. */

int clients_listen(struct clients *all, int listener, struct ds_err *err);
	/* The socket stays the caller's, and open until clients_unlisten(). */
void clients_unlisten(struct clients *all);

struct client *clients_find(const struct clients *all, uint32_t id);

void clients_tick(struct clients *all, uint64_t now_ns);

struct client *clients_adopt(struct clients *all, int sock, int refusal);
	/* A connected socket, taken over in any case; NULL if it was closed. */

void clients_reap(struct client *c);
	/* The end of it.  Not in a module's call: client_end() there. */

/* client.c: one of them. */

void client_ready(void *arg, uint32_t events);
	/* A turn of its socket. */
void client_end(struct client *c);
	/* Ends it in a turn of its own. */
void client_died(void *arg, uint32_t events);
void client_last_turn(struct client *c);
void client_drop_answers(struct client *c);

#endif
