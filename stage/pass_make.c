/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_make.c: making units of a pass: lease, fill, publish.
 * Runs in clients, in any of their threads.
 *
 *  1. Who was told to wait asks again only when its word of work has changed,
 *     or another thread of this process was given something since; who was told
 *     that there is no memory, after a slice.
 *  2. A lease that this process cannot use is given up at once.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"
#include "stage/stage.h"
#include "stage/talk.h"

/*--- leases that are out -------------------------------------------------*/

static bool
note_lease(struct ds_pass *p, const struct talk_leased *t)
{
	bool has_room;

	desk_lock(p->stage->desk);
	has_room = p->nr_leases < PASS_LEASES;
	if (has_room)
		p->leases[p->nr_leases++] = (struct lease_out){
			.unit = t->unit, .generation = t->generation,
			.slot = t->slot };
	desk_unlock(p->stage->desk);
	return has_room;
}

/* ROOM has found memory for one that is out. */
static void
note_slot(struct ds_pass *p, const struct talk_leased *t)
{
	desk_lock(p->stage->desk);
	for (unsigned i = 0; i < p->nr_leases; i++) {
		if (p->leases[i].unit == t->unit &&
		    p->leases[i].generation == t->generation)
			p->leases[i].slot = t->slot;
	}
	desk_unlock(p->stage->desk);
}

/* False: it is not out, or not any more. */
static bool
end_lease(struct ds_pass *p, const struct ds_lease *lease)
{
	bool is_out = false;

	desk_lock(p->stage->desk);
	for (unsigned i = 0; i < p->nr_leases && !is_out; i++) {
		if (p->leases[i].unit != lease->unit ||
		    p->leases[i].generation != lease->generation)
			continue;
		maps_fill(p->stage->desk->maps, p->leases[i].slot, false);
		p->leases[i] = p->leases[--p->nr_leases];
		is_out = true;
	}
	desk_unlock(p->stage->desk);
	return is_out;
}

static bool
is_full(struct ds_pass *p)
{
	bool full;

	desk_lock(p->stage->desk);
	full = p->nr_leases == PASS_LEASES;
	desk_unlock(p->stage->desk);
	return full;
}

/*--- memory --------------------------------------------------------------*/

/* Where the slot is in this process, to be filled; NULL: it cannot be
 * mapped. */
static void *
find_memory(struct ds_pass *p, struct talk_leased *t)
{
	struct desk *d = p->stage->desk;
	void *base;

	desk_lock(d);
	base = maps_own(d->maps, t->slot, t->room);
	if (base == NULL && t->fd >= 0 && t->room <= SIZE_MAX &&
	    maps_add_own(d->maps, t->slot, t->fd, (size_t)t->room, &base,
	    NULL) < 0)
		base = NULL;
	if (base != NULL)
		maps_fill(d->maps, t->slot, true);
	desk_unlock(d);
	io_close(&t->fd);
	return base;
}

static void
end_fill(struct ds_pass *p, uint32_t slot)
{
	desk_lock(p->stage->desk);
	maps_fill(p->stage->desk->maps, slot, false);
	desk_unlock(p->stage->desk);
}

/* The hub is told that it is not mapped here, so that it sends the slot anew,
 * or ends it. */
static void
refuse_lease(struct ds_pass *p, const struct talk_leased *t)
{
	struct link *link = p->stage->desk->link;

	talk_give_up(link, p->id, t->unit, t->generation, STAGE_LATER);
	if (t->slot != 0)
		talk_unmapped(link, t->slot);
}

/* 1, or 0: given up. */
static int
accept_lease(struct ds_pass *p, struct talk_leased *t, struct ds_lease *lease)
{
	void *base = NULL;

	if (t->slot != 0)
		base = find_memory(p, t);
	if (t->slot != 0 && base == NULL) {
		refuse_lease(p, t);
		return 0;
	}
	if (crash_point("stage.leased") < 0) {
		end_fill(p, t->slot);
		refuse_lease(p, t);
		return 0;
	}
	*lease = (struct ds_lease){
		.unit = t->unit,
		.bytes = base,
		.room = base != NULL ? (size_t)t->room : 0,
		.generation = t->generation,
		.slot = t->slot,
		.since_ns = clock_now_ns(),
	};
	return 1;
}

/*--- leasing -------------------------------------------------------------*/

static const _Atomic uint32_t *
find_word(const struct ds_pass *p)
{
	return &p->board->places[p->place].work;
}

static uint32_t
load_word(const struct ds_pass *p)
{
	/* acquire: pairs with the release in futex_wake(); what there is to
	 * make now was there before */
	return atomic_load_explicit(find_word(p), memory_order_acquire);
}

/* relaxed, all of these: whoever misses one asks once more, or a slice
 * later. */
static void
note_answer(struct ds_pass *p, uint64_t told, bool no_room)
{
	atomic_store_explicit(&p->told_to_wait, told, memory_order_relaxed);
	atomic_store_explicit(&p->no_room, no_room, memory_order_relaxed);
}

static bool
may_ask(const struct ds_pass *p)
{
	uint64_t told = atomic_load_explicit(&p->told_to_wait,
	    memory_order_relaxed);

	return told == 0 || told != (uint64_t)load_word(p) + 1;
}

