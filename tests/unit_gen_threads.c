/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_gen_threads.c: tests of tool/gen_threads.c over a made-up /proc and
 * /sys.  The machine itself may have one processor, so all expectations are
 * for the lesser of what is asked and that.
 */

#include <config.h>

#include "tool/gen_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "tests/harness/unit.h"

#define MIB	(UINT64_C(1) << 20)

static char root[64];

static const char *const folders[] = {
	"proc", "proc/self", "sys", "sys/fs", "sys/fs/cgroup",
	"sys/fs/cgroup/job",
};
static const char *const files[] = {
	"proc/meminfo", "proc/self/cgroup", "proc/self/mountinfo",
	"sys/fs/cgroup/cgroup.controllers", "sys/fs/cgroup/job/memory.max",
	"sys/fs/cgroup/job/memory.current", "sys/fs/cgroup/job/memory.stat",
	"sys/fs/cgroup/job/cpu.max",
};
#define NR(array)	(sizeof (array) / sizeof (array)[0])

static void
put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
tree_new(const char *meminfo)
{
	char path[256];

	strcpy(root, "/tmp/destall-threads.XXXXXX");
	assert_non_null(mkdtemp(root));
	for (unsigned i = 0; i < NR(folders); i++) {
		(void)snprintf(path, sizeof path, "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	put("proc/meminfo", meminfo);
	put("proc/self/cgroup", "0::/job\n");
	put("proc/self/mountinfo",
	    "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
}

static void
tree_free(void)
{
	char path[256];

	for (unsigned i = 0; i < NR(files); i++) {
		(void)snprintf(path, sizeof path, "%s/%s", root, files[i]);
		assert_true(unlink(path) == 0 || errno == ENOENT);
	}
	for (unsigned i = NR(folders); i-- > 0;) {
		(void)snprintf(path, sizeof path, "%s/%s", root, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(root), 0);
}

static unsigned
at_most(unsigned n)
{
	return cpus_usable() < n ? cpus_usable() : n;
}

static void
memory_is_by_the_largest_image(void **state)
{
	struct gen_plan p = { .size = { .width = 8192, .height = 8192 } };

	(void)state;
	assert_in_range(gen_threads_memory(&p), 384 * MIB, 400 * MIB);
	p.size = (struct gen_size){ .is_range = true, .min_side = 1,
	    .max_side = 1024 };
	assert_in_range(gen_threads_memory(&p), 6 * MIB, 10 * MIB);
}

static void
processors_limit(void **state)
{
	(void)state;
	tree_new("MemAvailable: 100000000 kB\n");
	assert_int_equal(gen_threads_choose(root, MIB), cpus_usable());
	put("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
	assert_int_equal(gen_threads_choose(root, MIB), at_most(2));
	put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
	assert_int_equal(gen_threads_choose(root, MIB), 1);
	put("sys/fs/cgroup/job/cpu.max", "10000 100000\n");
	assert_int_equal(gen_threads_choose(root, MIB), 1);
	tree_free();
}

/* Half of 4 MiB. */
static void
memory_of_the_machine_limits(void **state)
{
	(void)state;
	tree_new("MemTotal: 999999 kB\nMemAvailable: 4096 kB\n");
	assert_int_equal(gen_threads_choose(root, MIB), at_most(2));
	assert_int_equal(gen_threads_choose(root, MIB + 1), 1);
	assert_int_equal(gen_threads_choose(root, 100 * MIB), 1);
	tree_free();
}

static void
memory_of_the_group_limits(void **state)
{
	(void)state;
	tree_new("MemAvailable: 100000000 kB\n");
	put("sys/fs/cgroup/job/memory.max", "8388608\n");
	put("sys/fs/cgroup/job/memory.current", "4194304\n");
	put("sys/fs/cgroup/job/memory.stat", "inactive_file 0\n");
	assert_int_equal(gen_threads_choose(root, MIB), at_most(2));
	assert_int_equal(gen_threads_choose(root, MIB + 1), 1);
	tree_free();
}

static void
nothing_known_limits_nothing(void **state)
{
	(void)state;
	assert_int_equal(gen_threads_choose("/nonexistent", MIB),
	    cpus_usable());
}

UNIT_MAIN(
	UNIT(memory_is_by_the_largest_image),
	UNIT(processors_limit),
	UNIT(memory_of_the_machine_limits),
	UNIT(memory_of_the_group_limits),
	UNIT(nothing_known_limits_nothing))
