/* SPDX-License-Identifier: Apache-2.0
 *
 * stageframes.c: clients of the stage that do what no client of ours does.
 * Run by tests.
 *
 *     stageframes HOW STREAM
 *
 * What no client may send: pass (another's), nopass, cut, grown, type, zero,
 * key, group, nul, seeded, order, samples, unit, at, window, bytes, threads,
 * publish, generation, twice, toomuch, nomemory, room, how, begin, end, endtwice,
 * past, lag.  Seats that say what cannot be: back, beyond, released, waits.
 * More than there is: places, leases.  What does no harm: map (a slot of nobody),
 * unmapped, news (many), fds (descriptors that nobody asked for).
 *
 * Prints one line: "welcome", "expelled", or "refused: TEXT", with a count before
 * it where there is one.
 */

#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hub/link.h"
#include "stage/board.h"
#include "stage/messages.h"
#include "tests/harness/welcome.h"

#define UNITS	100u
#define MANY	2000u

static struct link *hub, *other;
static const char *stream;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "stageframes: %s\n", what);
	exit(1);
}

static struct link *
join(void)
{
	struct ds_err err;
	struct link *l;

	if (link_new(&l, false, &err) < 0)
		die(err.text);
	return l;
}

/*--- frames --------------------------------------------------------------*/

/* Fields: 4 and 8 are numbers of so many bytes. */
static void
fill(struct wire_frame *f, uint16_t type, const char *fields, va_list ap)
{
	struct wire_writer w;

	wire_write(&w, f, type, 0);
	for (; *fields != '\0'; fields++) {
		if (*fields == '4')
			wire_put_u32(&w, va_arg(ap, uint32_t));
		else
			wire_put_u64(&w, va_arg(ap, uint64_t));
	}
}

static void
tell(uint16_t type, const char *fields, ...)
{
	struct wire_frame f;
	va_list ap;

	va_start(ap, fields);
	fill(&f, type, fields, ap);
	va_end(ap);
	(void)link_tell(hub, &f, NULL);
}

static int
ask(struct wire_frame *f, uint16_t type, const char *fields, ...)
{
	struct ds_err err;
	va_list ap;
	int rc;

	va_start(ap, fields);
	fill(f, type, fields, ap);
	va_end(ap);
	rc = link_call(hub, f, LINK_ANY, &err);
	if (rc < 0 && is_welcome(hub))
		printf("refused: %s\n", err.text);
	return rc;
}

/*--- attaching -----------------------------------------------------------*/

static uint64_t
unless(const char *how, const char *name, uint64_t bad, uint64_t good)
{
	return strcmp(how, name) == 0 ? bad : good;
}

static int
attach(struct link *l, const char *how, struct wire_frame *f,
    struct ds_err *err)
{
	static const char bytes[STAGE_KEY_MAX + 1];
	struct wire_writer w;

	wire_write(&w, f, MSG_ATTACH, 0);
	wire_put_bytes(&w, bytes, unless(how, "group", STAGE_GROUP_MAX + 1, 0));
	if (strcmp(how, "key") == 0)
		wire_put_bytes(&w, bytes, sizeof bytes);
	else
		wire_put_bytes(&w, stream, strlen(stream) +
		    unless(how, "nul", 1, 0));
	wire_put_u32(&w, (uint32_t)unless(how, "seeded", 77, STAGE_SEED_OWN));
	wire_put_u64(&w, 1);
	wire_put_u64(&w, 0);
	wire_put_u64(&w, unless(how, "samples", 0, UNITS));
	wire_put_u32(&w, (uint32_t)unless(how, "unit", 0, 1));
	wire_put_u32(&w, (uint32_t)unless(how, "order", 2, STAGE_RANDOM));
	wire_put_u64(&w, unless(how, "at", UNITS, STAGE_ANY));
	wire_put_u32(&w, UNITS);
	wire_put_u64(&w, unless(how, "window", UINT64_MAX, UNITS));
	wire_put_u64(&w, 0);
	return link_call(l, f, MSG_ATTACHED, err);
}

struct stand {
	uint32_t number;
	struct seat *seat;
};

