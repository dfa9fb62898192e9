/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_stage.c: clients of the stage that say anything, write anything into
 * their seats, hang up and come back, at any time.
 *
 *     bytes: one step after the other, each a kind and what it needs; numbers
 *     have their lower byte first.  The frames of one kind hold any bytes; those
 *     of the others are right but for a few numbers, so that what is tried lies
 *     deep.  FRAME client type length body, ATTACH client epoch at order,
 *     BEGIN client at end lag, LEASE client bytes, HELD client what bytes (about
 *     its last lease), SIT seat word value (8), TIME tens of milliseconds, LEAVE
 *     client.
 *
 *  1. After each step the lines of all passes are in order, and slots within
 *     their budget.
 *  2. When all have gone, nothing is left of them.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "hub/clients.h"
#include "hub/proto.h"
#include "stage/director.h"
#include "tests/fuzz/fuzz.h"
#include "tests/harness/turnhub.h"

#define CLIENTS		3u
#define SEATS		16u
#define STEPS		200u		/* of one input */
#define BUDGET		(UINT64_C(16) * 8192)
#define SAMPLES		400u
#define UNIT		4u
#define SERIAL		7u

const char fuzz_name[] = "stage";

enum step { FRAME, ATTACH, BEGIN, LEASE, HELD, SIT, TIME, LEAVE, NR_STEPS };

struct guest {
	int		sock;		/* its end; 0: it is not there */
	uint32_t	place;		/* it was told last, of ATTACHED */
	uint64_t	unit;		/* of its last lease */
	uint32_t	generation, slot;
};

static const struct hub_options options = { .stage_bytes = BUDGET,
	.log = LOG_ERROR };
static const struct hub_module *const modules[] = { &director_module, NULL };
static uint64_t now_ns;
static struct guest guests[CLIENTS];
static struct seat *seats[SEATS];
static unsigned nr_seats;

/*--- time, and a helper that is no thread --------------------------------*/

static uint64_t
tell_time(void *arg)
{
	(void)arg;
	return now_ns;
}

static struct helper_job *jobs, **jobs_end = &jobs;
static unsigned nr_jobs;

int
helper_new(struct helper **out, struct loop *l, struct ds_err *err)
{
	(void)out;
	(void)l;
	return err_fail(err, -ENOSYS, "no helper here");
}

void
helper_free(struct helper **hp)
{
	(void)hp;
}

void
helper_submit(struct helper *h, struct helper_job *job)
{
	(void)h;
	job->next = NULL;
	*jobs_end = job;
	jobs_end = &job->next;
	nr_jobs++;
}

unsigned
helper_waiting(const struct helper *h)
{
	(void)h;
	return nr_jobs;
}

static void
help(void)
{
	while (jobs != NULL) {
		struct helper_job *job = jobs;

		jobs = job->next;
		if (jobs == NULL)
			jobs_end = &jobs;
		nr_jobs--;
		while (job->work(job))
			continue;
		job->done(job);
	}
}

/*--- the hub -------------------------------------------------------------*/

static void
open_once(void)
{
	if (hub.magic == HUB_MAGIC)
		return;
	clock_replace(tell_time, NULL);
	turnhub_open(modules, fuzz_null());
	hub.options = &options;
	hub.generation = 1;
}

/* Rule 1. */
static void
check(void)
{
	const struct director *d = hub.states[0];
	struct slots_counts counts;

	for (const struct pass *p = d->passes; p != NULL; p = p->next)
		must(line_broken(&p->line) == NULL);
	slots_counts(d->slots, &counts);
	must(counts.used_bytes <= BUDGET);
}

/*--- what a client is told -----------------------------------------------*/

static void
take_seat(struct wire_frame *f)
{
	void *base;

	must(f->nr_fds == 3);
	if (nr_seats == SEATS)
		return;
	base = mmap(NULL, sizeof(struct seat), PROT_READ | PROT_WRITE,
	    MAP_SHARED, f->fds[1], 0);
	must(base != MAP_FAILED);
	seats[nr_seats++] = base;
}

static void
note_answer(struct guest *g, struct wire_frame *f)
{
	struct wire_reader r;

	wire_read(&r, f);
	if (f->head.type == MSG_ATTACHED) {
		g->place = wire_get_u32(&r);
		take_seat(f);
	} else if (f->head.type == MSG_STAGE_LEASED) {
		g->unit = wire_get_u64(&r);
		g->generation = wire_get_u32(&r);
		g->slot = wire_get_u32(&r);
	}
	wire_close_fds(f);
}

