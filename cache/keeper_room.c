/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_room.c: how much memory the cache may still take.
 * Runs in the hub only, the reading of /proc in its helper.
 *
 * The budget is a ceiling, not a promise: a job that grows must not be killed
 * for our cache.  So each grant also leaves a reserve in the machine and in the
 * hub's control group: a sixteenth of what there is, 64 MiB at most.
 *
 *  1. The budget is judged by what the store says at this moment.
 *  2. The machine and the group are judged by a reading that is FRESH_NS old at
 *     most, less all that was granted since; a grant is refused for them only
 *     by a reading of its own.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/meminfo.h"

#define RESERVE_MOST	(UINT64_C(64) << 20)
#define MEMINFO_TEXT	4096u
#define FRESH_NS	(50 * NS_PER_MS)
#define FRESH_BYTES	(UINT64_C(32) << 20)	/* granted since */

uint64_t
room_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)getpagesize();

	return (bytes + page - 1) / page * page;
}

static uint64_t
reserve_of(uint64_t whole)
{
	return whole / 16 < RESERVE_MOST ? whole / 16 : RESERVE_MOST;
}

/* What the machine has in all and still has. */
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
	return room_pages(available / 2);
}

uint64_t
room_used(const struct room *r)
{
	uint64_t stored;

	if (store_used(r->store, &stored) < 0)
		stored = r->stored_bytes;
	return stored + r->besides_bytes;
}

/*--- a reading -----------------------------------------------------------*/

void
room_read(const struct room *r, struct gauge *g)
{
	struct cgroup_memory m;

	*g = (struct gauge){
		.granted_bytes = r->granted_bytes,
		.limit = CGROUP_NO_LIMIT,
	};
	if (read_machine(&g->total, &g->available) < 0)
		g->total = g->available = 0;
	if (r->cgroup != NULL && cgroup_memory(r->cgroup, &m, NULL) == 0) {
		g->limit = m.limit_bytes;
		g->free = m.free_bytes;
	}
	g->read_ns = clock_now_ns();
}

static uint64_t
granted_since(const struct room *r, const struct gauge *g)
{
	return r->granted_bytes - g->granted_bytes;
}

bool
room_is_fresh(const struct room *r, const struct gauge *g, uint64_t now_ns)
{
	return g->read_ns != 0 && now_ns - g->read_ns < FRESH_NS &&
	    granted_since(r, g) < FRESH_BYTES;
}

/*--- the check -----------------------------------------------------------*/

static int
check_machine(const struct gauge *g, uint64_t bytes, struct ds_err *err)
{
	if (g->total > 0 && g->available < reserve_of(g->total) + bytes)
		return err_fail(err, -ENOMEM, "cache: the machine has %" PRIu64
		    " MiB of memory left", g->available >> 20);
	return 0;
}

static int
check_cgroup(const struct gauge *g, const char *dir, uint64_t bytes,
    struct ds_err *err)
{
	if (g->limit != CGROUP_NO_LIMIT &&
	    g->free < reserve_of(g->limit) + bytes)
		return err_fail(err, -ENOMEM, "cache: the hub's control group "
		    "has %" PRIu64 " of its %" PRIu64 " MiB left: %s",
		    g->free >> 20, g->limit >> 20, dir);
	return 0;
}

int
room_check(const struct room *r, const struct gauge *g, uint64_t bytes,
    struct ds_err *err)
{
	uint64_t used = room_used(r), pages = room_pages(bytes);
	int rc;

	if (bytes > r->budget_bytes || used > r->budget_bytes ||
	    pages > r->budget_bytes - used)
		return err_fail(err, -ENOSPC, "cache: %" PRIu64 " of %" PRIu64
		    " bytes are used", used, r->budget_bytes);
	pages += granted_since(r, g);
	rc = check_machine(g, pages, err);
	return rc < 0 || r->cgroup == NULL ? rc :
	    check_cgroup(g, r->cgroup->dir, pages, err);
}