static struct stand
stand_of(struct wire_frame *f)
{
	struct wire_reader r;
	struct stand s;

	wire_read(&r, f);
	s.number = wire_get_u32(&r);
	s.seat = mmap(NULL, sizeof *s.seat, PROT_READ | PROT_WRITE, MAP_SHARED,
	    f->fds[1], 0);
	if (s.seat == MAP_FAILED)
		die("mmap");
	atomic_store(&s.seat->waits, BOARD_NEVER);
	wire_close_fds(f);
	return s;
}

static struct stand
attach_well(struct link *l)
{
	struct wire_frame f;
	struct ds_err err;

	if (attach(l, "well", &f, &err) < 0)
		die(err.text);
	return stand_of(&f);
}

static int
attach_many(void)
{
	struct wire_frame f;
	struct ds_err err;
	unsigned nr = 0;

	while (attach(hub, "well", &f, &err) == 0) {
		wire_close_fds(&f);
		nr++;
	}
	printf("%u, then refused: %s\n", nr, err.text);
	return 0;
}

/*--- leases --------------------------------------------------------------*/

struct granted {
	uint64_t	unit;
	uint32_t	generation;
	uint64_t	room;
};

static int
lease(const struct stand *s, uint64_t bytes, struct granted *g)
{
	struct wire_reader r;
	struct wire_frame f;

	if (ask(&f, MSG_STAGE_LEASE, "484", s->number, bytes, 1u) < 0)
		return -1;
	wire_read(&r, &f);
	wire_close_fds(&f);
	if (f.head.type != MSG_STAGE_LEASED)
		return -1;
	g->unit = wire_get_u64(&r);
	g->generation = wire_get_u32(&r);
	(void)wire_get_u32(&r);
	g->room = wire_get_u64(&r);
	return 0;
}

static void
publish(const struct stand *s, const struct granted *g, uint64_t bytes)
{
	tell(MSG_STAGE_PUBLISH, "484888", s->number, g->unit, g->generation,
	    bytes, UINT64_C(0), UINT64_C(0));
}

static bool
lie_of_lease(const char *how, const struct stand *s)
{
	struct granted g = { .unit = 3 };
	struct wire_frame f;

	if (strcmp(how, "publish") != 0 &&
	    lease(s, strcmp(how, "nomemory") == 0 ? 0 : 4096, &g) < 0)
		die("no lease");
	if (strcmp(how, "publish") == 0 || strcmp(how, "nomemory") == 0) {
		publish(s, &g, 0);
	} else if (strcmp(how, "generation") == 0) {
		g.generation += 5;
		publish(s, &g, 1);
	} else if (strcmp(how, "twice") == 0) {
		publish(s, &g, 1);
		publish(s, &g, 1);
	} else if (strcmp(how, "toomuch") == 0) {
		publish(s, &g, g.room + 1);
	} else if (strcmp(how, "room") == 0) {
		(void)ask(&f, MSG_ROOM, "4848", s->number, g.unit,
		    g.generation, UINT64_C(4096));
	} else if (strcmp(how, "how") == 0) {
		tell(MSG_STAGE_GIVE_UP, "4844", s->number, g.unit,
		    g.generation, 2u);
	} else {
		return false;
	}
	return true;
}

static void
lease_many(const struct stand *s)
{
	struct granted g;
	unsigned nr = 0;

	while (nr < MANY && lease(s, 4096, &g) == 0)
		nr++;
	printf("%s\n", nr >= 2 && nr < UNITS ? "some" : "all, or none");
}

/*--- members -------------------------------------------------------------*/

static int
begin(const struct stand *s, uint64_t end, uint32_t lag)
{
	struct wire_frame f;

	return ask(&f, MSG_BEGIN, "488484", s->number, UINT64_C(0), end, lag,
	    UINT64_C(0), 1u);
}

static void
sit(const struct stand *s, uint64_t taken, uint64_t released, uint64_t waits)
{
	atomic_store(&s->seat->taken, taken);
	atomic_store(&s->seat->released, released);
	atomic_store(&s->seat->waits, waits);
	tell(MSG_NEWS, "4", s->number);
}

