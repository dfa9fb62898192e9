/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_limits.c: how much memory, processors and descriptors there are for
 * us, whoever set the limit.  Runs in the command only.
 */

#include <config.h>

#include "tool/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/cpus.h"
#include "base/io.h"
#include "base/meminfo.h"
#include "base/text.h"

#define ROOT		"/"
#define LITTLE_MEMORY	(UINT64_C(1) << 30)
#define LITTLE_SHM	(UINT64_C(1) << 30)
#define FEW_FILES	4096u

/*--- memory --------------------------------------------------------------*/

/* What the machine and our group have; absent figures are NO_LIMIT. */
struct memory {
	uint64_t total, available, swap_total, swap_free;
	bool has_group;
	struct cgroup group;
	struct cgroup_memory limits;
	struct ds_err why_no_group;
};

static void
read_memory(struct memory *m)
{
	char text[8192];

	m->total = m->available = CGROUP_NO_LIMIT;
	m->swap_total = m->swap_free = 0;
	m->limits = (struct cgroup_memory){
		CGROUP_NO_LIMIT, 0, CGROUP_NO_LIMIT };
	if (io_read_text(AT_FDCWD, "/proc/meminfo", text, sizeof text) >= 0) {
		(void)meminfo_get(text, "MemTotal", &m->total);
		(void)meminfo_get(text, "MemAvailable", &m->available);
		(void)meminfo_get(text, "SwapTotal", &m->swap_total);
		(void)meminfo_get(text, "SwapFree", &m->swap_free);
	}
	m->has_group = cgroup_find(&m->group, ROOT, "memory",
	    &m->why_no_group) == 0 &&
	    cgroup_memory(&m->group, &m->limits, &m->why_no_group) == 0;
}

/* Returns whether the group was found. */
static bool
check_cgroup(struct doctor_report *r, const struct memory *m)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"a memory limit of a container or batch system cannot be seen: "
		"the cache may ask for more than there is and be killed",
		"mount the cgroup file system (a container: bind-mount "
		"/sys/fs/cgroup read-only), or give DESTALL_CACHE a size", false,
	};
	const struct doctor_verdict *v;

	if (!m->has_group) {
		v = doctor_blame(-m->why_no_group.code, &none);
		doctor_add(r, "cgroup", v, "%s", m->why_no_group.text);
		doctor_add(r, "memory limit", v, "not known");
	} else {
		doctor_add(r, "cgroup", &doctor_fine,
		    "version %d for memory, in %s",
		    m->group.version, m->group.dir);
	}
	return m->has_group;
}

static void
check_limit(struct doctor_report *r, const struct memory *m)
{
	char limit[TEXT_FIGURE], used[TEXT_FIGURE], total[TEXT_FIGURE];

	text_size(used, m->limits.used_bytes);
	text_size(total, m->total);
	if (m->limits.limit_bytes >= m->total)
		doctor_add(r, "memory limit", &doctor_fine,
		    "none below the machine's %s; our group uses %s",
		    m->total == CGROUP_NO_LIMIT ? "memory" : total, used);
	else
		doctor_add(r, "memory limit", &doctor_fine,
		    "%s of the machine's %s; our group uses %s",
		    text_size(limit, m->limits.limit_bytes), total, used);
}

static void
check_available(struct doctor_report *r, const struct memory *m)
{
	static const struct doctor_verdict little = {
		DOCTOR_LIMITED,
		"the cache takes half of what is free unless told otherwise, "
		"and that is little here",
		"end other programs, raise the limit, or give DESTALL_CACHE a "
		"size", false,
	}, unknown = {
		DOCTOR_LIMITED,
		"the size of the cache cannot be chosen by itself",
		"mount /proc, or give DESTALL_CACHE a size", false,
	};
	bool by_group = m->limits.free_bytes < m->available;
	uint64_t bytes = by_group ? m->limits.free_bytes : m->available;
	char text[TEXT_FIGURE];

	if (bytes == CGROUP_NO_LIMIT)
		doctor_add(r, "memory available", &unknown,
		    "/proc/meminfo cannot be read");
	else
		doctor_add(r, "memory available",
		    bytes < LITTLE_MEMORY ? &little : &doctor_fine,
		    "%s, as the %s has",
		    text_size(text, bytes), by_group ? "cgroup" : "machine");
}

