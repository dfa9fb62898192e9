/* SPDX-License-Identifier: Apache-2.0
 *
 * cpus.h: how many processors this process may run on.  Runs in every process.
 */

#ifndef BASE_CPUS_H
#define BASE_CPUS_H

unsigned cpus_usable(void);
	/* By the affinity mask; 1 if it cannot be told. */

unsigned cpus_granted(const char *root);
	/* How many threads can run all the time: by the affinity mask and by
	 * the cgroup's quota; at least one.  What cannot be read does not
	 * limit.  root is "/" in earnest, a made-up tree in tests. */

#endif
