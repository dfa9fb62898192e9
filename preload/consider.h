/* SPDX-License-Identifier: Apache-2.0
 *
 * consider.h: what wrappers do with a descriptor that was just opened.
 * Runs in jobs, in the preload object.
 */

#ifndef PRELOAD_CONSIDER_H
#define PRELOAD_CONSIDER_H

#include <stdbool.h>

int consider_fd(int fd, int dir, const char *path, int flags);
	/* The result of an open, which it returns, with errno as it was. */

bool consider_again(const char *path, int flags);
	/* Of one that failed: was it to write to a substitute by its number
	 * (/dev/fd/3), which has become the file itself? */

#endif