static void
check_swap(struct doctor_report *r, const struct memory *m)
{
	static const struct doctor_verdict on = {
		DOCTOR_LIMITED,
		"cached and staged data can be swapped out when memory is short, "
		"and is then slower than storage",
		"leave memory free for it, or as root: swapoff -a", false,
	};
	char used[TEXT_FIGURE], total[TEXT_FIGURE];

	if (m->swap_total == 0)
		doctor_add(r, "swap", &doctor_fine, "off");
	else
		doctor_add(r, "swap", &on, "on, %s of %s used",
		    text_size(used, m->swap_total - (m->swap_free <
		    m->swap_total ? m->swap_free : m->swap_total)),
		    text_size(total, m->swap_total));
}

/*--- processors ----------------------------------------------------------*/

static void
check_cpus(struct doctor_report *r)
{
	static const struct doctor_verdict quota = {
		DOCTOR_LIMITED,
		"more workers than the quota are stopped in turn, which looks "
		"like prep stall",
		"raise the quota (docker --cpus, Kubernetes limits.cpu, cpu.max)",
		false,
	};
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned usable = cpus_usable();
	struct cgroup g;
	double cpus = 0;

	if (cgroup_find(&g, ROOT, "cpu", NULL) < 0 ||
	    cgroup_cpus(&g, &cpus, NULL) < 0)
		cpus = 0;
	if (cpus > 0 && cpus < usable)
		doctor_add(r, "processors", &quota,
		    "%u of %ld usable, with the time of %.3g by the cgroup's quota",
		    usable, online, cpus);
	else
		doctor_add(r, "processors", &doctor_fine,
		    "%u of %ld usable, no quota below that", usable, online);
}

/*--- descriptors, /dev/shm -----------------------------------------------*/

static void
check_files(struct doctor_report *r)
{
	static const struct doctor_verdict few = {
		DOCTOR_LIMITED,
		"the hub holds a descriptor per client, slot and extent: many "
		"jobs will not fit",
		"raise the hard limit (limits.conf: nofile; systemd: LimitNOFILE; "
		"docker --ulimit nofile)", false,
	};
	struct rlimit l = { 0, 0 };
	char soft[TEXT_FIGURE], hard[TEXT_FIGURE];

	(void)getrlimit(RLIMIT_NOFILE, &l);
	text_count(soft, l.rlim_cur);
	text_count(hard, l.rlim_max);
	doctor_add(r, "descriptors", l.rlim_max < FEW_FILES ? &few :
	    &doctor_fine, "soft limit %s, hard limit %s",
	    l.rlim_cur == RLIM_INFINITY ? "none" : soft,
	    l.rlim_max == RLIM_INFINITY ? "none" : hard);
}

static void
check_shm(struct doctor_report *r)
{
#define SHM_MEANS \
	"PyTorch workers pass batches through /dev/shm and are killed when it " \
	"is full; destall itself does not use it"
	static const struct doctor_verdict none = {
		DOCTOR_MISSING, SHM_MEANS,
		"as root: mount -t tmpfs tmpfs /dev/shm", false,
	}, small = {
		DOCTOR_LIMITED, SHM_MEANS,
		"docker run --shm-size=8g or --ipc=host; elsewhere as root: "
		"mount -o remount,size=50% /dev/shm", false,
	};
	char size[TEXT_FIGURE], left[TEXT_FIGURE];
	uint64_t bytes, free_bytes;
	struct statvfs v;

	if (statvfs("/dev/shm", &v) != 0 || access("/dev/shm", W_OK) != 0) {
		doctor_add(r, "/dev/shm", &none, "%s", doctor_errno(errno));
		return;
	}
	bytes = (uint64_t)v.f_blocks * v.f_frsize;
	free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	doctor_add(r, "/dev/shm",
	    free_bytes < LITTLE_SHM ? &small : &doctor_fine, "%s, %s free",
	    text_size(size, bytes), text_size(left, free_bytes));
}

void
doctor_limits(struct doctor_report *r)
{
	struct memory m;

	read_memory(&m);
	if (check_cgroup(r, &m))
		check_limit(r, &m);
	check_available(r, &m);
	check_swap(r, &m);
	check_cpus(r);
	check_files(r);
	check_shm(r);
}
