/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_director_lies.c: tests of the hub's side of the stage: what no client
 * says is the end of the one that does, and of nothing else.
 */

#include <config.h>

#include <string.h>

#include "base/wire.h"
#include "stage/director.h"
#include "tests/harness/guests.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

static void
expect_expelled(struct stand *at, uint16_t type, const uint32_t *body,
    uint32_t words)
{
	testhub_send(at->guest->sock, type, body, 4 * words);
	assert_true(guest_is_expelled(at->guest));
	guest_leave(at->guest);
	stand_forget(at);
	guest_join(at->guest, 11);
	guest_sync(&b);
}

/* Nothing: a message cut short; a pass that is not there, and b's own. */
static void
others_passes_are_refused(void **state)
{
	static const struct { uint16_t type; uint32_t words; } all[] = {
		{ MSG_BEGIN, 9 }, { MSG_STAGE_LEASE, 4 }, { MSG_ROOM, 6 },
		{ MSG_STAGE_PUBLISH, 10 }, { MSG_STAGE_GIVE_UP, 5 },
		{ MSG_MAP, 2 }, { MSG_NEWS, 1 }, { MSG_END, 1 },
		{ MSG_LEAVE, 1 },
	};
	uint32_t body[12] = { 0 };

	(void)state;
	guest_attach(&b, &wish_plain, &s[1]);
	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
		guest_attach(&a, &wish_plain, &s[0]);
		body[0] = s[1].number;
		expect_expelled(&s[0], all[i].type, body, all[i].words);
		guest_attach(&a, &wish_plain, &s[0]);
		body[0] = 511;
		expect_expelled(&s[0], all[i].type, body, all[i].words);
		guest_attach(&a, &wish_plain, &s[0]);
		body[0] = s[0].number;
		expect_expelled(&s[0], all[i].type, body, all[i].words - 1);
		guest_attach(&a, &wish_plain, &s[0]);
		body[0] = s[0].number;
		expect_expelled(&s[0], all[i].type, body, all[i].words + 1);
	}
	for (uint16_t type = MSG_STAGE_FIRST; type < MSG_MEMBER_IS + 3;
	    type++) {
		guest_attach(&a, &wish_plain, &s[0]);
		expect_expelled(&s[0], type, NULL, 0);
	}
	stand_make(&s[1], 0);
}

static void
wishes_that_cannot_be(void **state)
{
	struct wish good = wish_plain, bad[11];
	static char longest[STAGE_KEY_MAX + 2];
	unsigned n = 0;

	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	for (unsigned i = 0; i < 11; i++)
		bad[i] = good;
	bad[n++].key = longest;
	bad[n++].group = longest + sizeof longest - STAGE_GROUP_MAX - 2;
	bad[n++].seeded = 3;
	bad[n++].samples = 0;
	bad[n++].samples = UINT64_C(1) << 63;
	bad[n++].unit = 0;
	bad[n++].order = 2;
	bad[n++].at = 100;
	bad[n++].at = STAGE_ANY - 1;
	bad[n++].window = UINT64_C(1) << 32;
	bad[n++].window = STAGE_ANY;
	for (unsigned i = 0; i < n; i++) {
		struct wire_frame f;
		struct wire_writer w;

		wire_write(&w, &f, MSG_ATTACH, 1);
		wire_put_bytes(&w, bad[i].group, strlen(bad[i].group));
		wire_put_bytes(&w, bad[i].key, strlen(bad[i].key));
		wire_put_u32(&w, bad[i].seeded);
		wire_put_u64(&w, 0);
		wire_put_u64(&w, 0);
		wire_put_u64(&w, bad[i].samples);
		wire_put_u32(&w, bad[i].unit);
		wire_put_u32(&w, bad[i].order);
		wire_put_u64(&w, bad[i].at);
		wire_put_u32(&w, 4);
		wire_put_u64(&w, bad[i].window);
		wire_put_u64(&w, 0);
		assert_int_equal(wire_send(a.sock, &f, NULL), 0);
		assert_true(guest_is_expelled(&a));
		guest_leave(&a);
		guest_join(&a, 11);
	}
	good.key = longest + 1;
	guests_attach(0, &good);
	good.unit = UINT32_MAX;
	good.key = "one unit";
	good.ahead = UINT32_MAX;
	good.window = UINT32_MAX;
	guests_attach(1, &good);
	assert_int_equal(s[1].units, 1);
}

