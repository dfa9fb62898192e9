/* SPDX-License-Identifier: Apache-2.0
 *
 * origin.h: what a substitute stands for.  Runs in any program that the object
 * is preloaded in, in any of its threads.
 *
 * A substitute is known by its inode, which the index has, and not by its
 * number: so a descriptor may be duplicated, inherited, passed on, or opened
 * again through /proc, and no table must follow it.
 *
 * All but the first are called inside (guard.h).
 *
 *  1. Every field is the file's own, as it is now, as long as the file is where
 *     it was listed; but its size is that of what can be read here, if the file
 *     was cut or grew meanwhile.
 *  2. Of a file that was moved or removed since, a descriptor of a plain program
 *     would still show the old one; what we know of that is its device, inode,
 *     size and time.  The rest is the substitute's.
 */

#ifndef PRELOAD_ORIGIN_H
#define PRELOAD_ORIGIN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cache/view.h"

static inline bool
origin_suspect(mode_t mode)
{
	return S_ISREG(mode) && (mode & STORE_MARK) != 0;
}

void origin_stat(struct stat *st);
	/* Of a suspect, as the kernel gave it: becomes that of the file
	 * itself, or stays. */

void origin_statx(struct statx *stx, unsigned mask, int flags);
	/* The same, of statx(2) with this mask and these flags. */

bool origin_is_on(int fd, dev_t dev);
	/* Is fd a substitute of a file on this device? */

void origin_restore(int fd);
	/* If fd is a substitute of a file that is as it was listed: makes it
	 * the file itself, with the same flags and offset. */

#define ORIGIN_NONE	(-1)	/* fd is no substitute */
#define ORIGIN_GONE	(-2)	/* the file is not to be found, or opened */

int origin_reopen(int fd);
	/* A new descriptor of the file itself, for reading, close-on-exec. */

#endif
