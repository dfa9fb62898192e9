/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h: where the parts of destall are that belong to this program.
 * Runs in the command only.
 *
 * What is put into jobs runs with the rights of the caller, so nobody but the
 * caller and root may have had a hand in it.  Accepted is what
 *
 *  1. belongs to the caller or to root,
 *  2. cannot be written by all, and
 *  3. cannot be written by a group, but for the caller's own effective group:
 *     where each user has a group of his own, umask 002 is usual, and what he
 *     built is written so.  Where users share one, whoever lets it write what
 *     he builds trusts it.  Who is in a group is not asked: that may go over
 *     the network, and the answer is not complete.
 */

#ifndef LAUNCH_PART_H
#define LAUNCH_PART_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

struct part {
	const char	*built;		/* below the folder of the program */
	const char	*packaged;	/* below the package, in a wheel */
	const char	*installed;	/* by make install */
	int		(*check)(const char *path, struct ds_err *err);
};

int part_find(const struct part *p, char path[PATH_MAX], struct ds_err *err);
	/* The first that check() allows: in the tree the program was built in,
	 * beside where it was installed, in the package that brought it, or
	 * where it was to be installed.  If it allows none, what it says of the
	 * first; -ENOENT: there is none. */

bool part_folder(char folder[PATH_MAX]);
	/* Of this program, as the kernel knows it; false: not known. */

int part_trust(const char *path, struct ds_err *err);
	/* -EPERM: not by the rules above. */

#endif
