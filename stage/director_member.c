/* SPDX-License-Identifier: Apache-2.0
 *
 * director_member.c: those who take: how they begin and end, and what their
 * seats say.  Runs in the hub only.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"

/*--- seats ---------------------------------------------------------------*/

/* In this order, because a client stores taken before released: board.h, 7. */
static void
read_seat(const struct seat *seat, struct said *s)
{
	/* acquire: pairs with the release of the client's store */
	s->released = atomic_load_explicit(&seat->released,
	    memory_order_acquire);
	/* relaxed: these stand for themselves */
	s->taken = atomic_load_explicit(&seat->taken, memory_order_relaxed);
	s->waits = atomic_load_explicit(&seat->waits, memory_order_relaxed);
	s->samples = atomic_load_explicit(&seat->samples,
	    memory_order_relaxed);
	s->own = atomic_load_explicit(&seat->own, memory_order_relaxed);
	/* It may have been taken since; a seat of zeros waits for nothing. */
	if (s->waits < s->taken || s->waits == BOARD_NEVER)
		s->waits = LINE_ANY;
}

/* Is what it says from before it began? */
static bool
is_from_before(const struct seated *s, const struct said *said,
    const struct line_place *m)
{
	if (said->taken == s->said.taken && said->released == s->said.released)
		return said->taken != m->start || said->released != m->start;
	return said->released < m->start || said->released > said->taken;
}

static void
expel(struct pass *p, uint32_t client)
{
	struct client *c = hub_client(p->director->hub, client);

	if (c != NULL)
		client_expel(c, "stage: a seat that says what cannot be");
}

static void
note_wait(struct pass *p, uint32_t place, uint64_t first, uint64_t now_ns)
{
	struct seated *s = p->seated[place];
	bool waits = line_is_blocked_at(&p->line, place, first);

	if (waits && s->waits_since_ns == 0) {
		s->waits_since_ns = now_ns;
	} else if (!waits && s->waits_since_ns != 0) {
		s->waited_ns += now_ns - s->waits_since_ns;
		s->waits_since_ns = 0;
	}
}

void
director_note_wait(struct pass *p, uint32_t place, uint64_t now_ns)
{
	note_wait(p, place, line_first(&p->line), now_ns);
}

static void
look_at(struct pass *p, uint32_t place, uint64_t now_ns)
{
	struct line_place *m = &p->line.place[place];
	struct seated *s = p->seated[place];
	uint64_t before = m->taken;
	struct said said;

	read_seat(s->seat.base, &said);
	if (s->is_fresh && is_from_before(s, &said, m))
		return;
	s->is_fresh = false;
	if (line_progress(&p->line, place, said.taken, said.released,
	    said.waits) < 0) {
		expel(p, s->client);
		return;
	}
	if (said.samples < s->said.samples)	/* for people: no harm done */
		said.samples = s->said.samples;
	s->said = said;
	if (m->taken > before) {
		p->delivered += m->taken - before;
		p->used_ns = s->took_ns = now_ns;
	}
	pace_note(&s->pace, now_ns, said.samples);
}

/* Who waits is known when all have been read; it stays so if all do. */
void
director_look(struct pass *p, uint64_t now_ns)
{
	uint64_t first;

	for (uint32_t i = 0; i < p->high; i++) {
		if (p->line.place[i].state == PLACE_LIVE)
			look_at(p, i, now_ns);
	}
	first = line_first(&p->line);
	for (uint32_t i = 0; i < p->high; i++) {
		if (p->line.place[i].state == PLACE_LIVE)
			note_wait(p, i, first, now_ns);
	}
}

/*--- messages ------------------------------------------------------------*/

struct beginning {
	uint64_t	at, end;
	uint32_t	lag;
	uint64_t	lag_ns;
	uint32_t	makers;
};

static bool
is_sound(const struct pass *p, const struct beginning *b)
{
	return b->end <= p->line.units &&
	    (b->at == STAGE_ANY || b->at <= b->end) &&
	    b->lag <= STAGE_LAG_DETACH;
}

static void
answer_start(struct client *c, uint32_t serial, uint16_t type, uint64_t unit)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, type, serial);
	wire_put_u64(&w, unit);
	client_answer(c, &f);
}

