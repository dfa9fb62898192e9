/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.h: which limits the control groups set this process.
 * Runs in every process.
 *
 * A controller (memory, cpu, io or blkio) lives either in a hierarchy of
 * version 1 of its own or in the one hierarchy of version 2; on a hybrid
 * machine some are here and some there.  A limit of any ancestor binds as much
 * as our own, so limits are read at each level up to the mount point; what a
 * container's cgroup namespace hides above that cannot be seen.
 *
 * Everything is read below a root directory: "/" in earnest, a made-up /proc
 * and /sys in tests.
 */

#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define CGROUP_PATH	4096u
#define CGROUP_NO_LIMIT	UINT64_MAX

struct cgroup {
	int	version;		/* 1 or 2 */
	size_t	mount_len;		/* dir up to here is the mount point */
	char	dir[CGROUP_PATH];	/* of our group, root included */
};

struct cgroup_memory {
	uint64_t limit_bytes;	/* the least of all levels, or NO_LIMIT */
	uint64_t used_bytes;	/* by our own group, its page cache included;
				 * 0 where the kernel does not say: the root */
	uint64_t free_bytes;	/* until some level is at its limit, or
				 * NO_LIMIT; most of the page cache counts
				 * as free */
};

int cgroup_find(struct cgroup *g, const char *root, const char *controller,
    struct ds_err *err);
	/* Our group in the hierarchy that has this controller.
	 * -ENOENT if none has, or none is mounted. */

int cgroup_find_of(struct cgroup *g, const char *root, pid_t pid,
    const char *controller, struct ds_err *err);
	/* The same for another process: of its group, where we see it. */

ssize_t cgroup_read(const struct cgroup *g, size_t len, const char *name,
    char *text, size_t size);
	/* A file of one level, whose directory is the first len bytes of dir,
	 * as io_read_text() gives it.  -ENOENT if the level does not have it. */

int cgroup_memory(const struct cgroup *g, struct cgroup_memory *m,
    struct ds_err *err);
	/* For the group found for "memory".  In version 2 memory.high counts
	 * as a limit too: past it a job is slowed to a crawl.
	 * -EBADMSG if a file is not what the kernel writes. */

int cgroup_cpus(const struct cgroup *g, double *cpus, struct ds_err *err);
	/* For the group found for "cpu": processor time per time that the
	 * quota allows, 2.5 for two and a half processors; 0 without a quota. */

#endif
