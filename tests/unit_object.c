/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_object.c: tests of which preload object is loaded into jobs.
 */

#include <config.h>

#include "launch/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/unit.h"

static char folder[PATH_MAX], object[PATH_MAX + 16];

static void
make(const char *name)
{
	char base[] = "/tmp/destall-object.XXXXXX";
	int fd;

	assert_non_null(mkdtemp(base));
	assert_non_null(realpath(base, folder));
	assert_int_equal(chmod(folder, 0755), 0);
	(void)snprintf(object, sizeof object, "%s/%s", folder, name);
	fd = open(object, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(object, 0755), 0);
}

static void
clear(void)
{
	unlink(object);
	rmdir(folder);
}

/* Both, with these modes. */
static int
check(mode_t of_object, mode_t of_folder, struct ds_err *err)
{
	assert_int_equal(chmod(object, of_object), 0);
	assert_int_equal(chmod(folder, of_folder), 0);
	return object_check(object, err);
}

static void
nobody_else_can_write_it(void **state)
{
	struct ds_err err = { .text = "" };

	(void)state;
	make("a.so");
	assert_int_equal(check(0755, 0755, &err), 0);
	assert_int_equal(check(0644, 0700, &err), 0);
	assert_int_equal(check(0757, 0755, &err), -EPERM);
	assert_non_null(strstr(err.text, "/a.so is not loaded into jobs: all "
	    "users can write it"));
	assert_int_equal(check(0755, 0757, &err), -EPERM);
	assert_non_null(strstr(err.text, "all users can write it"));
	assert_null(strstr(err.text, "a.so"));
	/* /tmp is no folder to load from, sticky or not */
	assert_int_equal(check(0755, 01777, &err), -EPERM);
	assert_int_equal(check(0755, 0755, &err), 0);
	clear();
	assert_int_equal(object_check(object, &err), -ENOENT);
}

/* One's own group is oneself, as umask 002 has it. */
static void
groups_and_owners(void **state)
{
	struct ds_err err = { .text = "" };

	(void)state;
	make("a.so");
	assert_int_equal(chown(object, (uid_t)-1, getegid()), 0);
	assert_int_equal(chown(folder, (uid_t)-1, getegid()), 0);
	assert_int_equal(check(0775, 0775, &err), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(object, 0, getegid() + 1), 0);
		assert_int_equal(check(0775, 0755, &err), -EPERM);
		assert_non_null(strstr(err.text, "users of another group"));
		assert_int_equal(check(0755, 0755, &err), 0);
		assert_int_equal(chown(folder, 0, getegid() + 1), 0);
		assert_int_equal(check(0755, 0775, &err), -EPERM);
		assert_int_equal(chown(folder, 4321, getegid()), 0);
		assert_int_equal(check(0755, 0755, &err), -EPERM);
		assert_non_null(strstr(err.text, "another user's"));
		assert_int_equal(chown(folder, 0, getegid()), 0);
		assert_int_equal(chown(object, 4321, getegid()), 0);
		assert_int_equal(check(0755, 0755, &err), -EPERM);
	}
	clear();
}

static void
names_that_cannot_be_preloaded(void **state)
{
	static const char *const names[] = { "a b.so", "a:b.so", "a\tb.so" };
	struct ds_err err = { .text = "" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		make(names[i]);
		assert_int_equal(object_check(object, &err), -EINVAL);
		assert_non_null(strstr(err.text, "LD_PRELOAD holds no blank"));
		clear();
	}
}

UNIT_MAIN(
	UNIT(nobody_else_can_write_it),
	UNIT(groups_and_owners),
	UNIT(names_that_cannot_be_preloaded))
