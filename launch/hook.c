/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.c: the folder by which Python finds destall when it starts.
 * Runs in the command only.
 */

#include <config.h>

#include "launch/hook.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "launch/part.h"

/* Which Python would execute. */
static bool
is_code(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strcmp(name, "__pycache__") == 0 ||
	    (dot != NULL && strcmp(dot, ".py") == 0);
}

/* A folder, and what Python would execute of it. */
static int
check_folder(const char *folder, struct ds_err *err)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct dirent *entry;
	DIR *dir;
	int rc;

	rc = part_trust(folder, err);
	if (rc < 0)
		return rc;
	dir = opendir(folder);
	if (dir == NULL)
		return err_errno(err, "%s", folder);
	while (rc == 0 && (entry = readdir(dir)) != NULL) {
		if (!is_code(entry->d_name))
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", folder,
		    entry->d_name);
		rc = part_trust(path, err);
	}
	(void)closedir(dir);
	return rc;
}

int
hook_check(const char *path, struct ds_err *err)
{
	char package[PATH_MAX];
	int rc;

	if (strchr(path, ':') != NULL)
		return err_fail(err, -EINVAL, "%s cannot be named to Python: "
		    "PYTHONPATH holds no colon: install destall elsewhere",
		    path);
	(void)snprintf(package, sizeof package, "%.*s",
	    (int)(strrchr(path, '/') - path), path);
	rc = check_folder(path, err);
	return rc < 0 ? rc : check_folder(package, err);
}

#ifdef WITH_PYTHON

int
hook_find(char path[PATH_MAX], struct ds_err *err)
{
	static const struct part hook = {
		.built = "/python/destall/site",
		.packaged = "/site",
		.installed = PYTHONDIR "/destall/site",
		.check = hook_check,
	};

	return part_find(&hook, path, err);
}

#else

int
hook_find(char path[PATH_MAX], struct ds_err *err)
{
	(void)err;
	path[0] = '\0';
	return 0;
}

#endif
