/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_filter.c: which paths may concern a data set.
 */

#include <config.h>

#include "preload/filter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/unit.h"

/*--- starting ------------------------------------------------------------*/

static bool
has_roots(const char *const want[])
{
	unsigned n;

	for (n = 0; want[n] != NULL; n++) {
		if (filter_root(n) == NULL ||
		    strcmp(filter_root(n), want[n]) != 0)
			return false;
	}
	return filter_root(n) == NULL;
}

/* In a process of its own, with one variable and one argument. */
static void
assert_starts_with(char *variable, char *argument, const char *const want[])
{
	char name[] = "program", *argv[] = { name, argument, NULL };
	char *only[] = { variable, NULL };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		environ = only;
		filter_start(2, argv);
		_exit(has_roots(want) ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
only_an_unset_variable_asks_the_arguments(void **state)
{
	/* Not in TMPDIR: /dev/shm and the like are system folders. */
	char path[] = "/tmp/unit_filter.XXXXXX", *folder;
	char unset[] = "OTHER=", empty[] = "DESTALL_DATA=";
	char colons[] = "DESTALL_DATA=::";

	(void)state;
	assert_non_null(mkdtemp(path));
	folder = realpath(path, NULL);
	assert_non_null(folder);
	assert_starts_with(unset, folder, (const char *[]){ folder, NULL });
	assert_starts_with(empty, folder, (const char *[]){ NULL });
	assert_starts_with(colons, folder, (const char *[]){ NULL });
	assert_int_equal(rmdir(folder), 0);
	free(folder);
}

/* The longest that execve(2) passes, its end included. */
static void
a_long_variable_counts(void **state)
{
	static char variable[32 * 4096] = "DESTALL_DATA=/first:/";
	static char middle[sizeof variable];
	const char last[] = ":/last";
	size_t at = strlen(variable), end = sizeof variable - sizeof last;

	(void)state;
	memset(variable + at, 'x', end - at);
	memcpy(variable + end, last, sizeof last);
	middle[0] = '/';
	memset(middle + 1, 'x', end - at);
	assert_starts_with(variable, NULL,
	    (const char *[]){ "/first", middle, "/last", NULL });
}

/* The filter starts once in a program: all tests share these roots. */
static void
it_starts_with_nothing(void **state)
{
	char data[] = "DESTALL_DATA="
	    "/data/train:relative:/usr//share/:/:::/usr/lib/x86:"
	    "/.:/./mnt/.//./.set/..x/x./.:/./srv/./";
	char *only[] = { data, NULL }, **before = environ;

	(void)state;
	assert_int_equal(filter_path(AT_FDCWD, "/data/train/x"), FILTER_NO);
	environ = only;
	filter_start(0, NULL);
	environ = before;
	assert_int_equal(filter_path(AT_FDCWD, "/data/train/x"), FILTER_YES);
}

static void
roots_are_absolute_and_clean(void **state)
{
	(void)state;
	assert_string_equal(filter_root(0), "/data/train");
	assert_string_equal(filter_root(1), "/usr/share");
	assert_string_equal(filter_root(2), "/usr/lib/x86");
	assert_string_equal(filter_root(3), "/mnt/.set/..x/x.");
	assert_string_equal(filter_root(4), "/srv");
	assert_null(filter_root(5));
}

/*--- paths ---------------------------------------------------------------*/

static void
absolute_paths(void **state)
{
	static const struct { const char *path; enum filter want; } cases[] = {
		{ "/data/train/a.jpg", FILTER_YES },
		{ "/data/train/c/a.jpg", FILTER_YES },
		{ "//data///train//a.jpg", FILTER_YES },
		{ "/./data/./train/./a.jpg", FILTER_YES },
		{ "/data/train/../x", FILTER_YES },	/* the inode tells */
		{ "/data/train", FILTER_NO },		/* a folder */
		{ "/data/trains/a.jpg", FILTER_NO },
		{ "/data/trai/a.jpg", FILTER_NO },
		{ "/data/.train/a.jpg", FILTER_NO },
		{ "/data/a.jpg", FILTER_NO },
		{ "/dat", FILTER_NO },
		{ "/", FILTER_NO },
		{ "/x/data/train/a.jpg", FILTER_NO },
		{ "/usr/share/doc/x", FILTER_YES },
		{ "/usr/lib/x", FILTER_NO },
		{ "/mnt/.set/..x/x./a.jpg", FILTER_YES },
		{ "/srv/./a.jpg", FILTER_YES },
		{ "/./srv/a.jpg", FILTER_YES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (filter_path(AT_FDCWD, cases[i].path) != cases[i].want)
			fail_msg("%s", cases[i].path);
		if (filter_path(3, cases[i].path) != cases[i].want)
			fail_msg("%s, from a folder", cases[i].path);
	}
}

static int before;

static void
leave(void)
{
	before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(before >= 0);
}

static void
come_back(void)
{
	assert_int_equal(fchdir(before), 0);
	close(before);
}

static void
go(const char *folder)
{
	assert_int_equal(chdir(folder), 0);
	filter_cwd_changed();
}

static void
relative_paths(void **state)
{
	(void)state;
	leave();
	go("/usr/share");
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_YES);
	go("/usr/share/doc");
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_YES);
	go("/usr");
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_NO);
	assert_int_equal(filter_path(AT_FDCWD, "share"), FILTER_NO);
	assert_int_equal(filter_path(AT_FDCWD, "share/x"), FILTER_YES);
	assert_int_equal(filter_path(AT_FDCWD, "./share//x"), FILTER_YES);
	assert_int_equal(filter_path(AT_FDCWD, "shares/x"), FILTER_NO);
	assert_int_equal(filter_path(AT_FDCWD, "lib/x86/x"), FILTER_YES);
	go("/");
	assert_int_equal(filter_path(AT_FDCWD, "usr/share/x"), FILTER_YES);
	assert_int_equal(filter_path(AT_FDCWD, "data/train/x"), FILTER_YES);
	assert_int_equal(filter_path(AT_FDCWD, "data/x"), FILTER_NO);
	go("/usr/lib");
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_NO);
	assert_int_equal(filter_path(AT_FDCWD, "..x/..y"), FILTER_NO);
	/* What leads up may lead anywhere, and so may a folder. */
	assert_int_equal(filter_path(AT_FDCWD, "../share/x"), FILTER_LOOK);
	assert_int_equal(filter_path(AT_FDCWD, "a/.."), FILTER_LOOK);
	assert_int_equal(filter_path(3, "x"), FILTER_LOOK);
	come_back();
}

