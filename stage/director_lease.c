/* SPDX-License-Identifier: Apache-2.0
 *
 * director_lease.c: the right to make a unit, and the memory to make it in.
 * Runs in the hub only.
 *
 *     LEASE -> line_lease -> slots_get (perhaps in the helper) -> LEASED
 *
 * How it ends: director_publish.c.
 *
 *  1. A lease counts from the turn in which the line gave it, also while its
 *     memory is being allocated.
 *  2. Memory is looked for in this order: a slot of the process that is free,
 *     a new one within the budget, what this pass keeps only because nobody
 *     has needed it, then what others keep so, those unused for longest first.
 *  3. Before that, a pass gives up what it keeps so beyond a few units.  A new
 *     slot costs half as much as making a unit: for those who may come late
 *     there are more of them only as time goes by.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/must.h"

#define THREADS_MAX	4096u	/* of one lease */
#define PAGE		UINT64_C(4096)
#define KEPT_LEAST	4u	/* units: rule 3, */
#define MADE_PER_KEPT	64u	/* and one more for so many that were made */

/*--- answers -------------------------------------------------------------*/

static void
answer_not_leased(struct director *d, uint32_t client, uint32_t serial,
    enum stage_why why)
{
	struct client *c = hub_client(d->hub, client);
	struct wire_frame f;
	struct wire_writer w;

	if (c == NULL)
		return;
	wire_write(&w, &f, MSG_STAGE_NOT_LEASED, serial);
	wire_put_u32(&w, why);
	client_answer(c, &f);
}

static void
answer_leased(const struct stage_lease *l, uint32_t serial, int fd)
{
	struct client *c = hub_client(l->director->hub, l->client);
	struct wire_frame f;
	struct wire_writer w;

	if (c == NULL)
		return;
	wire_write(&w, &f, MSG_STAGE_LEASED, serial);
	wire_put_u64(&w, l->unit);
	wire_put_u32(&w, l->generation);
	wire_put_u32(&w, l->slot);
	wire_put_u64(&w, l->room);
	if (fd >= 0)
		wire_put_fd(&w, fd);
	client_answer(c, &f);
}

/*--- who makes -----------------------------------------------------------*/

/* Those who are late do not count: they may have been stopped.  A member
 * that is alone has nobody to leave processors to, and may have as much ahead as
 * it likes: most of its leases are of units that it has made and keeps. */
bool
director_may_make(const struct pass *p, uint32_t threads, uint32_t *left)
{
	uint32_t most = MAKING_PER_CPU * p->director->cpus, making = 0, nr = 0;
	uint64_t now_ns = clock_now_ns();
	const struct stage_lease *l;

	for (l = p->leases; l != NULL; l = l->next) {
		if (director_is_overdue(p, l, now_ns) ||
		    !line_holds(&p->line, l->unit, l->place, l->generation))
			continue;
		making += l->threads;
		nr++;
	}
	*left = making < most ? most - making : 1;
	return nr < 2 || making + threads <= most ||
	    (p->nr_seated == 1 && p->line.members == 1);
}

void
director_idle(struct pass *p, uint32_t place, bool lacks_room)
{
	struct seated *s = p->seated[place];

	s->is_idle = true;
	s->may_be_idle = false;
	s->lacks_room = lacks_room;
	s->idle_order = ++p->director->last_idle;
}

/* One of its threads does; others may still wait. */
static void
note_asking(struct seated *s)
{
	s->may_be_idle = s->may_be_idle || s->is_idle;
	s->is_idle = s->lacks_room = false;
}

static void
tell_to_wait(struct pass *p, uint32_t place, uint32_t serial,
    enum stage_why why)
{
	director_idle(p, place, why == STAGE_NO_ROOM);
	answer_not_leased(p->director, p->seated[place]->client, serial, why);
}

static uint32_t
count_leases(const struct pass *p, uint32_t place)
{
	const struct stage_lease *l;
	uint32_t nr = 0;

	for (l = p->leases; l != NULL; l = l->next)
		nr += l->place == place;
	return nr;
}

/*--- memory --------------------------------------------------------------*/

/* There is none: the unit is anybody's again, or everybody's. */
static void
refuse(struct stage_lease *l, uint32_t serial, enum stage_why why)
{
	struct pass *p = l->pass;
	uint32_t place = l->place, client = l->client;
	bool is_begun = l->is_begun;

	(void)line_give_up(&p->line, l->unit, place, l->generation,
	    why == STAGE_TOO_LARGE);	/* or it was revoked meanwhile */
	director_end_lease(l);
	if (is_begun)	/* it has its own to go on with, and does not wait */
		answer_not_leased(p->director, client, serial, why);
	else
		tell_to_wait(p, place, serial, why);
}

