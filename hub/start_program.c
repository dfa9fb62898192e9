/* SPDX-License-Identifier: Apache-2.0
 *
 * start_program.c: which program is the hub.  Runs in clients.
 *
 * This code lies in the program destall itself, or in a library that a job has
 * loaded: libdestall.so, or an object that was preloaded.  The program lies
 * beside it, installed or in a build folder; nothing is looked for in PATH,
 * which is the job's.
 */

#include <config.h>

#include "hub/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM		"destall"
#define INSTALLED	BINDIR "/" PROGRAM

/* Paths of the program, seen from the folder of the library. */
static const char *const beside[] = {
	"/../bin/" PROGRAM,		/* lib */
	"/../../bin/" PROGRAM,		/* lib/x86_64-linux-gnu */
	/* lib/python3.x/site-packages/destall/lib: a wheel */
	"/../../../../../bin/" PROGRAM,
};
static const char *const built[] = { "/../" PROGRAM };	/* .libs */

static bool
can_run(const char *path)
{
	return access(path, X_OK) == 0;
}

/* The folder of a file, as realpath() made it. */
static char *
cut_name(char *path)
{
	*strrchr(path, '/') = '\0';
	return path;
}

static bool
find_beside(const char *dir, const char *const *paths, size_t nr, char *out,
    unsigned size)
{
	char path[PATH_MAX + 64], real[PATH_MAX];

	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(path, sizeof path, "%s%s", dir, paths[i]);
		if (can_run(path) && realpath(path, real) != NULL &&
		    strlen(real) < size) {
			strcpy(out, real);
			return true;
		}
	}
	return false;
}

static bool
find_by_library(const char *library, char *out, unsigned size)
{
	char dir[PATH_MAX], *last;

	if (realpath(library, dir) == NULL)
		return false;
	last = strrchr(cut_name(dir), '/');
	if (last != NULL && strcmp(last, "/.libs") == 0)
		return find_beside(dir, built, 1, out, size);
	return find_beside(dir, beside, sizeof beside / sizeof *beside, out,
	    size);
}

/* This program itself, if it is destall and its file still there. */
static bool
find_self(char *out, unsigned size)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *name;

	if (n < 0)
		return false;
	path[n] = '\0';
	name = strrchr(path, '/');
	if (name == NULL || strcmp(name + 1, PROGRAM) != 0 || !can_run(path) ||
	    (size_t)n >= size)
		return false;
	strcpy(out, path);
	return true;
}

/* The object that holds this function; NULL for the main program. */
static const char *
find_library(void)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)start_program, &info, (void **)&map,
	    RTLD_DL_LINKMAP) == 0 || map == NULL || map->l_name[0] == '\0')
		return NULL;
	return map->l_name;
}

int
start_program(char *path, unsigned size, struct ds_err *err)
{
	const char *library = find_library();

	if (library != NULL ? find_by_library(library, path, size) :
	    find_self(path, size))
		return 0;
	if (!can_run(INSTALLED) || sizeof INSTALLED > size)
		return err_fail(err, -ENOENT, "cannot start the hub: there is "
		    "no program " INSTALLED);
	strcpy(path, INSTALLED);
	return 0;
}
