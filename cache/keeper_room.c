/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_room.c: how much memory the cache may still take.
 * Runs in the hub only, the check in its helper.
 *
 * The budget is a ceiling, not a promise: a job that grows must not be killed
 * for our cache.  So each grant also leaves a reserve in the machine and in the
 * hub's control group: a sixteenth of what there is, 64 MiB at most.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/io.h"
#include "base/meminfo.h"

#define PAGE		4096u
#define RESERVE_MOST	(UINT64_C(64) << 20)
#define MEMINFO_TEXT	4096u

uint64_t
room_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint64_t
reserve_of(uint64_t whole)
{
	return whole / 16 < RESERVE_MOST ? whole / 16 : RESERVE_MOST;
}

/* What the machine has in all and still has; 0 where it does not say. */
static int
read_machine(uint64_t *total, uint64_t *available)
{
	char text[MEMINFO_TEXT];
	ssize_t n = io_read_text(AT_FDCWD, "/proc/meminfo", text, sizeof text);

	if (n < 0)
		return (int)n;
	if (meminfo_get(text, "MemTotal", total) < 0 ||
	    meminfo_get(text, "MemAvailable", available) < 0)
		return -ENODATA;
	return 0;
}

uint64_t
room_default_budget(const struct cgroup *g)
{
	uint64_t total, available;
	struct cgroup_memory m;

	if (read_machine(&total, &available) < 0)
		available = UINT64_C(1) << 30;
	if (g != NULL && cgroup_memory(g, &m, NULL) == 0 &&
	    m.free_bytes < available)
		available = m.free_bytes;
	return available / 2 / PAGE * PAGE;
}

uint64_t
room_used(const struct room *r)
{
	uint64_t stored;

	if (store_used(r->store, &stored) < 0)
		stored = r->stored_bytes;
	return stored + r->besides_bytes;
}

static int
check_machine(uint64_t bytes, struct ds_err *err)
{
	uint64_t total, available;

	if (read_machine(&total, &available) < 0)
		return 0;
	if (available < reserve_of(total) + bytes)
		return err_fail(err, -ENOMEM, "cache: the machine has %" PRIu64
		    " MiB of memory left", available >> 20);
	return 0;
}

static int
check_cgroup(const struct cgroup *g, uint64_t bytes, struct ds_err *err)
{
	struct cgroup_memory m;

	if (g == NULL || cgroup_memory(g, &m, NULL) < 0 ||
	    m.limit_bytes == CGROUP_NO_LIMIT)
		return 0;
	if (m.free_bytes < reserve_of(m.limit_bytes) + bytes)
		return err_fail(err, -ENOMEM, "cache: the hub's control group "
		    "has %" PRIu64 " of its %" PRIu64 " MiB left: %s",
		    m.free_bytes >> 20, m.limit_bytes >> 20, g->dir);
	return 0;
}

int
room_check(const struct room *r, uint64_t bytes, struct ds_err *err)
{
	uint64_t used = room_used(r), pages = room_pages(bytes);
	int rc;

	if (bytes > r->budget_bytes || used > r->budget_bytes ||
	    pages > r->budget_bytes - used)
		return err_fail(err, -ENOSPC, "cache: %" PRIu64 " of %" PRIu64
		    " bytes are used", used, r->budget_bytes);
	rc = check_machine(pages, err);
	return rc < 0 ? rc : check_cgroup(r->cgroup, pages, err);
}
