/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_cgroup.c: tests of base/cgroup.c and cgroup_limits.c over made-up trees
 * of /proc and /sys.
 */

#include <config.h>

#include "base/cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/tree.h"
#include "tests/harness/unit.h"

#define GIB	(UINT64_C(1) << 30)

static void
tree_v2(const char *path)
{
	char line[256];

	tree_new();
	(void)snprintf(line, sizeof line, "0::%s\n", path);
	put("proc/self/cgroup", line);
	put("proc/self/mountinfo",
	    "23 1 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
	    "31 23 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
}

/* As on this kind of machine: memory in version 1, an empty version 2. */
static void
tree_hybrid(const char *memory_root, const char *path)
{
	char text[512];

	tree_new();
	(void)snprintf(text, sizeof text,
	    "9:name=systemd:/\n4:memory:%s\n2:cpu,cpuacct:/\n0::/\n", path);
	put("proc/self/cgroup", text);
	(void)snprintf(text, sizeof text,
	    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
	    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
	    "rw,cpu,cpuacct\n"
	    "35 31 0:32 %s /sys/fs/cgroup/memory rw - cgroup cgroup "
	    "rw,memory\n"
	    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
	    memory_root);
	put("proc/self/mountinfo", text);
	put("sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes",
	    "9223372036854771712\n");
}

static void
assert_dir(const struct cgroup *g, const char *want)
{
	assert_memory_equal(g->dir, root, strlen(root));
	assert_string_equal(g->dir + strlen(root), want);
}

static void
v2_limit_is_the_least_of_all_levels(void **state)
{
	struct cgroup_memory m;
	struct cgroup g;

	(void)state;
	tree_v2("/a/b/c");
	put("sys/fs/cgroup/a/memory.max", "4294967296\n");
	put("sys/fs/cgroup/a/memory.current", "3221225472\n");
	put("sys/fs/cgroup/a/memory.stat",
	    "anon 1\ninactive_file_x 9\ninactive_file 536870912\n"
	    "active_file 1073741824\n");
	put("sys/fs/cgroup/a/b/memory.max", "max\n");
	put("sys/fs/cgroup/a/b/c/memory.max", "8589934592\n");
	put("sys/fs/cgroup/a/b/c/memory.current", "1073741824\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_int_equal(g.version, 2);
	assert_dir(&g, "/sys/fs/cgroup/a/b/c");
	assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
	assert_int_equal(m.limit_bytes, 4 * GIB);
	assert_int_equal(m.used_bytes, GIB);
	/* The parent is the tightest: 4 GiB, 3 used, of which 1 gives way. */
	assert_int_equal(m.free_bytes, 2 * GIB);
	tree_free();
}

static void
free_is_the_least_of_all_levels(void **state)
{
	struct cgroup_memory m;
	struct cgroup g;

	(void)state;
	tree_v2("/a/b");
	put("sys/fs/cgroup/a/memory.max", "8589934592\n");
	put("sys/fs/cgroup/a/memory.current", "3221225472\n");
	put("sys/fs/cgroup/a/b/memory.max", "4294967296\n");
	put("sys/fs/cgroup/a/b/memory.current", "3221225472\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
	assert_int_equal(m.limit_bytes, 4 * GIB);
	assert_int_equal(m.free_bytes, GIB);
	tree_free();
}

static void
v2_high_counts_as_a_limit(void **state)
{
	struct cgroup_memory m;
	struct cgroup g;

	(void)state;
	tree_v2("/job");
	put("sys/fs/cgroup/job/memory.max", "max\n");
	put("sys/fs/cgroup/job/memory.high", "1073741824\n");
	put("sys/fs/cgroup/job/memory.current", "2147483648\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
	assert_int_equal(m.limit_bytes, GIB);
	assert_int_equal(m.free_bytes, 0);
	tree_free();
}

static void
v2_root_group_has_no_files(void **state)
{
	struct cgroup_memory m;
	struct cgroup g;
	double cpus;

	(void)state;
	tree_v2("/");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_dir(&g, "/sys/fs/cgroup");
	assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
	assert_true(m.limit_bytes == CGROUP_NO_LIMIT);
	assert_true(m.free_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(m.used_bytes, 0);
	assert_int_equal(cgroup_cpus(&g, &cpus, NULL), 0);
	assert_true(cpus == 0);
	tree_free();
}

static void
v2_without_the_controller(void **state)
{
	struct cgroup g;
	struct ds_err err;

	(void)state;
	tree_v2("/");
	put("sys/fs/cgroup/cgroup.controllers", "cpu memoryx xmemory\n");
	assert_int_equal(cgroup_find(&g, root, "memory", &err), -ENOENT);
	assert_non_null(strstr(err.text, "memory"));
	assert_int_equal(cgroup_find(&g, root, "cpu", NULL), 0);
	tree_free();
}

static void
hybrid_finds_each_where_it_is(void **state)
{
	struct cgroup g;

	(void)state;
	tree_hybrid("/", "/job");
	put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_int_equal(g.version, 1);
	assert_dir(&g, "/sys/fs/cgroup/memory/job");
	put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(cgroup_find(&g, root, "cpu", NULL), 0);
	assert_int_equal(g.version, 1);
	assert_dir(&g, "/sys/fs/cgroup/cpu,cpuacct");
	assert_int_equal(cgroup_find(&g, root, "hugetlb", NULL), 0);
	assert_int_equal(g.version, 2);
	assert_int_equal(cgroup_find(&g, root, "io", NULL), -ENOENT);
	tree_free();
}

static void
v1_knows_of_ancestors_it_does_not_show(void **state)
{
	struct cgroup_memory m;
	struct cgroup g;

	(void)state;
	tree_hybrid("/", "/job");
	put("sys/fs/cgroup/memory/job/memory.limit_in_bytes",
	    "9223372036854771712\n");
	put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1073741824\n");
	put("sys/fs/cgroup/memory/job/memory.stat", "cache 5\n"
	    "hierarchical_memory_limit 2147483648\n"
	    "total_inactive_file 268435456\n"
	    "total_active_file 536870912\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
	assert_int_equal(m.limit_bytes, 2 * GIB);
	assert_int_equal(m.used_bytes, GIB);
	assert_int_equal(m.free_bytes, 3 * GIB / 2);
	tree_free();
}

/* A container without a cgroup namespace: the mount shows only its part. */
static void
mount_of_a_subtree(void **state)
{
	struct cgroup g;

	(void)state;
	tree_hybrid("/docker/12ab", "/docker/12ab/job");
	put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_dir(&g, "/sys/fs/cgroup/memory/job");
	tree_free();
	/* A name that only begins alike is another group. */
	tree_hybrid("/docker/12", "/docker/12ab/job");
	put("sys/fs/cgroup/memory/ab/job/memory.limit_in_bytes", "4096\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_dir(&g, "/sys/fs/cgroup/memory");
	tree_free();
}

static void
group_outside_of_the_namespace(void **state)
{
	static const char *const paths[] = {
		"/..", "/../other", "/a/../../b", "/gone (deleted)", "/not/there",
	};
	struct cgroup g;

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		tree_v2(paths[i]);
		assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
		assert_dir(&g, "/sys/fs/cgroup");
		tree_free();
	}
}

static void
escapes_in_mount_points(void **state)
{
	struct cgroup g;

	(void)state;
	tree_new();
	put("proc/self/cgroup", "0::/a:b\n");
	put("proc/self/mountinfo",
	    "31 23 0:28 / /c\\040g\\134x rw - cgroup2 none rw\n");
	put("c g\\x/cgroup.controllers", "memory\n");
	put("c g\\x/a:b/memory.max", "4096\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_dir(&g, "/c g\\x/a:b");
	tree_free();
}

static void
group_of_another_process(void **state)
{
	struct cgroup g;

	(void)state;
	tree_v2("/mine");
	put("proc/42/cgroup", "0::/yours\n");
	put("sys/fs/cgroup/mine/memory.max", "4096\n");
	put("sys/fs/cgroup/yours/memory.max", "8192\n");
	assert_int_equal(cgroup_find_of(&g, root, 42, "memory", NULL), 0);
	assert_dir(&g, "/sys/fs/cgroup/yours");
	assert_int_equal(cgroup_find_of(&g, root, 43, "memory", NULL), -ENOENT);
	tree_free();
}

static void
quota_is_the_least_of_all_levels(void **state)
{
	struct cgroup g;
	double cpus;

	(void)state;
	tree_v2("/a/b");
	put("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
	put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	assert_int_equal(cgroup_find(&g, root, "cpu", NULL), 0);
	assert_int_equal(cgroup_cpus(&g, &cpus, NULL), 0);
	assert_true(cpus == 2.5);
	put("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
	assert_int_equal(cgroup_cpus(&g, &cpus, NULL), 0);
	assert_true(cpus == 0.5);
	tree_free();
	tree_hybrid("/", "/");
	put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
	put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cgroup_find(&g, root, "cpu", NULL), 0);
	assert_int_equal(cgroup_cpus(&g, &cpus, NULL), 0);
	assert_true(cpus == 1.5);
	put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(cgroup_cpus(&g, &cpus, NULL), 0);
	assert_true(cpus == 0);
	tree_free();
}

static void
huge_numbers_are_no_limit(void **state)
{
	static const char *const huge[] = {
		"max", "9223372036854771712", "18446744073709551615",
		"99999999999999999999999999999999999999",
	};
	struct cgroup_memory m;
	struct cgroup g;

	(void)state;
	tree_v2("/job");
	put("sys/fs/cgroup/job/memory.current", "4096\n");
	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
		put("sys/fs/cgroup/job/memory.max", huge[i]);
		assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
		assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
		assert_true(m.limit_bytes == CGROUP_NO_LIMIT);
		assert_true(m.free_bytes == CGROUP_NO_LIMIT);
	}
	tree_free();
}

static void
garbage_in_a_file_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "-1", "12K", "1e30", " 5", "maximum", "0x10",
		"\033[2J", "\xff\xfe",
	};
	struct cgroup_memory m;
	struct cgroup g;
	struct ds_err err;
	double cpus;

	(void)state;
	tree_v2("/job");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		put("sys/fs/cgroup/job/memory.max", bad[i]);
		put("sys/fs/cgroup/job/cpu.max", bad[i]);
		assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
		assert_int_equal(cgroup_memory(&g, &m, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "job/memory.max"));
		assert_int_equal(cgroup_cpus(&g, &cpus, &err), -EBADMSG);
	}
	put("sys/fs/cgroup/job/cpu.max", "100000 0\n");
	assert_int_equal(cgroup_cpus(&g, &cpus, &err), -EBADMSG);
	tree_free();
}

/* Lines that are not what the kernel writes are passed over. */
static void
garbage_in_proc_is_passed_over(void **state)
{
	static char flood[3 * 8192];
	struct cgroup g;

	(void)state;
	tree_v2("/");
	memset(flood, 'x', sizeof flood);
	memcpy(flood + sizeof flood - 16, "\n:::\n:\n\n0::/job\n", 16);
	put_bytes("proc/self/cgroup", flood, sizeof flood);
	put("sys/fs/cgroup/job/memory.max", "4096\n");
	put("proc/self/mountinfo", "\n - \n - cgroup2\n1 2 3 - cgroup2 a b\n"
	    "1 2 3 / relative rw - cgroup2 a b\n"
	    "1 2 3 / /../../etc rw - cgroup2 a b\n"
	    "1 2 3 / /sys/fs/cgroup rw - cgroup a b\n"
	    "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), 0);
	assert_dir(&g, "/sys/fs/cgroup/job");
	/* Bytes of value 0, and no newline at all. */
	put_bytes("proc/self/cgroup", "0::\0/job\n0::/job", 16);
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), -ENOENT);
	tree_free();
}

static void
nothing_mounted_is_no_entry(void **state)
{
	struct cgroup g;

	(void)state;
	tree_new();
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), -ENOENT);
	put("proc/self/cgroup", "0::/\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), -ENOENT);
	put("proc/self/mountinfo", "1 2 0:3 / / rw - ext4 /dev/x rw\n");
	assert_int_equal(cgroup_find(&g, root, "memory", NULL), -ENOENT);
	tree_free();
}

/* Whatever machine this is, its own tree must be readable. */
static void
the_real_tree(void **state)
{
	struct cgroup_memory m;
	struct cgroup g;
	double cpus;

	(void)state;
	if (cgroup_find(&g, "/", "memory", NULL) == 0) {
		assert_int_equal(cgroup_memory(&g, &m, NULL), 0);
		assert_true(m.free_bytes <= m.limit_bytes);
	}
	if (cgroup_find(&g, "/", "cpu", NULL) == 0) {
		assert_int_equal(cgroup_cpus(&g, &cpus, NULL), 0);
		assert_true(cpus >= 0);
	}
}

UNIT_MAIN(
	UNIT(v2_limit_is_the_least_of_all_levels),
	UNIT(free_is_the_least_of_all_levels),
	UNIT(v2_high_counts_as_a_limit),
	UNIT(v2_root_group_has_no_files),
	UNIT(v2_without_the_controller),
	UNIT(hybrid_finds_each_where_it_is),
	UNIT(v1_knows_of_ancestors_it_does_not_show),
	UNIT(mount_of_a_subtree),
	UNIT(group_outside_of_the_namespace),
	UNIT(escapes_in_mount_points),
	UNIT(group_of_another_process),
	UNIT(quota_is_the_least_of_all_levels),
	UNIT(huge_numbers_are_no_limit),
	UNIT(garbage_in_a_file_is_refused),
	UNIT(garbage_in_proc_is_passed_over),
	UNIT(nothing_mounted_is_no_entry),
	UNIT(the_real_tree))
