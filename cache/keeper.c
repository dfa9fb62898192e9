/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper.c: the hub's side of the cache: its messages and its life.
 * Runs in the hub only.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>

#include "base/must.h"
#include "cache/keeper_make.h"
#include "hub/control.h"

#define STORE_LEAST	(UINT64_C(1) << 20)	/* bytes */

struct room
keeper_room(const struct keeper *k)
{
	return (struct room){
		.store = k->store,
		.budget_bytes = k->budget_bytes,
		.besides_bytes = k->index_bytes + k->page_bytes,
		.stored_bytes = k->stored_bytes,
		.granted_bytes = k->machine->granted_bytes,
		.cgroup = k->machine->has_cgroup ? &k->machine->cgroup : NULL,
	};
}

/*--- life ----------------------------------------------------------------*/

/* A file system of our own, or else a folder where there is one of memory. */
static int
open_store(struct keeper *k, struct ds_err *err)
{
	struct log *log = hub_log(k->hub);
	uint64_t free_bytes;
	int rc = store_new(&k->store, k->budget_bytes, err);

	if (rc == 0)
		return 0;
	log_line(log, LOG_WARN, "%s: using " STORE_FOLDER_PARENT, err->text);
	rc = store_new_in(&k->store, STORE_FOLDER_PARENT, err);
	if (rc < 0)
		return rc;
	rc = store_free_bytes(k->store, &free_bytes, err);
	if (rc == 0 && free_bytes < STORE_LEAST)
		rc = err_fail(err, -ENOSPC, STORE_FOLDER_PARENT ": %llu bytes "
		    "are free, too few for a cache: make it larger, or allow "
		    "user namespaces", (unsigned long long)free_bytes);
	if (rc < 0) {
		store_free(&k->store);
		return rc;
	}
	if (free_bytes < k->budget_bytes) {
		log_line(log, LOG_WARN, STORE_FOLDER_PARENT " has %llu bytes: "
		    "the cache cannot be larger",
		    (unsigned long long)free_bytes);
		k->budget_bytes = free_bytes;
	}
	return 0;
}

static int
start(void **state, struct hub *hub, struct ds_err *err)
{
	struct keeper *k = calloc(1, sizeof *k);
	int rc;

	if (k == NULL)
		return err_fail(err, -ENOMEM, "cache: no memory");
	k->magic = KEEPER_MAGIC;
	k->hub = hub;
	k->machine = hub_machine(hub);
	k->budget_bytes = hub_options(hub)->cache_bytes;
	if (k->budget_bytes == 0)
		k->budget_bytes = room_default_budget(k->machine);
	if (k->budget_bytes < STORE_LEAST)
		k->budget_bytes = STORE_LEAST;
	rc = open_store(k, err);
	if (rc < 0) {
		free(k);
		return rc;
	}
	log_line(hub_log(hub), LOG_INFO, "cache: %llu bytes, %s",
	    (unsigned long long)k->budget_bytes, store_is_detached(k->store) ?
	    "on a file system of its own" : "in " STORE_FOLDER_PARENT);
	*state = k;
	return 0;
}

static void
stop(void *state)
{
	struct keeper *k = state;
	struct dataset *d;

	must_be(k, KEEPER_MAGIC);
	make_stop(k);
	while ((d = k->sets) != NULL) {
		k->sets = d->next;
		dataset_free(&d);
	}
	must(k->nr_leases == 0);
	store_free(&k->store);
	k->magic = 0;
	free(k);
}

/*--- messages ------------------------------------------------------------*/

static void
detach_client(struct keeper *k, struct dataset *d, uint32_t client, bool all)
{
	struct attachment **at = &d->attached;

	while (*at != NULL) {
		if ((*at)->client != client) {
			at = &(*at)->next;
			continue;
		}
		dataset_detach(k, d, at);
		if (!all)
			return;
	}
}

static bool
is_last(const struct dataset *d, uint32_t client)
{
	const struct attachment *a;
	unsigned nr = 0;

	for (a = d->attached; a != NULL; a = a->next)
		nr += a->client == client;
	return nr == 1;
}

static int
close_set(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_reader r;
	struct dataset *d;

	(void)err;
	wire_read(&r, f);
	d = dataset_of(k, wire_get_u32(&r), c);
	if (!wire_read_end(&r) || d == NULL)
		return -EBADMSG;
	if (is_last(d, client_id(c)))
		lease_revoke_all(k, client_id(c), d);
	detach_client(k, d, client_id(c), false);
	drop_superseded(k);
	return 0;
}

typedef int handler_f(struct keeper *, struct client *, struct wire_frame *,
    struct ds_err *);

static handler_f *const handlers[] = {
	[MSG_OPEN - MSG_CACHE_FIRST] = make_open,
	[MSG_LISTING - MSG_CACHE_FIRST] = make_listing,
	[MSG_CLOSE - MSG_CACHE_FIRST] = close_set,
	[MSG_LEASE - MSG_CACHE_FIRST] = lease_ask,
	[MSG_PUBLISH - MSG_CACHE_FIRST] = lease_publish,
	[MSG_GIVE_UP - MSG_CACHE_FIRST] = lease_give_up,
	[MSG_REPORT - MSG_CACHE_FIRST] = audit_asked,
	[MSG_STAT - MSG_CACHE_FIRST] = stat_sets,
	[MSG_STAT_JOB - MSG_CACHE_FIRST] = stat_jobs,
	[MSG_DROP - MSG_CACHE_FIRST] = drop_asked,
};
#define NR_HANDLERS	(sizeof handlers / sizeof handlers[0])

static int
frame(void *state, struct client *c, struct wire_frame *f, struct ds_err *err)
{
	unsigned n = (unsigned)f->head.type - MSG_CACHE_FIRST;
	int rc = -EBADMSG;

	must_be((struct keeper *)state, KEEPER_MAGIC);
	if (n < NR_HANDLERS && handlers[n] != NULL)
		rc = handlers[n](state, c, f, err);
	if (rc == -EBADMSG)	/* for the log */
		err_fail(err, rc, "a message of type %u that no client of the "
		    "cache sends", f->head.type);
	return rc;
}

static void
gone(void *state, struct client *c)
{
	struct keeper *k = state;
	struct dataset *d;

	make_forget(k, client_id(c));
	lease_revoke_all(k, client_id(c), NULL);
	for (d = k->sets; d != NULL; d = d->next)
		detach_client(k, d, client_id(c), true);
	drop_superseded(k);
}

void
keeper_tell(struct keeper *k)
{
	struct room r = keeper_room(k);
	struct control *control = hub_control(k->hub);

	/* relaxed: for people (hub/control.h) */
	atomic_store_explicit(&control->budget_bytes, k->budget_bytes,
	    memory_order_relaxed);
	atomic_store_explicit(&control->used_bytes, room_used(&r),
	    memory_order_relaxed);
}

static void
tick(void *state, uint64_t now_ns)
{
	struct keeper *k = state;

	lease_expire(k, now_ns);
	stat_look(k);
	keeper_tell(k);
}

static bool
holds(void *state)
{
	const struct keeper *k = state;
	const struct dataset *d;

	for (d = k->sets; d != NULL; d = d->next) {
		if (d->minio.ready_items > 0)
			return true;
	}
	return false;
}

const struct hub_module keeper_module = {
	.name = "cache",
	.first = MSG_CACHE_FIRST,
	.last = MSG_CACHE_LAST,
	.start = start,
	.stop = stop,
	.frame = frame,
	.gone = gone,
	.tick = tick,
	.holds = holds,
};
