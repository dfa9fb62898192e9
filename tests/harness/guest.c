/* SPDX-License-Identifier: Apache-2.0
 *
 * guest.c: a client of the stage that says each message by itself.
 */

#include <config.h>

#include "tests/harness/guest.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "hub/proto.h"
#include "stage/director.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

#define SERIAL	4711u

const struct wish wish_plain = {
	.group = "", .key = "a stream", .seeded = STAGE_SEED_OWN, .seed = 7,
	.samples = 400, .unit = 4, .order = STAGE_RANDOM, .at = STAGE_ANY,
	.ahead = 4, .window = 4,
};

/*--- the hub -------------------------------------------------------------*/

static pid_t hub;

void
guesthub_start(uint64_t stage_bytes, unsigned speed)
{
	static const struct hub_module *const modules[] = {
		&director_module, NULL,
	};
	struct hub_options o = hub_defaults;

	o.stage_bytes = stage_bytes;
	testhub_open();
	testhub_use(modules);
	hub = testhub_start(&o, speed);
}

void
guesthub_stop(void)
{
	assert_int_equal(testhub_stop(hub), 0);
	testhub_use(NULL);
	testhub_close();
}

/*--- frames --------------------------------------------------------------*/

static void
tell(struct guest *g, struct wire_writer *w)
{
	assert_true(wire_write_end(w));
	assert_int_equal(wire_send(g->sock, w->frame, NULL), 0);
}

static int
ask(struct guest *g, struct wire_writer *w, struct wire_reader *r)
{
	int type;

	tell(g, w);
	type = testhub_recv(g->sock, w->frame);
	assert_true(type != 0);
	assert_int_equal(w->frame->head.serial, SERIAL);
	wire_read(r, w->frame);
	return type;
}

void
guest_join(struct guest *g, uint64_t job)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;

	g->sock = testhub_connect();
	wire_write(&w, &f, MSG_HELLO, SERIAL);
	wire_put_bytes(&w, PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	wire_put_u64(&w, job);
	assert_int_equal(ask(g, &w, &r), MSG_WELCOME);
	(void)wire_get_u64(&r);
	g->client = wire_get_u32(&r);
	g->job = job != 0 ? job : g->client;
	wire_close_fds(&f);
}

void
guest_leave(struct guest *g)
{
	close(g->sock);
	g->sock = -1;
}

void
guest_sync(struct guest *g)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;

	wire_write(&w, &f, MSG_PING, SERIAL);
	assert_int_equal(ask(g, &w, &r), MSG_DONE);
}

bool
guest_is_expelled(struct guest *g)
{
	return testhub_is_ended(g->sock);
}

/*--- coming and going ----------------------------------------------------*/

static void
map_segments(struct stand *s, struct wire_frame *f)
{
	void *base;

	assert_int_equal(f->nr_fds, 3);
	assert_int_equal(segment_attach(&s->board, &board_kind, f->fds[0],
	    NULL), 0);
	s->is = s->board.base;
	base = mmap(NULL, sizeof *s->seat, PROT_READ | PROT_WRITE, MAP_SHARED,
	    f->fds[1], 0);
	assert_true(base != MAP_FAILED);
	assert_int_equal(segment_check(&seat_kind, base, sizeof *s->seat,
	    NULL), 0);
	close(f->fds[1]);
	s->seat = base;
	assert_int_equal(segment_attach(&s->fl, &floor_kind, f->fds[2],
	    NULL), 0);
}

int
guest_try_attach(struct guest *g, const struct wish *wish, struct stand *s)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	int type;

	wire_write(&w, &f, MSG_ATTACH, SERIAL);
	wire_put_bytes(&w, wish->group, strlen(wish->group));
	wire_put_bytes(&w, wish->key, strlen(wish->key));
	wire_put_u32(&w, wish->seeded);
	wire_put_u64(&w, wish->seed);
	wire_put_u64(&w, wish->epoch);
	wire_put_u64(&w, wish->samples);
	wire_put_u32(&w, wish->unit);
	wire_put_u32(&w, wish->order);
	wire_put_u64(&w, wish->at);
	wire_put_u32(&w, wish->ahead);
	wire_put_u64(&w, wish->window);
	wire_put_u64(&w, wish->window_bytes);
	type = ask(g, &w, &r);
	if (type != MSG_ATTACHED)
		return type;
	*s = (struct stand){ .guest = g };
	s->number = wire_get_u32(&r);
	s->place = wire_get_u32(&r);
	s->seed = wire_get_u64(&r);
	s->epoch = wire_get_u64(&r);
	s->unit = wire_get_u32(&r);
	s->units = wire_get_u64(&r);
	assert_true(wire_read_end(&r));
	map_segments(s, &f);
	return type;
}

