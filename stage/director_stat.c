/* SPDX-License-Identifier: Apache-2.0
 *
 * director_stat.c: tells what is being shared, by whom, and who waits for
 * whom.  Runs in the hub only.
 *
 * One answer is one pass, or one process at one; whoever wants all asks again
 * with the number of the last, so that no turn is long.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"

#define RATE_MOST	1e18

/*--- passes --------------------------------------------------------------*/

static struct pass *
next_pass(struct director *d, uint32_t after)
{
	struct pass *p, *next = NULL;

	for (p = d->passes; p != NULL; p = p->next) {
		if (p->id > after && (next == NULL || p->id < next->id))
			next = p;
	}
	return next;
}

static uint64_t
sum_room(const struct stage_lease *l)
{
	uint64_t sum = 0;

	for (; l != NULL; l = l->next)
		sum += l->room;
	return sum;
}

static void
fill_pass(const struct pass *p, uint64_t word[STAGE_PASS_WORDS])
{
	const struct line *l = &p->line;

	word[STAGE_PASS_BASE] = l->base;
	word[STAGE_PASS_FRONT] = l->front;
	word[STAGE_PASS_WINDOW] = l->window;
	word[STAGE_PASS_MEMBERS] = l->members;
	word[STAGE_PASS_MADE] = l->made;
	word[STAGE_PASS_DELIVERED] = p->delivered;
	word[STAGE_PASS_ALONE] = l->alone;
	word[STAGE_PASS_LATE] = l->late;
	word[STAGE_PASS_REVOKED] = l->revoked;
	word[STAGE_PASS_DETACHED] = l->detached;
	word[STAGE_PASS_BYTES] = sum_room(p->leases) + sum_room(p->staged) +
	    sum_room(p->held);
	word[STAGE_PASS_SEED] = p->seed;
}

int
director_stat(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t word[STAGE_PASS_WORDS];
	struct wire_frame answer;
	struct wire_reader r;
	struct wire_writer w;
	struct pass *p;

	(void)err;
	wire_read(&r, f);
	p = next_pass(d, wire_get_u32(&r));
	if (!wire_read_end(&r))
		return -EBADMSG;
	if (p == NULL) {
		client_done(c, f->head.serial);
		return 0;
	}
	director_look(p, clock_now_ns());
	fill_pass(p, word);
	wire_write(&w, &answer, MSG_PASS_IS, f->head.serial);
	wire_put_u32(&w, p->id);
	wire_put_bytes(&w, p->group, strlen(p->group));
	wire_put_bytes(&w, p->key, strlen(p->key));
	wire_put_u64(&w, p->epoch);
	wire_put_u64(&w, p->line.units);
	wire_put_u32(&w, p->unit);
	for (unsigned i = 0; i < STAGE_PASS_WORDS; i++)
		wire_put_u64(&w, word[i]);
	must(wire_write_end(&w));
	client_answer(c, &answer);
	return 0;
}

/*--- members -------------------------------------------------------------*/

static uint32_t
next_place(const struct pass *p, uint32_t after)
{
	for (uint32_t i = after; p != NULL && i < p->high; i++) {
		if (p->seated[i] != NULL)
			return i;
	}
	return LINE_NOBODY;
}

/* Per 1000 s, of what a seat says: it may say anything. */
static uint64_t
rate_of(const struct seated *s, uint64_t now_ns)
{
	double rate = pace_rate(&s->pace, now_ns) * 1000;

	return rate < RATE_MOST ? (uint64_t)rate : (uint64_t)RATE_MOST;
}

static void
fill_member(const struct pass *p, uint32_t place, uint64_t now_ns,
    uint64_t word[STAGE_MEMBER_WORDS])
{
	const struct line_place *m = &p->line.place[place];
	const struct seated *s = p->seated[place];
	uint32_t b = director_waits_for(p, place);
	uint64_t waits_ns = s->waits_since_ns != 0 ?
	    now_ns - s->waits_since_ns : 0;

	word[STAGE_MEMBER_STATE] = m->state;
	word[STAGE_MEMBER_TAKEN] = m->taken;
	word[STAGE_MEMBER_RELEASED] = m->released;
	word[STAGE_MEMBER_SAMPLES_PER_KS] = m->state == PLACE_LIVE ?
	    rate_of(s, now_ns) : 0;
	word[STAGE_MEMBER_WAITS_PID] = b != LINE_NOBODY ?
	    (uint64_t)p->seated[b]->pid : 0;
	word[STAGE_MEMBER_WAITS_NS] = waits_ns;
	word[STAGE_MEMBER_WAITED_NS] = s->waited_ns + waits_ns;
	word[STAGE_MEMBER_MADE] = s->made;
	word[STAGE_MEMBER_LEASES] = m->leases;
}

static void
answer_member(struct client *c, uint32_t serial, const struct pass *p,
    uint32_t place)
{
	const struct seated *s = p->seated[place];
	uint64_t word[STAGE_MEMBER_WORDS];
	struct wire_frame answer;
	struct wire_writer w;

	fill_member(p, place, clock_now_ns(), word);
	wire_write(&w, &answer, MSG_MEMBER_IS, serial);
	wire_put_u32(&w, place);
	wire_put_u32(&w, s->client);
	wire_put_bytes(&w, s->name, strlen(s->name));
	wire_put_u64(&w, (uint64_t)s->pid);
	wire_put_u64(&w, s->job);
	for (unsigned i = 0; i < STAGE_MEMBER_WORDS; i++)
		wire_put_u64(&w, word[i]);
	must(wire_write_end(&w));
	client_answer(c, &answer);
}

/* A pass that has ended has nobody. */
int
director_stat_job(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint32_t id, after, place;
	struct wire_reader r;
	struct pass *p;

	(void)err;
	wire_read(&r, f);
	id = wire_get_u32(&r);
	after = wire_get_u32(&r);
	if (!wire_read_end(&r))
		return -EBADMSG;
	p = director_pass(d, id);
	place = next_place(p, after);
	if (place == LINE_NOBODY) {
		client_done(c, f->head.serial);
		return 0;
	}
	director_look(p, clock_now_ns());
	answer_member(c, f->head.serial, p, place);
	return 0;
}
