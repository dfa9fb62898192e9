/* SPDX-License-Identifier: Apache-2.0
 *
 * door.h: the socket that clients come by.  Runs in the hub only, while it
 * holds the lock.
 *
 *  1. A name that is in the way is a dead hub's, because we hold the lock.
 *  2. Only a socket of our own making is removed at the end.
 */

#ifndef HUB_DOOR_H
#define HUB_DOOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "hub/rundir.h"

struct door {
	int	fd;		/* -1: not open */
	int	dir;
	const struct rundir *place;
	dev_t	dev;		/* of the name */
	ino_t	ino;
};

int door_open(struct door *d, int dir, const struct rundir *place,
    struct ds_err *err);
	/* Binds and listens.  Leaves / as the working directory. */

bool door_is_ours(const struct door *d);
	/* Does the path that clients use still lead to us? */

void door_close(struct door *d);

#endif
