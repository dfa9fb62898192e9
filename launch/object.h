/* SPDX-License-Identifier: Apache-2.0
 *
 * object.h: the preload object that belongs to this program.
 * Runs in the command only.
 *
 * It is loaded into every process of a job: it and its folder must be what
 * launch/part.h accepts.
 */

#ifndef LAUNCH_OBJECT_H
#define LAUNCH_OBJECT_H

#include <limits.h>

#include "base/err.h"

#define OBJECT_NAME	"libdestall-preload.so"

int object_find(char path[PATH_MAX], struct ds_err *err);
	/* As part_find(). */

int object_check(const char *path, struct ds_err *err);
	/* path has no symbolic link.  -EINVAL: LD_PRELOAD cannot hold it
	 * because of a blank or colon; -EPERM: it is not accepted. */

#endif
