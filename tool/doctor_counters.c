/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_counters.c: which counters the profiler can read: perf events, by
 * opening and reading them, and pressure stall information.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/doctor_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define LEAST_PARANOID	(-1)
#define NO_PARANOID	(-2)
#define SPIN		100000u		/* turns that a counter must see */

/*--- what an errno means -------------------------------------------------*/

#define MEANS_HARDWARE \
	"reports cannot tell \"add cores\" from \"memory-bound\"; everything " \
	"else works"
#define MEANS_SOFTWARE \
	"page faults and context switches of workers are taken from /proc, " \
	"which is coarser"
#define MEANS_KERNEL \
	"time in the kernel (reading, page faults) is left out of hardware " \
	"counters; the rest of them works"
#define REMEDY_SECCOMP \
	"if this is a container: start it with --cap-add PERFMON, or allow " \
	"perf_event_open in its seccomp profile"

static const char *
perf_meaning(enum perf_kind kind, int e)
{
	if (kind == PERF_SOFTWARE)
		return MEANS_SOFTWARE;
	/* Users may be refused the kernel's part and have their own. */
	return kind == PERF_CYCLES_ALL && e == EACCES ?
	    MEANS_KERNEL : MEANS_HARDWARE;
}

static const char *
perf_remedy(enum perf_kind kind, int e)
{
	switch (e) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
	case EOPNOTSUPP:
		return "give a virtual machine a virtual PMU (KVM: -cpu "
		    "host,pmu=on), or use a machine of bare metal";
	case EACCES:
		return kind == PERF_CYCLES_ALL ?
		    "as root: sysctl kernel.perf_event_paranoid=1, or give the "
		    "program CAP_PERFMON" :
		    "as root: sysctl kernel.perf_event_paranoid=2, or give the "
		    "program CAP_PERFMON";
	case EPERM:
		return REMEDY_SECCOMP;
	case ENOSYS:
		return "use a kernel with CONFIG_PERF_EVENTS, or allow "
		    "perf_event_open in the container's seccomp profile";
	case EBUSY:
	case ENODATA:
		return "free a counter: end other profilers, or as root: sysctl "
		    "kernel.nmi_watchdog=0";
	default:
		return "see perf_event_open(2), and the kernel's log";
	}
}

const struct doctor_verdict *
doctor_perf_verdict(enum perf_kind kind, int e)
{
	static struct doctor_verdict v;

	if (e == 0)
		return &doctor_fine;
	v.meaning = perf_meaning(kind, e);
	v.remedy = perf_remedy(kind, e);
	/* A counter that is only taken, or half of one, is not missing. */
	v.state = e == EBUSY || e == ENODATA ||
	    (kind == PERF_CYCLES_ALL && e == EACCES) ?
	    DOCTOR_LIMITED : DOCTOR_MISSING;
	return doctor_blame(e, &v);
}

const struct doctor_verdict *
doctor_paranoid_verdict(int paranoid)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING, MEANS_HARDWARE,
		"use a kernel with CONFIG_PERF_EVENTS, and mount /proc", false,
	}, closed = {
		DOCTOR_LIMITED,
		"without CAP_PERFMON users have no counters at all",
		"as root: sysctl kernel.perf_event_paranoid=2, or 1 to count the "
		"kernel too", false,
	};

	if (paranoid == NO_PARANOID)
		return &none;
	return paranoid > 2 ? &closed : &doctor_fine;
}

/*--- trying --------------------------------------------------------------*/

static int
open_event(enum perf_kind kind)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = kind == PERF_SOFTWARE ?
		    PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
		.config = kind == PERF_SOFTWARE ?
		    (uint64_t)PERF_COUNT_SW_TASK_CLOCK :
		    (uint64_t)PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = kind != PERF_CYCLES_ALL,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
	    PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* 0 if the event opens and counts, else -errno; -ENODATA if it stays at 0. */
static int
try_event(enum perf_kind kind)
{
	int fd = open_event(kind);
	volatile unsigned spin = 0;
	uint64_t count;
	int rc = 0;

	if (fd < 0)
		return fd;
	while (spin < SPIN)
		spin = spin + 1;
	if (io_read_all(fd, &count, sizeof count) != sizeof count)
		rc = -EIO;
	else if (count == 0)
		rc = -ENODATA;
	io_close(&fd);
	return rc;
}

/* The texts of these errnos speak of files. */
static const char *
perf_detail(int e)
{
	switch (e) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
	case EOPNOTSUPP:
		return "no such counter on this machine";
	case EACCES:
		return "not allowed by perf_event_paranoid";
	case EPERM:
		return "forbidden by a container or security module";
	case ENODATA:
		return "opens, but stays at 0";
	default:
		return "cannot be opened";
	}
}

static void
add_event(struct doctor_report *r, enum perf_kind kind, const char *name,
    int rc, const char *works)
{
	if (rc < 0)
		doctor_add(r, name, doctor_perf_verdict(kind, -rc),
		    "%s (%s)", perf_detail(-rc), strerrorname_np(-rc));
	else
		doctor_add(r, name, &doctor_fine, "%s", works);
}

static void
check_events(struct doctor_report *r)
{
	int rc;

	add_event(r, PERF_SOFTWARE, "software events", try_event(PERF_SOFTWARE),
	    "task-clock counts");
	rc = try_event(PERF_CYCLES_USER);
	add_event(r, PERF_CYCLES_USER, "cycles, user code", rc,
	    "CPU cycles of user code count");
	/* What users may not count need not exist: the errno of the first
	 * tells more. */
	if (rc == 0)
		rc = try_event(PERF_CYCLES_ALL);
	add_event(r, PERF_CYCLES_ALL, "cycles, kernel", rc,
	    "CPU cycles in the kernel count too");
}

static void
check_paranoid(struct doctor_report *r)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	int paranoid = NO_PARANOID;
	char text[16];
	char *end;
	ssize_t n;

	n = io_read_text(AT_FDCWD, path, text, sizeof text);
	if (n > 0) {
		paranoid = (int)strtol(text, &end, 10);
		if (*end != '\0' || paranoid < LEAST_PARANOID || paranoid > 9)
			paranoid = NO_PARANOID;
	}
	if (paranoid < LEAST_PARANOID)
		doctor_add(r, "perf permission",
		    doctor_paranoid_verdict(paranoid), "%s: %s", path,
		    n < 0 ? doctor_errno((int)-n) : "not a level");
	else
		doctor_add(r, "perf permission",
		    doctor_paranoid_verdict(paranoid),
		    "perf_event_paranoid is %d: %s",
		    paranoid,
		    paranoid < 0 ? "everything, for everybody" :
		    paranoid < 2 ? "users may count the kernel too" :
		    paranoid == 2 ? "users may count their own code only" :
		    "users may count nothing");
}

static void
check_pressure(struct doctor_report *r)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"waiting for storage is taken from /proc/PID/schedstat and the "
		"loader's own clocks alone",
		"boot with psi=1, on a kernel with CONFIG_PSI", false,
	};
	char text[256];
	ssize_t n = io_read_text(AT_FDCWD, "/proc/pressure/io", text,
	    sizeof text);

	if (n < 0)
		doctor_add(r, "pressure (PSI)", &none, "/proc/pressure/io: %s",
		    doctor_errno((int)-n));
	else
		doctor_add(r, "pressure (PSI)", &doctor_fine,
		    "/proc/pressure tells of waiting for storage");
}

void
doctor_counters(struct doctor_report *r)
{
	check_paranoid(r);
	check_events(r);
	doctor_pfm(r);
	check_pressure(r);
}
