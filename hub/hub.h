/* SPDX-License-Identifier: Apache-2.0
 *
 * hub.h: the daemon.  Runs in the hub only.
 *
 * The hub itself knows clients and frames; what they are about is the business
 * of its modules, the cache first.
 *
 *  1. Everything here is called in a turn of the loop, by one thread.
 *  2. A client is known by its number, which is never used twice in the life
 *     of a hub; a struct client is valid until its module was told gone().
 *  3. gone() is called exactly once for each client that was welcomed, whether
 *     it closed its socket, died (pidfd), or was expelled.
 *  4. Every byte from a client is hostile: a handler checks it, and answers
 *     -EBADMSG for what no client of ours would send; that client is expelled.
 */

#ifndef HUB_HUB_H
#define HUB_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wire.h"
#include "hub/helper.h"
#include "hub/log.h"
#include "hub/room.h"

struct hub;
struct client;

struct hub_module {
	const char	*name;
	uint16_t	first, last;	/* the messages it handles */

	int	(*start)(void **state, struct hub *hub, struct ds_err *err);
	void	(*stop)(void *state);
		/* All clients are gone, and the helper is done. */
	int	(*frame)(void *state, struct client *c, struct wire_frame *f,
		    struct ds_err *err);
		/* 0: handled, answered now or later.  -EBADMSG: expel.  Any
		 * other -errno is answered as MSG_REFUSED with err's text.
		 * Descriptors left in the frame are closed by the hub. */
	void	(*gone)(void *state, struct client *c);
	void	(*leave)(void *state);
		/* The hub leaves: before the clients that it still has are
		 * gone, and while there is a helper. */
	void	(*tick)(void *state, uint64_t now_ns);	/* ten a second */
	bool	(*holds)(void *state);
		/* Something that is worth staying for when nobody is here. */
};

extern const struct hub_module *const hub_modules[];	/* ends with NULL */

struct hub_options {
	uint64_t cache_bytes;		/* the ceiling; 0: half of what is free */
	uint64_t stage_bytes;		/* the stage's; 0: as slots_new() says */
	uint64_t idle_ns;		/* leave after this without clients ... */
	uint64_t idle_holding_ns;	/* ... and this while something is held */
	uint64_t lease_ns;		/* how long a client may take to fetch */
	enum log_level log;
};

extern const struct hub_options hub_defaults;

int hub_run(const struct hub_options *o, int ready_fd, struct ds_err *err);
	/* The whole life of a hub: takes the lock, listens, serves until it
	 * has nothing to do, is asked to stop, or gets SIGTERM or SIGINT.
	 * ready_fd (or -1) is written "ok\n" and closed when clients can
	 * connect; before that, on failure, it is left to the caller.
	 * The process is changed for good: umask, signals, limits, folder.
	 * -EALREADY: there is another one. */

int hub_run_with(const struct hub_module *const *modules,
    const struct hub_options *o, int ready_fd, struct ds_err *err);
	/* The same with other modules than hub_modules: for tests. */

/* For modules. */

struct loop *hub_loop(struct hub *h);
struct helper *hub_helper(struct hub *h);
struct log *hub_log(struct hub *h);
const struct hub_options *hub_options(const struct hub *h);
uint64_t hub_generation(const struct hub *h);
struct control *hub_control(struct hub *h);
void hub_tell(struct hub *h);
	/* Brings the hub's own figures there up to date; so does each tick. */

struct machine *hub_machine(struct hub *h);
struct client *hub_client(struct hub *h, uint32_t id);
	/* NULL if it is gone: for answers that took a while. */

uint32_t client_id(const struct client *c);
uint64_t client_job(const struct client *c);	/* 0 if it did not say */
const char *client_name(const struct client *c);
	/* For logs and statistics: "1234 (python3)". */

void client_answer(struct client *c, const struct wire_frame *f);
	/* Never blocks; a client that does not read its answers is expelled,
	 * later, in a turn of its own.  Descriptors stay the caller's. */
void client_done(struct client *c, uint32_t serial);
void client_refuse(struct client *c, uint32_t serial, int code,
    const char *text);
void client_expel(struct client *c, const char *why);
	/* In a turn of its own, for what it did without a frame. */

#endif
