/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.h: the folder by which Python finds destall when it starts.
 * Runs in the command only.
 *
 * It holds sitecustomize.py and nothing else, so that no other name comes into
 * the way of a job's; the package is the folder around it.  Both folders, and
 * every file of Python in them, must be what launch/part.h accepts.
 */

#ifndef LAUNCH_HOOK_H
#define LAUNCH_HOOK_H

#include <limits.h>

#include "base/err.h"

int hook_find(char path[PATH_MAX], struct ds_err *err);
	/* As part_find(); path is "" where destall was built without Python. */

int hook_check(const char *path, struct ds_err *err);
	/* path has no symbolic link.  -EINVAL: PYTHONPATH cannot hold it
	 * because of a colon; -EPERM: it is not accepted. */

#endif