static void
read_answers(struct guest *g)
{
	struct wire_frame f;
	int rc;

	while ((rc = turnhub_recv(g->sock, &f)) == 1)
		note_answer(g, &f);
	if (rc != -EAGAIN) {
		close(g->sock);		/* it was expelled */
		*g = (struct guest){ 0 };
	}
}

/* All turns that the hub's loop would take now. */
static void
take_turns(void)
{
	turnhub_take_turn();
	while (hub.clients.first_last != NULL) {
		struct client *c = hub.clients.first_last;
		eventfd_t one;

		must(eventfd_read(hub.clients.last, &one) == 0);
		hub.clients.first_last = c->next_last;
		if (hub.clients.first_last == NULL)
			hub.clients.last_end = &hub.clients.first_last;
		client_last_turn(c);
	}
	help();
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (guests[i].sock > 0)
			read_answers(&guests[i]);
	}
	check();
}

/*--- what a client says --------------------------------------------------*/

static void
say(struct guest *g, struct wire_frame *f)
{
	if (g->sock > 0)
		(void)wire_send(g->sock, f, NULL);
	take_turns();
}

static void
join(struct guest *g, uint64_t job)
{
	struct wire_frame f;

	*g = (struct guest){ .sock = turnhub_adopt() };
	turnhub_write_hello(&f, SERIAL, job);
	say(g, &f);
}

/*--- steps ---------------------------------------------------------------*/

struct input {
	const uint8_t	*at;
	size_t		left;
};

static uint64_t
next_number(struct input *in, unsigned bytes)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < bytes && in->left > 0; i++, in->left--)
		n |= (uint64_t)*in->at++ << 8 * i;
	return n;
}

/* One that comes anew if it has gone: the first two are of one job. */
static struct guest *
next_guest(struct input *in)
{
	unsigned i = (unsigned)next_number(in, 1) % CLIENTS;

	if (guests[i].sock == 0)
		join(&guests[i], 1 + i / 2);
	return &guests[i];
}

static void
say_anything(struct input *in)
{
	struct guest *g = next_guest(in);
	uint16_t type = (uint16_t)(MSG_STAGE_FIRST + next_number(in, 1) % 24);
	size_t len = (size_t)next_number(in, 1);
	struct wire_frame f;
	struct wire_writer w;

	len = len < in->left ? len : in->left;
	wire_write(&w, &f, type, SERIAL);
	memcpy(f.body, in->at, len);
	f.head.len = (uint32_t)len;
	in->at += len;
	in->left -= len;
	say(g, &f);
}

static void
attach(struct input *in)
{
	struct guest *g = next_guest(in);
	struct wire_frame f;
	struct wire_writer w;
	uint64_t at;

	wire_write(&w, &f, MSG_ATTACH, SERIAL);
	wire_put_bytes(&w, "", 0);
	wire_put_bytes(&w, "a stream", 8);
	wire_put_u32(&w, STAGE_SEED_OWN);
	wire_put_u64(&w, 7);
	wire_put_u64(&w, next_number(in, 1) % 4);
	wire_put_u64(&w, SAMPLES);
	wire_put_u32(&w, UNIT);
	at = next_number(in, 1);
	wire_put_u32(&w, (uint32_t)next_number(in, 1) % 2);
	wire_put_u64(&w, at < SAMPLES / UNIT ? at : STAGE_ANY);
	wire_put_u32(&w, 4);
	wire_put_u64(&w, 4);
	wire_put_u64(&w, 0);
	must(wire_write_end(&w));
	say(g, &f);
}

static void
begin(struct input *in)
{
	struct guest *g = next_guest(in);
	struct wire_frame f;
	struct wire_writer w;
	uint64_t at = next_number(in, 1);

	wire_write(&w, &f, MSG_BEGIN, SERIAL);
	wire_put_u32(&w, g->place);
	wire_put_u64(&w, at < SAMPLES / UNIT ? at : STAGE_ANY);
	wire_put_u64(&w, next_number(in, 1));
	wire_put_u32(&w, (uint32_t)next_number(in, 1) % 4);
	wire_put_u64(&w, 200 * NS_PER_MS);
	wire_put_u32(&w, 1);
	must(wire_write_end(&w));
	say(g, &f);
}

static void
lease(struct input *in)
{
	struct guest *g = next_guest(in);
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_STAGE_LEASE, SERIAL);
	wire_put_u32(&w, g->place);
	wire_put_u64(&w, next_number(in, 2));
	wire_put_u32(&w, 1);
	must(wire_write_end(&w));
	say(g, &f);
}

