/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_director_lease.c: tests of the hub's side of the stage, message by
 * message: leases, memory, and what the board shows and asks for.
 */

#include <config.h>

#include <unistd.h>

#include "stage/director.h"
#include "tests/harness/guests.h"
#include "tests/harness/unit.h"

/*--- making --------------------------------------------------------------*/

static void
what_is_published_is_shown(void **state)
{
	const struct board_entry *e;
	struct granted g;
	uint64_t room;

	(void)state;
	guests_attach(0, &wish_plain);
	guests_attach(1, &wish_plain);
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
	assert_int_equal(stand_stat(&s[0], STAGE_PASS_MADE), 1);
	assert_int_equal(stand_stat(&s[0], STAGE_PASS_BYTES), 8192);
}

static void
units_with_errors_are_nobodys(void **state)
{
	struct granted g;

	(void)state;
	guests_attach(0, &wish_plain);
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
	assert_int_equal(stand_stat(&s[0], STAGE_PASS_ALONE), 1);
	assert_int_equal(stand_stat(&s[0], STAGE_PASS_BYTES), 0);
	stand_make(&s[0], 1);
}

static void
memory_can_come_later(void **state)
{
	struct granted g, r;

	(void)state;
	guests_attach(0, &wish_plain);
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
	guests_fill(STAGE_LAG_WAIT, LAG_WAIT_NS);
	stand_sit(&s[0], 2, 2);
	stand_sit(&s[1], 2, 1);
	/* Unit 0 is everyone's past, and its slot a's: b gets none. */
	works = stand_works(&s[1]);
	none = stand_lease(&s[1], UNIT_BYTES, 1);
	assert_int_equal(none.type, MSG_STAGE_NOT_LEASED);
	assert_int_equal(none.why, STAGE_NO_ROOM);
	assert_int_equal(stand_state(&s[1], 4), UNIT_FREE);
	assert_int_equal(stand_stat(&s[0], STAGE_PASS_REVOKED), 0);
	/* a was asked for it (slots.h, 6): b is told. */
	while (stand_works(&s[1]) == works)
		usleep(100);
	g[0] = stand_lease(&s[0], UNIT_BYTES, 1);
	if (g[0].type == MSG_STAGE_LEASED)
		stand_publish(&s[0], &g[0], UNIT_BYTES);
	assert_true(stand_stat(&s[0], STAGE_PASS_BYTES) <= 4 * 8192);
}

static void
few_threads_make_at_a_time(void **state)
{
	struct granted g[2], none;
	uint32_t works;

	(void)state;
	guests_attach(0, &wish_plain);
	guests_attach(1, &wish_plain);
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

/* There is nobody to leave processors to. */
static void
who_is_alone_makes_as_it_likes(void **state)
{
	struct granted g[3];

	(void)state;
	guests_attach(0, &wish_plain);
	stand_begin(&s[0], 0);
	for (unsigned i = 0; i < 3; i++) {
		g[i] = stand_lease(&s[0], 0, 4096);
		assert_int_equal(g[i].type, MSG_STAGE_LEASED);
	}
	guests_attach(1, &wish_plain);
	assert_int_equal(stand_lease(&s[1], 0, 1).why, STAGE_WAIT);
	stand_give_up(&s[0], &g[0], STAGE_ALONE);
	stand_give_up(&s[0], &g[1], STAGE_ALONE);
	guest_sync(&a);
	assert_int_equal(stand_lease(&s[1], 0, 1).unit, 3);
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
	guests_attach(0, &w);
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

/*--- what the board asks for ---------------------------------------------*/

static void
only_who_waits_for_it_is_woken(void **state)
{
	uint32_t wakes, works;

	(void)state;
	guests_attach(0, &wish_plain);
	guests_attach(1, &wish_plain);
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
	guests_attach(0, &w);
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
	guests_fill(STAGE_LAG_WAIT, LAG_WAIT_NS);
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
	assert_int_equal(stand_stat(&s[0], STAGE_PASS_DELIVERED), 3);
}

static void
who_keeps_batches_is_asked_for_room(void **state)
{
	uint32_t wakes, works;

	(void)state;
	guests_fill_alone();
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
	guests_fill_alone();
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
	guests_attach(0, &w);
	guests_attach(1, &w);
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
	guests_attach(0, &w);
	stand_begin(&s[0], 0);
	stand_make(&s[0], 0);
	stand_make(&s[0], 1);
	stand_tell(&s[0], MSG_END);
	w.key = "another";
	guests_attach(1, &w);
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
	guests_attach(0, &wish_plain);
	assert_int_equal(stand_lease(&s[0], 8193, 1).why, STAGE_TOO_LARGE);
	assert_int_equal(stand_state(&s[0], 0), UNIT_ALONE);
	stand_make(&s[0], 1);
}

static void
a_seat_counts_from_its_start(void **state)
{
	uint64_t start;

	(void)state;
	guests_fill_alone();
	guests_attach(1, &wish_plain);
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

UNIT_MAIN(
	GUESTS_UNIT(what_is_published_is_shown),
	GUESTS_UNIT(units_with_errors_are_nobodys),
	GUESTS_UNIT(memory_can_come_later),
	GUESTS_SMALL_UNIT(memory_is_within_the_budget),
	GUESTS_UNIT(few_threads_make_at_a_time),
	GUESTS_UNIT(who_is_alone_makes_as_it_likes),
	GUESTS_UNIT(threads_of_one_process_are_woken),
	GUESTS_UNIT(only_who_waits_for_it_is_woken),
	GUESTS_UNIT(units_too_far_ahead_are_asked_for),
	GUESTS_UNIT(a_full_window_asks_for_releases),
	GUESTS_UNIT(who_keeps_batches_is_asked_for_room),
	GUESTS_UNIT(needs_are_those_of_the_last_look),
	GUESTS_SMALL_UNIT(who_is_refused_room_is_not_idle),
	GUESTS_SMALL_UNIT(what_was_not_made_is_not_retired),
	GUESTS_SMALL_UNIT(what_fits_too_few_times_is_not_shared),
	GUESTS_UNIT(a_seat_counts_from_its_start))
