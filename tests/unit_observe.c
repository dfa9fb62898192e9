/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_observe.c: tests of analyzer/observe*.c and the observers of files, over
 * made-up trees of /proc and /sys and a clock of their own.
 */

#include <config.h>

#include "analyzer/observe.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/harness/tree.h"
#include "tests/harness/unit.h"

#define MAIN	100
#define WORKER	101
#define SECOND	NS_PER_S

static uint64_t now_ns;
static struct observe o;
static struct result r;

static uint64_t
tell_now(void *arg)
{
	(void)arg;
	return now_ns;
}

/*--- a made-up machine ---------------------------------------------------*/

static void
put_proc(int pid, const char *name, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof path, "proc/%d/%s", pid, name);
	put(path, text);
}

/* cpu in hundredths of a second. */
static void
put_stat(int pid, char state, unsigned cpu)
{
	char text[256];
	long hz = sysconf(_SC_CLK_TCK);

	(void)snprintf(text, sizeof text, "%d (a) (b c) %c 1 1 1 0 -1 0 7 0 3 0 "
	    "%ld %ld 0 0 20 0 1 0 5 0 0 0\n", pid, state, (long)cpu * hz / 100,
	    (long)cpu * hz / 100);
	put_proc(pid, "stat", text);
}

static void
put_thread(int pid, int tid, unsigned long io, unsigned long waited)
{
	char name[64], text[256];

	(void)snprintf(name, sizeof name, "task/%d/io", tid);
	(void)snprintf(text, sizeof text, "rchar: %lu\nwchar: 0\nsyscr: 1\n"
	    "syscw: 0\nread_bytes: %lu\nwrite_bytes: 0\n", io, io / 2);
	put_proc(pid, name, text);
	(void)snprintf(name, sizeof name, "task/%d/schedstat", tid);
	(void)snprintf(text, sizeof text, "5 %lu 6\n", waited);
	put_proc(pid, name, text);
}

static void
put_process(int pid)
{
	put_stat(pid, 'S', 100);
	put_proc(pid, "statm", "900 10 0 0 0 0 0\n");
	put_proc(pid, "cgroup", "0::/job\n");
	put_thread(pid, pid, 1000, 100);
}

static void
put_machine(void)
{
	char name[64];

	tree_new();
	put("proc/self/mountinfo",
	    "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpu io memory\n");
	put("sys/fs/cgroup/job/memory.current", "4096\n");
	put("sys/fs/cgroup/job/memory.max", "8192\n");
	put("sys/fs/cgroup/job/memory.stat", "anon 1\nfile 2048\n");
	put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
	put("sys/fs/cgroup/job/cpu.stat", "usage_usec 1\nnr_periods 10\n"
	    "nr_throttled 2\nthrottled_usec 5\n");
	for (unsigned i = 0; i < 3; i++) {
		static const char *const kinds[] = { "cpu", "io", "memory" };

		(void)snprintf(name, sizeof name, "proc/pressure/%s", kinds[i]);
		put(name, "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\n"
		    "full avg10=0.00 avg60=0.00 avg300=0.00 total=4\n");
	}
	put("sys/dev/block/8:1/stat",
	    "  10 0 16 30 1 2 3 4 0 50 60 0 0 0 0\n");
	put("sys/dev/block/8:1/uevent", "MAJOR=8\nDEVNAME=sd\033a1\nX=1\n");
	put("sys/dev/block/8:1/queue/rotational", "1\n");
	put_process(MAIN);
	put_process(WORKER);
}

/*--- a made-up hub, and no counters --------------------------------------*/

static int hub_rc, hub_read_rc;
static uint64_t hub_hits;

static int
hub_open(void **hub, struct ds_err *err)
{
	*hub = &hub_hits;
	return hub_rc < 0 ? err_fail(err, hub_rc, "the hub is not there") : 0;
}

