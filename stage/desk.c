/* SPDX-License-Identifier: Apache-2.0
 *
 * desk.c: what all streams of a connection share: lock, floor, maps.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "stage/desks.h"
#include "stage/stage.h"
#include "stage/talk.h"

#define UNMAPPED_AT_ONCE	64u
#define HEARD_NS		NS_PER_S	/* a hub is asked so often */

/*--- its life ------------------------------------------------------------*/

bool
desk_is_mine(const struct desk *d)
{
	return link_mine(d->link);
}

int
desk_check(struct desk *d, struct ds_err *err)
{
	if (!desk_is_mine(d))
		return err_fail(err, -ESTALE, "a stage belongs to the process "
		    "that opened it: open another after a fork");
	return link_alive(d->link) ? 0 : talk_why(d->link, err);
}

/* One thread asks for all; nobody else would find out: who waits for a wake-up
 * says nothing to the hub. */
bool
desk_hears(struct desk *d)
{
	uint64_t now_ns = clock_now_ns();
	/* relaxed, here and below: it only chooses who asks */
	uint64_t heard_ns = atomic_load_explicit(&d->heard_ns,
	    memory_order_relaxed);

	if (now_ns > heard_ns + HEARD_NS &&
	    atomic_compare_exchange_strong_explicit(&d->heard_ns, &heard_ns,
	    now_ns, memory_order_relaxed, memory_order_relaxed))
		talk_ping(d->link);
	return link_check(d->link);
}

void
desk_lock(struct desk *d)
{
	must(pthread_mutex_lock(&d->lock) == 0);
}

void
desk_unlock(struct desk *d)
{
	must(pthread_mutex_unlock(&d->lock) == 0);
}

static struct desk *
new_desk(struct ds_hub *hub, struct link *link)
{
	struct desk *d = calloc(1, sizeof *d);

	if (d == NULL)
		return NULL;
	d->hub = hub;
	hub_api_keep(hub);
	d->link = link;
	atomic_init(&d->heard_ns, clock_now_ns());
	d->job = link_job(link);
	must(pthread_mutex_init(&d->lock, NULL) == 0);
	return d;
}

int
desk_get(struct desk **out, struct ds_hub *hub, struct ds_err *err)
{
	struct link *link = hub_api_link(hub);
	struct desk *d;

	if (!link_alive(link))
		return err_fail(err, -ESTALE, "the hub is gone, or this is "
		    "another process's connection to it");
	desks_lock();
	d = desks_find(link);
	if (d == NULL) {
		d = new_desk(hub, link);
		if (d != NULL)
			desks_add(d);
	}
	if (d != NULL)
		d->nr_stages++;
	desks_unlock();
	if (d == NULL)
		return err_fail(err, -ENOMEM, "no memory for a stage");
	*out = d;
	return 0;
}

/*--- its maps ------------------------------------------------------------*/

struct unmapped {
	struct link	*link;
	uint32_t	slot[UNMAPPED_AT_ONCE];
	unsigned	nr;
};

static void
tell_unmapped(struct unmapped *u)
{
	for (unsigned i = 0; i < u->nr; i++)
		talk_unmapped(u->link, u->slot[i]);
	u->nr = 0;
}

/* More than that at once are told where they are found, with the lock held:
 * there is no other place to note them that cannot fail. */
static void
note_unmapped(void *arg, uint32_t slot)
{
	struct unmapped *u = arg;

	if (u->nr == UNMAPPED_AT_ONCE)
		tell_unmapped(u);
	u->slot[u->nr++] = slot;
}

void
desk_sweep(struct desk *d)
{
	struct unmapped u = { .link = d->link };

	/* Nobody is told any more, nor is what the floor says for us. */
	if (!link_alive(d->link))
		return;
	desk_lock(d);
	maps_sweep(d->maps, note_unmapped, &u);
	desk_unlock(d);
	tell_unmapped(&u);
}

void
desk_give_idle(struct desk *d)
{
	struct unmapped u = { .link = d->link };

	desk_lock(d);
	if (d->maps != NULL)
		maps_give_idle(d->maps, note_unmapped, &u);
	desk_unlock(d);
	tell_unmapped(&u);
}

static int
attach_floor(struct desk *d, int *fd, struct ds_err *err)
{
	int rc = segment_attach(&d->floor, &floor_kind, *fd, err);

	if (rc < 0)
		return rc;
	/* The mapping is enough: no number that the job might take over. */
	*fd = -1;
	io_close(&d->floor.fd);
	if (d->floor.len < sizeof(struct floor))
		rc = err_fail(err, -EBADMSG, "%s: too small", floor_kind.name);
	else
		rc = maps_new(&d->maps, d->floor.base, err);
	if (rc < 0)
		segment_detach(&d->floor);
	return rc;
}

int
desk_set_floor(struct desk *d, int *fd, struct ds_err *err)
{
	int rc = 0;

	desk_lock(d);
	if (d->maps == NULL)
		rc = attach_floor(d, fd, err);
	desk_unlock(d);
	return rc;
}

/* The connection may be used on, by the cache: the hub must know that nothing
 * is mapped here any more.  In a forked child there are no maps of ours. */
static void
free_desk(struct desk *d)
{
	struct unmapped u = { .link = d->link };

	if (desk_is_mine(d)) {
		if (d->maps != NULL)
			maps_give_all(d->maps, note_unmapped, &u);
		maps_free(&d->maps);
		tell_unmapped(&u);
		must(pthread_mutex_destroy(&d->lock) == 0);
	}
	segment_detach(&d->floor);
	hub_api_drop(&d->hub);
	free(d);
}

void
desk_put(struct desk **dp)
{
	struct desk *d = *dp;
	bool is_last;

	if (d == NULL)
		return;
	*dp = NULL;
	desks_lock();
	is_last = --d->nr_stages == 0;
	if (is_last)
		desks_remove(d);
	desks_unlock();
	if (is_last)
		free_desk(d);
}
