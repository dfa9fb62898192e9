/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_doctor.c: tests of what `destall doctor` decides, on machines that we
 * do not have.
 */

#include <config.h>

#include "tool/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cgroup.h"
#include "tests/harness/unit.h"
#include "tool/doctor_bench.h"
#include "tool/doctor_counters.h"
#include "tool/doctor_cuda.h"
#include "tool/doctor_hub.h"
#include "tool/doctor_kernel.h"
#include "tool/doctor_python.h"

#define MAX_ERRNO	133
#define LONG_VERSION	"1.1111111111111111111111111111111111111111111111"

static const struct userns_settings open_settings = { 1, 0, 10000 };

static void
assert_advises(const struct doctor_verdict *v, enum doctor_state state,
    const char *remedy)
{
	assert_int_equal(v->state, state);
	assert_non_null(strstr(v->remedy, remedy));
}

/* Whatever the kernel answers, there is something to say. */
static void
every_errno_has_advice(void **state)
{
	(void)state;
	for (int e = 1; e <= MAX_ERRNO; e++) {
		const struct doctor_verdict *all[] = {
			doctor_userns_verdict(e, &open_settings),
			doctor_tmpfs_verdict(e, &open_settings),
			doctor_perf_verdict(PERF_CYCLES_ALL, e),
			doctor_cuda_verdict(e),
			doctor_group_verdict(1, e),
			doctor_group_verdict(2, e),
			doctor_fuse_verdict(e),
		};

		for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
			assert_int_not_equal(all[i]->state, DOCTOR_OK);
			assert_true(strlen(all[i]->meaning) > 10);
			assert_true(strlen(all[i]->remedy) > 10);
		}
	}
	assert_int_equal(doctor_perf_verdict(PERF_SOFTWARE, 0)->state, DOCTOR_OK);
	assert_int_equal(doctor_cuda_verdict(0)->state, DOCTOR_OK);
	assert_int_equal(doctor_group_verdict(1, 0)->state, DOCTOR_OK);
	assert_int_equal(doctor_fuse_verdict(0)->state, DOCTOR_OK);
}

static void
perf_ladder(void **state)
{
	(void)state;
	assert_advises(doctor_perf_verdict(PERF_CYCLES_USER, ENOENT),
	    DOCTOR_MISSING, "virtual PMU");
	assert_advises(doctor_perf_verdict(PERF_CYCLES_USER, EOPNOTSUPP),
	    DOCTOR_MISSING, "virtual PMU");
	assert_advises(doctor_perf_verdict(PERF_CYCLES_USER, EACCES),
	    DOCTOR_MISSING, "perf_event_paranoid=2");
	assert_advises(doctor_perf_verdict(PERF_CYCLES_ALL, EACCES),
	    DOCTOR_LIMITED, "perf_event_paranoid=1");
	assert_advises(doctor_perf_verdict(PERF_SOFTWARE, EPERM),
	    DOCTOR_MISSING, "PERFMON");
	assert_advises(doctor_perf_verdict(PERF_CYCLES_USER, EBUSY),
	    DOCTOR_LIMITED, "nmi_watchdog");
	assert_advises(doctor_perf_verdict(PERF_CYCLES_USER, EMFILE),
	    DOCTOR_LIMITED, "ulimit -n");
	/* A machine without counters has no "rest of them". */
	assert_null(strstr(doctor_perf_verdict(PERF_CYCLES_ALL, ENOENT)->meaning,
	    "kernel"));
}

static void
paranoid_levels(void **state)
{
	(void)state;
	for (int level = -1; level <= 2; level++)
		assert_int_equal(doctor_paranoid_verdict(level)->state,
		    DOCTOR_OK);
	assert_int_equal(doctor_paranoid_verdict(3)->state, DOCTOR_LIMITED);
	assert_int_equal(doctor_paranoid_verdict(4)->state, DOCTOR_LIMITED);
	assert_int_equal(doctor_paranoid_verdict(-2)->state, DOCTOR_MISSING);
}