static int
hub_read(void *hub, uint64_t count[HUB_COUNTS], struct ds_err *err)
{
	assert_ptr_equal(hub, &hub_hits);
	if (hub_read_rc < 0)
		return err_fail(err, hub_read_rc, "the hub is mute");
	memset(count, 0, HUB_COUNTS * sizeof *count);
	count[HUB_HITS] = hub_hits;
	return 0;
}

static void
hub_close(void *hub)
{
	assert_ptr_equal(hub, &hub_hits);
}

static const struct observe_hub made_up_hub = { hub_open, hub_read, hub_close };

static int
no_perf(struct perf_event_attr *attr, pid_t tid, int group)
{
	(void)attr;
	(void)tid;
	(void)group;
	return -EPERM;
}

static void
begin(void)
{
	now_ns = SECOND;
	clock_replace(tell_now, NULL);
	hub_rc = hub_read_rc = 0;
	hub_hits = 5;
	observe_init(&o, root);
	o.perf_open = no_perf;
	o.hub = &made_up_hub;
	observe_data(&o, "/");
	o.data_dev = makedev(8, 1);
	result_init(&r);
	observe_process(&o, MAIN, false, 0);
	observe_process(&o, WORKER, true, 3);
}

static void
finish(void)
{
	observe_put(&o, &r);
}

static void
end(void)
{
	result_fini(&r);
	observe_fini(&o);
	clock_replace(NULL, NULL);
	tree_free();
}

static void
phase(const char *name, uint64_t after_ns)
{
	now_ns += after_ns;
	observe_phase(&o, name, now_ns);
}

/*--- what is in a result -------------------------------------------------*/

/* NAN if it is not there. */
static double
seen(const char *name, const char *source, const char *figure)
{
	for (size_t i = 0; i < r.nr_seen; i++) {
		if (strcmp(r.seen[i].phase, name) == 0 &&
		    strcmp(r.seen[i].source, source) == 0 &&
		    strcmp(r.seen[i].name, figure) == 0)
			return r.seen[i].value;
	}
	return NAN;
}

static void
assert_seen(const char *source, const char *figure, double want)
{
	double value = seen("a", source, figure);

	if (!(fabs(value - want) <= 1e-6 * fabs(want)))
		fail_msg("%s %s is %g, not %g", source, figure, value, want);
}

static void
assert_unseen(const char *source, const char *figure)
{
	assert_true(isnan(seen("a", source, figure)));
}

/* How many confessions say this. */
static size_t
confessed(const char *text)
{
	size_t nr = 0;

	for (size_t i = 0; i < r.nr_confessions; i++)
		nr += strstr(r.confessions[i], text) != NULL;
	return nr;
}

/*--- tests ---------------------------------------------------------------*/

static void
counts_are_of_the_phase(void **state)
{
	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	put_stat(MAIN, 'S', 150);
	put_stat(WORKER, 'S', 300);
	put_thread(WORKER, WORKER, 5000, 700);
	phase("b", SECOND);
	put_stat(MAIN, 'S', 190);
	phase("a", SECOND);
	put_stat(MAIN, 'S', 200);
	phase(NULL, SECOND);
	put_stat(MAIN, 'S', 900);
	now_ns += SECOND;
	finish();
	assert_seen("phase", "time", 2e9);
	assert_seen("proc", "main.cpu_user", 0.6e9);
	assert_seen("proc", "workers.cpu_system", 2e9);
	assert_seen("io", "workers.read", 4000);
	assert_seen("io", "workers.read_storage", 2000);
	assert_seen("io", "main.read", 0);
	assert_seen("sched", "workers.waited_for_cpu", 600);
	assert_unseen("proc", "worker.3.cpu_user");
	assert_true(fabs(seen("b", "proc", "main.cpu_user") - 0.4e9) < 1);
	assert_int_equal(confessed(""), 1);	/* the counters */
	assert_int_equal(confessed("not observed: hardware counters"), 1);
	end();
}