static void
begin(struct pass *p, uint32_t place, const struct beginning *b,
    uint64_t now_ns)
{
	struct seated *s = p->seated[place];

	read_seat(s->seat.base, &s->said);
	s->is_fresh = true;
	s->lag.kind = b->lag;
	s->lag.ns = b->lag_ns;
	s->making.makers = b->makers;
	memset(&s->pace, 0, sizeof s->pace);
	s->took_ns = now_ns;
	s->waits_since_ns = 0;
	director_show_place(p, place);
	director_show_members(p);
}

int
director_begin(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t start, now_ns = clock_now_ns();
	struct wire_reader r;
	struct beginning b;
	struct pass *p;
	uint32_t place;

	(void)err;
	wire_read(&r, f);
	p = director_pass_of(d, wire_get_u32(&r), c, &place);
	b.at = wire_get_u64(&r);
	b.end = wire_get_u64(&r);
	b.lag = wire_get_u32(&r);
	b.lag_ns = wire_get_u64(&r);
	b.makers = wire_get_u32(&r);
	if (!wire_read_end(&r) || p == NULL || !is_sound(p, &b) ||
	    p->line.place[place].state != PLACE_MAKER)
		return -EBADMSG;
	director_look(p, now_ns);
	if (line_begin(&p->line, place, b.at == STAGE_ANY ? LINE_ANY : b.at,
	    b.end, &start) == 0) {
		begin(p, place, &b, now_ns);
		answer_start(c, f->head.serial, MSG_BEGUN, start);
	} else {
		answer_start(c, f->head.serial, MSG_BEHIND, p->line.base);
	}
	director_settle(p, now_ns);
	return 0;
}

/* A message of nothing but the number of an attachment. */
static struct pass *
read_pass(struct director *d, const struct client *c,
    const struct wire_frame *f, uint32_t *place)
{
	struct wire_reader r;
	struct pass *p;

	wire_read(&r, f);
	p = director_pass_of(d, wire_get_u32(&r), c, place);
	return wire_read_end(&r) ? p : NULL;
}

int
director_end(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t now_ns = clock_now_ns();
	struct line_place *m;
	uint32_t place;
	struct pass *p = read_pass(d, c, f, &place);

	(void)err;
	if (p == NULL)
		return -EBADMSG;
	m = &p->line.place[place];
	if (m->state != PLACE_LIVE && m->state != PLACE_DETACHED)
		return -EBADMSG;
	director_look(p, now_ns);
	line_end(&p->line, place);
	director_note_wait(p, place, now_ns);
	director_put_held(p);
	director_show_place(p, place);
	director_show_members(p);
	director_settle(p, now_ns);
	return 0;
}

int
director_news(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t place;
	struct pass *p = read_pass(d, c, f, &place);

	(void)err;
	if (p == NULL)
		return -EBADMSG;
	director_look(p, now_ns);
	director_settle(p, now_ns);
	return 0;
}

/*--- memory of others ----------------------------------------------------*/

static void
answer_mapped(struct client *c, uint32_t serial, const struct stage_slot *s)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_MAPPED, serial);
	wire_put_u64(&w, s->room);
	wire_put_fd(&w, s->fd);
	client_answer(c, &f);
}

/* Whoever asks was too slow if it is not there any more: no offence. */
int
director_map(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_reader r;
	struct stage_slot *s;
	struct pass *p;
	uint32_t place, number;

	wire_read(&r, f);
	p = director_pass_of(d, wire_get_u32(&r), c, &place);
	number = wire_get_u32(&r);
	if (!wire_read_end(&r) || p == NULL)
		return -EBADMSG;
	s = slots_find(d->slots, number);
	if (s == NULL || s->pass != p->id || !s->is_sealed ||
	    (s->is != SLOT_IS_STAGED && s->is != SLOT_IS_HELD))
		return err_fail(err, -ESTALE, "stage: slot %u is not staged",
		    number);
	if (slots_give(d->slots, s, client_id(c)) < 0)
		return err_fail(err, -ENOMEM, "stage: the hub has no memory");
	answer_mapped(c, f->head.serial, s);
	return 0;
}

int
director_unmapped(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_reader r;
	uint32_t number;

	(void)err;
	wire_read(&r, f);
	number = wire_get_u32(&r);
	if (!wire_read_end(&r))
		return -EBADMSG;
	slots_unmapped(d->slots, number, client_id(c));
	return 0;
}
