/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_lease.c: the right and duty to fetch one item.  Runs in the hub only,
 * the search for memory and its freeing in the helper.
 *
 *     LEASE -> minio_ask -> (helper: room, store_begin) -> LEASED + descriptor
 *
 * How it ends well: keeper_publish.c.
 *
 *  1. A producer is given a file that has all its memory and no name.
 *  2. A lease that does not end by publishing leaves a file without a name: its
 *     memory goes with whoever still holds it, and counts until then, because
 *     the file system counts it.
 *  3. Even a small item is allocated in the helper: it may have to wait for
 *     memory to be reclaimed, or, in a virtual machine, for the host.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"

#define SLOWEST_BYTES_PER_S	(UINT64_C(1) << 20)

static void
answer_not_leased(struct client *c, uint32_t serial, enum cache_why why)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_NOT_LEASED, serial);
	wire_put_u32(&w, why);
	client_answer(c, &f);
}

static void
answer_leased(struct client *c, const struct lease *l)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_LEASED, l->serial);
	wire_put_u32(&w, l->generation);
	wire_put_fd(&w, l->draft.writer);
	client_answer(c, &f);
}

/*--- the list ------------------------------------------------------------*/

static struct lease **
list_of(struct keeper *k, uint32_t client)
{
	return &k->leases[client % KEEPER_LEASE_LISTS];
}

static void
enlist(struct lease *l)
{
	struct lease **first = list_of(l->keeper, l->client);

	l->next = *first;
	l->link = first;
	if (l->next != NULL)
		l->next->link = &l->next;
	*first = l;
	l->keeper->nr_leases++;
}

static void
unlist(struct lease *l)
{
	*l->link = l->next;
	if (l->next != NULL)
		l->next->link = l->link;
	l->keeper->nr_leases--;
}

static bool
free_memory(struct helper_job *job)
{
	store_abandon(&((struct lease *)job)->draft);
	return false;
}

static void
memory_freed(struct helper_job *job)
{
	struct lease *l = (struct lease *)job;

	store_abandon(&l->draft);	/* if the helper did not get to it */
	l->keeper->stored_bytes -= l->pages_bytes;
	free(l);
}

void
lease_end(struct lease *l)
{
	unlist(l);
	l->set->pins--;
	l->set = NULL;
	if (l->draft.keeper < 0) {	/* there is none, or it has a name */
		memory_freed(&l->job);
		return;
	}
	l->job.work = free_memory;
	l->job.done = memory_freed;
	helper_submit(hub_helper(l->keeper->hub), &l->job);
}

struct lease *
lease_find(struct keeper *k, const struct dataset *d, uint64_t item,
    uint32_t client, uint32_t generation)
{
	struct lease *l;

	for (l = *list_of(k, client); l != NULL; l = l->next) {
		if (l->set == d && l->item == item && l->client == client &&
		    l->generation == generation && l->allocated)
			return l;
	}
	return NULL;
}

static unsigned
count_leases(struct keeper *k, uint32_t client)
{
	const struct lease *l;
	unsigned nr = 0;

	for (l = *list_of(k, client); l != NULL; l = l->next)
		nr += l->client == client;
	return nr;
}

/*--- granting ------------------------------------------------------------*/

static uint64_t
size_of(const struct lease *l)
{
	return l->set->index->items[l->item].key.size;
}

/* After a piece of its memory; true: there is more to come. */
static bool
has_grown(struct lease *l)
{
	l->grown_bytes += STORE_PIECE;
	if (l->rc > 0) {
		l->rc = -ESHUTDOWN;	/* should the helper not get to it */
		return true;
	}
	if (l->rc < 0)
		store_abandon(&l->draft);
	return false;
}

static bool
find_memory(struct helper_job *job)
{
	struct lease *l = (struct lease *)job;
	uint64_t size = size_of(l);

	if (l->grown_bytes > 0) {
		l->rc = store_grow(&l->draft, l->grown_bytes, size, &l->err);
		return has_grown(l);
	}
	if (!room_is_fresh(&l->room, &l->gauge, clock_now_ns()) ||
	    room_check(&l->room, &l->gauge, size, NULL) == -ENOMEM)
		room_read(&l->room, &l->gauge);
	l->rc = crash_point("hub.allocate");
	if (l->rc == 0)
		l->rc = room_check(&l->room, &l->gauge, size, &l->err);
	if (l->rc == 0)
		l->rc = store_begin(l->room.store, size, &l->draft, &l->err);
	return has_grown(l);
}

/* No memory: for good, unless a set that nobody uses can make room. */
static void
refuse_memory(struct lease *l, struct client *c)
{
	struct keeper *k = l->keeper;
	struct dataset *d = l->set;
	bool full = l->rc == -ENOSPC || l->rc == -ENOMEM;
	bool making_room = full && (drop_unused(k) || drop_is_near(k));

	minio_no_room(&d->minio, dataset_item(d, l->item),
	    full && !making_room);
	if (full && !making_room)
		log_line(hub_log(k->hub), LOG_INFO, "%s: admission is closed "
		    "at %llu of %llu bytes: %s", d->uri,
		    (unsigned long long)d->minio.ready_bytes,
		    (unsigned long long)d->index->total_bytes, l->err.text);
	if (!making_room)	/* else dropped() wakes who waits */
		dataset_changed(d);
	answer_not_leased(c, l->serial, making_room ? CACHE_BUSY :
	    CACHE_CLOSED);
}

static void
count_memory(struct lease *l)
{
	struct keeper *k = l->keeper;

	l->allocated = l->rc == 0;
	if (l->allocated) {
		k->machine->granted_bytes += l->pages_bytes;
	} else {
		k->stored_bytes -= l->pages_bytes;
		l->pages_bytes = 0;
	}
}

