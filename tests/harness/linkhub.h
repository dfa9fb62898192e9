/* SPDX-License-Identifier: Apache-2.0
 *
 * linkhub.h: a hub that is a thread, has one client and behaves as a test wants
 * it, for unit tests of hub/link.c.
 */

#ifndef HARNESS_LINKHUB_H
#define HARNESS_LINKHUB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/segment.h"
#include "base/wire.h"
#include "hub/link.h"
#include "hub/proto.h"

#define GENERATION	UINT64_C(0x1122334455667788)
#define CLIENT		7u
#define HUB_PID		42u		/* of its control segment */
#define MSG_TEST	0x123
#define MSG_ANSWER	0x124
#define SHORT_NS	(50 * NS_PER_MS)
#define LONG_NS		(60 * NS_PER_S)

struct linkhub;
typedef bool serve_f(struct linkhub *h, struct wire_frame *f);
	/* False: hang up. */

struct linkhub {
	int		sock;		/* the hub's */
	int		client;		/* for the link */
	serve_f		*hello, *serve;
	struct segment	control;
	pthread_t	thread;
	unsigned	nr_told;
	bool		reads;		/* else it only welcomes */
};

void linkhub_begin(struct linkhub *h, serve_f *hello, serve_f *serve);
	/* The first frame is for hello, all others are for serve. */
void linkhub_run(struct linkhub *h);	/* its thread */
struct link *linkhub_connect(struct linkhub *h, uint64_t patience_ns);
	/* Runs it, too. */
void linkhub_end(struct linkhub *h);
	/* Waits for its thread, which ends with the connection. */

void linkhub_send(struct linkhub *h, struct wire_frame *f, uint16_t type);
void linkhub_refuse(struct linkhub *h, uint32_t serial, uint32_t code,
    const char *text);
void linkhub_write_welcome(struct wire_frame *f, uint32_t serial, int fd);
	/* fd < 0: without one. */

serve_f serve_welcome;
serve_f serve_echo;		/* what came, descriptors included */
serve_f serve_and_count;	/* echo, and count those told with 1234 */
serve_f serve_end;		/* hang up */
serve_f serve_silence;
serve_f serve_garbage;		/* of seven bytes */
serve_f serve_otherwise;	/* MSG_DONE for whatever came */
serve_f serve_bad_refusal;	/* with errno 0 */

void request_write(struct wire_frame *f, uint32_t n);
uint32_t request_number(const struct wire_frame *f);

void link_must_work(struct link *l);
void link_must_be_gone(struct link *l, const char *why);
void link_must_lose(struct link *l, const char *why);
	/* The first call that fails says why; so do all later ones. */

#endif
