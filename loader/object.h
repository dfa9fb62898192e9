/* SPDX-License-Identifier: Apache-2.0
 *
 * object.h: the preload object that belongs to this program.
 * Runs in the command only.
 *
 * It is loaded into every process of a job, so nobody but the caller and root
 * may have had a hand in it: see object_check().
 */

#ifndef LOADER_OBJECT_H
#define LOADER_OBJECT_H

#include <limits.h>

#include "base/err.h"

#define OBJECT_NAME	"libdestall-preload.so"

int object_find(char path[PATH_MAX], struct ds_err *err);
	/* In the tree it was built in, beside where it was installed, or where
	 * it was to be installed; one that object_check() allows.  -ENOENT. */

int object_check(const char *path, struct ds_err *err);
	/* path has no symbolic link.  -EINVAL: LD_PRELOAD cannot hold it
	 * because of a blank or colon; -EPERM: it or its folder is neither
	 * the caller's nor root's, or others can write it: all, or a group
	 * that is not the caller's own. */

#endif
