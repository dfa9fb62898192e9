/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c: the preload object that belongs to this program.
 * Runs in the command only.
 */

#include <config.h>

#include "launch/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launch/part.h"

int
object_check(const char *path, struct ds_err *err)
{
	char folder[PATH_MAX];
	int rc;

	if (strpbrk(path, " \t\n:") != NULL)
		return err_fail(err, -EINVAL, "%s cannot be loaded into jobs: "
		    "LD_PRELOAD holds no blank and no colon: install destall "
		    "elsewhere", path);
	(void)snprintf(folder, sizeof folder, "%.*s",
	    (int)(strrchr(path, '/') - path), path);
	rc = part_trust(path, err);
	return rc < 0 ? rc : part_trust(folder[0] != '\0' ? folder : "/", err);
}

int
object_find(char path[PATH_MAX], struct ds_err *err)
{
	static const struct part object = {
		.built = "/.libs/" OBJECT_NAME,
		.packaged = "/lib/" OBJECT_NAME,
		.installed = PKGLIBDIR "/" OBJECT_NAME,
		.check = object_check,
	};

	return part_find(&object, path, err);
}
