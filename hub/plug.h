/* SPDX-License-Identifier: Apache-2.0
 *
 * plug.h: a socket that is proved to be ours before each use, and frames on it
 * until a deadline.  Runs in clients.
 *
 * A program may close every descriptor that it does not know, and open files
 * of its own under the same numbers.
 *
 *  1. No byte is sent to, received from or closed at a descriptor that is not
 *     the socket that was taken.
 *  2. No call waits past its deadline, whatever signals come.
 */

#ifndef HUB_PLUG_H
#define HUB_PLUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/wire.h"

struct plug {
	int	sock;
	dev_t	dev;		/* to know it again */
	ino_t	ino;
};

int plug_take(struct plug *p, int sock, struct ds_err *err);
	/* A connected socket; it is made close-on-exec and does not block any
	 * more.  Still the caller's on failure. */

void plug_out_of_the_way(struct plug *p);
	/* Under a number that the program would not get soon: io.h. */

void plug_hang_up(const struct plug *p);
	/* Ends the connection, whichever forked children hold a copy. */

void plug_close(struct plug *p);
	/* Closes this process's copy. */

int plug_check(const struct plug *p, struct ds_err *err);
	/* 0; -ECONNRESET: the hub ended the connection; -EBADF.  Waits for
	 * nothing, and reads nothing. */

int plug_send(const struct plug *p, const struct wire_frame *f,
    uint64_t deadline_ns, struct ds_err *err);
int plug_recv(const struct plug *p, struct wire_frame *f, uint64_t deadline_ns,
    struct ds_err *err);
	/* 0; -ECONNRESET: the hub ended the connection; -ETIMEDOUT; -EBADF:
	 * the program closed our socket; or as wire_send(), wire_recv().
	 * The sentence speaks of the hub as "it". */

#endif