/* Until it is told, it goes by what it knew. */
static void
a_move_must_be_told(void **state)
{
	(void)state;
	leave();
	go("/usr/share");
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_YES);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_YES);
	filter_cwd_changed();
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_NO);
	come_back();
}

/* A thread that has asked for the folder is late with the answer: meanwhile
 * another one moves. */
static const char *moves_to;

/* Declared with all that a call may have, as the kernel takes it. */
long late_syscall(long number, long a, long b, long c, long d, long e, long f)
    __asm__("syscall");

long
late_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long (*real)(long, ...), rc;

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	rc = real(number, a, b, c, d, e, f);
	if (number == SYS_getcwd && moves_to != NULL) {
		go(moves_to);
		moves_to = NULL;
	}
	return rc;
}

static void
a_late_answer_is_not_kept(void **state)
{
	(void)state;
	leave();
	go("/usr/share");
	moves_to = "/";
	(void)filter_path(AT_FDCWD, "x");
	assert_null(moves_to);
	assert_int_equal(filter_path(AT_FDCWD, "x"), FILTER_NO);
	assert_int_equal(filter_path(AT_FDCWD, "usr/share/x"), FILTER_YES);
	go("/usr");
	moves_to = "/usr/lib";
	(void)filter_path(AT_FDCWD, "x");
	assert_int_equal(filter_path(AT_FDCWD, "share/x"), FILTER_NO);
	come_back();
}

