/* SPDX-License-Identifier: Apache-2.0
 *
 * link.h: the client's end of the wire.  Runs in clients, in any of their
 * threads.
 *
 *  1. The descriptor is proved to be our socket before each use: a job may have
 *     closed all descriptors and opened its own under the same number.
 *  2. A link belongs to the process that made it: in a forked child every call
 *     is -ESTALE, before any lock is touched.
 *  3. No call waits longer than LINK_DEADLINE_NS for the hub, a long one
 *     LINK_LONG times that, and none longer for other threads' calls.  A link
 *     that failed once stays so: its user goes on alone.  When a hub has not
 *     answered in time, other links of this process to it, and new ones, wait
 *     LINK_BRIEF_NS only, until one is answered.
 *  4. One request at a time waits for its answer; what is told waits for
 *     nobody.
 */

#ifndef HUB_LINK_H
#define HUB_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wire.h"
#include "hub/control.h"

#define LINK_DEADLINE_NS	(UINT64_C(5) * 1000000000)
#define LINK_BRIEF_NS		(UINT64_C(500) * 1000000)
#define LINK_LONG		24u
#define LINK_ANY	0u	/* an answer of any type */

struct link;

int link_new(struct link **out, bool may_start, struct ds_err *err);
	/* Connects and says hello.  -ENOENT: there is no hub and none may be
	 * started; -EPROTO: it is of another version, both are named. */
int link_new_as(struct link **out, const char *job, bool may_start,
    struct ds_err *err);
	/* The same for a job of this process (job.h, rule 3). */
int link_new_on(struct link **out, int sock, struct ds_err *err);
	/* The same on a socket that is connected; taken over on success. */
int link_new_within(struct link **out, int sock, uint64_t patience_ns,
    struct ds_err *err);
	/* The same with another deadline for every call: for tests. */
void link_end(struct link *l, const char *why);
	/* Dead from now on, for all threads; does nothing in a forked child. */
void link_free(struct link **lp);
	/* In a forked child: only what is the child's. */

int link_call(struct link *l, struct wire_frame *f, uint16_t answer,
    struct ds_err *err);
	/* Sends f and receives the answer into it; its descriptors are the
	 * caller's, and so are those that were sent.  0 for the type that was
	 * wanted; for MSG_REFUSED its errno and text; -ESTALE in a forked
	 * child or when the hub is gone: then f holds none.  -EBUSY: other
	 * threads' calls took all the time. */

int link_call_long(struct link *l, struct wire_frame *f, uint16_t answer,
    struct ds_err *err);
	/* For what takes the hub a while: a listing, a drop. */

int link_tell(struct link *l, const struct wire_frame *f, struct ds_err *err);

bool link_alive(const struct link *l);
	/* False once it failed, and in a forked child; looks at no descriptor. */
bool link_check(struct link *l);
	/* The same, after a look whether the hub has hung up. */
bool link_mine(const struct link *l);
	/* Made by this process, not by one that forked it. */
uint64_t link_generation(const struct link *l);
uint32_t link_client(const struct link *l);
uint64_t link_job(const struct link *l);	/* as it said */
const struct control *link_control(const struct link *l);

#endif
