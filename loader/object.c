/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c: the preload object that belongs to this program.
 * Runs in the command only.
 */

#include <config.h>

#include "loader/object.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILT	"/.libs/" OBJECT_NAME

static const char bin_folder[] = BINDIR;
static const char installed[] = PKGLIBDIR "/" OBJECT_NAME;

/*--- may it be loaded ----------------------------------------------------*/

/* Why not, or NULL. */
static const char *
find_fault(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it is another user's";
	if ((st->st_mode & S_IWOTH) != 0)
		return "all users can write it";
	if ((st->st_mode & S_IWGRP) != 0 && st->st_gid != getegid())
		return "users of another group can write it";
	return NULL;
}

static int
check_one(const char *path, struct ds_err *err)
{
	const char *fault;
	struct stat st;

	if (stat(path, &st) != 0)
		return err_errno(err, "%s", path);
	fault = find_fault(&st);
	return fault == NULL ? 0 : err_fail(err, -EPERM,
	    "%s is not loaded into jobs: %s", path, fault);
}

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
	rc = check_one(path, err);
	return rc < 0 ? rc : check_one(folder[0] != '\0' ? folder : "/", err);
}

/*--- where it is ---------------------------------------------------------*/

static bool
try_path(char path[PATH_MAX], const char *folder, const char *rest)
{
	char text[2 * PATH_MAX];

	(void)snprintf(text, sizeof text, "%s%s", folder, rest);
	return realpath(text, path) != NULL;
}

/* The folder of this program, as the kernel knows it. */
static bool
find_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return false;
	folder[n] = '\0';
	slash = strrchr(folder, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	return true;
}

/* How much of both is the same, in whole names, with the slash. */
static size_t
common_part(const char *a, const char *b)
{
	size_t len = 0;

	for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
		if (a[i] == '/')
			len = i + 1;
	return len;
}

/* An installed tree that was moved as a whole: /usr/bin and /usr/lib/destall
 * are found as OTHER/bin and OTHER/lib/destall. */
static bool
try_moved(char path[PATH_MAX], const char *folder)
{
	size_t same = common_part(bin_folder, installed);
	const char *mine = bin_folder + same;
	size_t len = strlen(folder), tail = strlen(mine);
	char root[PATH_MAX];

	if (len <= tail || folder[len - tail - 1] != '/' ||
	    strcmp(folder + len - tail, mine) != 0)
		return false;
	(void)snprintf(root, sizeof root, "%.*s", (int)(len - tail), folder);
	return try_path(path, root, installed + same);
}

enum place { BUILT_TREE, MOVED, INSTALLED, NR_PLACES };

/* folder NULL: not known. */
static bool
is_at(enum place place, const char *folder, char path[PATH_MAX])
{
	if (place == INSTALLED)
		return try_path(path, "", installed);
	if (folder == NULL)
		return false;
	return place == BUILT_TREE ? try_path(path, folder, BUILT) :
	    try_moved(path, folder);
}

int
object_find(char path[PATH_MAX], struct ds_err *err)
{
	char text[PATH_MAX];
	const char *folder = find_folder(text) ? text : NULL;
	int rc, first = 0;

	for (enum place p = 0; p < NR_PLACES; p++) {
		if (!is_at(p, folder, path))
			continue;
		/* Only the first fault is told. */
		rc = object_check(path, first == 0 ? err : NULL);
		if (rc == 0)
			return 0;
		if (first == 0)
			first = rc;
	}
	return first < 0 ? first : err_fail(err, -ENOENT, "there is no %s: "
	    "install destall again", installed);
}
