/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_filter.c: which paths may concern a data set.
 */

#include <config.h>

#include "preload/filter.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/harness/unit.h"

/* The filter starts once in a program: all tests share these roots. */
static void
it_starts_with_nothing(void **state)
{
	char data[] = "DESTALL_DATA="
	    "/data/train:relative:/usr//share/:/:::/usr/lib/x86";
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
	assert_null(filter_root(3));
}

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

UNIT_MAIN(
	UNIT(it_starts_with_nothing),
	UNIT(roots_are_absolute_and_clean),
	UNIT(absolute_paths),
	UNIT(relative_paths),
	UNIT(a_move_must_be_told))
