/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_rundir.c: tests of where the hub is found, and of whose folder it is.
 */

#include <config.h>

#include "hub/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/unit.h"

static void
place_of_the_socket(void **state)
{
	struct rundir r;

	(void)state;
	assert_int_equal(rundir_place(&r, NULL, "/run/user/7", "/t", 7, NULL), 0);
	assert_string_equal(r.dir, "/run/user/7/destall");
	assert_string_equal(r.socket, "/run/user/7/destall/ctl.sock");
	assert_string_equal(r.name, "ctl.sock");
	assert_string_equal(r.from, "XDG_RUNTIME_DIR");
	assert_int_equal(rundir_place(&r, NULL, NULL, "/t", 7, NULL), 0);
	assert_string_equal(r.dir, "/t/destall-7");
	assert_string_equal(r.from, "TMPDIR");
	/* What is empty or not absolute does not count. */
	assert_int_equal(rundir_place(&r, "", "", "tmp", 7, NULL), 0);
	assert_string_equal(r.dir, "/tmp/destall-7");
	assert_null(r.from);
	assert_int_equal(rundir_place(&r, "/a/b.sock", "/x", "/t", 7, NULL), 0);
	assert_string_equal(r.dir, "/a");
	assert_string_equal(r.socket, "/a/b.sock");
	assert_string_equal(r.name, "b.sock");
	assert_string_equal(r.from, "DESTALL_HUB");
	assert_int_equal(rundir_place(&r, "/s", "/x", "/t", 7, NULL), 0);
	assert_string_equal(r.dir, "/");
	assert_string_equal(r.name, "s");
}

static void
names_that_are_none(void **state)
{
	static const char *const wrong[] = {
		"hub", "./hub", "/", "/a/", "/a/.", "/a/..", "/a/hub.lock",
		"/a/start.lock", "/a/hub.log", "/a/hub.log.1", "/a/said.",
		"/a/said.0123456789abcdef",
	};
	struct rundir r;
	struct ds_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(rundir_place(&r, wrong[i], "/x", "/t", 7, &err),
		    -EINVAL);
		assert_non_null(strstr(err.text, wrong[i]));
	}
	assert_int_equal(rundir_place(&r, "/a/hub.logs", "/x", "/t", 7, &err), 0);
}

static void
socket_path_has_a_limit(void **state)
{
	static char path[8 * RUNDIR_PATH];
	struct rundir r;
	struct ds_err err;

	(void)state;
	memset(path, 'a', sizeof path - 1);
	path[0] = '/';
	path[107] = '\0';
	assert_int_equal(rundir_place(&r, path, NULL, NULL, 0, &err), 0);
	path[107] = 'a';
	path[108] = '\0';
	assert_int_equal(rundir_place(&r, path, NULL, NULL, 0, &err),
	    -ENAMETOOLONG);
	assert_non_null(strstr(err.text, "107 bytes"));
	path[108] = 'a';
	assert_int_equal(rundir_place(&r, path, NULL, NULL, 0, &err),
	    -ENAMETOOLONG);
	assert_int_equal(rundir_place(&r, NULL, path, NULL, 0, &err),
	    -ENAMETOOLONG);
	assert_int_equal(rundir_place(&r, NULL, NULL, path, 0, &err),
	    -ENAMETOOLONG);
}

/*--- folders -------------------------------------------------------------*/

static char base[64];

static int
make_base(void **state)
{
	strcpy(base, "/tmp/unit_rundir.XXXXXX");
	if (mkdtemp(base) == NULL)
		return -1;
	return leak_before(state);
}

static int
remove_base(void **state)
{
	int rc = leak_after(state);

	return rmdir(base) | rc;
}

#define UNIT_IN_BASE(test) \
	cmocka_unit_test_setup_teardown(test, make_base, remove_base)

static void
place_in(struct rundir *r, const char *dir)
{
	assert_int_equal(rundir_place(r, NULL, dir, NULL, 0, NULL), 0);
}

static void
the_folder_is_made(void **state)
{
	struct rundir r;
	struct stat st;
	int fd;

	(void)state;
	place_in(&r, base);
	assert_int_equal(rundir_try(&r, NULL), 0);
	assert_int_equal(rundir_look(&r, NULL), -ENOENT);
	assert_int_equal(access(r.dir, F_OK), -1);
	fd = rundir_open(&r, NULL);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	fd = rundir_open(&r, NULL);
	assert_true(fd >= 0);
	close(fd);
	fd = rundir_look(&r, NULL);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rundir_try(&r, NULL), 0);
	assert_int_equal(rmdir(r.dir), 0);
}

static void
assert_refused(const struct rundir *r, int code)
{
	struct ds_err err;

	assert_int_equal(rundir_try(r, &err), code);
	assert_int_equal(rundir_open(r, &err), code);
	assert_true(rundir_look(r, NULL) < 0);
	assert_non_null(strstr(err.text, base));
}

static void
others_can_reach_it(void **state)
{
	static const mode_t modes[] = { 0755, 0710, 0701, 0770, 0720, 0777 };
	struct rundir r;

	(void)state;
	place_in(&r, base);
	assert_int_equal(mkdir(r.dir, 0700), 0);
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		assert_int_equal(chmod(r.dir, modes[i]), 0);
		assert_refused(&r, -EPERM);
	}
	assert_int_equal(chmod(r.dir, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(r.dir, 65534, 65534), 0);
		assert_refused(&r, -EPERM);
	}
	assert_int_equal(rmdir(r.dir), 0);
}

static void
not_a_folder(void **state)
{
	struct rundir r;
	int fd;

	(void)state;
	place_in(&r, base);
	fd = open(r.dir, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_refused(&r, -ENOTDIR);
	assert_int_equal(unlink(r.dir), 0);
	/* Not even a link to one that is ours. */
	assert_int_equal(symlink(base, r.dir), 0);
	assert_refused(&r, -ENOTDIR);
	assert_int_equal(unlink(r.dir), 0);
}

static void
others_could_take_it_away(void **state)
{
	struct rundir r;
	int fd;

	(void)state;
	place_in(&r, base);
	assert_int_equal(chmod(base, 0777), 0);
	assert_refused(&r, -EPERM);
	assert_int_equal(chmod(base, 01777), 0);
	fd = rundir_open(&r, NULL);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rmdir(r.dir), 0);
	assert_int_equal(chmod(base, 0700), 0);
}

static void
nowhere_to_make_it(void **state)
{
	char path[128];
	struct rundir r;

	(void)state;
	(void)snprintf(path, sizeof path, "%s/no/such", base);
	place_in(&r, path);
	assert_refused(&r, -ENOENT);
	if (geteuid() == 0)
		return;
	place_in(&r, base);
	assert_int_equal(chmod(base, 0500), 0);
	assert_refused(&r, -EACCES);
	assert_int_equal(chmod(base, 0700), 0);
}

UNIT_MAIN(
	UNIT(place_of_the_socket),
	UNIT(names_that_are_none),
	UNIT(socket_path_has_a_limit),
	UNIT_IN_BASE(the_folder_is_made),
	UNIT_IN_BASE(others_can_reach_it),
	UNIT_IN_BASE(not_a_folder),
	UNIT_IN_BASE(others_could_take_it_away),
	UNIT_IN_BASE(nowhere_to_make_it))
