/* SPDX-License-Identifier: Apache-2.0
 *
 * store_folder.h: a folder of our own on a file system that is there.
 * Runs in the hub only.
 *
 *  1. Its name begins with destall-store-UID-, it is ours, mode 0700, and
 *     locked while its hub lives.
 *  2. One that is ours and not locked was left by a hub that was killed.
 */

#ifndef CACHE_STORE_FOLDER_H
#define CACHE_STORE_FOLDER_H

#include "base/err.h"

#define STORE_FOLDER_NAME	48

struct store_folder {
	int	parent;
	int	fd;			/* locked */
	char	name[STORE_FOLDER_NAME];	/* in parent */
};

int store_folder_open(struct store_folder *f, const char *parent,
    struct ds_err *err);
	/* Removes what killed hubs left there, then makes a new one. */

void store_folder_close(struct store_folder *f);
	/* Removes it with all files in it. */

#endif