static void
a_sample_over_a_change_is_divided(void **state)
{
	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	put_stat(MAIN, 'S', 500);
	now_ns += SECOND;
	observe_phase(&o, "b", now_ns - SECOND / 4);
	put_stat(MAIN, 'S', 600);
	now_ns += SECOND;
	observe_phase(&o, NULL, now_ns - 2 * SECOND);	/* before the sample */
	finish();
	assert_seen("phase", "time", 0.75e9);
	assert_seen("proc", "main.cpu_user", 3e9);
	assert_true(fabs(seen("b", "proc", "main.cpu_user") - 1e9) < 1);
	end();
}

static void
levels_are_means_over_time(void **state)
{
	double page = (double)sysconf(_SC_PAGESIZE);

	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	now_ns += 3 * SECOND;
	observe_sample(&o);
	put_proc(MAIN, "statm", "900 30 0 0 0 0 0\n");
	phase(NULL, SECOND);
	finish();
	assert_seen("proc", "main.rss", 15 * page);
	assert_seen("proc", "main.rss.max", 30 * page);
	assert_seen("cgroup", "memory", 4096);
	assert_seen("cgroup", "memory_limit.max", 8192);
	assert_seen("cgroup", "page_cache", 2048);
	assert_seen("cgroup", "cpu_limit", 1.5);
	end();
}

static void
the_job_as_a_whole(void **state)
{
	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	put("sys/fs/cgroup/job/cpu.stat", "nr_periods 20\nnr_throttled 5\n"
	    "throttled_usec 8\n");
	put("proc/pressure/io", "some avg10=0.00 total=20\nfull total=5\n");
	put("sys/dev/block/8:1/stat", " 11 0 20 35 1 2 3 4 0 51 62\n");
	hub_hits = 12;
	phase(NULL, SECOND);
	finish();
	assert_seen("cgroup", "cpu_periods_throttled", 3);
	assert_seen("cgroup", "cpu_throttled", 3000);
	assert_seen("psi", "io_some", 10000);
	assert_seen("psi", "io_full", 1000);
	assert_seen("psi", "cpu_some", 0);
	assert_seen("block", "sd\\x1ba1.reads", 1);
	assert_seen("block", "sd\\x1ba1.read", 4 * 512);
	assert_seen("block", "sd\\x1ba1.read_time", 5e6);
	assert_seen("block", "sd\\x1ba1.queue_time", 2e6);
	assert_seen("block", "sd\\x1ba1.rotational", 1);
	assert_seen("hub", "cache_hits", 7);
	end();
}

static void
pressure_of_the_group_goes_first(void **state)
{
	(void)state;
	put_machine();
	put("sys/fs/cgroup/job/io.pressure", "some total=1\nfull total=1\n");
	begin();
	phase("a", 0);
	put("sys/fs/cgroup/job/io.pressure", "some total=3\nfull total=2\n");
	put("proc/pressure/io", "some total=999\nfull total=999\n");
	phase(NULL, SECOND);
	finish();
	assert_seen("psi", "io_some", 2000);
	end();
}

static void
groups_of_version_1(void **state)
{
	(void)state;
	put_machine();
	put("proc/self/mountinfo",
	    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	put_proc(MAIN, "cgroup", "4:memory:/job\n2:cpu:/\n");
	put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "512\n");
	put("sys/fs/cgroup/memory/job/memory.stat", "cache 1\ntotal_cache 2\n");
	put("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\n"
	    "throttled_time 10\n");
	begin();
	phase("a", 0);
	put("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\n"
	    "throttled_time 40\n");
	phase(NULL, SECOND);
	finish();
	assert_seen("cgroup", "memory", 512);
	assert_seen("cgroup", "page_cache", 2);
	assert_seen("cgroup", "cpu_throttled", 30);
	assert_unseen("cgroup", "cpu_limit");
	end();
}

