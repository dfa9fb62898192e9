/* SPDX-License-Identifier: Apache-2.0
 *
 * swap.h: a descriptor that was just opened becomes one of the cache's, under
 * the same number.  Runs in jobs, in the preload object.
 */

#ifndef PRELOAD_SWAP_H
#define PRELOAD_SWAP_H

#include <stdbool.h>

bool swap_wants(int dir, const char *path, int flags);
	/* Cheap, no system call for an absolute path: might this open concern
	 * us?  Called outside the guard. */

void swap_opened(int fd, int dir, const char *path, int flags);
	/* Whatever happens, fd is open and right afterwards; errno untouched.
	 * Called inside the guard. */

void swap_cwd_changed(void);
	/* What a relative path means has changed. */

#endif
