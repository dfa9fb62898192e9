/* SPDX-License-Identifier: Apache-2.0
 *
 * cpus.c: how many processors this process may run on.  Runs in every process.
 */

#include <config.h>

#include "base/cpus.h"

#include <sched.h>
#include <stddef.h>

#include "base/cgroup.h"

#define MAX_CPUS	(1u << 16)

/* A machine may have more than a cpu_set_t holds. */
unsigned
cpus_usable(void)
{
	unsigned most, nr = 0;
	cpu_set_t *set;
	size_t size;

	for (most = CPU_SETSIZE; most <= MAX_CPUS && nr == 0; most *= 2) {
		set = CPU_ALLOC(most);
		size = CPU_ALLOC_SIZE(most);
		if (set == NULL)
			break;
		if (sched_getaffinity(0, size, set) == 0)
			nr = (unsigned)CPU_COUNT_S(size, set);
		CPU_FREE(set);
	}
	return nr > 0 ? nr : 1;
}

unsigned
cpus_granted(const char *root)
{
	unsigned usable = cpus_usable();
	struct cgroup g;
	double quota;

	if (cgroup_find(&g, root, "cpu", NULL) < 0 ||
	    cgroup_cpus(&g, &quota, NULL) < 0 || quota <= 0 || quota >= usable)
		return usable;
	return quota < 1 ? 1 : (unsigned)quota;
}