static void
threads_come_and_go(void **state)
{
	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	put_thread(WORKER, 777, 300, 0);	/* all of it since then */
	put_folder("proc/101/task/zero");	/* no thread */
	now_ns += SECOND;
	observe_sample(&o);
	put_thread(WORKER, 777, 400, 0);
	now_ns += SECOND;
	observe_sample(&o);
	tree_remove("proc/101/task/777");
	put_thread(WORKER, WORKER, 1050, 100);
	phase(NULL, SECOND);
	finish();
	assert_seen("io", "workers.read", 450);
	assert_int_equal(confessed(""), 1);
	end();
}

static void
gone_processes_are_let_go(void **state)
{
	(void)state;
	put_machine();
	begin();
	observe_process(&o, 999, true, 0);	/* never was */
	phase("a", 0);
	assert_int_equal(o.nr_processes, 2);
	put_stat(WORKER, 'Z', 180);		/* dead, and still there */
	now_ns += SECOND;
	observe_sample(&o);
	assert_int_equal(o.nr_processes, 1);
	tree_remove("proc/100");
	now_ns += SECOND;
	observe_sample(&o);
	assert_int_equal(o.nr_processes, 0);
	now_ns += SECOND;
	observe_process(&o, WORKER, true, 0);
	finish();
	assert_seen("proc", "workers.cpu_user", 0.8e9);
	assert_int_equal(confessed(""), 1);
	end();
}

static void
another_under_the_same_number(void **state)
{
	char from[128], to[128];

	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	(void)snprintf(from, sizeof from, "%s/proc/101", root);
	(void)snprintf(to, sizeof to, "%s/proc/old", root);
	assert_int_equal(rename(from, to), 0);
	put_process(WORKER);
	put_stat(WORKER, 'S', 5000);
	observe_process(&o, WORKER, true, 3);
	assert_int_equal(o.nr_processes, 3);
	phase(NULL, SECOND);
	finish();
	assert_seen("proc", "workers.cpu_user", 0);
	end();
}

static void
samples_are_not_too_many(void **state)
{
	(void)state;
	put_machine();
	begin();
	phase("a", 0);
	now_ns += OBSERVE_SAMPLE_NS - 1;
	observe_sample(&o);
	assert_true(o.sampled_ns < now_ns);
	now_ns += 1;
	observe_sample(&o);
	assert_true(o.sampled_ns == now_ns);
	put_process(102);
	observe_process(&o, 102, true, 9999);
	now_ns += 1;
	observe_sample(&o);
	assert_true(o.sampled_ns == now_ns);
	end();
}

static void
a_hub_may_come_later(void **state)
{
	(void)state;
	put_machine();
	begin();
	hub_rc = -ENOENT;
	phase("a", 0);
	hub_rc = 0;
	now_ns += SECOND;
	observe_sample(&o);
	hub_hits = 25;
	phase(NULL, SECOND);
	finish();
	assert_seen("hub", "cache_hits", 20);
	assert_int_equal(confessed("cache"), 0);
	end();
}

static void
no_device_no_hub(void **state)
{
	(void)state;
	put_machine();
	begin();
	observe_data(&o, "/data\033[2J");
	assert_int_equal(o.data_dev, 0);
	hub_read_rc = -EIO;
	phase("a", 0);
	phase(NULL, SECOND);
	finish();
	assert_int_equal(confessed("not observed: the device of the data"), 1);
	assert_int_equal(confessed("not observed: counters of the cache and the "
	    "stage: the hub is mute (3 times)"), 1);
	assert_int_equal(confessed(""), 3);
	end();
}

/*--- what is missing -----------------------------------------------------*/

struct lack {
	const char	*file, *what;
};

static const struct lack lacks[] = {
	{ "proc/100/stat", "processor time and memory" },
	{ "proc/100/statm", "processor time and memory" },
	{ "proc/101/task/101/schedstat", "waits for a processor" },
	{ "proc/101/task/101/io", "reading of processes" },
	{ "proc/101/task", "observed in part: processes: /proc/101/task" },
	{ "proc/100/cgroup", "control group" },
	{ "proc/self/mountinfo", "control group" },
	{ "proc/pressure/io", "pressure" },
	{ "sys/dev/block/8:1/stat", "device of the data" },
};