void
guest_attach(struct guest *g, const struct wish *wish, struct stand *s)
{
	assert_int_equal(guest_try_attach(g, wish, s), MSG_ATTACHED);
	atomic_store(&s->seat->waits, BOARD_NEVER);
}

void
stand_forget(struct stand *s)
{
	segment_detach(&s->board);
	segment_detach(&s->fl);
	if (s->seat != NULL)
		munmap(s->seat, sizeof *s->seat);
	s->seat = NULL;
}

/*--- a member ------------------------------------------------------------*/

int
stand_try_begin(struct stand *s, uint64_t at, uint64_t end, uint32_t lag,
    uint64_t lag_ns, uint64_t *unit)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	int type;

	wire_write(&w, &f, MSG_BEGIN, SERIAL);
	wire_put_u32(&w, s->number);
	wire_put_u64(&w, at);
	wire_put_u64(&w, end);
	wire_put_u32(&w, lag);
	wire_put_u64(&w, lag_ns);
	wire_put_u32(&w, 1);
	type = ask(s->guest, &w, &r);
	*unit = wire_get_u64(&r);
	guest_sync(s->guest);
	return type;
}

uint64_t
stand_begin(struct stand *s, uint64_t at)
{
	uint64_t start;

	assert_int_equal(stand_try_begin(s, at, s->units, STAGE_LAG_WAIT,
	    LAG_WAIT_NS, &start), MSG_BEGUN);
	stand_sit(s, start, start);
	return start;
}

void
stand_sit(struct stand *s, uint64_t taken, uint64_t released)
{
	atomic_store(&s->seat->waits, BOARD_NEVER);
	atomic_store(&s->seat->taken, taken);
	atomic_store(&s->seat->released, released);
}

void
stand_wait(struct stand *s, uint64_t unit)
{
	atomic_store(&s->seat->waits, unit);
}

/*--- a maker -------------------------------------------------------------*/

/* It is answered before the turn is over: what the board says comes later. */
static struct granted
read_granted(struct guest *guest, int type, struct wire_frame *f,
    struct wire_reader *r)
{
	struct granted g = { .type = type };

	if (type == MSG_STAGE_NOT_LEASED) {
		g.why = wire_get_u32(r);
	} else if (type == MSG_STAGE_LEASED) {
		g.unit = wire_get_u64(r);
		g.generation = wire_get_u32(r);
		g.slot = wire_get_u32(r);
		g.room = wire_get_u64(r);
		g.has_fd = f->nr_fds == 1;
		wire_close_fds(f);
	} else {
		return g;
	}
	assert_true(wire_read_end(r));
	guest_sync(guest);
	return g;
}

struct granted
stand_lease(struct stand *s, uint64_t bytes, uint32_t threads)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;

	wire_write(&w, &f, MSG_STAGE_LEASE, SERIAL);
	wire_put_u32(&w, s->number);
	wire_put_u64(&w, bytes);
	wire_put_u32(&w, threads);
	return read_granted(s->guest, ask(s->guest, &w, &r), &f, &r);
}

static void
write_holder(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    const struct stand *s, const struct granted *g)
{
	wire_write(w, f, type, SERIAL);
	wire_put_u32(w, s->number);
	wire_put_u64(w, g->unit);
	wire_put_u32(w, g->generation);
}

struct granted
stand_room(struct stand *s, const struct granted *g, uint64_t bytes)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;

	write_holder(&w, &f, MSG_ROOM, s, g);
	wire_put_u64(&w, bytes);
	return read_granted(s->guest, ask(s->guest, &w, &r), &f, &r);
}

void
stand_publish(struct stand *s, const struct granted *g, uint64_t bytes)
{
	stand_publish_after(s, g, bytes, NS_PER_MS);
}

void
stand_publish_after(struct stand *s, const struct granted *g, uint64_t bytes,
    uint64_t make_ns)
{
	struct wire_frame f;
	struct wire_writer w;

	write_holder(&w, &f, MSG_STAGE_PUBLISH, s, g);
	wire_put_u64(&w, bytes);
	wire_put_u64(&w, g->unit * 1000);	/* hash */
	wire_put_u64(&w, make_ns);
	tell(s->guest, &w);
}