static int
fail_large(uint64_t bytes, struct ds_err *err)
{
	return err_fail(err, -EFBIG, "the stage will never have enough room "
	    "for units of %" PRIu64 " bytes", bytes);
}

/* 1, 0, -ESTALE, or -EFBIG.  What the hub refuses in words, for want of memory
 * of its own say, is no room: nobody is to wait for it. */
static int
ask(struct ds_pass *p, struct ds_lease *lease, struct ds_err *err)
{
	const struct stage_options *o = &p->stage->options;
	struct link *link = p->stage->desk->link;
	struct talk_leased t = { .fd = -1 };
	uint32_t seen;
	int rc;

	seen = load_word(p);
	rc = talk_lease(link, p->id, o->bytes, (uint32_t)o->threads, &t, err);
	if (rc < 0 && !link_alive(link))
		return -ESTALE;
	if (rc < 0) {
		note_answer(p, 0, true);
		return 0;
	}
	if (rc == 0 && t.why == STAGE_TOO_LARGE)
		return fail_large(o->bytes, err);
	if (rc == 0) {
		note_answer(p, t.why == STAGE_NO_ROOM ? 0 :
		    (uint64_t)seen + 1, t.why == STAGE_NO_ROOM);
		return 0;
	}
	note_answer(p, 0, false);
	rc = accept_lease(p, &t, lease);
	if (rc == 1 && !note_lease(p, &t)) {
		end_fill(p, t.slot);
		refuse_lease(p, &t);
		rc = 0;
	}
	return rc;
}

static int
check_lease(struct ds_pass *p, struct ds_err *err)
{
	int rc = pass_check(p, err);

	if (rc == 0 && is_full(p))
		rc = err_fail(err, -EBUSY, "%u leases are out already: publish "
		    "one", PASS_LEASES);
	return rc;
}

int
ds_pass_lease(struct ds_pass *pass, unsigned wait_ms, struct ds_lease *lease,
    struct ds_err *err)
{
	uint64_t deadline_ns = clock_now_ns() + wait_ms * NS_PER_MS;
	uint32_t seen;
	int rc;

	rc = check_lease(pass, err);
	if (rc < 0)
		return rc;
	for (;;) {
		seen = load_word(pass);
		if (may_ask(pass)) {
			rc = ask(pass, lease, err);
			if (rc != 0)
				return rc;
		}
		if (clock_now_ns() >= deadline_ns)
			return 0;
		rc = pass_sleep(pass, find_word(pass), seen, deadline_ns);
		if (rc < 0)
			return pass_check(pass, err);
	}
}

int
ds_pass_room(struct ds_pass *pass, struct ds_lease *lease, size_t bytes,
    struct ds_err *err)
{
	struct talk_leased t = { .fd = -1, .why = STAGE_WAIT };
	struct link *link = pass->stage->desk->link;
	uint64_t since_ns = lease->since_ns;
	int rc;

	rc = pass_check(pass, err);
	if (rc < 0)
		return rc;
	rc = talk_room(link, pass->id, lease->unit, lease->generation, bytes,
	    &t, err);
	if (rc == 1 && t.slot != 0 && accept_lease(pass, &t, lease) == 1) {
		lease->since_ns = since_ns;
		note_slot(pass, &t);
		return 0;
	}
	(void)end_lease(pass, lease);
	if (!link_alive(link))
		return pass_check(pass, err);
	return rc == 0 && t.why == STAGE_TOO_LARGE ? fail_large(bytes, err) :
	    err_fail(err, -ENOSPC, "the stage has no room for %zu bytes now",
	    bytes);
}

/*--- done ----------------------------------------------------------------*/

int
ds_pass_publish(struct ds_pass *pass, struct ds_lease *lease, size_t bytes,
    uint64_t hash, uint64_t make_ns, struct ds_err *err)
{
	struct link *link;
	int rc;

	rc = pass_check(pass, err);
	if (rc < 0)
		return rc;
	if (lease->bytes == NULL || bytes > lease->room)
		return err_fail(err, -EINVAL, "%zu bytes where a lease has "
		    "room for %zu", bytes, lease->room);
	if (!end_lease(pass, lease))
		return err_fail(err, -EINVAL, "a lease is published or given "
		    "up once");
	if (make_ns == 0)
		make_ns = clock_now_ns() - lease->since_ns;
	link = pass->stage->desk->link;
	rc = crash_point("stage.filled");
	if (rc < 0) {
		talk_give_up(link, pass->id, lease->unit, lease->generation,
		    STAGE_LATER);
		return err_fail(err, rc, "cannot publish a unit");
	}
	rc = talk_publish(link, pass->id, lease->unit, lease->generation,
	    bytes, hash, make_ns, err);
	(void)crash_point("stage.published");
	return rc;
}

void
ds_pass_give_up(struct ds_pass *pass, struct ds_lease *lease, unsigned how)
{
	if (pass_check(pass, NULL) < 0 || !end_lease(pass, lease))
		return;
	talk_give_up(pass->stage->desk->link, pass->id, lease->unit,
	    lease->generation,
	    how == DS_GIVE_UP_ALONE ? STAGE_ALONE : STAGE_LATER);
	/* One that is alone at its pass neither waits nor releases. */
	desk_sweep(pass->stage->desk);
}
