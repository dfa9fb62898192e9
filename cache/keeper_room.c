/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_room.c: how much memory the cache may still take.
 * Runs in the hub only, the reading of /proc in its helper.
 *
 *  1. The budget is judged by what the store says at this moment.
 *  2. The machine and the group (hub/room.h) are judged by a fresh reading; a
 *     grant is refused for them only by a reading of its own.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <inttypes.h>

uint64_t
room_used(const struct room *r)
{
	uint64_t stored;

	if (store_used(r->store, &stored) < 0)
		stored = r->stored_bytes;
	return stored + r->besides_bytes;
}

void
room_read(const struct room *r, struct gauge *g)
{
	gauge_read(g, r->cgroup, r->granted_bytes);
}

bool
room_is_fresh(const struct room *r, const struct gauge *g, uint64_t now_ns)
{
	return gauge_is_fresh(g, r->granted_bytes, now_ns);
}

int
room_check(const struct room *r, const struct gauge *g, uint64_t bytes,
    struct ds_err *err)
{
	uint64_t used = room_used(r), pages = room_pages(bytes);

	if (bytes > r->budget_bytes || used > r->budget_bytes ||
	    pages > r->budget_bytes - used)
		return err_fail(err, -ENOSPC, "cache: %" PRIu64 " of %" PRIu64
		    " bytes are used", used, r->budget_bytes);
	return gauge_check(g, r->cgroup, r->granted_bytes, pages, "cache", err);
}