static void
userns_ladder(void **state)
{
	struct userns_settings debian = { 0, -1, 10000 };
	struct userns_settings ubuntu = { 1, 1, 10000 };
	struct userns_settings none = { -1, -1, 0 };

	(void)state;
	assert_advises(doctor_userns_verdict(EPERM, &debian), DOCTOR_MISSING,
	    "unprivileged_userns_clone=1");
	assert_advises(doctor_userns_verdict(EPERM, &ubuntu), DOCTOR_MISSING,
	    "apparmor_restrict_unprivileged_userns=0");
	assert_advises(doctor_tmpfs_verdict(EACCES, &ubuntu), DOCTOR_MISSING,
	    "apparmor_restrict_unprivileged_userns=0");
	assert_advises(doctor_userns_verdict(ENOSPC, &none), DOCTOR_MISSING,
	    "max_user_namespaces");
	assert_advises(doctor_userns_verdict(EPERM, &open_settings),
	    DOCTOR_MISSING, "seccomp");
	assert_advises(doctor_userns_verdict(EINVAL, &open_settings),
	    DOCTOR_MISSING, "CONFIG_USER_NS");
	assert_advises(doctor_tmpfs_verdict(ENOSYS, &open_settings),
	    DOCTOR_MISSING, "5.2");
	assert_advises(doctor_tmpfs_verdict(ENOENT, &open_settings),
	    DOCTOR_MISSING, "/proc");
}

static void
cuda_ladder(void **state)
{
	(void)state;
	assert_advises(doctor_cuda_verdict(100), DOCTOR_MISSING, "--gpus");
	assert_advises(doctor_cuda_verdict(34), DOCTOR_MISSING, "stubs");
	assert_advises(doctor_cuda_verdict(803), DOCTOR_MISSING, "versions");
	assert_advises(doctor_cuda_verdict(999), DOCTOR_MISSING, "nvidia-smi");
}

static void
group_ladder(void **state)
{
	(void)state;
	assert_advises(doctor_group_verdict(1, EACCES), DOCTOR_MISSING,
	    "Delegate");
	assert_advises(doctor_group_verdict(2, EROFS), DOCTOR_MISSING, "rw");
	assert_advises(doctor_group_verdict(2, ENOENT), DOCTOR_LIMITED,
	    "cgroup.subtree_control");
	assert_advises(doctor_group_verdict(1, ENOENT), DOCTOR_MISSING,
	    "CONFIG_");
	assert_advises(doctor_fuse_verdict(ENOENT), DOCTOR_MISSING, "modprobe");
	assert_advises(doctor_fuse_verdict(EACCES), DOCTOR_MISSING, "chmod");
}

/* A shortage says nothing about the thing that was tried. */
static void
shortage_is_not_blamed_on_the_thing(void **state)
{
	static const int shortages[] = { EMFILE, ENFILE, ENOMEM, EAGAIN };
	const struct doctor_verdict *other = doctor_fuse_verdict(ENOENT);

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_advises(doctor_blame(shortages[i], other),
		    DOCTOR_LIMITED, "ulimit");
	assert_ptr_equal(doctor_blame(ENOENT, other), other);
}

/* Whose memory the hub uses: a job's is worth a word, that of everybody here
 * is not. */
static void
groups_of_the_hub(void **state)
{
	static const char *const jobs[] = {
		"/slurm/uid_7/job_12/step_0", "/pbspro.service/jobid/12",
		"/docker/0123456789ab", "/system.slice/docker-0123.scope",
	};

	(void)state;
	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		assert_advises(doctor_hub_verdict(jobs[i], "/",
		    CGROUP_NO_LIMIT), DOCTOR_LIMITED, "serve --stop");
		assert_advises(doctor_hub_verdict(jobs[i], jobs[i], 1 << 30),
		    DOCTOR_LIMITED, "serve --stop");
	}
	assert_advises(doctor_hub_verdict("/user.slice/a", "/user.slice/b",
	    1 << 30), DOCTOR_LIMITED, "serve --stop");
	assert_int_equal(doctor_hub_verdict("/user.slice/a", "/user.slice/a",
	    1 << 30)->state, DOCTOR_OK);
	assert_int_equal(doctor_hub_verdict("/user.slice/a", "/user.slice/b",
	    CGROUP_NO_LIMIT)->state, DOCTOR_OK);
	assert_int_equal(doctor_hub_verdict("/", "/", 1 << 30)->state,
	    DOCTOR_OK);
}

