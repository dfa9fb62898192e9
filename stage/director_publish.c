/* SPDX-License-Identifier: Apache-2.0
 *
 * director_publish.c: how a lease ends, and how the memory of a unit becomes
 * free.  Runs in the hub only.
 *
 *  1. A unit is on the board only when its slot is sealed against any further
 *     writer.
 *  2. What comes too late is counted, and changes nothing but that its slot is
 *     free.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/must.h"

#define MEAN_PARTS	8u	/* one in so many parts is the newest */

/*--- the lists -----------------------------------------------------------*/

static struct stage_lease **
link_of(struct stage_lease **first, const struct stage_lease *l)
{
	while (*first != l)
		first = &(*first)->next;
	return first;
}

static void
unlist(struct stage_lease **first, struct stage_lease *l)
{
	*link_of(first, l) = l->next;
	l->next = NULL;
}

static void
append(struct stage_lease **first, struct stage_lease *l)
{
	*link_of(first, NULL) = l;
	l->next = NULL;
}

struct stage_lease *
director_find_lease(struct pass *p, uint32_t place, uint64_t unit,
    uint32_t generation)
{
	struct stage_lease *l;

	for (l = p->leases; l != NULL; l = l->next) {
		if (l->place == place && l->unit == unit &&
		    l->generation == generation)
			return l;
	}
	return NULL;
}

/*--- memory --------------------------------------------------------------*/

/* Only its owner can use it: if that waits for memory, it need not. */
static void
put_slot(struct pass *p, uint32_t number)
{
	struct stage_slot *slot = slots_find(p->director->slots, number);

	must(slot != NULL);
	for (uint32_t i = 0; i < p->high; i++) {
		if (p->seated[i] != NULL && p->seated[i]->client == slot->owner)
			p->seated[i]->lacks_room = false;
	}
	slots_put(p->director->slots, slot);
}

static void
end(struct stage_lease **first, struct stage_lease *l)
{
	unlist(first, l);
	if (l->slot != 0)
		put_slot(l->pass, l->slot);
	free(l);
}

void
director_end_lease(struct stage_lease *l)
{
	end(&l->pass->leases, l);
}

/* Its memory is still to come: whoever finds it puts it away. */
static void
orphan(struct stage_lease *l)
{
	unlist(&l->pass->leases, l);
	l->pass = NULL;
	l->director->nr_orphans++;
}

void
director_end_leases(struct pass *p, uint32_t place)
{
	struct stage_lease *l, *next;

	for (l = p->leases; l != NULL; l = next) {
		next = l->next;
		if (l->place != place)
			continue;
		if (l->is_pending)
			orphan(l);
		else
			director_end_lease(l);
	}
}

void
director_abandon_leases(struct pass *p, uint32_t place)
{
	struct stage_lease *l, *next;

	for (l = p->leases; l != NULL; l = next) {
		next = l->next;
		if (l->place != place)
			continue;
		if (l->is_pending) {
			orphan(l);
			continue;
		}
		unlist(&p->leases, l);
		free(l);
	}
}

void
director_retired(void *pass, uint64_t unit, uint32_t slot)
{
	struct pass *p = pass;
	struct stage_lease *l;

	p->lates[unit % LINE_RING] = 0;
	if (slot == LINE_NO_SLOT)
		return;
	for (l = p->staged; l != NULL && l->slot != slot; l = l->next)
		continue;
	must(l != NULL);
	if (!line_pinned(&p->line, unit)) {
		end(&p->staged, l);
		return;
	}
	unlist(&p->staged, l);
	append(&p->held, l);
	slots_hold(p->director->slots, slots_find(p->director->slots, slot));
}

void
director_put_held(struct pass *p)
{
	struct stage_lease *l, *next;

	for (l = p->held; l != NULL; l = next) {
		next = l->next;
		if (!line_pinned(&p->line, l->unit))
			end(&p->held, l);
	}
}

void
director_end_units(struct pass *p)
{
	must(p->leases == NULL);	/* nobody is there to hold one */
	while (p->staged != NULL)
		end(&p->staged, p->staged);
	while (p->held != NULL)
		end(&p->held, p->held);
}

/*--- publishing ----------------------------------------------------------*/

struct made {			/* what PUBLISH says */
	uint64_t	bytes, hash, make_ns;
};

static uint64_t
samples_of(const struct pass *p, uint64_t unit)
{
	uint64_t first = unit * p->unit;

	return p->samples - first < p->unit ? p->samples - first : p->unit;
}

