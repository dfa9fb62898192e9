/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_observe_pfm.c: tests of analyzer/obs_pfm.c and obs_pfm_names.c with
 * counters that are made up: files out of which counts are read.
 */

#include <config.h>

#include "analyzer/observe.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/obs_pfm_names.h"
#include "base/io.h"
#include "tests/harness/tree.h"
#include "tests/harness/unit.h"

#define WORKER	101
#define SECOND	NS_PER_S

#ifndef WITH_PFM
#define WITH_PFM 0
#endif

static uint64_t now_ns;
static struct observe o;
static struct result r;

static int hardware, kernel, guest, all, member;	/* errno of such events */
static int counts[2];		/* files that a thread's are read from */
static unsigned nr_hardware, nr_software;	/* of a thread */

static uint64_t
tell_now(void *arg)
{
	(void)arg;
	return now_ns;
}

static bool
is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE;
}

static int
refuse(const struct perf_event_attr *attr, int group)
{
	if (all != 0)
		return all;
	if (hardware != 0 && is_hardware(attr))
		return hardware;
	if (kernel != 0 && !attr->exclude_kernel)
		return kernel;
	if (guest != 0 && !attr->exclude_guest)
		return guest;
	return member != 0 && group >= 0 && is_hardware(attr) ? member : 0;
}

/* As the kernel writes a group; read from the beginning once more. */
static void
tell_group(int fd, uint64_t nr, uint64_t enabled, uint64_t running,
    uint64_t count)
{
	uint64_t words[] = { nr, enabled, running, count, 2 * count,
	    count / 10, count / 100 };
	size_t len = (3 + nr) * sizeof *words;

	if (fd < 0)
		return;
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, words, len, 0), (ssize_t)len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
}

/* The other group has what the kernel counts itself. */
static void
tell(uint64_t enabled, uint64_t running, uint64_t count)
{
	tell_group(counts[0], nr_hardware, enabled, running, count);
	tell_group(counts[1], nr_software, enabled, enabled, 1);
}

static int
made_up_perf(struct perf_event_attr *attr, pid_t tid, int group)
{
	int fd, e = refuse(attr, group), kind = is_hardware(attr) ? 0 : 1;

	if (e != 0)
		return -e;
	assert_false(attr->inherit);
	fd = memfd_create("counts", MFD_CLOEXEC);
	assert_true(fd >= 0);
	if (tid == 0)
		return fd;
	assert_int_equal(tid, WORKER);
	if (is_hardware(attr))
		nr_hardware++;
	else
		nr_software++;
	/* Both ends of a dup have one offset. */
	if (group < 0)
		counts[kind] = dup(fd);
	assert_true(counts[kind] >= 0);
	tell(0, 0, 0);
	return fd;
}

static void
begin(void)
{
	hardware = kernel = guest = all = member = 0;
	nr_hardware = nr_software = 0;
	counts[0] = counts[1] = -1;
	now_ns = SECOND;
	clock_replace(tell_now, NULL);
	tree_new();
	put("proc/101/stat",
	    "101 (x) S 1 1 1 0 -1 0 7 0 3 0 1 1 0 0 20 0 1 0 5\n");
	put("proc/101/statm", "1 1 1\n");
	put("proc/101/task/101/schedstat", "1 1 1\n");
	put("proc/101/task/101/io", "rchar: 1\nread_bytes: 1\n");
	observe_init(&o, root);
	o.perf_open = made_up_perf;
	result_init(&r);
	observe_process(&o, WORKER, true, 2);
}

static void
end(void)
{
	result_fini(&r);
	observe_fini(&o);
	io_close(&counts[0]);
	io_close(&counts[1]);
	clock_replace(NULL, NULL);
	tree_free();
}

static void
phase(const char *name)
{
	now_ns += SECOND;
	observe_phase(&o, name, now_ns);
}

static double
seen(const char *figure)
{
	for (size_t i = 0; i < r.nr_seen; i++) {
		if (strcmp(r.seen[i].source, "pfm") == 0 &&
		    strcmp(r.seen[i].name, figure) == 0)
			return r.seen[i].value;
	}
	return NAN;
}

/* What is said of the counters, once, or "". */
static const char *
confession(void)
{
	const char *found = "";

	for (size_t i = 0; i < r.nr_confessions; i++) {
		if (strstr(r.confessions[i], ": hardware counters: ") == NULL)
			continue;
		assert_string_equal(found, "");
		found = r.confessions[i];
	}
	return found;
}

#define assert_confessed(text)	assert_non_null(strstr(confession(), (text)))

/*--- counts --------------------------------------------------------------*/

static void
counts_are_scaled(void **state)
{
	(void)state;
	begin();
	phase("a");
	assert_int_equal(nr_hardware, 4);
	assert_int_equal(nr_software, 4);
	tell(100, 50, 1000);		/* half of the time */
	phase("a");
	tell(300, 250, 2000);	/* all of it */
	phase(NULL);
	tell(300, 250, 2000);
	observe_put(&o, &r);
	assert_true(seen("workers.cycles") == 3000);
	assert_true(seen("worker.2.instructions") == 6000);
	assert_true(seen("workers.llc_misses") == 30);
	assert_true(seen("workers.instructions_per_cycle") == 2);
	assert_true(seen("worker.2.llc_misses_per_1000_instructions") == 5);
	assert_true(isnan(seen("worker.1.cycles")));
	assert_true(isnan(seen("main.cycles")));
	end();
}

