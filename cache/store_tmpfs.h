/* SPDX-License-Identifier: Apache-2.0
 *
 * store_tmpfs.h: a file system of memory that is mounted nowhere.
 * Runs in the hub only, a part of it in a child of the hub.
 */

#ifndef CACHE_STORE_TMPFS_H
#define CACHE_STORE_TMPFS_H

#include <stdint.h>

#include "base/err.h"

int store_tmpfs_open(uint64_t limit_bytes, int *dir, int *view,
    struct ds_err *err);
	/* Its folder, and a read-only view of it.  Needs the right to mount,
	 * or user namespaces; -errno where there is neither. */

#endif
