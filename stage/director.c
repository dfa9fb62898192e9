/* SPDX-License-Identifier: Apache-2.0
 *
 * director.c: the hub's side of the stage: its messages and its life.
 * Runs in the hub only.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/crash.h"
#include "base/must.h"

/*--- life ----------------------------------------------------------------*/

static int
start(void **state, struct hub *hub, struct ds_err *err)
{
	struct director *d = calloc(1, sizeof *d);
	int rc;

	if (d == NULL)
		return err_fail(err, -ENOMEM, "stage: no memory");
	d->magic = DIRECTOR_MAGIC;
	d->hub = hub;
	d->cpus = cpus_granted("/");
	rc = slots_new(&d->slots, hub, hub_options(hub)->stage_bytes, err);
	if (rc < 0) {
		free(d);
		return rc;
	}
	slots_on_freed(d->slots, director_room_grew, d);
	*state = d;
	return 0;
}

static void
leave(void *state)
{
	struct director *d = state;

	d->is_leaving = true;
	director_end_ghosts(d);
}

/* Every client is gone: so is every pass. */
static void
stop(void *state)
{
	struct director *d = state;

	must_be(d, DIRECTOR_MAGIC);
	must(d->passes == NULL && d->nr_orphans == 0);
	slots_free(&d->slots);
	d->magic = 0;
	free(d);
}

/*--- messages ------------------------------------------------------------*/

static director_handler_f *const handlers[] = {
	[MSG_ATTACH - MSG_STAGE_FIRST] = director_attach,
	[MSG_BEGIN - MSG_STAGE_FIRST] = director_begin,
	[MSG_STAGE_LEASE - MSG_STAGE_FIRST] = director_lease,
	[MSG_ROOM - MSG_STAGE_FIRST] = director_room,
	[MSG_STAGE_PUBLISH - MSG_STAGE_FIRST] = director_publish,
	[MSG_STAGE_GIVE_UP - MSG_STAGE_FIRST] = director_give_up,
	[MSG_MAP - MSG_STAGE_FIRST] = director_map,
	[MSG_UNMAPPED - MSG_STAGE_FIRST] = director_unmapped,
	[MSG_NEWS - MSG_STAGE_FIRST] = director_news,
	[MSG_END - MSG_STAGE_FIRST] = director_end,
	[MSG_LEAVE - MSG_STAGE_FIRST] = director_leave,
	[MSG_STAGE_STAT - MSG_STAGE_FIRST] = director_stat,
	[MSG_STAGE_JOB - MSG_STAGE_FIRST] = director_stat_job,
};
#define NR_HANDLERS	(sizeof handlers / sizeof handlers[0])

static int
frame(void *state, struct client *c, struct wire_frame *f, struct ds_err *err)
{
	unsigned n = (unsigned)f->head.type - MSG_STAGE_FIRST;
	int rc = -EBADMSG;

	must_be((struct director *)state, DIRECTOR_MAGIC);
	if (n < NR_HANDLERS && handlers[n] != NULL)
		rc = handlers[n](state, c, f, err);
	if (rc == -EBADMSG)	/* for the log */
		err_fail(err, rc, "a message of type %u that no client of the "
		    "stage sends", f->head.type);
	return rc;
}

/* Its leases are free again, and whoever was idle is woken, in this turn. */
static void
gone(void *state, struct client *c)
{
	struct director *d = state;

	(void)crash_point("hub.stage_reap");
	director_client_gone(d, c);
}

static void
tick(void *state, uint64_t now_ns)
{
	struct director *d = state;
	struct pass *p;

	director_room_grew(d);	/* slots may have grown old: slots.h, 5 */
	for (p = d->passes; p != NULL; p = p->next) {
		director_look(p, now_ns);
		director_late(p, now_ns);
	}
	director_wait(d, now_ns);
	for (p = d->passes; p != NULL; p = p->next)
		director_settle(p, now_ns);
}

const struct hub_module director_module = {
	.name = "stage",
	.first = MSG_STAGE_FIRST,
	.last = MSG_STAGE_LAST,
	.start = start,
	.stop = stop,
	.frame = frame,
	.gone = gone,
	.leave = leave,
	.tick = tick,
};
