/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_director.c: tests of the hub's side of the stage, message by message:
 * passes, leases, memory, what the board says, and what is refused.
 * unit_director_wait.c has waiting, late and dead ones.
 */

#include <config.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/wire.h"
#include "stage/director.h"
#include "tests/harness/guest.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

#define STANDS	8u

static struct guest a, b;
static struct stand s[STANDS];

static int
start_with(void **state, uint64_t stage_bytes)
{
	leak_before(state);
	memset(s, 0, sizeof s);
	alarm(100);
	guesthub_start(stage_bytes, 1);
	guest_join(&a, 11);
	guest_join(&b, 12);
	return 0;
}

static int
start(void **state)
{
	return start_with(state, UINT64_C(64) << 20);
}

static int
start_small(void **state)
{
	return start_with(state, 4 * 8192);	/* four units */
}

static int
start_larger(void **state)
{
	return start_with(state, 16 * 8192);
}

static int
stop(void **state)
{
	for (unsigned i = 0; i < STANDS; i++)
		stand_forget(&s[i]);
	guest_leave(&a);
	guest_leave(&b);
	guesthub_stop();
	alarm(0);
	return leak_after(state);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)
#define TEST_SMALL(test) cmocka_unit_test_setup_teardown(test, start_small, stop)

static uint64_t
stat_word(struct stand *at, enum stage_pass_word which)
{
	uint64_t word[STAGE_PASS_WORDS];
	uint32_t pass;

	assert_true(guest_stat(at->guest, at->is->pass - 1, &pass, word));
	assert_int_equal(pass, at->is->pass);
	return word[which];
}

/*--- passes --------------------------------------------------------------*/

static void
a_pass_is_made_and_ends(void **state)
{
	uint64_t word[STAGE_PASS_WORDS];
	uint32_t pass;

	(void)state;
	assert_false(guest_stat(&a, 0, &pass, word));
	guest_attach(&a, &wish_plain, &s[0]);
	assert_int_equal(s[0].units, 100);
	assert_int_equal(s[0].unit, 4);
	assert_int_equal(s[0].seed, 7);
	assert_int_equal(s[0].epoch, 0);
	assert_int_equal(s[0].is->units, 100);
	assert_int_equal(s[0].is->unit, 4);
	assert_int_equal(atomic_load(&s[0].is->window), 4);
	assert_int_equal(atomic_load(&s[0].is->places[s[0].place].state),
	    PLACE_MAKER);
	for (uint64_t u = 0; u < 4; u++)
		assert_int_equal(stand_state(&s[0], u), UNIT_FREE);
	assert_true(guest_stat(&b, 0, &pass, word));
	assert_int_equal(pass, s[0].is->pass);
	assert_int_equal(word[STAGE_PASS_WINDOW], 4);
	assert_false(guest_stat(&b, pass, &pass, word));
	stand_tell(&s[0], MSG_LEAVE);
	assert_false(guest_stat(&a, 0, &pass, word));
}

static void
attach_as(unsigned i, const struct wish *w)
{
	guest_attach(i % 2 == 0 ? &a : &b, w, &s[i]);
}

