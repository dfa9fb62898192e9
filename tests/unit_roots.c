/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_roots.c: tests of the folders whose files are a job's data.
 */

#include <config.h>

#include "cache/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

static char base[FOLDER_PATH];	/* canonical */
static char cwd_before[4096];
static char *home_before;

static void
make_tree(void)
{
	static const char *const folders[] = {
		"data", "data/train", "data/train/cats", "data/val", "database",
		"home", "home/me", "home/me/sets", "work", "work/in", "a:b",
		"x=y",
	};
	int fd;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		assert_int_equal(mkdir(folders[i], 0755), 0);
	assert_int_equal(symlink("data/train", "link"), 0);
	assert_int_equal(symlink("/", "all"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("a:b", "ab"), 0);
	assert_int_equal(symlink("data/val", "v:l"), 0);
	fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
}

/* In a folder of its own, whose home is there too. */
static int
enter_tree(void **state)
{
	char path[] = "/tmp/unit_roots.XXXXXX", *real, home[FOLDER_PATH + 16];

	/* Not in TMPDIR: /dev/shm and the like are system folders. */
	if (mkdtemp(path) == NULL)
		return -1;
	real = realpath(path, NULL);
	assert_non_null(real);
	(void)snprintf(base, sizeof base, "%s", real);
	free(real);
	assert_non_null(getcwd(cwd_before, sizeof cwd_before));
	home_before = getenv("HOME") == NULL ? NULL : strdup(getenv("HOME"));
	assert_int_equal(chdir(base), 0);
	(void)snprintf(home, sizeof home, "%s/home/me", base);
	assert_int_equal(setenv("HOME", home, 1), 0);
	make_tree();
	return leak_before(state);
}

static int
leave_tree(void **state)
{
	int rc = leak_after(state);

	if (home_before != NULL)
		rc |= setenv("HOME", home_before, 1);
	else
		rc |= unsetenv("HOME");
	free(home_before);
	rc |= chdir(cwd_before);
	return rc | folder_remove(base);
}

#define UNIT_IN_TREE(test) \
	cmocka_unit_test_setup_teardown(test, enter_tree, leave_tree)

/* base and a path in it; of several at a time. */
static const char *
in_base(const char *name)
{
	static char paths[4][FOLDER_PATH + 64];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof paths[0], "%s/%s", base, name);
	return path;
}

static void
assert_root(const struct roots *r, unsigned i, const char *given,
    const char *canonical)
{
	assert_true(i < r->nr);
	assert_string_equal(r->root[i].given, given);
	assert_string_equal(r->root[i].canonical, canonical);
}

/*--- one -----------------------------------------------------------------*/

static void
spellings(void **state)
{
	static const char *const trail[] = { "data", "data/", "data///" };
	struct roots r = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof trail / sizeof *trail; i++) {
		assert_int_equal(roots_add(&r, trail[i], NULL), 0);
		assert_int_equal(r.nr, 1);
		assert_root(&r, 0, in_base("data"), in_base("data"));
		roots_fini(&r);
		assert_int_equal(roots_add(&r, in_base(trail[i]), NULL), 0);
		assert_root(&r, 0, in_base("data"), in_base("data"));
		roots_fini(&r);
	}
	assert_int_equal(roots_add(&r, "link/", NULL), 0);
	assert_root(&r, 0, in_base("link"), in_base("data/train"));
	roots_fini(&r);
	assert_int_equal(roots_add(&r, "work/../data//./val", NULL), 0);
	assert_root(&r, 0, in_base("work/../data//./val"), in_base("data/val"));
	roots_fini(&r);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(roots_add(&r, base + 1, NULL), 0);
	assert_root(&r, 0, base, base);
	roots_fini(&r);
	assert_int_equal(chdir(base), 0);
}

static void
what_is_none(void **state)
{
	static const struct {
		const char *dir;
		int code;
	} wrong[] = {
		{ "nowhere", -ENOENT }, { "", -ENOENT }, { "file", -ENOTDIR },
		{ "file/", -ENOTDIR }, { "file/x", -ENOTDIR },
		{ "loop", -ELOOP }, { "/dev/null", -ENOTDIR },
		{ "/", -EINVAL }, { "/.", -EINVAL }, { "all", -EINVAL },
		{ "a:b", -EINVAL }, { "ab", -EINVAL },
	};
	struct roots r = { 0 };
	struct ds_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(roots_add(&r, wrong[i].dir, &err),
		    wrong[i].code);
		assert_int_equal(err.code, wrong[i].code);
		assert_non_null(strstr(err.text, wrong[i].dir));
		assert_int_equal(r.nr, 0);
	}
}

