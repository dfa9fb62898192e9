/* SPDX-License-Identifier: Apache-2.0
 *
 * cpus.h: how many processors this process may run on.  Runs in every process.
 */

#ifndef BASE_CPUS_H
#define BASE_CPUS_H

unsigned cpus_usable(void);
	/* By the affinity mask; 1 if it cannot be told.  A quota of the cgroup
	 * is another matter: cgroup_cpus(). */

#endif
