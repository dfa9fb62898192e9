/* SPDX-License-Identifier: Apache-2.0
 *
 * view.h: the folder of the store, as a reader has it.  Runs in clients.
 *
 *  1. The descriptor is proved to be that folder before each use, and before
 *     it is closed: a job may have closed all descriptors and opened its own
 *     under the same number.
 *  2. What is found for an item is a regular file on the folder's device, of
 *     exactly the item's size, with the inode that the index names; or it is
 *     not found.
 */

#ifndef CACHE_VIEW_H
#define CACHE_VIEW_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "cache/index.h"

/* Files of the store have it in their mode, and hardly any other regular file
 * does, as it means nothing there: so one who looks at a descriptor knows most
 * strangers at once, and asks the index only about the rest. */
#define STORE_MARK	S_ISVTX

struct view {
	int	fd;		/* -1: none */
	dev_t	dev;
	ino_t	ino;
};

int view_init(struct view *v, int fd, struct ds_err *err);
	/* Takes the descriptor over on success.  -EBADMSG: not a folder. */
void view_fini(struct view *v);

int view_open(const struct view *v, const struct index_item *it, int flags);
	/* A descriptor to read the bytes of an item that is READY, or -errno;
	 * -ENOENT by rule 2.  The flags are all that open(2) is given. */

#endif