/* A large item takes its time, even where nothing is stuck. */
static uint64_t
time_for(struct keeper *k, uint64_t bytes)
{
	return hub_options(k->hub)->lease_ns +
	    bytes / SLOWEST_BYTES_PER_S * NS_PER_S;
}

static void
memory_found(struct helper_job *job)
{
	struct lease *l = (struct lease *)job;
	struct keeper *k = l->keeper;
	struct client *c = hub_client(k->hub, l->client);

	l->in_helper = false;
	if (l->gauge.read_ns > k->gauge.read_ns)
		k->gauge = l->gauge;
	count_memory(l);
	if (l->revoked || c == NULL) {
		if (c != NULL)		/* closed the set meanwhile */
			answer_not_leased(c, l->serial, CACHE_BUSY);
		lease_end(l);
		drop_superseded(k);
		return;
	}
	if (l->rc < 0) {
		refuse_memory(l, c);
		lease_end(l);
		return;
	}
	l->deadline_ns = clock_now_ns() + time_for(k, size_of(l));
	answer_leased(c, l);
	io_close(&l->draft.writer);
}

static int
new_lease(struct keeper *k, struct dataset *d, uint64_t item,
    const struct client *c, uint32_t serial, struct ds_err *err)
{
	struct lease *l = calloc(1, sizeof *l);

	if (l == NULL)
		return err_fail(err, -ENOMEM, "cache: the hub has no memory");
	l->keeper = k;
	l->set = d;
	l->item = item;
	l->client = client_id(c);
	l->serial = serial;
	l->asked_ns = clock_now_ns();
	l->generation = item_generation(atomic_load_explicit(
	    &d->index->items[item].word, memory_order_relaxed));
	l->draft.writer = l->draft.keeper = -1;
	l->room = keeper_room(k);
	/* Counted from now on, so that the next one sees it. */
	l->pages_bytes = room_pages(size_of(l));
	k->stored_bytes += l->pages_bytes;
	l->gauge = k->gauge;
	enlist(l);
	d->pins++;
	l->rc = -ESHUTDOWN;	/* should the helper not get to it */
	l->in_helper = true;
	l->job.work = find_memory;
	l->job.done = memory_found;
	helper_submit(hub_helper(k->hub), &l->job);
	return 0;
}

static bool
is_to_retry(const struct index_item *it, uint64_t since_ns)
{
	return atomic_load_explicit(&it->failed_ns, memory_order_relaxed) <
	    since_ns;
}

static int
grant(struct keeper *k, struct dataset *d, uint64_t item, struct client *c,
    uint32_t serial, struct ds_err *err)
{
	int rc = count_leases(k, client_id(c)) < KEEPER_LEASES_MAX ?
	    new_lease(k, d, item, c, serial, err) :
	    err_fail(err, -EMFILE, "cache: a process can fetch %u items at "
	    "once", KEEPER_LEASES_MAX);

	if (rc < 0) {
		minio_no_room(&d->minio, dataset_item(d, item), false);
		dataset_changed(d);
	}
	return rc;
}

int
lease_ask(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_reader r;
	struct dataset *d;
	uint64_t item, since_ns;

	wire_read(&r, f);
	d = dataset_of(k, wire_get_u32(&r), c);
	item = wire_get_u64(&r);
	since_ns = wire_get_u64(&r);
	if (!wire_read_end(&r) || d == NULL || item >= d->index->nr_items ||
	    d->index->items[item].key.size == 0)
		return -EBADMSG;
	switch (minio_ask(&d->minio, dataset_item(d, item), client_id(c),
	    is_to_retry(&d->index->items[item], since_ns))) {
	case MINIO_GRANT:
		return grant(k, d, item, c, f->head.serial, err);
	case MINIO_BUSY:
		answer_not_leased(c, f->head.serial, CACHE_BUSY);
		return 0;
	case MINIO_LOOK:
		answer_not_leased(c, f->head.serial, CACHE_LOOK);
		return 0;
	case MINIO_CLOSED:
		dataset_changed(d);
		answer_not_leased(c, f->head.serial, CACHE_CLOSED);
		return 0;
	}
	must(false);	/* minio_ask() has no other answer */
	return 0;
}

/*--- taking back ---------------------------------------------------------*/

static void
revoke(struct lease *l)
{
	minio_revoke(&l->set->minio, dataset_item(l->set, l->item));
	dataset_changed(l->set);
	if (l->in_helper)
		l->revoked = true;	/* memory_found() ends it */
	else
		lease_end(l);
}

void
lease_revoke_all(struct keeper *k, uint32_t client, const struct dataset *set)
{
	struct lease *l, *next;

	for (l = *list_of(k, client); l != NULL; l = next) {
		next = l->next;
		if (l->client == client && (set == NULL || l->set == set) &&
		    !l->revoked) {
			(void)crash_point("hub.revoke");
			revoke(l);
		}
	}
}

static void
expire_list(struct keeper *k, struct lease *first, uint64_t now_ns)
{
	struct lease *l, *next;

	for (l = first; l != NULL; l = next) {
		next = l->next;
		if (l->in_helper || now_ns < l->deadline_ns)
			continue;
		l->set->expired++;
		log_line(hub_log(k->hub), LOG_WARN, "%s: item %llu is not there "
		    "after %.1f s: client %u may be stuck in reading it",
		    l->set->uri, (unsigned long long)l->item,
		    (double)time_for(k, size_of(l)) / (double)NS_PER_S,
		    l->client);
		revoke(l);
	}
}

void
lease_expire(struct keeper *k, uint64_t now_ns)
{
	for (unsigned i = 0; k->nr_leases > 0 && i < KEEPER_LEASE_LISTS; i++)
		expire_list(k, k->leases[i], now_ns);
}