static void
write_held(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    const struct guest *g)
{
	wire_write(w, f, type, SERIAL);
	wire_put_u32(w, g->place);
	wire_put_u64(w, g->unit);
	wire_put_u32(w, g->generation);
}

static void
write_one(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    uint32_t n)
{
	wire_write(w, f, type, SERIAL);
	wire_put_u32(w, n);
}

static void
say_of_held(struct input *in)
{
	struct guest *g = next_guest(in);
	unsigned what = (unsigned)next_number(in, 1) % 8;
	uint64_t bytes = next_number(in, 2);
	struct wire_frame f;
	struct wire_writer w;

	switch (what) {
	case 0:
		write_held(&w, &f, MSG_ROOM, g);
		wire_put_u64(&w, bytes);
		break;
	case 1:
	case 2:
		write_held(&w, &f, MSG_STAGE_PUBLISH, g);
		wire_put_u64(&w, bytes);
		wire_put_u64(&w, bytes);
		wire_put_u64(&w, bytes << 20);
		break;
	case 3:
		write_held(&w, &f, MSG_STAGE_GIVE_UP, g);
		wire_put_u32(&w, (uint32_t)bytes % 3);
		break;
	case 4:
		write_one(&w, &f, MSG_MAP, g->place);
		wire_put_u32(&w, (uint32_t)bytes % 64);
		break;
	case 5:
		write_one(&w, &f, MSG_UNMAPPED, (uint32_t)bytes % 64);
		break;
	case 6:
		write_one(&w, &f, (uint16_t)(MSG_NEWS + bytes % 3), g->place);
		break;
	default:
		write_one(&w, &f, bytes % 2 == 0 ? MSG_STAGE_STAT :
		    MSG_STAGE_JOB, (uint32_t)(bytes >> 1) % 8);
		if (bytes % 2 == 1)
			wire_put_u32(&w, (uint32_t)(bytes >> 4));
		break;
	}
	must(wire_write_end(&w));
	say(g, &f);
}

static void
write_seat(struct input *in)
{
	unsigned i = (unsigned)next_number(in, 1);
	unsigned word = (unsigned)next_number(in, 1) % 5;
	uint64_t value = next_number(in, 8);
	struct seat *s;
	_Atomic uint64_t *words[5];

	if (nr_seats == 0)
		return;
	s = seats[i % nr_seats];
	words[0] = &s->taken;
	words[1] = &s->released;
	words[2] = &s->waits;
	words[3] = &s->samples;
	words[4] = &s->own;
	atomic_store_explicit(words[word], value, memory_order_relaxed);
}

static void
pass_time(struct input *in)
{
	now_ns += next_number(in, 1) * 10 * NS_PER_MS;
	director_module.tick(hub.states[0], now_ns);
	take_turns();
}

static void
leave(struct input *in)
{
	struct guest *g = &guests[next_number(in, 1) % CLIENTS];

	if (g->sock == 0)
		return;
	close(g->sock);
	*g = (struct guest){ 0 };
	take_turns();
}

static void
take_step(struct input *in)
{
	static void (*const steps[NR_STEPS])(struct input *) = {
		[FRAME] = say_anything, [ATTACH] = attach, [BEGIN] = begin,
		[LEASE] = lease, [HELD] = say_of_held, [SIT] = write_seat,
		[TIME] = pass_time, [LEAVE] = leave,
	};

	steps[next_number(in, 1) % NR_STEPS](in);
}

/*--- all of it -----------------------------------------------------------*/

/* Rule 2.  This process is every client's, and lives on: so they leave ghosts,
 * which go with the hub. */
static void
end_all(void)
{
	director_module.leave(hub.states[0]);
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (guests[i].sock > 0)
			close(guests[i].sock);
		guests[i] = (struct guest){ 0 };
	}
	take_turns();
	must(hub.clients.nr == 0 && hub.clients.nr_strangers == 0);
	director_module.stop(hub.states[0]);
	hub.nr_started = 0;
	while (nr_seats > 0)
		must(munmap(seats[--nr_seats], sizeof(struct seat)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct input in = { bytes, len };
	int before;

	open_once();
	before = fuzz_next_fd();
	now_ns = NS_PER_S;
	hub.machine = (struct machine){ .has_cgroup = false };
	must(director_module.start(&hub.states[0], &hub, NULL) == 0);
	hub.nr_started = 1;
	for (unsigned i = 0; i < STEPS && in.left > 0; i++)
		take_step(&in);
	end_all();
	must(fuzz_next_fd() == before);
	return 0;
}