/* The folder is gone, and with it what was known of the one before. */
static void
no_folder_is_outside(void **state)
{
	char path[] = "/tmp/unit_filter.XXXXXX";

	(void)state;
	leave();
	go("/usr");
	assert_int_equal(filter_path(AT_FDCWD, "share/x"), FILTER_YES);
	assert_non_null(mkdtemp(path));
	go(path);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(filter_path(AT_FDCWD, "share/x"), FILTER_NO);
	come_back();
}

/*--- the file itself -----------------------------------------------------*/

static unsigned nr_readlinks;

ssize_t
readlink(const char *path, char *to, size_t size)
{
	nr_readlinks++;
	return readlinkat(AT_FDCWD, path, to, size);
}

static bool
look(const char *folder, const char *path)
{
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(dir, path, O_PATH | O_CLOEXEC);
	bool is_in;

	assert_true(fd >= 0);
	is_in = filter_look(fd, dir, path);
	close(fd);
	close(dir);
	return is_in;
}

static void
the_file_itself_tells(void **state)
{
	int fd = open("/usr/share/doc", O_PATH | O_CLOEXEC);

	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		assert_true(look("/usr/share", "doc"));
		assert_true(look("/usr", "share/doc"));
		assert_true(look("/", "usr/share/doc"));
		assert_false(look("/", "usr/lib"));
		assert_false(look("/usr", "lib"));
		assert_false(look("/etc", "passwd"));
		assert_true(look("/etc", "../usr/share/doc"));
		assert_true(filter_look(fd, AT_FDCWD, "../share/doc"));
	}
	close(fd);
}

static void
no_link_into_a_root_is_followed(void **state)
{
	char path[] = "/tmp/unit_filter.XXXXXX", link[sizeof path + 8];

	(void)state;
	assert_non_null(mkdtemp(path));
	(void)snprintf(link, sizeof link, "%s/in", path);
	assert_int_equal(symlink("/usr/share", link), 0);
	assert_false(look(path, "in/doc"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(path), 0);
}

/* And a file only if its path may lead into a root. */
static void
a_folder_is_judged_once(void **state)
{
	(void)state;
	assert_true(look("/usr/share", "doc"));
	nr_readlinks = 0;
	for (int i = 0; i < 3; i++)
		assert_false(look("/etc", "passwd"));
	assert_int_equal(nr_readlinks, 1);
	for (int i = 0; i < 3; i++)
		assert_false(look("/usr", "lib"));
	assert_int_equal(nr_readlinks, 1 + 1);
	for (int i = 0; i < 3; i++)
		assert_true(look("/usr", "share/doc"));
	assert_int_equal(nr_readlinks, 1 + 1 + 3);
}

/* In a process of its own; what it was started with is forgotten. */
static bool
takes_late_roots(void)
{
	filter_add_late("/a:/b//c/.");
	filter_add_late("/d:/a");
	return filter_is_late() &&
	    has_roots((const char *[]){ "/a", "/b/c", "/d", NULL }) &&
	    filter_path(AT_FDCWD, "/d/x") == FILTER_YES &&
	    filter_path(AT_FDCWD, "/usr/share/x") == FILTER_LOOK &&
	    filter_path(AT_FDCWD, "x") == FILTER_LOOK;
}

static void
roots_can_come_late(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(takes_late_roots() ? 0 : 1);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(filter_is_late());
}

UNIT_MAIN(
	UNIT(only_an_unset_variable_asks_the_arguments),
	UNIT(a_long_variable_counts),
	UNIT(it_starts_with_nothing),
	UNIT(roots_are_absolute_and_clean),
	UNIT(absolute_paths),
	UNIT(relative_paths),
	UNIT(a_move_must_be_told),
	UNIT(a_late_answer_is_not_kept),
	UNIT(no_folder_is_outside),
	UNIT(the_file_itself_tells),
	UNIT(no_link_into_a_root_is_followed),
	UNIT(a_folder_is_judged_once),
	UNIT(roots_can_come_late))
