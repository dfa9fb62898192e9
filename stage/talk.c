/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.c: what a client of the stage says to the hub.  Runs in clients, in any
 * of their threads.
 */

#include <config.h>

#include "stage/talk.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/must.h"
#include "base/wire.h"
#include "stage/board.h"

#define LARGE	(UINT64_C(256) << 20)	/* bytes that take a while to find */

enum { FD_BOARD, FD_SEAT, FD_FLOOR, NR_PASS_FDS };	/* of MSG_ATTACHED */

static int
refuse_answer(struct link *l, struct wire_frame *f, struct ds_err *err)
{
	static const char why[] = "it gave an answer that cannot be read";

	wire_close_fds(f);
	link_end(l, why);
	return err_fail(err, -ESTALE, "the hub is gone: %s", why);
}

static void
write_pass(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    uint32_t pass)
{
	wire_write(w, f, type, 0);
	wire_put_u32(w, pass);
}

/*--- attaching -----------------------------------------------------------*/

static int
take_pass(struct link *l, struct wire_frame *f, struct talk_attached *a,
    struct ds_err *err)
{
	struct wire_reader r;

	wire_read(&r, f);
	a->pass = wire_get_u32(&r);
	a->place = wire_get_u32(&r);
	a->seed = wire_get_u64(&r);
	a->epoch = wire_get_u64(&r);
	a->unit = wire_get_u32(&r);
	a->units = wire_get_u64(&r);
	if (!wire_read_end(&r) || f->nr_fds != NR_PASS_FDS ||
	    a->place >= BOARD_PLACES || a->unit == 0 || a->units == 0)
		return refuse_answer(l, f, err);
	a->board = f->fds[FD_BOARD];
	a->seat = f->fds[FD_SEAT];
	a->floor = f->fds[FD_FLOOR];
	f->nr_fds = 0;
	return 0;
}

static void
put_text(struct wire_writer *w, const char *text)
{
	wire_put_bytes(w, text, strlen(text));
}

int
talk_attach(struct link *l, const struct stage_options *o, uint64_t epoch,
    uint64_t at, struct talk_attached *a, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;
	int rc;

	wire_write(&w, &f, MSG_ATTACH, 0);
	put_text(&w, o->group);
	put_text(&w, o->stream);
	wire_put_u32(&w, o->seed.seeded);
	wire_put_u64(&w, o->seed.seed);
	wire_put_u64(&w, epoch);
	wire_put_u64(&w, o->samples);
	wire_put_u32(&w, (uint32_t)o->unit);
	wire_put_u32(&w, o->order);
	wire_put_u64(&w, at);
	wire_put_u32(&w, (uint32_t)o->ahead);
	wire_put_u64(&w, o->window.units);
	wire_put_u64(&w, o->window.bytes);
	must(wire_write_end(&w));
	rc = link_call(l, &f, MSG_ATTACHED, err);
	return rc < 0 ? rc : take_pass(l, &f, a, err);
}

void
talk_close_fds(struct talk_attached *a)
{
	io_close(&a->board);
	io_close(&a->seat);
	io_close(&a->floor);
}

/*--- beginning -----------------------------------------------------------*/

int
talk_begin(struct link *l, uint32_t pass, uint64_t at, uint64_t end,
    const struct stage_options *o, uint64_t *start, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	uint64_t n;
	int rc;

	write_pass(&w, &f, MSG_BEGIN, pass);
	wire_put_u64(&w, at);
	wire_put_u64(&w, end);
	wire_put_u32(&w, o->lag.kind);
	wire_put_u64(&w, o->lag.ns);
	wire_put_u32(&w, (uint32_t)o->makers);
	must(wire_write_end(&w));
	rc = link_call(l, &f, LINK_ANY, err);
	if (rc < 0)
		return rc;
	wire_read(&r, &f);
	n = wire_get_u64(&r);
	if (!wire_read_end(&r) || f.nr_fds != 0)
		return refuse_answer(l, &f, err);
	if (f.head.type == MSG_BEHIND)
		return 0;
	if (f.head.type != MSG_BEGUN || n > end || (at != STAGE_ANY && n != at))
		return refuse_answer(l, &f, err);
	*start = n;
	return 1;
}

/*--- leases --------------------------------------------------------------*/

static int
take_lease(struct link *l, struct wire_frame *f, struct talk_leased *out,
    struct ds_err *err)
{
	struct wire_reader r;

	wire_read(&r, f);
	out->unit = wire_get_u64(&r);
	out->generation = wire_get_u32(&r);
	out->slot = wire_get_u32(&r);
	out->room = wire_get_u64(&r);
	if (!wire_read_end(&r) || f->nr_fds > (out->slot == 0 ? 0 : 1) ||
	    out->room > STAGE_BYTES_MAX)
		return refuse_answer(l, f, err);
	out->fd = f->nr_fds == 1 ? f->fds[0] : -1;
	f->nr_fds = 0;
	return 1;
}

static int
take_reason(struct link *l, struct wire_frame *f, struct talk_leased *out,
    struct ds_err *err)
{
	struct wire_reader r;
	uint32_t why;

	wire_read(&r, f);
	why = wire_get_u32(&r);
	if (!wire_read_end(&r) || f->nr_fds != 0 || why < STAGE_WAIT ||
	    why > STAGE_OVER)
		return refuse_answer(l, f, err);
	out->why = why;
	return 0;
}