/* A unit may have been kept for long after it was made. */
static uint64_t
time_taken(const struct stage_lease *l, uint64_t make_ns, uint64_t now_ns)
{
	uint64_t took_ns = now_ns - l->granted_ns;

	return took_ns / LATE_TIMES > make_ns ? make_ns * LATE_TIMES : took_ns;
}

static void
note_made(struct pass *p, const struct stage_lease *l, uint64_t make_ns,
    uint64_t now_ns)
{
	struct seated *s = p->seated[l->place];
	uint64_t took_ns = time_taken(l, make_ns, now_ns);

	s->made++;
	making_note(&s->making, samples_of(p, l->unit), make_ns);
	if (p->make_mean_ns == 0)
		p->make_mean_ns = took_ns;
	else
		p->make_mean_ns += took_ns / MEAN_PARTS -
		    p->make_mean_ns / MEAN_PARTS;
}

static int
seal(struct stage_lease *l, struct ds_err *err)
{
	struct slots *slots = l->director->slots;
	struct stage_slot *slot = slots_find(slots, l->slot);
	int rc = slot->is_sealed ? 0 : slots_seal(slots, slot, err);

	if (rc == 0 && crash_point("hub.stage_publish") < 0)
		rc = err_fail(err, -EIO, "failed as told");
	if (rc == 0)
		slots_stage(slots, slot);
	return rc;
}

static void
publish(struct pass *p, struct stage_lease *l, const struct made *m,
    uint64_t now_ns)
{
	struct ds_err err;

	if (seal(l, &err) < 0) {
		log_line(hub_log(p->director->hub), LOG_WARN, "pass %u: unit %"
		    PRIu64 " is not staged: %s", p->id, l->unit, err.text);
		must(line_give_up(&p->line, l->unit, l->place, l->generation,
		    false) == 0);
		director_end_lease(l);
		return;
	}
	p->publishing.bytes = m->bytes;
	p->publishing.hash = m->hash;
	p->publishing.job = p->seated[l->place]->job;
	must(line_publish(&p->line, l->unit, l->place, l->generation,
	    l->slot) == 0);
	note_made(p, l, m->make_ns, now_ns);
	unlist(&p->leases, l);
	append(&p->staged, l);
}

/* Too late: counted by the line. */
static void
refuse(struct pass *p, struct stage_lease *l)
{
	must(line_publish(&p->line, l->unit, l->place, l->generation,
	    l->slot) == -ESTALE);
	log_line(hub_log(p->director->hub), LOG_DEBUG, "pass %u: unit %" PRIu64
	    " by %s is too late", p->id, l->unit, p->seated[l->place]->name);
	director_end_lease(l);
}

/* What a holder says of its lease, in f; the rest is left in r.  NULL if it was
 * never granted, not yet, or has ended. */
static struct stage_lease *
read_holder(struct director *d, const struct client *c,
    const struct wire_frame *f, struct wire_reader *r)
{
	uint32_t place, generation;
	struct stage_lease *l;
	struct pass *p;
	uint64_t unit;

	wire_read(r, f);
	p = director_pass_of(d, wire_get_u32(r), c, &place);
	unit = wire_get_u64(r);
	generation = wire_get_u32(r);
	l = p != NULL ? director_find_lease(p, place, unit, generation) : NULL;
	return l != NULL && !l->is_pending ? l : NULL;
}

int
director_publish(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t now_ns = clock_now_ns();
	struct stage_lease *l;
	struct wire_reader r;
	struct pass *p;
	struct made m;

	(void)err;
	l = read_holder(d, c, f, &r);
	m.bytes = wire_get_u64(&r);
	m.hash = wire_get_u64(&r);
	m.make_ns = wire_get_u64(&r);
	if (!wire_read_end(&r) || l == NULL || l->slot == 0 ||
	    m.bytes > l->room)
		return -EBADMSG;
	p = l->pass;
	director_look(p, now_ns);
	if (line_holds(&p->line, l->unit, l->place, l->generation))
		publish(p, l, &m, now_ns);
	else
		refuse(p, l);
	director_settle(p, now_ns);
	return 0;
}

int
director_give_up(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t now_ns = clock_now_ns();
	struct stage_lease *l;
	struct wire_reader r;
	struct pass *p;
	uint32_t how;

	(void)err;
	l = read_holder(d, c, f, &r);
	how = wire_get_u32(&r);
	if (!wire_read_end(&r) || l == NULL || how > STAGE_ALONE)
		return -EBADMSG;
	p = l->pass;
	director_look(p, now_ns);
	(void)line_give_up(&p->line, l->unit, l->place, l->generation,
	    how == STAGE_ALONE);	/* or it was revoked meanwhile */
	director_end_lease(l);
	director_settle(p, now_ns);
	return 0;
}