enum lie { NEVER_LEASED, WRONG_GENERATION, TWICE, TOO_MUCH, NO_MEMORY,
	ROOM_TWICE, GIVE_UP_HOW, BEGIN_TWICE, END_TWICE, END_FIRST, BEGIN_PAST,
	BEGIN_LAG, HUGE_LEASE, MANY_THREADS, TAKEN_BACK, PAST_END,
	RELEASED_MORE, LIES };

static void
lie(enum lie how)
{
	struct granted g = { .unit = 50 };
	uint64_t unit;

	switch (how) {
	case NEVER_LEASED:
		stand_publish(&s[0], &g, 1);
		return;
	case WRONG_GENERATION:
		g = stand_lease(&s[0], UNIT_BYTES, 1);
		g.generation++;
		stand_publish(&s[0], &g, 1);
		return;
	case TWICE:
		g = stand_lease(&s[0], UNIT_BYTES, 1);
		stand_publish(&s[0], &g, 1);
		stand_publish(&s[0], &g, 1);
		return;
	case TOO_MUCH:
		g = stand_lease(&s[0], UNIT_BYTES, 1);
		stand_publish(&s[0], &g, 8193);
		return;
	case NO_MEMORY:
		g = stand_lease(&s[0], 0, 1);
		stand_publish(&s[0], &g, 0);
		return;
	case GIVE_UP_HOW:
		g = stand_lease(&s[0], UNIT_BYTES, 1);
		stand_give_up(&s[0], &g, 2);
		return;
	case END_FIRST:
		stand_tell(&s[0], MSG_END);
		return;
	case END_TWICE:
		stand_begin(&s[0], 0);
		stand_tell(&s[0], MSG_END);
		stand_tell(&s[0], MSG_END);
		return;
	case TAKEN_BACK:
		stand_begin(&s[0], 0);
		stand_sit(&s[0], 2, 1);
		stand_tell(&s[0], MSG_NEWS);
		guest_sync(&a);
		stand_sit(&s[0], 1, 1);
		stand_tell(&s[0], MSG_NEWS);
		return;
	case PAST_END:
		stand_begin(&s[0], 0);
		stand_sit(&s[0], 101, 1);
		stand_tell(&s[0], MSG_NEWS);
		return;
	case RELEASED_MORE:
		unit = stand_begin(&s[0], 0);
		stand_sit(&s[0], unit + 1, unit);
		stand_tell(&s[0], MSG_NEWS);
		guest_sync(&a);
		stand_sit(&s[0], unit + 1, unit + 2);
		stand_tell(&s[0], MSG_NEWS);
		return;
	default:
		break;
	}
}

static void
lie_in_numbers(enum lie how)
{
	uint32_t begin[9] = { s[0].number, 0, 0, 100 };
	uint32_t lease[4] = { s[0].number };
	struct granted g = { 0 };

	if (how == ROOM_TWICE)
		g = stand_lease(&s[0], UNIT_BYTES, 1);
	if (how == BEGIN_TWICE)
		stand_begin(&s[0], 0);
	if (how == BEGIN_PAST)
		begin[3] = 101;
	if (how == BEGIN_LAG)
		begin[5] = 3;
	if (how == HUGE_LEASE)
		lease[2] = 257;		/* 2^40 + 2^32 */
	if (how == MANY_THREADS)
		lease[3] = 4097;
	if (how == ROOM_TWICE)
		testhub_send(a.sock, MSG_ROOM, (uint32_t[]){ s[0].number,
		    (uint32_t)g.unit, 0, g.generation, 4096, 0 }, 24);
	if (how == BEGIN_TWICE || how == BEGIN_PAST || how == BEGIN_LAG)
		testhub_send(a.sock, MSG_BEGIN, begin, sizeof begin);
	if (how == HUGE_LEASE || how == MANY_THREADS)
		testhub_send(a.sock, MSG_STAGE_LEASE, lease, sizeof lease);
}

/* Each is the end of one client, and of nothing else. */
static void
liars_are_expelled(void **state)
{
	(void)state;
	guest_attach(&b, &wish_plain, &s[1]);
	for (enum lie how = 0; how < LIES; how++) {
		guest_attach(&a, &wish_plain, &s[0]);
		lie(how);
		lie_in_numbers(how);
		if (!guest_is_expelled(&a))
			fail_msg("lie %d is believed", (int)how);
		guest_leave(&a);
		stand_forget(&s[0]);
		guest_join(&a, 11);
	}
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_MEMBERS), 0);
	assert_true(stand_lease(&s[1], UNIT_BYTES, 1).type ==
	    MSG_STAGE_LEASED);
}

UNIT_MAIN(
	GUESTS_UNIT(others_passes_are_refused),
	GUESTS_UNIT(wishes_that_cannot_be),
	GUESTS_UNIT(liars_are_expelled))
