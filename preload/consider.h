/* SPDX-License-Identifier: Apache-2.0
 *
 * consider.h: what wrappers do with a descriptor that was just opened.
 * Runs in jobs, in the preload object.
 */

#ifndef PRELOAD_CONSIDER_H
#define PRELOAD_CONSIDER_H

int consider_fd(int fd, int dir, const char *path, int flags);
	/* The result of an open, which it returns, with errno as it was. */

#endif
