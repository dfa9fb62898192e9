/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c: where the parts of destall are that belong to this program.
 * Runs in the command only.
 */

#include <config.h>

#include "launch/part.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char bin_folder[] = BINDIR;

/*--- may it be put into jobs ---------------------------------------------*/

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

int
part_trust(const char *path, struct ds_err *err)
{
	const char *fault;
	struct stat st;

	if (stat(path, &st) != 0)
		return err_errno(err, "%s", path);
	fault = find_fault(&st);
	return fault == NULL ? 0 : err_fail(err, -EPERM,
	    "%s is not loaded into jobs: %s", path, fault);
}

/*--- where it is ---------------------------------------------------------*/

static bool
try_path(char path[PATH_MAX], const char *folder, const char *rest)
{
	char text[2 * PATH_MAX];

	(void)snprintf(text, sizeof text, "%s%s", folder, rest);
	return realpath(text, path) != NULL;
}

bool
part_folder(char folder[PATH_MAX])
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
try_moved(char path[PATH_MAX], const char *folder, const char *installed)
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

/* So that glob(3) takes every byte for itself. */
static void
quote(char *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("*?[]\\", *text) != NULL)
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '\0';
}

/* A program that pip installed stands in bin/, its package in a folder that
 * has the version of Python in its name; beside it stands what says that it is
 * of the same version as we. */
static bool
try_packaged(char path[PATH_MAX], const char *folder, const char *packaged)
{
	static const char *const sites[] = {
		"/../lib*/python3*/*-packages",
		"/..",				/* pip install --target */
	};
	char quoted[2 * PATH_MAX], text[3 * PATH_MAX];
	bool is_there = false;
	glob_t found;

	quote(quoted, folder);
	for (unsigned i = 0; i < 2 && !is_there; i++) {
		(void)snprintf(text, sizeof text, "%s%s/" PACKAGE_NAME "-"
		    PACKAGE_VERSION ".dist-info/../" PACKAGE_NAME "%s", quoted,
		    sites[i], packaged);
		if (glob(text, 0, NULL, &found) != 0)
			continue;
		is_there = try_path(path, found.gl_pathv[0], "");
		globfree(&found);
	}
	return is_there;
}

enum place { BUILT, MOVED, PACKAGED, INSTALLED, NR_PLACES };

/* folder NULL: not known. */
static bool
is_at(const struct part *p, enum place place, const char *folder,
    char path[PATH_MAX])
{
	if (place == INSTALLED)
		return try_path(path, "", p->installed);
	if (folder == NULL)
		return false;
	if (place == BUILT)
		return try_path(path, folder, p->built);
	return place == MOVED ? try_moved(path, folder, p->installed) :
	    try_packaged(path, folder, p->packaged);
}

int
part_find(const struct part *p, char path[PATH_MAX], struct ds_err *err)
{
	char text[PATH_MAX];
	const char *folder = part_folder(text) ? text : NULL;
	int rc, first = 0;

	for (enum place place = 0; place < NR_PLACES; place++) {
		if (!is_at(p, place, folder, path))
			continue;
		/* Only the first fault is told. */
		rc = p->check(path, first == 0 ? err : NULL);
		if (rc == 0)
			return 0;
		if (first == 0)
			first = rc;
	}
	return first < 0 ? first : err_fail(err, -ENOENT, "there is no %s: "
	    "install destall again", p->installed);
}