/* What was counted is told with its time; nothing is opened again. */
static void
counting_is_ended(void **state)
{
	(void)state;
	begin();
	assert_false(observe_end_counting(&o));		/* it has not begun */
	phase("a");
	tell(100, 100, 1000);
	phase("a");
	assert_true(observe_end_counting(&o));
	assert_false(observe_end_counting(&o));
	phase("a");
	phase("b");
	phase(NULL);
	assert_int_equal(nr_hardware, 4);
	observe_put(&o, &r);
	assert_true(seen("workers.cycles") == 1000);
	assert_true(seen("time") == SECOND);
	assert_string_equal(confession(), "");
	end();
}

static void
counters_that_never_ran(void **state)
{
	(void)state;
	begin();
	phase("a");
	tell(100, 0, 0);
	phase(NULL);
	tell(100, 0, 0);
	observe_put(&o, &r);
	assert_confessed("did not run");
	end();
}

static void
counters_that_fail(void **state)
{
	static const uint64_t bad[] = { 0, 3, 5, UINT64_MAX / 16 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		begin();
		phase("a");
		tell(100, 100, 100);
		assert_int_equal(pwrite(counts[0], &bad[i], sizeof bad[i], 0),
		    sizeof bad[i]);
		phase(NULL);
		observe_put(&o, &r);
		assert_confessed("the kernel tells none");
		end();
	}
}

/*--- the ladder ----------------------------------------------------------*/

static void
without_a_pmu(void **state)
{
	static const int errors[] = { ENOENT, ENXIO, ENODEV };

	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		begin();
		hardware = errors[i];
		phase("a");
		assert_int_equal(nr_hardware, 0);
		assert_int_equal(nr_software, 4);
		tell(10, 10, 0);
		observe_put(&o, &r);
		assert_confessed("software events only");
		end();
	}
}

static void
without_the_kernel(void **state)
{
	(void)state;
	begin();
	kernel = EACCES;
	phase("a");
	assert_int_equal(nr_hardware, 4);
	assert_int_equal(nr_software, 2);	/* the others would be 0 */
	tell(10, 10, 70);
	phase(NULL);
	tell(10, 10, 70);
	observe_put(&o, &r);
	assert_true(seen("workers.cycles") == 70);
	assert_true(isnan(seen("workers.context_switches")));
	assert_confessed("the programs' own code only");
	end();
}

static void
without_guests(void **state)
{
	(void)state;
	begin();
	guest = EOPNOTSUPP;
	phase("a");
	assert_int_equal(nr_hardware, 4);
	end();
}

static void
nothing_is_allowed(void **state)
{
	static const int errors[] = { EPERM, EACCES, ENOSYS, EOPNOTSUPP };

	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		begin();
		all = errors[i];
		phase("a");
		phase(NULL);
		observe_put(&o, &r);
		assert_int_equal(nr_hardware + nr_software, 0);
		assert_confessed("not observed: hardware counters: ");
		end();
	}
}

/* A job that is only watched is not to pay for it. */
static void
nothing_is_wanted(void **state)
{
	(void)state;
	begin();
	o.perf_open = NULL;
	phase("a");
	phase(NULL);
	observe_put(&o, &r);
	assert_confessed("not observed: hardware counters: they would cost");
	end();
}

static void
an_event_that_the_group_cannot_have(void **state)
{
	(void)state;
	begin();
	member = EINVAL;
	phase("a");
	assert_int_equal(nr_hardware, 1);
	tell(10, 10, 70);
	phase(NULL);
	tell(10, 10, 70);
	observe_put(&o, &r);
	assert_true(seen("workers.cycles") == 70);
	assert_true(isnan(seen("workers.instructions")));
	assert_true(isnan(seen("workers.instructions_per_cycle")));
	end();
}

static void
few_descriptors(void **state)
{
	struct rlimit had, few;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
	begin();
	few = had;
	few.rlim_cur = 14;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	phase("a");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
	observe_put(&o, &r);
	assert_confessed("open files");
	end();
}

/*--- names ---------------------------------------------------------------*/

static void
names_are_known(void **state)
{
	static char skylake[] = "LIBPFM_FORCE_PMU=skl";
	char *forced[] = { skylake, NULL }, **had = environ;
	struct pfm_code code[PFM_EVENTS];
	struct ds_err err;
	int rc;

	(void)state;
	rc = pfm_names_find(code, &err);
	if (rc < 0)
		assert_non_null(strstr(err.text, "libpfm"));
	for (unsigned i = 0; i < PFM_EVENTS; i++) {
		for (unsigned j = 0; j < i; j++)
			assert_true(code[i].type != code[j].type ||
			    code[i].config != code[j].config);
	}
	assert_true(WITH_PFM || rc < 0);
	/* As on a processor that this machine need not have. */
	environ = forced;
	if (pfm_names_find(code, &err) == 0) {
		assert_int_equal(code[PFM_LLC_MISSES].type, PERF_TYPE_RAW);
		assert_int_equal(code[PFM_LLC_MISSES].config & 0xffff, 0x412e);
	}
	environ = had;
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
	UNIT(counts_are_scaled),
	UNIT(counting_is_ended),
	UNIT(counters_that_never_ran),
	UNIT(counters_that_fail),
	UNIT(without_a_pmu),
	UNIT(without_the_kernel),
	UNIT(without_guests),
	UNIT(nothing_is_allowed),
	UNIT(nothing_is_wanted),
	UNIT(an_event_that_the_group_cannot_have),
	UNIT(few_descriptors),
	UNIT(names_are_known))
