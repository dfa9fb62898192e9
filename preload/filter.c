/* SPDX-License-Identifier: Apache-2.0
 *
 * filter.c: might an open concern a data set?  Runs in any program that the
 * object is preloaded in.
 */

#include <config.h>

#include "preload/filter.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cache/roots.h"

#define TEXT_MAX	(FILTER_ROOTS_MAX * 512u)

static char text[TEXT_MAX];		/* the roots, each terminated */
static const char *roots[FILTER_ROOTS_MAX];
static unsigned nr_roots;

/* Where the program's folder is, and for each root what of it lies below that
 * folder ("/train"), or NULL.  Two threads may find out at once, and find the
 * same; one that changes the folder meanwhile races with the opens of the
 * others with or without us. */
enum cwd { CWD_UNKNOWN, CWD_INSIDE, CWD_OUTSIDE };
static _Atomic int cwd;
static _Atomic(const char *) below[FILTER_ROOTS_MAX];

/*--- paths ---------------------------------------------------------------*/

/* Past slashes, and names that are a single dot. */
static const char *
skip_nothing(const char *p)
{
	for (;;) {
		if (p[0] == '/')
			p++;
		else if (p[0] == '.' && (p[1] == '/' || p[1] == '\0'))
			p++;
		else
			return p;
	}
}

/* root has none of what is skipped. */
static bool
is_under(const char *p, const char *root)
{
	while (*root == '/') {
		root++;
		p = skip_nothing(p);
		while (*root != '\0' && *root != '/' && *p == *root) {
			p++;
			root++;
		}
		if ((*root != '\0' && *root != '/') ||
		    (*p != '\0' && *p != '/'))
			return false;
	}
	return *p == '/';
}

bool
filter_inside(const char *path)
{
	for (unsigned n = 0; n < nr_roots; n++) {
		if (is_under(path, roots[n]))
			return true;
	}
	return false;
}

static bool
leads_up(const char *path)
{
	const char *p = path;

	while ((p = strstr(p, "..")) != NULL) {
		if ((p == path || p[-1] == '/') &&
		    (p[2] == '/' || p[2] == '\0'))
			return true;
		p += 2;
	}
	return false;
}

/*--- the program's folder ------------------------------------------------*/

void
filter_cwd_changed(void)
{
	/* relaxed: it guards nothing */
	atomic_store_explicit(&cwd, CWD_UNKNOWN, memory_order_relaxed);
}

static const char *
part_below(const char *root, const char *folder, size_t len)
{
	if (strncmp(root, folder, len) != 0 || root[len] != '/')
		return NULL;
	return root + len;
}

static int
find_cwd(void)
{
	char path[PATH_MAX + 1];
	long size = syscall(SYS_getcwd, path, PATH_MAX);
	size_t len;
	int found;

	if (size <= 1 || size > PATH_MAX)
		return CWD_OUTSIDE;
	len = size == 2 ? 0 : (size_t)size - 1;	/* "/" as "" */
	/* relaxed: each is right by itself */
	for (unsigned n = 0; n < nr_roots; n++)
		atomic_store_explicit(&below[n], part_below(roots[n], path,
		    len), memory_order_relaxed);
	path[len] = '/';		/* so that a root is inside itself */
	path[len + 1] = '\0';
	found = filter_inside(path) ? CWD_INSIDE : CWD_OUTSIDE;
	/* release: pairs with the acquire in cwd_is_inside() */
	atomic_store_explicit(&cwd, found, memory_order_release);
	return found;
}

static bool
cwd_is_inside(void)
{
	/* acquire: what lies below comes with it */
	int known = atomic_load_explicit(&cwd, memory_order_acquire);

	return (known != CWD_UNKNOWN ? known : find_cwd()) == CWD_INSIDE;
}

static bool
leads_below(const char *path)
{
	for (unsigned n = 0; n < nr_roots; n++) {
		const char *part = atomic_load_explicit(&below[n],
		    memory_order_relaxed);

		if (part != NULL && is_under(path, part))
			return true;
	}
	return false;
}

enum filter
filter_path(int dir, const char *path)
{
	if (nr_roots == 0)
		return FILTER_NO;
	if (path[0] == '/')
		return filter_inside(path) ? FILTER_YES : FILTER_NO;
	if (dir != AT_FDCWD)
		return FILTER_LOOK;
	if (cwd_is_inside() || leads_below(path))
		return FILTER_YES;
	return leads_up(path) ? FILTER_LOOK : FILTER_NO;
}

/*--- starting ------------------------------------------------------------*/

/* What is skipped in a path is taken out; it begins with a slash. */
static void
clean(char *path)
{
	const char *p = path;
	char *to = path;

	for (;;) {
		p = skip_nothing(p);
		if (*p == '\0')
			break;
		*to++ = '/';
		while (*p != '\0' && *p != '/')
			*to++ = *p++;
	}
	*to = '\0';
}

/* One that is not absolute has no place here: whoever started us would have
 * made it so. */
static void
add_roots(const char *from)
{
	char *p, *next;

	if (strlen(from) >= sizeof text)
		return;
	strcpy(text, from);
	for (p = text; p != NULL && nr_roots < FILTER_ROOTS_MAX; p = next) {
		next = strchr(p, ':');
		if (next != NULL)
			*next++ = '\0';
		if (p[0] != '/')
			continue;
		clean(p);
		if (p[0] != '\0')
			roots[nr_roots++] = p;
	}
}

static void
add_arguments(int argc, char *const argv[])
{
	struct roots found = { .nr = 0 };
	char *list = NULL;

	if (roots_from_args(&found, argc, argv) > 0 &&
	    roots_text(&found, &list, NULL) == 0)
		add_roots(list);
	free(list);
	roots_fini(&found);
}

void
filter_start(int argc, char *const argv[])
{
	const char *data = getenv("DESTALL_DATA");

	if (data != NULL)
		add_roots(data);
	else
		add_arguments(argc, argv);
}

const char *
filter_root(unsigned n)
{
	return n < nr_roots ? roots[n] : NULL;
}