/* A descriptor that its owner has is not sent again. */
static void
give_slot(struct stage_lease *l, struct stage_slot *slot, uint32_t serial)
{
	bool is_new = !slot->is_given;

	slot->pass = l->pass->id;
	slot->unit = l->unit;
	slot->generation = l->generation;
	l->slot = slot->number;
	l->room = slot->room;
	if (is_new && slots_give(l->director->slots, slot, l->client) < 0) {
		refuse(l, serial, STAGE_NO_ROOM);
		return;
	}
	if (!l->is_begun)	/* looking for memory is not making */
		l->granted_ns = clock_now_ns();
	answer_leased(l, serial, is_new ? slot->fd : -1);
}

/* In a later turn: of one who has left, and may be gone, nothing is left but
 * the memory. */
static void
ready_for_nobody(struct stage_lease *l, struct stage_slot *slot)
{
	struct director *d = l->director;

	if (slot != NULL)
		slots_put(d->slots, slot);
	answer_not_leased(d, l->client, l->serial, STAGE_WAIT);
	d->nr_orphans--;
	free(l);
}

static void
memory_ready(void *arg, struct stage_slot *slot, int rc)
{
	struct stage_lease *l = arg;
	struct pass *p = l->pass;

	(void)rc;
	if (p == NULL) {
		ready_for_nobody(l, slot);
		return;
	}
	l->is_pending = false;
	if (slot == NULL)
		refuse(l, l->serial, STAGE_NO_ROOM);
	else
		give_slot(l, slot, l->serial);
	director_settle(p, clock_now_ns());
}

/* What everyone has released and nobody has needed; never the unit that memory
 * is looked for. */
static bool
retire(struct pass *p, uint64_t before)
{
	return p->line.base < before && line_retire(&p->line);
}

/* By rule 3: before there is a member, all of it is for the first. */
static void
retire_old(struct pass *p, uint64_t before)
{
	uint64_t most = KEPT_LEAST + p->line.made / MADE_PER_KEPT;

	if (p->line.members == 0)
		return;
	while (line_first(&p->line) > p->line.base + most &&
	    retire(p, before))
		;
}

static struct pass *
longest_unused(struct director *d, const struct pass *but, uint64_t after_ns)
{
	struct pass *p, *best = NULL;

	for (p = d->passes; p != NULL; p = p->next) {
		if (p != but && p->used_ns > after_ns && (best == NULL ||
		    p->used_ns < best->used_ns))
			best = p;
	}
	return best;
}

static enum slots_answer
get_slot(struct stage_lease *l, uint64_t bytes, struct stage_slot **slot)
{
	return slots_get(l->director->slots, l->client, bytes, clock_now_ns(),
	    slot, memory_ready, l);
}

/* And none is on its way, from slots that are to be unmapped. */
static bool
lacks_room(enum slots_answer answer, const struct director *d, uint64_t bytes)
{
	return answer == SLOTS_NO_ROOM &&
	    !slots_will_have_room(d->slots, bytes);
}

/* Rule 2, when the budget is used. */
static enum slots_answer
make_room(struct stage_lease *l, uint64_t bytes, struct stage_slot **slot)
{
	enum slots_answer answer = SLOTS_NO_ROOM;
	struct director *d = l->director;
	uint64_t used_ns = 0, now_ns = clock_now_ns();
	struct pass *p;

	while (lacks_room(answer, d, bytes) && retire(l->pass, l->unit))
		answer = get_slot(l, bytes, slot);
	while (lacks_room(answer, d, bytes) &&
	    (p = longest_unused(d, l->pass, used_ns)) != NULL) {
		used_ns = p->used_ns;
		while (lacks_room(answer, d, bytes) && retire(p, UINT64_MAX))
			answer = get_slot(l, bytes, slot);
		director_settle(p, now_ns);
	}
	if (answer == SLOTS_NO_ROOM &&
	    slots_make_room(d->slots, bytes, now_ns))
		answer = get_slot(l, bytes, slot);
	return answer;
}

/* Once: the log is for people. */
static void
say_too_large(struct pass *p, uint64_t bytes)
{
	struct slots_counts counts;

	if (p->is_too_large)
		return;
	p->is_too_large = true;
	slots_counts(p->director->slots, &counts);
	log_line(hub_log(p->director->hub), LOG_WARN, "pass %u: a unit of %"
	    PRIu64 " bytes does not fit four times into the stage of %" PRIu64
	    " bytes: it is not shared", p->id, bytes, counts.budget_bytes);
}

