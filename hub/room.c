/* SPDX-License-Identifier: Apache-2.0
 *
 * room.c: how much memory the hub's modules may still take, outside of their
 * own budgets.  Runs in the hub only, the reading of /proc in its helper.
 */

#include <config.h>

#include "hub/room.h"

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

void
machine_find(struct machine *m)
{
	*m = (struct machine){ 0 };
	m->has_cgroup = cgroup_find(&m->cgroup, "/", "memory", NULL) == 0;
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
room_default_budget(const struct machine *m)
{
	uint64_t total, available;
	struct cgroup_memory group;

	if (read_machine(&total, &available) < 0)
		available = UINT64_C(1) << 30;
	if (m->has_cgroup && cgroup_memory(&m->cgroup, &group, NULL) == 0 &&
	    group.free_bytes < available)
		available = group.free_bytes;
	return room_pages(available / 2);
}

/*--- a reading -----------------------------------------------------------*/

void
gauge_read(struct gauge *g, const struct cgroup *group, uint64_t granted)
{
	struct cgroup_memory m;

	*g = (struct gauge){
		.granted_bytes = granted,
		.limit = CGROUP_NO_LIMIT,
	};
	if (read_machine(&g->total, &g->available) < 0)
		g->total = g->available = 0;
	if (group != NULL && cgroup_memory(group, &m, NULL) == 0) {
		g->limit = m.limit_bytes;
		g->free = m.free_bytes;
	}
	g->read_ns = clock_now_ns();
}

bool
gauge_is_fresh(const struct gauge *g, uint64_t granted, uint64_t now_ns)
{
	return g->read_ns != 0 && now_ns - g->read_ns < FRESH_NS &&
	    granted - g->granted_bytes < FRESH_BYTES;
}

/*--- the check -----------------------------------------------------------*/

static uint64_t
reserve_of(uint64_t whole)
{
	return whole / 16 < RESERVE_MOST ? whole / 16 : RESERVE_MOST;
}

static int
check_machine(const struct gauge *g, uint64_t bytes, const char *who,
    struct ds_err *err)
{
	if (g->total > 0 && g->available < reserve_of(g->total) + bytes)
		return err_fail(err, -ENOMEM, "%s: the machine has %" PRIu64
		    " MiB of memory left", who, g->available >> 20);
	return 0;
}

static int
check_group(const struct gauge *g, const char *dir, uint64_t bytes,
    const char *who, struct ds_err *err)
{
	if (g->limit != CGROUP_NO_LIMIT &&
	    g->free < reserve_of(g->limit) + bytes)
		return err_fail(err, -ENOMEM, "%s: the hub's control group "
		    "has %" PRIu64 " of its %" PRIu64 " MiB left: %s", who,
		    g->free >> 20, g->limit >> 20, dir);
	return 0;
}

int
gauge_check(const struct gauge *g, const struct cgroup *group,
    uint64_t granted, uint64_t bytes, const char *who, struct ds_err *err)
{
	int rc;

	bytes += granted - g->granted_bytes;
	rc = check_machine(g, bytes, who, err);
	return rc < 0 || group == NULL ? rc :
	    check_group(g, group->dir, bytes, who, err);
}
