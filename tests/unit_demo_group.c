/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_demo_group.c: where the demo makes its control group, over made-up
 * trees; and a real one where there is the right to it.
 */

#include <config.h>

#include "tool/demo_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define LIMIT	(UINT64_C(64) << 20)
#define GROUPS	"/sys/fs/cgroup"

static char root[FOLDER_PATH];

/* A file below the root, with the folders it needs. */
static void
put(const char *name, const char *text)
{
	char path[512];
	int fd;

	(void)snprintf(path, sizeof path, "%s%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL;
	    p++) {
		*p = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	io_close(&fd);
}

/* We are in /a/b; own and parent: what their groups are given. */
static void
make_v2(const char *own, const char *parent)
{
	assert_int_equal(folder_make(root, "destall-group"), 0);
	put("/proc/self/cgroup", "0::/a/b\n");
	put("/proc/self/mountinfo", "31 23 0:28 / " GROUPS
	    " rw - cgroup2 cgroup2 rw\n");
	put(GROUPS "/cgroup.controllers", "cpu memory pids\n");
	put(GROUPS "/cgroup.subtree_control", "cpu memory pids\n");
	put(GROUPS "/a/cgroup.subtree_control", parent);
	put(GROUPS "/a/b/cgroup.subtree_control", own);
}

static void
make_v1(void)
{
	assert_int_equal(folder_make(root, "destall-group"), 0);
	put("/proc/self/cgroup", "4:memory:/a/b\n0::/\n");
	put("/proc/self/mountinfo", "35 31 0:32 / " GROUPS "/memory rw - "
	    "cgroup cgroup rw,memory\n");
	put(GROUPS "/memory/a/b/memory.limit_in_bytes", "1\n");
}

/* In a made-up tree a new group has no files: where it was made is in the
 * failure, and nothing is left of it. */
static void
check_place(const char *parent)
{
	char dir[512], want[1024];
	struct demo_group g;
	struct ds_err err;

	(void)snprintf(dir, sizeof dir, "%s%s/destall-demo-%d", root, parent,
	    (int)getpid());
	(void)snprintf(want, sizeof want, "%s: no limit can be set: No such "
	    "file or directory", dir);
	assert_int_equal(demo_group_open(&g, root, LIMIT, &err), -ENOENT);
	assert_string_equal(err.text, want);
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(g.dir[0], '\0');
	assert_int_equal(demo_group_enter(&g), 0);
	assert_int_equal(demo_group_close(&g, NULL), 0);
	assert_int_equal(folder_remove(root), 0);
}

static void
version_1_in_our_own(void **state)
{
	(void)state;
	make_v1();
	check_place(GROUPS "/memory/a/b");
}

static void
version_2_in_our_own(void **state)
{
	(void)state;
	make_v2("pids memory\n", "memory\n");
	check_place(GROUPS "/a/b");
}

static void
version_2_beside_our_own(void **state)
{
	(void)state;
	make_v2("\n", "cpu memory\n");
	check_place(GROUPS "/a");
	make_v2("memories\n", "memory\n");
	check_place(GROUPS "/a");
}

static void
no_right(void **state)
{
	struct demo_group g;
	struct ds_err err;

	(void)state;
	make_v2("\n", "cpu pids\n");
	assert_int_equal(demo_group_open(&g, root, LIMIT, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "/a/b: groups in it have no limit"));
	assert_int_equal(folder_remove(root), 0);
}

static void
no_hierarchy(void **state)
{
	struct demo_group g;
	struct ds_err err;

	(void)state;
	assert_int_equal(folder_make(root, "destall-group"), 0);
	assert_true(demo_group_open(&g, root, LIMIT, &err) < 0);
	assert_non_null(strstr(err.text, "cgroup of memory"));
	assert_int_equal(folder_remove(root), 0);
}

/* A child that has entered sees the limit. */
static void
in_earnest(void **state)
{
	struct cgroup_memory m;
	struct demo_group g;
	struct cgroup own;
	int status;
	pid_t pid;

	(void)state;
	if (demo_group_open(&g, "/", LIMIT, NULL) < 0)
		return;
	pid = fork();
	if (pid == 0)
		_exit(demo_group_enter(&g) < 0 ? 1 :
		    cgroup_find(&own, "/", "memory", NULL) < 0 ? 2 :
		    cgroup_memory(&own, &m, NULL) < 0 ? 3 :
		    strcmp(own.dir, g.dir) != 0 ? 4 :
		    m.limit_bytes > LIMIT ? 5 : 0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(demo_group_close(&g, NULL), 0);
	assert_int_equal(demo_group_close(&g, NULL), 0);
}

UNIT_MAIN(UNIT(version_1_in_our_own), UNIT(version_2_in_our_own),
    UNIT(version_2_beside_our_own), UNIT(no_right), UNIT(no_hierarchy),
    UNIT(in_earnest))