void
stand_give_up(struct stand *s, const struct granted *g, uint32_t how)
{
	struct wire_frame f;
	struct wire_writer w;

	write_holder(&w, &f, MSG_STAGE_GIVE_UP, s, g);
	wire_put_u32(&w, how);
	tell(s->guest, &w);
}

void
stand_tell(struct stand *s, uint16_t type)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, type, SERIAL);
	wire_put_u32(&w, s->number);
	tell(s->guest, &w);
}

int
stand_map(struct stand *s, uint32_t slot, uint64_t *room)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	int type;

	wire_write(&w, &f, MSG_MAP, SERIAL);
	wire_put_u32(&w, s->number);
	wire_put_u32(&w, slot);
	type = ask(s->guest, &w, &r);
	*room = type == MSG_MAPPED ? wire_get_u64(&r) : 0;
	assert_int_equal(f.nr_fds, type == MSG_MAPPED);
	wire_close_fds(&f);
	return type;
}

void
stand_make(struct stand *s, uint64_t unit)
{
	struct granted g = stand_lease(s, UNIT_BYTES, 1);

	assert_int_equal(g.type, MSG_STAGE_LEASED);
	assert_int_equal(g.unit, unit);
	stand_publish(s, &g, UNIT_BYTES);
	guest_sync(s->guest);
	assert_int_equal(stand_state(s, unit), UNIT_STAGED);
}

/*--- the board -----------------------------------------------------------*/

uint64_t
stand_word(const struct stand *s, uint64_t unit)
{
	const struct board_entry *e = &s->is->entries[unit % BOARD_RING];
	uint64_t word = atomic_load(&e->word);

	assert_int_equal(atomic_load(&e->unit), unit);
	return word;
}

enum unit_state
stand_state(const struct stand *s, uint64_t unit)
{
	return board_state(stand_word(s, unit));
}

uint32_t
stand_wakes(const struct stand *s)
{
	return atomic_load(&s->is->places[s->place].wake);
}

uint32_t
stand_works(const struct stand *s)
{
	return atomic_load(&s->is->places[s->place].work);
}

/*--- statistics ----------------------------------------------------------*/

static void
skip_bytes(struct wire_reader *r)
{
	size_t len;

	(void)wire_get_bytes(r, &len);
}

bool
guest_stat(struct guest *g, uint32_t after, uint32_t *pass,
    uint64_t word[STAGE_PASS_WORDS])
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;

	wire_write(&w, &f, MSG_STAGE_STAT, SERIAL);
	wire_put_u32(&w, after);
	if (ask(g, &w, &r) == MSG_DONE)
		return false;
	assert_int_equal(f.head.type, MSG_PASS_IS);
	*pass = wire_get_u32(&r);
	skip_bytes(&r);
	skip_bytes(&r);
	(void)wire_get_u64(&r);
	(void)wire_get_u64(&r);
	(void)wire_get_u32(&r);
	for (unsigned i = 0; i < STAGE_PASS_WORDS; i++)
		word[i] = wire_get_u64(&r);
	assert_true(wire_read_end(&r));
	return true;
}

uint64_t
stand_stat(struct stand *s, enum stage_pass_word which)
{
	uint64_t word[STAGE_PASS_WORDS];
	uint32_t pass;

	assert_true(guest_stat(s->guest, s->is->pass - 1, &pass, word));
	assert_int_equal(pass, s->is->pass);
	return word[which];
}

bool
guest_stat_job(struct guest *g, uint32_t pass, uint32_t after, uint32_t *place,
    uint64_t word[STAGE_MEMBER_WORDS])
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;

	wire_write(&w, &f, MSG_STAGE_JOB, SERIAL);
	wire_put_u32(&w, pass);
	wire_put_u32(&w, after);
	if (ask(g, &w, &r) == MSG_DONE)
		return false;
	assert_int_equal(f.head.type, MSG_MEMBER_IS);
	*place = wire_get_u32(&r);
	(void)wire_get_u32(&r);
	skip_bytes(&r);
	assert_int_equal(wire_get_u64(&r), getpid());
	(void)wire_get_u64(&r);
	for (unsigned i = 0; i < STAGE_MEMBER_WORDS; i++)
		word[i] = wire_get_u64(&r);
	assert_true(wire_read_end(&r));
	return true;
}
