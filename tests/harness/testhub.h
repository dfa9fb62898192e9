/* SPDX-License-Identifier: Apache-2.0
 *
 * testhub.h: a hub in a child process, with a module that does what tests ask
 * it to, and a client that sends any frame it likes.
 */

#ifndef HARNESS_TESTHUB_H
#define HARNESS_TESTHUB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/wire.h"
#include "hub/hub.h"

enum testhub_message {
	TEST_ECHO = 0x100,	/* bytes -> the same */
	TEST_FAIL,		/* u32 errno -> refused with it */
	TEST_BAD,		/* the module finds it malformed */
	TEST_LATER,		/* -> DONE, by way of the helper */
	TEST_HOLD,		/* u32: is something held? -> DONE */
	TEST_COUNT,		/* told */
	TEST_ASK,		/* -> u32 told, u32 gone, u32 last gone */
	TEST_FLOOD,		/* u32 -> as many answers, each a descriptor */
	TEST_FLIP,		/* a bit of the control segment */
};

extern const struct hub_module testhub_module;

void testhub_open(void);	/* a folder for the socket; in a set-up */
void testhub_close(void);	/* and away with it */
const char *testhub_socket(void);
const char *testhub_folder(void);

void testhub_use(const struct hub_module *const *modules);
	/* Instead of testhub_module, by hubs from now on; NULL: that again. */
pid_t testhub_start(const struct hub_options *o, unsigned speed);
	/* Returns when it can be connected to.  Its clock runs so many times
	 * faster. */
pid_t testhub_try(const struct hub_options *o, char *said, unsigned size);
	/* What it says of its start: "ok\n" or a sentence. */
struct testhub_next { pid_t pid; int go, ready; };

struct testhub_next testhub_prepare(const struct hub_options *o);
pid_t testhub_begin(struct testhub_next *next);
	/* testhub_start() in two steps: a child that was forked off beside threads
	 * cannot allocate where memory is watched (its locks may be held for
	 * ever), so it must be there before they are. */
int testhub_wait(pid_t pid);
	/* For its end: exit status, or 128 and the signal. */
int testhub_stop(pid_t pid);

/* A client. */

int testhub_connect(void);
int testhub_hello(int sock, const char *version, struct wire_frame *f);
	/* The type of the answer, 0 if the connection ended. */
int testhub_join(void);
	/* Both; the welcome is checked, its segment closed. */
void testhub_send(int sock, uint16_t type, const void *body, uint32_t len);
bool testhub_try_send(int sock, uint16_t type, const void *body, uint32_t len);
int testhub_recv(int sock, struct wire_frame *f);
int testhub_ask(int sock, uint16_t type, const void *body, uint32_t len,
    struct wire_frame *f);
void testhub_check_ping(int sock);
bool testhub_is_ended(int sock);
	/* Waits for the hub to end it, past any answers. */

struct testhub_counts { uint32_t told, gone, last_gone; };
struct testhub_counts testhub_counts(int sock);
void testhub_await_gone(int sock, uint32_t nr);
	/* Until so many clients are gone in all. */

#endif