static void
no_permission(void **state)
{
	static const mode_t modes[] = { 0, 0300, 0400, 0600 };
	struct roots r = { 0 };

	(void)state;
	if (geteuid() == 0)
		return;		/* root may */
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		assert_int_equal(chmod("data", modes[i]), 0);
		assert_int_equal(roots_add(&r, "data", NULL), -EACCES);
	}
	assert_int_equal(chmod("data", 0600), 0);
	assert_int_equal(roots_add(&r, "data/train", NULL), -EACCES);
	assert_int_equal(chmod("data", 0500), 0);
	assert_int_equal(roots_add(&r, "data", NULL), 0);
	roots_fini(&r);
	assert_int_equal(chmod("data", 0755), 0);
}

/*--- several -------------------------------------------------------------*/

static void
the_outer_stays(void **state)
{
	struct roots r = { 0 };

	(void)state;
	assert_int_equal(roots_add(&r, "data", NULL), 0);
	assert_int_equal(roots_add(&r, "data/train/cats", NULL), 0);
	assert_int_equal(roots_add(&r, "link", NULL), 0);
	assert_int_equal(roots_add(&r, "data/", NULL), 0);
	assert_int_equal(r.nr, 1);
	/* A name that begins with another is not within it. */
	assert_int_equal(roots_add(&r, "database", NULL), 0);
	assert_int_equal(r.nr, 2);
	roots_fini(&r);
	assert_int_equal(r.nr, 0);
	assert_null(r.root[0].given);
}

static void
the_outer_comes_later(void **state)
{
	struct roots r = { 0 };

	(void)state;
	assert_int_equal(roots_add(&r, "link", NULL), 0);
	assert_int_equal(roots_add(&r, "database", NULL), 0);
	assert_int_equal(roots_add(&r, "data/val", NULL), 0);
	assert_int_equal(r.nr, 3);
	assert_int_equal(roots_add(&r, "data", NULL), 0);
	assert_int_equal(r.nr, 2);
	assert_root(&r, 0, in_base("database"), in_base("database"));
	assert_root(&r, 1, in_base("data"), in_base("data"));
	roots_fini(&r);
}

static void
there_are_sixteen(void **state)
{
	struct roots r = { 0 };
	struct ds_err err;
	char name[32];

	(void)state;
	for (unsigned i = 0; i < ROOTS_MAX; i++) {
		(void)snprintf(name, sizeof name, "work/in/%u", i);
		assert_int_equal(mkdir(name, 0755), 0);
		assert_int_equal(roots_add(&r, name, NULL), 0);
	}
	assert_int_equal(r.nr, ROOTS_MAX);
	assert_int_equal(roots_add(&r, "data", &err), -E2BIG);
	assert_non_null(strstr(err.text, "16"));
	assert_int_equal(r.nr, ROOTS_MAX);
	/* One that is there, or contains some, needs no room. */
	assert_int_equal(roots_add(&r, "work/in/3", NULL), 0);
	assert_int_equal(roots_add(&r, "work/in", NULL), 0);
	assert_int_equal(r.nr, 1);
	assert_int_equal(roots_add(&r, "data", NULL), 0);
	roots_fini(&r);
}

/*--- text ----------------------------------------------------------------*/