/* One sentence more than there is anyway; the rest is there. */
static void
check_lack(const struct lack *l, const char *how)
{
	begin();
	phase("a", 0);
	now_ns += SECOND;
	observe_sample(&o);
	phase(NULL, SECOND);
	finish();
	if (confessed(l->what) != 1 || confessed("") != 2)
		fail_msg("%s, %s: %zu confessions, %zu of %s", l->file, how,
		    confessed(""), confessed(l->what), l->what);
	assert_seen("proc", "workers.cpu_user", 0);
	assert_seen("hub", "cache_hits", 0);
	assert_int_equal(o.nr_processes, 2);
	end();
}

static void
each_can_be_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
		put_machine();
		tree_remove(lacks[i].file);
		check_lack(&lacks[i], "missing");
	}
}

/* A folder opens, and cannot be read. */
static void
each_can_be_unreadable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
		if (strcmp(lacks[i].file, "proc/101/task") == 0)
			continue;
		put_machine();
		tree_remove(lacks[i].file);
		put_folder(lacks[i].file);
		check_lack(&lacks[i], "a folder");
	}
}

static void
garbage_is_not_known(void **state)
{
	static const char *const files[] = {
		"proc/100/stat", "proc/100/statm",
		"proc/101/task/101/schedstat", "proc/101/task/101/io",
		"proc/100/cgroup", "proc/self/mountinfo", "proc/pressure/io",
		"sys/dev/block/8:1/stat", "sys/dev/block/8:1/uevent",
		"sys/dev/block/8:1/queue/rotational",
		"sys/fs/cgroup/job/memory.current",
		"sys/fs/cgroup/job/memory.stat", "sys/fs/cgroup/job/cpu.stat",
		"sys/fs/cgroup/job/cpu.max",
	};
	static const char *const bad[] = {
		"", "\n", ")", ") ", "x) Z", "-1 -2 -3", "1e9 nan inf",
		"99999999999999999999999999999999 1 1 1 1 1 1 1 1 1 1 1",
		"rchar: \nread_bytes: x\n", "some total=\nfull", "some total",
		"\xff\xfe\033[2J", "(((((((((((((((((((((((((((((((((((((((",
		"DEVNAME=", "file -1\ntotal_cache x", "nr_periods",
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
			put_machine();
			put(files[i], bad[j]);
			begin();
			phase("a", 0);
			phase(NULL, SECOND);
			finish();
			assert_true(confessed("") <= 3);
			for (size_t k = 0; k < r.nr_seen; k++)
				assert_true(isfinite(r.seen[k].value));
			end();
		}
	}
}

static void
nothing_at_all(void **state)
{
	(void)state;
	tree_new();
	begin();
	phase("a", 0);
	phase(NULL, SECOND);
	finish();
	assert_int_equal(o.nr_processes, 0);
	assert_seen("phase", "time", 1e9);
	end();
}

/* What the dynamic linker keeps of a library that was loaded once is not a leak
 * of ours. */
static int
load_library(void **state)
{
	*state = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	return 0;
}

UNIT_MAIN_WITH(load_library, NULL,
	UNIT(counts_are_of_the_phase),
	UNIT(a_sample_over_a_change_is_divided),
	UNIT(levels_are_means_over_time),
	UNIT(the_job_as_a_whole),
	UNIT(pressure_of_the_group_goes_first),
	UNIT(groups_of_version_1),
	UNIT(threads_come_and_go),
	UNIT(gone_processes_are_let_go),
	UNIT(another_under_the_same_number),
	UNIT(samples_are_not_too_many),
	UNIT(a_hub_may_come_later),
	UNIT(no_device_no_hub),
	UNIT(each_can_be_missing),
	UNIT(each_can_be_unreadable),
	UNIT(garbage_is_not_known),
	UNIT(nothing_at_all))
