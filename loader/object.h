/* SPDX-License-Identifier: Apache-2.0
 *
 * object.h: the preload object that belongs to this program.
 * Runs in the command only.
 *
 * It is loaded into every process of a job, so nobody but the caller and root
 * may have had a hand in it.  Accepted is an object that, like its folder,
 *
 *  1. belongs to the caller or to root,
 *  2. cannot be written by all, and
 *  3. cannot be written by a group, but for the caller's own effective group:
 *     where each user has a group of his own, umask 002 is usual, and what he
 *     built is written so.  Where users share one, whoever lets it write what
 *     he builds trusts it.  Who is in a group is not asked: that may go over
 *     the network, and the answer is not complete.
 */

#ifndef LOADER_OBJECT_H
#define LOADER_OBJECT_H

#include <limits.h>

#include "base/err.h"

#define OBJECT_NAME	"libdestall-preload.so"

int object_find(char path[PATH_MAX], struct ds_err *err);
	/* The first that object_check() allows: in the tree it was built in,
	 * beside where it was installed, or where it was to be installed.  If
	 * it allows none, what it says of the first; -ENOENT: there is none. */

int object_check(const char *path, struct ds_err *err);
	/* path has no symbolic link.  -EINVAL: LD_PRELOAD cannot hold it
	 * because of a blank or colon; -EPERM: it is not accepted. */

#endif
