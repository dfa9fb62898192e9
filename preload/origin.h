/* SPDX-License-Identifier: Apache-2.0
 *
 * origin.h: what a substitute stands for.  Runs in jobs, in the preload object.
 *
 * All but origin_suspect() are called inside the guard.
 */

#ifndef PRELOAD_ORIGIN_H
#define PRELOAD_ORIGIN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "cache/view.h"

/* Only a suspect can be a substitute; of all others this is the whole cost. */
static inline bool
origin_suspect(mode_t mode)
{
	return S_ISREG(mode) && (mode & STORE_MARK) != 0;
}

void origin_stat(struct stat *st);
	/* st: as the kernel gave it, of a suspect: becomes that of the file
	 * itself, or stays (not ours). */

void origin_statx(struct statx *stx, unsigned mask, int flags);
	/* The same; mask and flags as statx(2) was given them. */

int origin_reopen(int fd);
	/* A new descriptor of the file itself, O_RDONLY | O_CLOEXEC, or -1 if
	 * fd is no substitute or the file is gone. */

#endif