static void
find_memory(struct stage_lease *l, uint64_t bytes, uint32_t serial)
{
	enum slots_answer answer = SLOTS_TOO_LARGE;
	struct stage_slot *slot = NULL;

	retire_old(l->pass, l->unit);
	if (slots_hold_several(l->director->slots, bytes))
		answer = get_slot(l, bytes, &slot);
	if (bytes > l->pass->unit_bytes && answer != SLOTS_TOO_LARGE)
		l->pass->unit_bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	if (answer == SLOTS_NO_ROOM)
		answer = make_room(l, bytes, &slot);
	switch (answer) {
	case SLOTS_NOW:
		give_slot(l, slot, serial);
		return;
	case SLOTS_LATER:
		l->is_pending = true;
		l->serial = serial;
		return;
	case SLOTS_NO_ROOM:
		refuse(l, serial, STAGE_NO_ROOM);
		return;
	case SLOTS_TOO_LARGE:
		say_too_large(l->pass, bytes);
		refuse(l, serial, STAGE_TOO_LARGE);
		return;
	}
	must(false);	/* slots_get() has no other answer */
}

/*--- messages ------------------------------------------------------------*/

static void
grant(struct stage_lease *l, uint64_t bytes, uint32_t serial)
{
	struct pass *p = l->pass;
	const struct line_unit *u = &p->line.unit[l->unit % p->line.ring];

	l->generation = u->generation;
	l->granted_ns = p->used_ns = clock_now_ns();
	l->next = p->leases;
	p->leases = l;
	l->is_begun = bytes == 0;
	if (l->is_begun)
		answer_leased(l, serial, -1);
	else
		find_memory(l, bytes, serial);
}

static struct stage_lease *
new_lease(struct pass *p, uint32_t place, uint32_t threads)
{
	struct stage_lease *l = calloc(1, sizeof *l);

	if (l == NULL)
		return NULL;
	l->director = p->director;
	l->pass = p;
	l->place = place;
	l->client = p->seated[place]->client;
	l->threads = threads > 0 ? threads : 1;
	return l;
}

static void
ask(struct pass *p, struct stage_lease *l, uint64_t bytes, uint32_t serial)
{
	uint32_t place = l->place, left;
	enum line_answer answer = LINE_WAIT;

	if (director_may_make(p, l->threads, &left))
		answer = line_lease(&p->line, place, &l->unit);
	if (answer == LINE_LEASED) {
		grant(l, bytes, serial);
		return;
	}
	free(l);
	tell_to_wait(p, place, serial, answer == LINE_OVER ? STAGE_OVER :
	    STAGE_WAIT);
	if (answer == LINE_FULL)
		director_wait(p->director, clock_now_ns());
}

int
director_lease(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t bytes, now_ns = clock_now_ns();
	struct stage_lease *l;
	struct wire_reader r;
	uint32_t place, threads;
	struct pass *p;

	wire_read(&r, f);
	p = director_pass_of(d, wire_get_u32(&r), c, &place);
	bytes = wire_get_u64(&r);
	threads = wire_get_u32(&r);
	if (!wire_read_end(&r) || p == NULL || bytes > STAGE_BYTES_MAX ||
	    threads > THREADS_MAX)
		return -EBADMSG;
	if (count_leases(p, place) >= DIRECTOR_LEASES)
		return err_fail(err, -EMFILE, "stage: a process can make %u "
		    "units at once", DIRECTOR_LEASES);
	l = new_lease(p, place, threads);
	if (l == NULL)
		return err_fail(err, -ENOMEM, "stage: the hub has no memory");
	note_asking(p->seated[place]);
	director_look(p, now_ns);
	ask(p, l, bytes, f->head.serial);
	director_settle(p, now_ns);
	return 0;
}

int
director_room(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t unit, bytes, now_ns = clock_now_ns();
	uint32_t place, generation;
	struct stage_lease *l;
	struct wire_reader r;
	struct pass *p;

	(void)err;
	wire_read(&r, f);
	p = director_pass_of(d, wire_get_u32(&r), c, &place);
	unit = wire_get_u64(&r);
	generation = wire_get_u32(&r);
	bytes = wire_get_u64(&r);
	if (!wire_read_end(&r) || p == NULL || bytes == 0 ||
	    bytes > STAGE_BYTES_MAX)
		return -EBADMSG;
	l = director_find_lease(p, place, unit, generation);
	if (l == NULL || l->slot != 0 || l->is_pending)
		return -EBADMSG;
	director_look(p, now_ns);
	if (line_holds(&p->line, unit, place, generation))
		find_memory(l, bytes, f->head.serial);
	else
		refuse(l, f->head.serial, STAGE_WAIT);
	director_settle(p, now_ns);
	return 0;
}
