/* SPDX-License-Identifier: Apache-2.0
 *
 * slots_memory.c: the memory of slots, allocated and freed.
 * Runs in the hub only, the work itself in the helper.
 *
 *  1. What is left in the machine and in the control group is looked at before
 *     each piece, for all of the slot that is still to come: others allocate
 *     meanwhile.
 *  2. The budget has the memory of a slot until it is really free.
 */

#include <config.h>

#include "stage/slots_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"
#include "hub/room.h"

#define PIECE	(UINT64_C(16) << 20)	/* some 5 ms */

/*--- freeing -------------------------------------------------------------*/

/* Closing what nobody else has frees its pages: 5 ms for 38 MB. */
static bool
free_memory(struct helper_job *job)
{
	io_close(&((struct stage_slot *)job)->fd);
	return false;
}

static void
memory_freed(struct helper_job *job)
{
	struct stage_slot *slot = (struct stage_slot *)job;
	struct slots *s = slot->slots;

	io_close(&slot->fd);		/* if the helper did not get to it */
	must(s->used_bytes >= slot->room && s->going_bytes >= slot->room);
	s->used_bytes -= slot->room;
	s->going_bytes -= slot->room;
	s->nr--;
	s->nr_going--;
	free(slot);
	if (s->freed != NULL)
		s->freed(s->freed_arg);
}

void
memory_end(struct stage_slot *slot)
{
	if (slot->fd < 0) {		/* it never had any */
		memory_freed(&slot->job);
		return;
	}
	slot->job.work = free_memory;
	slot->job.done = memory_freed;
	helper_submit(hub_helper(slot->slots->hub), &slot->job);
}

/*--- allocating ----------------------------------------------------------*/

static int
check_room(const struct stage_slot *slot)
{
	const struct machine *m = hub_machine(slot->slots->hub);
	const struct cgroup *group = m->has_cgroup ? &m->cgroup : NULL;
	struct gauge g;

	gauge_read(&g, group, 0);
	return gauge_check(&g, group, 0, slot->room - slot->grown_bytes,
	    "stage", NULL);
}

static int
grow(struct stage_slot *slot)
{
	uint64_t left = slot->room - slot->grown_bytes;
	uint64_t to = slot->grown_bytes + (left < PIECE ? left : PIECE);
	int rc;

	rc = crash_point("hub.stage_allocate");
	if (rc == 0)
		rc = check_room(slot);
	if (rc == 0 && slot->fd < 0) {
		slot->fd = memfd_begin("destall slot", NULL);
		rc = slot->fd < 0 ? slot->fd : 0;
	}
	if (rc == 0)
		rc = memfd_grow(slot->fd, slot->grown_bytes, to, NULL);
	if (rc == 0)
		slot->grown_bytes = to;
	return rc;
}

static bool
find_memory(struct helper_job *job)
{
	struct stage_slot *slot = (struct stage_slot *)job;

	slot->rc = grow(slot);
	if (slot->rc == 0 && slot->grown_bytes < slot->room) {
		slot->rc = -ESHUTDOWN;	/* should the helper not get to it */
		return true;
	}
	if (slot->rc == 0)
		slot->rc = memfd_seal_size(slot->fd, NULL);
	if (slot->rc < 0)
		io_close(&slot->fd);
	return false;
}

static void
memory_found(struct helper_job *job)
{
	struct stage_slot *slot = (struct stage_slot *)job;
	slots_ready_f *ready = slot->ready;
	int rc = slot->rc < 0 || slot->of != NULL ? slot->rc : -ESTALE;
	void *arg = slot->arg;

	if (rc < 0) {
		slots_end(slot->slots, slot);
		ready(arg, NULL, rc);
		return;
	}
	slot->is = SLOT_IS_WRITING;
	slot->used_ns = clock_now_ns();
	slot->slots->made++;
	ready(arg, slot, 0);
}

void
memory_begin(struct stage_slot *slot)
{
	/* Granted from now on, so that the cache sees it. */
	hub_machine(slot->slots->hub)->granted_bytes += slot->room;
	slot->rc = -ESHUTDOWN;	/* should the helper not get to it */
	slot->job.work = find_memory;
	slot->job.done = memory_found;
	helper_submit(hub_helper(slot->slots->hub), &slot->job);
}
