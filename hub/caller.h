/* SPDX-License-Identifier: Apache-2.0
 *
 * caller.h: who is at the other end of a socket.  Runs in the hub only.
 *
 *  1. A process is known by its pidfd; the number is for people.
 *  2. The name is read while the pidfd says that the process lives, so it is
 *     not that of one which got the number later.
 */

#ifndef HUB_CALLER_H
#define HUB_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define CALLER_NAME	96u

struct caller {
	pid_t	pid;		/* 0: of another pid namespace */
	int	pidfd;
	char	name[CALLER_NAME];	/* "1234 (python3)", fit for a terminal */
};

int caller_check(int sock, struct caller *p, struct ds_err *err);
	/* Only whether it is of our user, with the number and no pidfd.
	 * -EPERM if not. */

int caller_open(int sock, struct caller *p, struct ds_err *err);
	/* That, and its pidfd, which is the caller's, and its name.
	 * -ESRCH: it is dead already; -EMFILE: no descriptor is left. */

int caller_open_by_pid(struct caller *p, struct ds_err *err);
	/* The way of kernels before 6.5, from the number that caller_check()
	 * found. */

bool caller_is_dead(const struct caller *p);

#endif