/* A large slot is allocated in many pieces. */
static int
ask_lease(struct link *l, struct wire_frame *f, uint64_t bytes,
    struct talk_leased *out, struct ds_err *err)
{
	int rc;

	rc = bytes > LARGE ? link_call_long(l, f, LINK_ANY, err) :
	    link_call(l, f, LINK_ANY, err);
	if (rc < 0)
		return rc;
	if (f->head.type == MSG_STAGE_LEASED)
		return take_lease(l, f, out, err);
	if (f->head.type == MSG_STAGE_NOT_LEASED)
		return take_reason(l, f, out, err);
	return refuse_answer(l, f, err);
}

int
talk_lease(struct link *l, uint32_t pass, uint64_t bytes, uint32_t threads,
    struct talk_leased *out, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;

	write_pass(&w, &f, MSG_STAGE_LEASE, pass);
	wire_put_u64(&w, bytes);
	wire_put_u32(&w, threads);
	must(wire_write_end(&w));
	return ask_lease(l, &f, bytes, out, err);
}

static void
write_unit(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    uint32_t pass, uint64_t unit, uint32_t generation)
{
	write_pass(w, f, type, pass);
	wire_put_u64(w, unit);
	wire_put_u32(w, generation);
}

int
talk_room(struct link *l, uint32_t pass, uint64_t unit, uint32_t generation,
    uint64_t bytes, struct talk_leased *out, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;

	write_unit(&w, &f, MSG_ROOM, pass, unit, generation);
	wire_put_u64(&w, bytes);
	must(wire_write_end(&w));
	return ask_lease(l, &f, bytes, out, err);
}

int
talk_map(struct link *l, uint32_t pass, uint32_t slot, uint64_t *room,
    struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	int rc;

	write_pass(&w, &f, MSG_MAP, pass);
	wire_put_u32(&w, slot);
	must(wire_write_end(&w));
	rc = link_call(l, &f, MSG_MAPPED, err);
	if (rc < 0)
		return rc;
	wire_read(&r, &f);
	*room = wire_get_u64(&r);
	if (!wire_read_end(&r) || f.nr_fds != 1 || *room == 0 ||
	    *room > STAGE_BYTES_MAX)
		return refuse_answer(l, &f, err);
	f.nr_fds = 0;
	return f.fds[0];
}

/*--- told ----------------------------------------------------------------*/

static int
tell(struct link *l, const struct wire_writer *w, const struct wire_frame *f,
    struct ds_err *err)
{
	must(wire_write_end(w));
	return link_tell(l, f, err);
}

int
talk_publish(struct link *l, uint32_t pass, uint64_t unit,
    uint32_t generation, uint64_t bytes, uint64_t hash, uint64_t make_ns,
    struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;

	write_unit(&w, &f, MSG_STAGE_PUBLISH, pass, unit, generation);
	wire_put_u64(&w, bytes);
	wire_put_u64(&w, hash);
	wire_put_u64(&w, make_ns);
	return tell(l, &w, &f, err);
}

void
talk_give_up(struct link *l, uint32_t pass, uint64_t unit,
    uint32_t generation, enum stage_give_up how)
{
	struct wire_frame f;
	struct wire_writer w;

	write_unit(&w, &f, MSG_STAGE_GIVE_UP, pass, unit, generation);
	wire_put_u32(&w, how);
	(void)tell(l, &w, &f, NULL);
}

static void
tell_number(struct link *l, uint16_t type, uint32_t number)
{
	struct wire_frame f;
	struct wire_writer w;

	write_pass(&w, &f, type, number);
	(void)tell(l, &w, &f, NULL);
}

void
talk_unmapped(struct link *l, uint32_t slot)
{
	tell_number(l, MSG_UNMAPPED, slot);
}

void
talk_ping(struct link *l)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_PING, 0);
	must(wire_write_end(&w));
	(void)link_call(l, &f, MSG_DONE, NULL);
}

int
talk_why(struct link *l, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_PING, 0);
	return tell(l, &w, &f, err);
}

int
talk_waits_for(struct link *l, uint32_t pass, uint32_t place, uint64_t *pid,
    struct ds_err *err)
{
	uint64_t word[STAGE_MEMBER_WORDS];
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	uint32_t found;
	size_t len;
	int rc;

	*pid = 0;
	write_pass(&w, &f, MSG_STAGE_JOB, pass);
	wire_put_u32(&w, place);
	must(wire_write_end(&w));
	rc = link_call(l, &f, LINK_ANY, err);
	if (rc < 0 || f.head.type == MSG_DONE)
		return rc;
	wire_read(&r, &f);
	found = wire_get_u32(&r);
	(void)wire_get_u32(&r);
	(void)wire_get_bytes(&r, &len);
	(void)wire_get_u64(&r);
	(void)wire_get_u64(&r);
	for (unsigned i = 0; i < STAGE_MEMBER_WORDS; i++)
		word[i] = wire_get_u64(&r);
	if (f.head.type != MSG_MEMBER_IS || !wire_read_end(&r) ||
	    f.nr_fds != 0)
		return refuse_answer(l, &f, err);
	if (found == place)
		*pid = word[STAGE_MEMBER_WAITS_PID];
	return 0;
}

void
talk_news(struct link *l, uint32_t pass)
{
	tell_number(l, MSG_NEWS, pass);
}

void
talk_end(struct link *l, uint32_t pass)
{
	tell_number(l, MSG_END, pass);
}

void
talk_leave(struct link *l, uint32_t pass)
{
	tell_number(l, MSG_LEAVE, pass);
}