static void
only_the_same_stream_is_shared(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	attach_as(0, &w);
	attach_as(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	assert_true(s[1].number != s[0].number);
	w.key = "another";
	attach_as(2, &w);
	w = wish_plain;
	w.group = "ours";
	attach_as(3, &w);
	w = wish_plain;
	w.seed = 8;
	attach_as(4, &w);
	w = wish_plain;
	w.epoch = 1;
	attach_as(5, &w);
	w = wish_plain;
	w.order = STAGE_ORDERED;
	attach_as(6, &w);
	w = wish_plain;
	w.samples = 399;
	attach_as(7, &w);
	assert_int_equal(s[7].units, 100);
	for (unsigned i = 1; i < STANDS; i++) {
		for (unsigned j = i + 1; j < STANDS; j++)
			assert_true(s[i].is->pass != s[j].is->pass);
	}
}

static void
the_hub_gives_a_seed(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	w.seeded = STAGE_SEED_HUB;
	w.epoch = STAGE_ANY;
	attach_as(0, &w);
	assert_int_equal(s[0].epoch, 0);
	attach_as(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	assert_true(s[1].seed == s[0].seed && s[0].seed <= INT64_MAX);
	w.epoch = 3;		/* of the same stream */
	attach_as(2, &w);
	assert_true(s[2].seed == s[0].seed);
	w.epoch = STAGE_ANY;	/* the newest */
	attach_as(3, &w);
	assert_int_equal(s[3].is->pass, s[2].is->pass);
	assert_int_equal(s[3].epoch, 3);
	w.seeded = STAGE_SEED_KEPT;
	w.seed = s[0].seed;
	w.epoch = 0;
	attach_as(4, &w);
	assert_int_equal(s[4].is->pass, s[0].is->pass);
	w.seed++;		/* that of an earlier hub */
	attach_as(5, &w);
	assert_true(s[5].is->pass != s[0].is->pass);
	w.seed = s[0].seed;
	w.seeded = STAGE_SEED_OWN;	/* a number that is equal by chance */
	attach_as(6, &w);
	assert_true(s[6].is->pass != s[0].is->pass);
}

static void
passes_are_chosen_by_position(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	attach_as(0, &w);
	w.at = 3;
	attach_as(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	w.at = 50;
	attach_as(2, &w);
	assert_true(s[2].is->pass != s[0].is->pass);
	assert_int_equal(atomic_load(&s[2].is->base), 50);
	assert_int_equal(stand_state(&s[2], 53), UNIT_FREE);
	w.at = 26;		/* of 8: 52 of 4 */
	w.unit = 8;
	attach_as(3, &w);
	assert_int_equal(s[3].is->pass, s[2].is->pass);
	assert_int_equal(s[3].unit, 4);
	assert_int_equal(s[3].units, 100);
	w = wish_plain;		/* anywhere: where most are */
	stand_begin(&s[2], 50);
	attach_as(4, &w);
	assert_int_equal(s[4].is->pass, s[2].is->pass);
	w.at = 49;		/* just gone, and nobody else there */
	attach_as(5, &w);
	assert_true(s[5].is->pass != s[2].is->pass);
	assert_true(s[5].is->pass != s[0].is->pass);
}

static void
on_an_ordered_stream_one_catches_up(void **state)
{
	struct wish w = wish_plain;
	uint64_t unit;

	(void)state;
	w.order = STAGE_ORDERED;
	w.at = 10;
	attach_as(0, &w);
	stand_begin(&s[0], 10);
	w.at = 0;
	attach_as(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	assert_int_equal(stand_try_begin(&s[1], 0, 100, STAGE_LAG_WAIT, 0,
	    &unit), MSG_BEHIND);
	assert_int_equal(unit, 10);
	assert_int_equal(stand_begin(&s[1], 10), 10);
	assert_int_equal(atomic_load(&s[1].is->nr_members), 2);
	assert_int_equal(atomic_load(&s[1].is->nr_jobs), 2);
}

static void
the_window_is_the_largest_asked_for(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	w.window = 0;
	attach_as(0, &w);
	assert_int_equal(atomic_load(&s[0].is->window), WINDOW_UNITS);
	w.window = 20;
	attach_as(1, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 20);
	w.window = 5;
	attach_as(2, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 20);
	w.window = 20;		/* of twice the size */
	w.unit = 8;
	attach_as(3, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 40);
	w.window = 0;
	w.window_bytes = 50 * 8192;
	attach_as(4, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 40);
	stand_make(&s[0], 0);	/* now the size is known */
	assert_int_equal(atomic_load(&s[0].is->window), 50);
}

static void
the_window_is_within_the_budget(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	w.window = 1000;
	attach_as(0, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 1000);
	stand_make(&s[0], 0);
	assert_int_equal(atomic_load(&s[0].is->window), 4);
}

static void
two_in_one_process(void **state)
{
	(void)state;
	guest_attach(&a, &wish_plain, &s[0]);
	guest_attach(&a, &wish_plain, &s[1]);
	assert_true(s[0].place != s[1].place);
	stand_begin(&s[0], 0);
	stand_begin(&s[1], 0);
	assert_int_equal(atomic_load(&s[0].is->nr_members), 2);
	assert_int_equal(atomic_load(&s[0].is->nr_jobs), 1);
	stand_tell(&s[0], MSG_LEAVE);
	guest_sync(&a);
	assert_int_equal(atomic_load(&s[1].is->nr_members), 1);
	assert_int_equal(atomic_load(&s[1].is->places[s[0].place].state),
	    PLACE_NONE);
	stand_make(&s[1], 0);
}

/*--- making --------------------------------------------------------------*/

static void
what_is_published_is_shown(void **state)
{
	const struct board_entry *e;
	struct granted g;
	uint64_t room;

	(void)state;
	attach_as(0, &wish_plain);
	attach_as(1, &wish_plain);
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	assert_int_equal(g.type, MSG_STAGE_LEASED);
	assert_true(g.has_fd && g.slot != 0 && g.room == 8192);
	assert_int_equal(stand_state(&s[1], 0), UNIT_LEASED);
	assert_int_equal(board_maker(stand_word(&s[1], 0)), a.client);
	assert_int_equal(stand_map(&s[1], g.slot, &room), MSG_REFUSED);
	stand_publish(&s[0], &g, UNIT_BYTES);
	guest_sync(&a);
	e = &s[1].is->entries[0];
	assert_int_equal(stand_state(&s[1], 0), UNIT_STAGED);
	assert_int_equal(board_generation(stand_word(&s[1], 0)),
	    g.generation);
	assert_int_equal(atomic_load(&e->slot), g.slot);
	assert_int_equal(atomic_load(&e->bytes), UNIT_BYTES);
	assert_int_equal(atomic_load(&e->job), 11);
	stand_begin(&s[1], 0);
	assert_int_equal(stand_map(&s[1], g.slot, &room), MSG_MAPPED);
	assert_int_equal(room, 8192);
	assert_int_equal(stand_map(&s[1], 77, &room), MSG_REFUSED);
	assert_int_equal(stat_word(&s[0], STAGE_PASS_MADE), 1);
	assert_int_equal(stat_word(&s[0], STAGE_PASS_BYTES), 8192);
}

static void
units_with_errors_are_nobodys(void **state)
{
	struct granted g;

	(void)state;
	attach_as(0, &wish_plain);
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	stand_give_up(&s[0], &g, STAGE_LATER);
	guest_sync(&a);
	assert_int_equal(stand_state(&s[0], 0), UNIT_FREE);
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	assert_int_equal(g.unit, 0);
	assert_false(g.has_fd);		/* the same slot again */
	stand_give_up(&s[0], &g, STAGE_ALONE);
	guest_sync(&a);
	assert_int_equal(stand_state(&s[0], 0), UNIT_ALONE);
	assert_int_equal(stat_word(&s[0], STAGE_PASS_ALONE), 1);
	assert_int_equal(stat_word(&s[0], STAGE_PASS_BYTES), 0);
	stand_make(&s[0], 1);
}

static void
memory_can_come_later(void **state)
{
	struct granted g, r;

	(void)state;
	attach_as(0, &wish_plain);
	g = stand_lease(&s[0], 0, 1);
	assert_int_equal(g.type, MSG_STAGE_LEASED);
	assert_true(g.slot == 0 && g.room == 0 && !g.has_fd);
	r = stand_room(&s[0], &g, UNIT_BYTES);
	assert_int_equal(r.type, MSG_STAGE_LEASED);
	assert_true(r.unit == g.unit && r.generation == g.generation);
	assert_true(r.slot != 0 && r.has_fd);
	stand_publish(&s[0], &r, UNIT_BYTES);
	g = stand_lease(&s[0], 0, 1);
	r = stand_room(&s[0], &g, UINT64_C(65) << 20);
	assert_int_equal(r.type, MSG_STAGE_NOT_LEASED);
	assert_int_equal(r.why, STAGE_TOO_LARGE);
	assert_int_equal(stand_state(&s[0], 1), UNIT_ALONE);
	r = stand_lease(&s[0], UINT64_C(65) << 20, 1);
	assert_int_equal(r.why, STAGE_TOO_LARGE);
	assert_int_equal(stand_state(&s[0], 2), UNIT_ALONE);
}

static void
memory_is_within_the_budget(void **state)
{
	struct granted g[4], none;
	uint32_t works;

	(void)state;
	attach_as(0, &wish_plain);
	attach_as(1, &wish_plain);
	stand_begin(&s[0], 0);
	stand_begin(&s[1], 0);
	for (unsigned i = 0; i < 4; i++)	/* two pages each */
		stand_make(&s[0], i);
	stand_sit(&s[0], 2, 2);
	stand_sit(&s[1], 2, 1);
	/* Unit 0 is everyone's past, and its slot a's: b gets none. */
	works = stand_works(&s[1]);
	none = stand_lease(&s[1], UNIT_BYTES, 1);
	assert_int_equal(none.type, MSG_STAGE_NOT_LEASED);
	assert_int_equal(none.why, STAGE_NO_ROOM);
	assert_int_equal(stand_state(&s[1], 4), UNIT_FREE);
	assert_int_equal(stat_word(&s[0], STAGE_PASS_REVOKED), 0);
	/* a was asked for it (slots.h, 6): b is told. */
	while (stand_works(&s[1]) == works)
		usleep(100);
	g[0] = stand_lease(&s[0], UNIT_BYTES, 1);
	if (g[0].type == MSG_STAGE_LEASED)
		stand_publish(&s[0], &g[0], UNIT_BYTES);
	assert_true(stat_word(&s[0], STAGE_PASS_BYTES) <= 4 * 8192);
}

static void
few_threads_make_at_a_time(void **state)
{
	struct granted g[2], none;
	uint32_t works;

	(void)state;
	attach_as(0, &wish_plain);
	attach_as(1, &wish_plain);
	g[0] = stand_lease(&s[0], 0, 4096);
	g[1] = stand_lease(&s[0], 0, 4096);	/* two always may */
	assert_int_equal(g[1].type, MSG_STAGE_LEASED);
	works = stand_works(&s[1]);
	none = stand_lease(&s[1], 0, 1);
	assert_int_equal(none.why, STAGE_WAIT);
	assert_int_equal(stand_works(&s[1]), works);
	stand_give_up(&s[0], &g[0], STAGE_ALONE);
	guest_sync(&a);
	assert_true(stand_works(&s[1]) != works);
	assert_int_equal(stand_lease(&s[1], 0, 1).unit, 2);
}

/* Two threads of one process wait at one word: each is woken for each unit. */
static void
threads_of_one_process_are_woken(void **state)
{
	struct wish w = wish_plain;
	struct granted g;
	uint32_t works;

	(void)state;
	w.ahead = 1;
	attach_as(0, &w);
	stand_begin(&s[0], 0);
	g = stand_lease(&s[0], 0, 1);
	assert_int_equal(stand_lease(&s[0], 0, 1).why, STAGE_WAIT);
	works = stand_works(&s[0]);
	stand_give_up(&s[0], &g, STAGE_ALONE);	/* the first of them ... */
	stand_sit(&s[0], 1, 1);
	assert_int_equal(stand_lease(&s[0], 0, 1).unit, 1);
	stand_sit(&s[0], 2, 2);			/* ... and the second */
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	assert_true(stand_works(&s[0]) != works);
}

static void
a_pass_that_is_over_is_not_joined(void **state)
{
	(void)state;
	attach_as(0, &wish_plain);
	stand_begin(&s[0], 0);
	stand_sit(&s[0], 99, 99);
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	attach_as(1, &wish_plain);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	stand_sit(&s[0], 100, 99);
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	attach_as(3, &wish_plain);
	assert_true(s[3].is->pass != s[0].is->pass);
}

/*--- what the board asks for ---------------------------------------------*/

static void
only_who_waits_for_it_is_woken(void **state)
{
	uint32_t wakes, works;

	(void)state;
	attach_as(0, &wish_plain);
	attach_as(1, &wish_plain);
	stand_begin(&s[1], 0);
	wakes = stand_wakes(&s[1]);
	stand_make(&s[0], 0);
	assert_int_equal(stand_wakes(&s[1]), wakes);
	stand_sit(&s[1], 1, 1);
	stand_wait(&s[1], 1);
	works = stand_works(&s[1]);
	stand_make(&s[0], 1);
	assert_int_equal(stand_wakes(&s[1]), wakes + 1);
	assert_int_equal(stand_works(&s[1]), works);
	stand_make(&s[0], 2);
	assert_int_equal(stand_wakes(&s[1]), wakes + 1);
}

static void
units_too_far_ahead_are_asked_for(void **state)
{
	struct wish w = wish_plain;
	uint32_t works;

	(void)state;
	w.ahead = 2;
	w.window = 10;
	attach_as(0, &w);
	stand_begin(&s[0], 0);
	stand_make(&s[0], 0);
	stand_make(&s[0], 1);
	assert_true(atomic_load(&s[0].is->need_taken) == BOARD_NEVER);
	assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_int_equal(atomic_load(&s[0].is->need_taken), 1);
	assert_true(atomic_load(&s[0].is->need_released) == BOARD_NEVER);
	works = stand_works(&s[0]);
	stand_sit(&s[0], 1, 0);
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	assert_int_equal(stand_works(&s[0]), works + 1);
	assert_true(atomic_load(&s[0].is->need_taken) == BOARD_NEVER);
	stand_make(&s[0], 2);
}

static void
a_full_window_asks_for_releases(void **state)
{
	uint32_t works;

	(void)state;
	attach_as(0, &wish_plain);
	attach_as(1, &wish_plain);
	stand_begin(&s[0], 0);
	stand_begin(&s[1], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[0], i);
	stand_sit(&s[0], 2, 2);
	assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_int_equal(atomic_load(&s[0].is->need_released), 0);
	works = stand_works(&s[0]);
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	assert_int_equal(stand_works(&s[0]), works);
	stand_sit(&s[1], 1, 1);
	stand_tell(&s[1], MSG_NEWS);
	guest_sync(&b);
	assert_int_equal(stand_works(&s[0]), works + 1);
	assert_true(atomic_load(&s[0].is->need_released) == BOARD_NEVER);
	stand_make(&s[0], 4);
	assert_int_equal(atomic_load(&s[0].is->base), 1);
	assert_int_equal(stat_word(&s[0], STAGE_PASS_DELIVERED), 3);
}

static void
who_keeps_batches_is_asked_for_room(void **state)
{
	uint32_t wakes, works;

	(void)state;
	attach_as(0, &wish_plain);
	stand_begin(&s[0], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[0], i);
	stand_sit(&s[0], 1, 0);		/* in use, no more */
	stand_tell(&s[0], MSG_NEWS);
	assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_int_equal(atomic_load(&s[0].is->wants_room), 0);
	stand_sit(&s[0], 4, 0);
	stand_wait(&s[0], 4);
	wakes = stand_wakes(&s[0]);
	works = stand_works(&s[0]);
	assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_int_equal(atomic_load(&s[0].is->wants_room), 2);
	assert_int_equal(atomic_load(&s[0].is->need_released), 0);
	assert_int_equal(stand_wakes(&s[0]), wakes + 1);
	assert_int_equal(stand_works(&s[0]), works);
	atomic_store(&s[0].seat->released, 2);	/* they are private */
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	assert_int_equal(stand_works(&s[0]), works + 1);
	stand_make(&s[0], 4);
	stand_make(&s[0], 5);
}

/* What was said before it was needed, and is seen only when the needs have been
 * shown, needs something else. */
static void
needs_are_those_of_the_last_look(void **state)
{
	(void)state;
	guest_attach(&a, &wish_plain, &s[0]);
	stand_begin(&s[0], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[0], i);
	assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_int_equal(atomic_load(&s[0].is->need_taken), 1);
	assert_int_equal(atomic_load(&s[0].is->need_released), BOARD_NEVER);
	stand_sit(&s[0], 1, 0);
	guest_attach(&a, &wish_plain, &s[2]);	/* no seat is read before */
	assert_int_equal(atomic_load(&s[0].is->need_taken), BOARD_NEVER);
	assert_int_equal(atomic_load(&s[0].is->need_released), 0);
}

/* It has a unit to go on with: a wake would be lost on it. */
static void
who_is_refused_room_is_not_idle(void **state)
{
	struct wish w = wish_plain;
	struct granted g, other;
	uint32_t works;

	(void)state;
	w.ahead = 1;
	attach_as(0, &w);
	attach_as(1, &w);
	g = stand_lease(&s[0], 0, 1);
	other = stand_lease(&s[1], 0, 1);
	assert_int_equal(stand_room(&s[0], &g, 3 * 4096).why, STAGE_TOO_LARGE);
	assert_int_equal(stand_state(&s[1], 0), UNIT_ALONE);
	assert_int_equal(stand_lease(&s[1], 0, 1).why, STAGE_WAIT);
	works = stand_works(&s[1]);
	stand_give_up(&s[1], &other, STAGE_LATER);
	guest_sync(&b);
	assert_int_equal(stand_works(&s[1]), works + 1);
}

/* Who looks for memory retires what another pass keeps, and leaves alone what
 * was never made there. */
static void
what_was_not_made_is_not_retired(void **state)
{
	struct wish w = wish_plain;
	struct granted g;
	uint64_t start;

	(void)state;
	attach_as(0, &w);
	stand_begin(&s[0], 0);
	stand_make(&s[0], 0);
	stand_make(&s[0], 1);
	stand_tell(&s[0], MSG_END);
	w.key = "another";
	attach_as(1, &w);
	for (unsigned i = 0; i < 6; i++) {
		g = stand_lease(&s[1], UNIT_BYTES, 1);
		if (g.type != MSG_STAGE_LEASED)
			assert_int_equal(g.why, STAGE_NO_ROOM);
	}
	assert_int_equal(atomic_load(&s[0].is->base), 2);
	assert_int_equal(stand_try_begin(&s[0], 2, 100, STAGE_LAG_WAIT, 0,
	    &start), MSG_BEGUN);
	assert_int_equal(start, 2);
}

static void
what_fits_too_few_times_is_not_shared(void **state)
{
	(void)state;
	attach_as(0, &wish_plain);
	assert_int_equal(stand_lease(&s[0], 8193, 1).why, STAGE_TOO_LARGE);
	assert_int_equal(stand_state(&s[0], 0), UNIT_ALONE);
	stand_make(&s[0], 1);
}

/* One who is detached may keep a window: as much is left for the others. */
static void
the_window_is_half_of_the_budget(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	w.window = 1000;
	attach_as(0, &w);
	stand_make(&s[0], 0);
	assert_int_equal(atomic_load(&s[0].is->window), 8);
}

static void
a_seat_counts_from_its_start(void **state)
{
	uint64_t start;

	(void)state;
	attach_as(0, &wish_plain);
	attach_as(1, &wish_plain);
	stand_begin(&s[0], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[0], i);
	stand_sit(&s[0], 4, 3);
	/* What it said as a member before it ended is not what it says now. */
	stand_tell(&s[0], MSG_END);
	assert_int_equal(stand_try_begin(&s[0], 2, 100, STAGE_LAG_WAIT, 0,
	    &start), MSG_BEGUN);
	assert_int_equal(start, 2);
	stand_begin(&s[1], 0);
	stand_sit(&s[1], 3, 3);
	stand_make(&s[1], 4);
	assert_int_equal(atomic_load(&s[0].is->base), 1);
	stand_sit(&s[0], 2, 2);
	stand_make(&s[1], 5);
	assert_int_equal(stand_lease(&s[1], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_int_equal(atomic_load(&s[0].is->base), 2);
	stand_sit(&s[0], 4, 4);
	stand_make(&s[1], 6);
}

/*--- what no client says -------------------------------------------------*/

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
	attach_as(0, &good);
	good.unit = UINT32_MAX;
	good.key = "one unit";
	good.ahead = UINT32_MAX;
	good.window = UINT32_MAX;
	attach_as(1, &good);
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
	assert_int_equal(stat_word(&s[1], STAGE_PASS_MEMBERS), 0);
	assert_true(stand_lease(&s[1], UNIT_BYTES, 1).type ==
	    MSG_STAGE_LEASED);
}

static void
one_process_has_so_many_places(void **state)
{
	struct stand more[DIRECTOR_ATTACHED + 1];

	(void)state;
	for (unsigned i = 0; i < DIRECTOR_ATTACHED; i++)
		guest_attach(&a, &wish_plain, &more[i]);
	assert_int_equal(guest_try_attach(&a, &wish_plain,
	    &more[DIRECTOR_ATTACHED]), MSG_REFUSED);
	stand_tell(&more[0], MSG_LEAVE);
	stand_forget(&more[0]);
	guest_attach(&a, &wish_plain, &more[0]);
	assert_int_equal(more[0].place, 0);
	for (unsigned i = 0; i < DIRECTOR_ATTACHED; i++)
		stand_forget(&more[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pass_is_made_and_ends),
		TEST(only_the_same_stream_is_shared),
		TEST(the_hub_gives_a_seed),
		TEST(passes_are_chosen_by_position),
		TEST(on_an_ordered_stream_one_catches_up),
		TEST(the_window_is_the_largest_asked_for),
		TEST_SMALL(the_window_is_within_the_budget),
		TEST(two_in_one_process),
		TEST(what_is_published_is_shown),
		TEST(units_with_errors_are_nobodys),
		TEST(memory_can_come_later),
		TEST_SMALL(memory_is_within_the_budget),
		TEST(few_threads_make_at_a_time),
		TEST(threads_of_one_process_are_woken),
		TEST(a_pass_that_is_over_is_not_joined),
		TEST(only_who_waits_for_it_is_woken),
		TEST(units_too_far_ahead_are_asked_for),
		TEST(a_full_window_asks_for_releases),
		TEST(who_keeps_batches_is_asked_for_room),
		TEST(needs_are_those_of_the_last_look),
		TEST_SMALL(who_is_refused_room_is_not_idle),
		TEST_SMALL(what_was_not_made_is_not_retired),
		TEST_SMALL(what_fits_too_few_times_is_not_shared),
		cmocka_unit_test_setup_teardown(
		    the_window_is_half_of_the_budget, start_larger, stop),
		TEST(a_seat_counts_from_its_start),
		TEST(others_passes_are_refused),
		TEST(wishes_that_cannot_be),
		TEST(liars_are_expelled),
		TEST(one_process_has_so_many_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
