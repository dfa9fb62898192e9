/* SPDX-License-Identifier: Apache-2.0
 *
 * view.h: the folder of the store, as a reader has it.  Runs in clients.
 *
 *  1. The descriptor is proved to be that folder before each use, and before
 *     it is closed: a job may have closed all descriptors and opened its own
 *     under the same number.
 *  2. What is found under an item's name is a regular file of exactly its size,
 *     or it is not found.
 */

#ifndef CACHE_VIEW_H
#define CACHE_VIEW_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct view {
	int	fd;		/* -1: none */
	dev_t	dev;
	ino_t	ino;
};

int view_init(struct view *v, int fd, struct ds_err *err);
	/* Takes the descriptor over on success.  -EBADMSG: not a folder. */
void view_fini(struct view *v);

int view_open(const struct view *v, uint64_t file, uint64_t size);
	/* A descriptor to read, or -errno. */

#endif
