/* SPDX-License-Identifier: Apache-2.0
 *
 * roots.c: the folders whose files are a job's data.  Runs in clients, and in
 * the command that starts them.
 */

#include <config.h>

#include "cache/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*--- paths ---------------------------------------------------------------*/

/* Is it the same folder, or one within it?  Both are canonical. */
static bool
holds(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return true;
	return strncmp(path, dir, len) == 0 &&
	    (path[len] == '\0' || path[len] == '/');
}

/* NULL, and errno. */
static char *
make_absolute(const char *dir)
{
	char *path, *cwd;

	if (dir[0] == '/')
		return strdup(dir);
	cwd = getcwd(NULL, 0);
	if (cwd == NULL)
		return NULL;
	if (asprintf(&path, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, dir) < 0) {
		path = NULL;
		errno = ENOMEM;
	}
	free(cwd);
	return path;
}

static void
cut_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

/* 0, or -1 and errno. */
static int
try_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -1;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	return faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS);
}

/*--- the list ------------------------------------------------------------*/

static void
free_root(struct root *root)
{
	free(root->given);
	free(root->canonical);
	*root = (struct root){ 0 };
}

static bool
is_within_one(const struct roots *r, const char *canonical)
{
	for (unsigned i = 0; i < r->nr; i++)
		if (holds(r->root[i].canonical, canonical))
			return true;
	return false;
}

static unsigned
count_within(const struct roots *r, const char *canonical)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < r->nr; i++)
		nr += holds(canonical, r->root[i].canonical);
	return nr;
}

static void
drop_within(struct roots *r, const char *canonical)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->nr; i++) {
		struct root root = r->root[i];

		r->root[i] = (struct root){ 0 };
		if (holds(canonical, root.canonical))
			free_root(&root);
		else
			r->root[kept++] = root;
	}
	r->nr = kept;
}

/* 1 if it was put in, 0 if it is within another; takes root over then. */
static int
put_root(struct roots *r, struct root *root, struct ds_err *err)
{
	if (is_within_one(r, root->canonical)) {
		free_root(root);
		return 0;
	}
	if (r->nr - count_within(r, root->canonical) >= ROOTS_MAX)
		return err_fail(err, -E2BIG, "data set %s: more than %u folders "
		    "of data: name one that contains several", root->given,
		    ROOTS_MAX);
	drop_within(r, root->canonical);
	r->root[r->nr++] = *root;
	return 1;
}

static int
check_root(const struct root *root, struct ds_err *err)
{
	if (try_folder(root->canonical) != 0)
		return err_errno(err, "data set %s", root->given);
	if (strcmp(root->canonical, "/") == 0)
		return err_fail(err, -EINVAL, "data set %s: the whole system is "
		    "no data set: name a folder in it", root->given);
	if (strchr(root->canonical, ':') != NULL)
		return err_fail(err, -EINVAL, "data set %s: a colon in the path "
		    "%s: folders of data are separated by colons: rename it",
		    root->given, root->canonical);
	return 0;
}

static int
try_add(struct roots *r, const char *dir, struct ds_err *err)
{
	struct root root = { 0 };
	int rc;

	root.canonical = realpath(dir, NULL);
	if (root.canonical == NULL)
		return err_errno(err, "data set %s", dir);
	root.given = make_absolute(dir);
	if (root.given == NULL) {
		rc = err_errno(err, "data set %s", dir);
		goto free_both;
	}
	cut_slashes(root.given);
	rc = check_root(&root, err);
	if (rc == 0)
		rc = put_root(r, &root, err);
	if (rc >= 0)
		return rc;
free_both:
	free_root(&root);
	return rc;
}

int
roots_add(struct roots *r, const char *dir, struct ds_err *err)
{
	int rc = try_add(r, dir, err);

	return rc < 0 ? rc : 0;
}

void
roots_fini(struct roots *r)
{
	for (unsigned i = 0; i < r->nr; i++)
		free_root(&r->root[i]);
	*r = (struct roots){ 0 };
}

/*--- as text -------------------------------------------------------------*/

int
roots_from_text(struct roots *r, const char *text, struct ds_err *err)
{
	int rc = 0;

	while (rc == 0 && *text != '\0') {
		size_t len = strcspn(text, ":");
		char *dir;

		if (len > 0) {
			dir = strndup(text, len);
			if (dir == NULL)
				return err_fail(err, -ENOMEM, "no memory");
			rc = roots_add(r, dir, err);
			free(dir);
		}
		text += len + (text[len] == ':');
	}
	return rc;
}

static bool
needs_given(const struct root *root)
{
	return strcmp(root->given, root->canonical) != 0 &&
	    strchr(root->given, ':') == NULL;
}

static char *
put_path(char *at, const char *path)
{
	at = stpcpy(at, path);
	*at++ = ':';
	return at;
}

int
roots_text(const struct roots *r, char **out, struct ds_err *err)
{
	size_t size = 1;
	char *text, *at;

	for (unsigned i = 0; i < r->nr; i++)
		size += strlen(r->root[i].given) + 1 +
		    strlen(r->root[i].canonical) + 1;
	at = text = malloc(size);
	if (text == NULL)
		return err_fail(err, -ENOMEM, "no memory");
	for (unsigned i = 0; i < r->nr; i++) {
		if (needs_given(&r->root[i]))
			at = put_path(at, r->root[i].given);
		at = put_path(at, r->root[i].canonical);
	}
	at[at > text ? -1 : 0] = '\0';
	*out = text;
	return 0;
}

/*--- from a command line -------------------------------------------------*/

static bool
is_system(const char *canonical)
{
	static const char *const whole[] = {
		"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64",
		"/libx32", "/proc", "/run", "/sbin", "/sys", "/usr",
	};
	static const char *const itself[] = {
		"/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp",
		"/var",
	};

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (holds(whole[i], canonical))
			return true;
	for (size_t i = 0; i < sizeof itself / sizeof *itself; i++)
		if (strcmp(itself[i], canonical) == 0)
			return true;
	return false;
}

/* Places that a job is about, but that are not its data; NULL if unknown. */
struct places {
	char	*cwd, *home;
};

static void
find_places(struct places *p)
{
	const char *home = getenv("HOME");

	p->cwd = getcwd(NULL, 0);
	p->home = home != NULL ? realpath(home, NULL) : NULL;
}

static bool
may_be_data(const struct places *p, const char *dir)
{
	char *canonical = realpath(dir, NULL);
	bool may;

	if (canonical == NULL)
		return false;
	may = try_folder(canonical) == 0 && !is_system(canonical) &&
	    (p->cwd == NULL || !holds(canonical, p->cwd)) &&
	    (p->home == NULL || !holds(canonical, p->home));
	free(canonical);
	return may;
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

unsigned
roots_from_args(struct roots *r, int argc, char *const argv[])
{
	struct places p;
	unsigned nr = 0;

	find_places(&p);
	for (int i = 1; i < argc; i++) {
		const char *dir = argv[i], *equals = strchr(dir, '=');

		if (!is_folder(dir) && equals != NULL)
			dir = equals + 1;
		if (may_be_data(&p, dir))
			nr += try_add(r, dir, NULL) == 1;
	}
	free(p.cwd);
	free(p.home);
	return nr;
}