static bool
lie_of_member(const char *how, const struct stand *s)
{
	if (strcmp(how, "past") == 0) {
		(void)begin(s, UNITS + 1, 0);
	} else if (strcmp(how, "lag") == 0) {
		(void)begin(s, UNITS, 3);
	} else if (strcmp(how, "end") == 0) {
		tell(MSG_END, "4", s->number);
	} else if (begin(s, UNITS, 0) < 0) {
		die("not begun");
	} else if (strcmp(how, "begin") == 0) {
		(void)begin(s, UNITS, 0);
	} else if (strcmp(how, "endtwice") == 0) {
		tell(MSG_END, "4", s->number);
		tell(MSG_END, "4", s->number);
	} else if (strcmp(how, "back") == 0) {
		sit(s, 2, 1, BOARD_NEVER);
		(void)is_welcome(hub);
		sit(s, 1, 1, BOARD_NEVER);
	} else if (strcmp(how, "beyond") == 0) {
		sit(s, UNITS + 1, 0, BOARD_NEVER);
	} else if (strcmp(how, "released") == 0) {
		sit(s, 1, 1, BOARD_NEVER);
		(void)is_welcome(hub);
		sit(s, 1, 2, BOARD_NEVER);
	} else if (strcmp(how, "waits") == 0) {
		sit(s, 1, 1, UNITS);
	} else {
		return false;
	}
	return true;
}

/*--- messages ------------------------------------------------------------*/

static void
send_fds(const struct stand *s)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_NEWS, 0);
	wire_put_u32(&w, s->number);
	for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
		wire_put_fd(&w, STDIN_FILENO);
	for (unsigned i = 0; i < MANY; i++)
		(void)link_tell(hub, &f, NULL);
}

static bool
lie_of_message(const char *how, const struct stand *s)
{
	struct stand others;
	struct wire_frame f;

	if (strcmp(how, "pass") == 0) {
		others = attach_well(other);
		tell(MSG_LEAVE, "4", others.number);
	} else if (strcmp(how, "nopass") == 0) {
		tell(MSG_NEWS, "4", UINT32_MAX);
	} else if (strcmp(how, "cut") == 0) {
		tell(MSG_NEWS, "");
	} else if (strcmp(how, "grown") == 0) {
		tell(MSG_NEWS, "44", s->number, 0u);
	} else if (strcmp(how, "type") == 0) {
		tell(MSG_MEMBER_IS + 1, "4", s->number);
	} else if (strcmp(how, "zero") == 0) {
		tell(MSG_ATTACHED, "4", s->number);
	} else if (strcmp(how, "bytes") == 0) {
		(void)ask(&f, MSG_STAGE_LEASE, "484", s->number,
		    STAGE_BYTES_MAX + 1, 1u);
	} else if (strcmp(how, "threads") == 0) {
		(void)ask(&f, MSG_STAGE_LEASE, "484", s->number, UINT64_C(1),
		    UINT32_MAX);
	} else if (strcmp(how, "map") == 0) {
		(void)ask(&f, MSG_MAP, "44", s->number, 4000u);
	} else if (strcmp(how, "unmapped") == 0) {
		for (uint32_t i = 0; i < MANY; i++)
			tell(MSG_UNMAPPED, "4", i);
	} else if (strcmp(how, "news") == 0) {
		for (uint32_t i = 0; i < MANY; i++)
			tell(MSG_NEWS, "4", s->number);
	} else if (strcmp(how, "fds") == 0) {
		send_fds(s);
	} else {
		return false;
	}
	return true;
}

static bool
is_one_of(const char *how, const char *const *names)
{
	while (*names != NULL && strcmp(how, *names) != 0)
		names++;
	return *names != NULL;
}

int
main(int argc, char **argv)
{
	static const char *const attaching[] = { "key", "group", "nul",
		"seeded", "order", "samples", "unit", "at", "window", NULL };
	static const char *const leases[] = { "publish", "nomemory",
		"generation", "twice", "toomuch", "room", "how", NULL };
	const char *how = argv[1];
	struct wire_frame f;
	struct stand s;

	if (argc != 3)
		die("HOW STREAM");
	stream = argv[2];
	hub = join();
	other = join();
	if (strcmp(how, "places") == 0)
		return attach_many();
	if (is_one_of(how, attaching)) {
		(void)attach(hub, how, &f, NULL);
		puts(is_welcome(hub) ? "welcome" : "expelled");
		return 0;
	}
	s = attach_well(hub);
	if (strcmp(how, "leases") == 0)
		lease_many(&s);
	else if (is_one_of(how, leases) ? !lie_of_lease(how, &s) :
	    !lie_of_message(how, &s) && !lie_of_member(how, &s))
		die("no such HOW");
	puts(is_welcome(hub) ? "welcome" : "expelled");
	return 0;
}
