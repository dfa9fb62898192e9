/* SPDX-License-Identifier: Apache-2.0
 *
 * swap.h: a descriptor that was just opened becomes one of the cache's, under
 * the same number.  Runs in any program that the object is preloaded in, in any
 * of its threads.
 *
 *  1. The program's own open came first: its errors, its rights, its number and
 *     whatever it did are those of a program without us.
 *  2. What a descriptor is given for it is a file of the store whose inode is
 *     the one that the index names, for a file whose device, inode, size and
 *     time are those that were listed.  Otherwise it stays as it is.
 *  3. A hit makes no message and takes no lock.
 */

#ifndef PRELOAD_SWAP_H
#define PRELOAD_SWAP_H

#include <stdbool.h>

bool swap_wants(int dir, const char *path, int flags);
	/* Might this open concern us?  Cheap. */

void swap_opened(int fd, int dir, const char *path, int flags);
	/* Inside (guard.h).  Whatever happens, fd is open and right
	 * afterwards. */

#endif
