/* SPDX-License-Identifier: Apache-2.0
 *
 * rundir.h: where the hub of this user is found.  Runs in hub and clients.
 *
 * The socket is $DESTALL_HUB, or ctl.sock in $XDG_RUNTIME_DIR/destall, or in
 * destall-UID under $TMPDIR or /tmp.  Beside it lie the hub's lock, the lock of
 * those who start one, the log, and marks of jobs (said.h).
 *
 *  1. The folder belongs to this user alone, mode 0700: checked on the open
 *     descriptor, which is what everything else is then relative to.
 */

#ifndef HUB_RUNDIR_H
#define HUB_RUNDIR_H

#include "base/err.h"

#define RUNDIR_PATH	1024u
#define RUNDIR_LOCK	"hub.lock"	/* held by the hub as long as it lives */
#define RUNDIR_START	"start.lock"	/* held by one who starts a hub */
#define RUNDIR_LOG	"hub.log"
#define RUNDIR_SAID	"said."		/* and the number of a job */

struct rundir {
	const char *from;		/* the variable that decided, or NULL */
	char	dir[RUNDIR_PATH];
	char	socket[RUNDIR_PATH];
	const char *name;		/* of the socket in dir */
};

int rundir_place(struct rundir *r, const char *hub, const char *xdg,
    const char *tmpdir, unsigned uid, struct ds_err *err);
	/* Pure: from the values of the variables, each of which may be NULL.
	 * -EINVAL for a relative DESTALL_HUB, or one that cannot be a socket's
	 * name; -ENAMETOOLONG past what a socket's name may have: the paths
	 * are filled nonetheless, cut if need be. */

int rundir_find(struct rundir *r, struct ds_err *err);
	/* From this process's environment. */

int rundir_try(const struct rundir *r, struct ds_err *err);
	/* Would rundir_open() work?  Makes nothing. */

int rundir_open(const struct rundir *r, struct ds_err *err);
	/* Makes the folder if need be, checks it, and gives a descriptor.
	 * -EPERM for one that is somebody else's or open to others. */

int rundir_look(const struct rundir *r, struct ds_err *err);
	/* The same, but makes nothing: -ENOENT if it is not there. */

#endif
