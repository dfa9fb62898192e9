/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_threads.c: how many threads `destall gen` uses unless it is told.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/gen_threads.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/cgroup.h"
#include "base/cpus.h"
#include "base/io.h"
#include "base/meminfo.h"
#include "base/must.h"

#define BYTES_PER_PIXEL	6u
#define BYTES_OF_ANY	((uint64_t)2 << 20)	/* stack, texture, encoder */

uint64_t
gen_threads_memory(const struct gen_plan *plan)
{
	unsigned width, height;

	gen_size_max(&plan->size, &width, &height);
	return (uint64_t)width * height * BYTES_PER_PIXEL + BYTES_OF_ANY;
}

/* Of the machine or of our group, whichever has less. */
static uint64_t
read_free_memory(const char *root)
{
	char text[8192], path[CGROUP_PATH];
	uint64_t available = CGROUP_NO_LIMIT;
	struct cgroup_memory m;
	struct cgroup g;

	(void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
	if (io_read_text(AT_FDCWD, path, text, sizeof text) >= 0)
		(void)meminfo_get(text, "MemAvailable", &available);
	if (cgroup_find(&g, root, "memory", NULL) == 0 &&
	    cgroup_memory(&g, &m, NULL) == 0 && m.free_bytes < available)
		return m.free_bytes;
	return available;
}

unsigned
gen_threads_choose(const char *root, uint64_t memory)
{
	unsigned processors = cpus_granted(root);
	uint64_t room;

	must(memory > 0);
	room = read_free_memory(root) / 2 / memory;
	if (room >= processors)
		return processors;
	return room > 0 ? (unsigned)room : 1;
}