static void
python_that_answers(void **state)
{
	static const char text[] = "destall-doctor\n3.11.2\n2.1.0+cu121\n"
	    "0.1.0\n/usr/bin/python3.11 /usr\n";
	static const char none[] = "destall-doctor\n3.8.0\n\n\n/p /\n";
	struct python_answer a;

	(void)state;
	assert_int_equal(doctor_python_parse(text, strlen(text), &a), 0);
	assert_string_equal(a.version, "3.11.2");
	assert_string_equal(a.torch, "2.1.0+cu121");
	assert_string_equal(a.hook, "0.1.0");
	assert_string_equal(a.where, "/usr/bin/python3.11 /usr");
	assert_int_equal(doctor_python_parse(none, strlen(none), &a), 0);
	assert_string_equal(a.torch, "");
}

static void
python_that_is_none(void **state)
{
	static const char *const bad[] = {
		"", "\n", "\n\n\n\n", "Python 3.11.2\n",
		"destall-doctor\n3.11.2\n\n\n/p /",
		"destall-doctor\n3.11.2\n\n\n/p /\nmore\n",
		"destall-doctor\n\033[2J\n\n\n/p /\n",
		"destall-doctor\n\n\n\n/p /\n",
		"destall-doctor\n3.11.2\n\033]0;x\007\n\n/p /\n",
		"destall-doctor\n3.11.2\n\n0.1 0\n/p /\n",
		"destall-doctor\n3.11.2\n\n" LONG_VERSION "\n/p /\n",
		"destall-doctor\n3.11.2\n2.0 0\n\n/p /\n",
		"destall-doctor\n3.11.2.3.4.5.6.7.8.9.10.11.12\n\n\n/p /\n",
		"destall-doctor\n3.11.2\n" LONG_VERSION "\n\n/p /\n",
	};
	static char huge[8192];
	struct python_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(doctor_python_parse(bad[i], strlen(bad[i]), &a),
		    -EBADMSG);
	assert_int_equal(doctor_python_parse("destall-doctor\n3.1\n\n\n/\0p\n",
	    25, &a), -EBADMSG);
	memset(huge, 'x', sizeof huge);
	assert_int_equal(doctor_python_parse(huge, sizeof huge, &a), -EBADMSG);
	assert_int_equal(doctor_python_parse(huge, 4096, &a), -EBADMSG);
	(void)snprintf(huge, sizeof huge, "destall-doctor\n3.11.2\n\n\n%2000s\n",
	    "/p");
	assert_int_equal(doctor_python_parse(huge, strlen(huge), &a), -EBADMSG);
}

static void
versions_compare(void **state)
{
	(void)state;
	assert_true(doctor_version_below("1.9.0", 1, 13));
	assert_true(doctor_version_below("0.4", 1, 13));
	assert_true(doctor_version_below("", 1, 13));
	assert_true(doctor_version_below("abc", 1, 13));
	assert_true(doctor_version_below("2", 1, 13));
	assert_true(doctor_version_below("-1.99", 1, 13));
	assert_true(doctor_version_below("5.13.19", 5, 14));
	assert_false(doctor_version_below("5.14.0-1-amd64", 5, 14));
	assert_false(doctor_version_below("10.0", 5, 14));
	assert_false(doctor_version_below("1.13.1+cpu", 1, 13));
	assert_false(doctor_version_below("2.0.0a0+git123", 1, 13));
	assert_true(doctor_version_below("3.7.17", 3, 8));
	assert_false(doctor_version_below("3.8.0", 3, 8));
	assert_false(doctor_version_below("3.14.0", 3, 8));
}

UNIT_MAIN(
	UNIT(every_errno_has_advice),
	UNIT(perf_ladder),
	UNIT(paranoid_levels),
	UNIT(userns_ladder),
	UNIT(cuda_ladder),
	UNIT(group_ladder),
	UNIT(shortage_is_not_blamed_on_the_thing),
	UNIT(groups_of_the_hub),
	UNIT(python_that_answers),
	UNIT(python_that_is_none),
	UNIT(versions_compare))