static void
lists_with_colons(void **state)
{
	struct roots r = { 0 };
	char *text, want[1024];

	(void)state;
	assert_int_equal(roots_from_text(&r, "", NULL), 0);
	assert_int_equal(roots_from_text(&r, ":::", NULL), 0);
	assert_int_equal(r.nr, 0);
	assert_int_equal(roots_text(&r, &text, NULL), 0);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(roots_from_text(&r, ":link::database/:", NULL), 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(roots_text(&r, &text, NULL), 0);
	(void)snprintf(want, sizeof want, "%s/link:%s/data/train:%s/database",
	    base, base, base);
	assert_string_equal(text, want);
	roots_fini(&r);
	/* And back. */
	assert_int_equal(roots_from_text(&r, text, NULL), 0);
	assert_int_equal(r.nr, 2);
	assert_root(&r, 0, in_base("link"), in_base("data/train"));
	free(text);
	roots_fini(&r);
}

static void
a_bad_part_ends_a_list(void **state)
{
	struct roots r = { 0 };
	struct ds_err err;

	(void)state;
	assert_int_equal(roots_from_text(&r, "data:a:b:database", &err), -ENOENT);
	assert_non_null(strstr(err.text, "data set a:"));
	assert_int_equal(r.nr, 1);
	roots_fini(&r);
}

/* The canonical spelling says it all the same. */
static void
a_colon_in_the_spelling(void **state)
{
	struct roots r = { 0 };
	char *text;

	(void)state;
	assert_int_equal(roots_add(&r, "v:l", NULL), 0);
	assert_root(&r, 0, in_base("v:l"), in_base("data/val"));
	assert_int_equal(roots_text(&r, &text, NULL), 0);
	assert_string_equal(text, in_base("data/val"));
	free(text);
	roots_fini(&r);
}

/*--- command lines -------------------------------------------------------*/

static unsigned
from_args(struct roots *r, const char *a, const char *b, const char *c)
{
	const char *words[] = { "data/val", a, b, c };
	char *argv[5] = { 0 };
	int argc = 0;
	unsigned nr;

	while (argc < 4 && words[argc] != NULL) {
		argv[argc] = strdup(words[argc]);
		assert_non_null(argv[argc]);
		argc++;
	}
	nr = roots_from_args(r, argc, argv);
	while (argc > 0)
		free(argv[--argc]);
	return nr;
}

static void
arguments_that_are_data(void **state)
{
	struct roots r = { 0 };

	(void)state;
	/* The name of the command itself is none. */
	assert_int_equal(from_args(&r, NULL, NULL, NULL), 0);
	assert_int_equal(roots_from_args(&r, 0, NULL), 0);
	assert_int_equal(from_args(&r, "--train=link", "file", "database"), 2);
	assert_int_equal(r.nr, 2);
	assert_root(&r, 0, in_base("link"), in_base("data/train"));
	assert_root(&r, 1, in_base("database"), in_base("database"));
	roots_fini(&r);
	/* Twice is once; the whole goes before what follows '='. */
	assert_int_equal(from_args(&r, "data", "--x=data/", "x=y"), 2);
	assert_root(&r, 1, in_base("x=y"), in_base("x=y"));
	roots_fini(&r);
	assert_int_equal(from_args(&r, "--a=b=data", "--data=", "--data"), 0);
	assert_int_equal(from_args(&r, "data:database", "", "="), 0);
	assert_int_equal(from_args(&r, "a:b", "loop", "nowhere"), 0);
}

static void
arguments_that_are_places(void **state)
{
	static const char *const places[] = {
		".", "./", "..", "../..", "/", "all", "all/usr", "/usr",
		"/usr/lib", "/etc", "/dev", "/dev/shm", "/proc", "/proc/self",
		"/proc/self/cwd", "/sys", "/tmp", "/tmp/", "/var", "/home",
		"/bin", "/lib", "/run", "--dir=/usr", "--dir=.", "data/..",
	};
	struct roots r = { 0 };

	(void)state;
	assert_int_equal(chdir("work"), 0);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		assert_int_equal(from_args(&r, places[i], NULL, NULL), 0);
	/* What holds the current folder, and the home, by any name. */
	assert_int_equal(from_args(&r, base, in_base("work"), NULL), 0);
	assert_int_equal(from_args(&r, "../home", "../home/me", NULL), 0);
	assert_int_equal(r.nr, 0);
	/* What is in them may be. */
	assert_int_equal(from_args(&r, "in", "../home/me/sets", "../data"), 3);
	roots_fini(&r);
	assert_int_equal(chdir(base), 0);
}

static void
neither_home_nor_folder(void **state)
{
	struct roots r = { 0 };
	int status;
	pid_t pid;

	(void)state;
	/* Without a home it is a folder like any other. */
	assert_int_equal(from_args(&r, "home", NULL, NULL), 0);
	pid = fork();
	if (pid == 0)
		_exit(unsetenv("HOME") == 0 &&
		    from_args(&r, "home", NULL, NULL) == 1 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* The current folder is gone: only what is absolute can be found. */
	assert_int_equal(mkdir("gone", 0755), 0);
	assert_int_equal(chdir("gone"), 0);
	assert_int_equal(rmdir("../gone"), 0);
	assert_int_equal(roots_add(&r, ".", NULL), -ENOENT);
	assert_int_equal(from_args(&r, in_base("data"), ".", "../data"), 1);
	roots_fini(&r);
	assert_int_equal(chdir(base), 0);
}

static void
more_arguments_than_roots(void **state)
{
	char names[ROOTS_MAX + 4][32], *argv[ROOTS_MAX + 5];
	struct roots r = { 0 };

	(void)state;
	argv[0] = names[0];
	for (unsigned i = 0; i < ROOTS_MAX + 4; i++) {
		(void)snprintf(names[i], sizeof names[i], "work/in/%u", i);
		assert_int_equal(mkdir(names[i], 0755), 0);
		argv[i + 1] = names[i];
	}
	assert_int_equal(roots_from_args(&r, (int)ROOTS_MAX + 5, argv),
	    ROOTS_MAX);
	assert_root(&r, ROOTS_MAX - 1, in_base("work/in/15"),
	    in_base("work/in/15"));
	roots_fini(&r);
}

UNIT_MAIN(
	UNIT_IN_TREE(spellings),
	UNIT_IN_TREE(what_is_none),
	UNIT_IN_TREE(no_permission),
	UNIT_IN_TREE(the_outer_stays),
	UNIT_IN_TREE(the_outer_comes_later),
	UNIT_IN_TREE(there_are_sixteen),
	UNIT_IN_TREE(lists_with_colons),
	UNIT_IN_TREE(a_bad_part_ends_a_list),
	UNIT_IN_TREE(a_colon_in_the_spelling),
	UNIT_IN_TREE(arguments_that_are_data),
	UNIT_IN_TREE(arguments_that_are_places),
	UNIT_IN_TREE(neither_home_nor_folder),
	UNIT_IN_TREE(more_arguments_than_roots))
