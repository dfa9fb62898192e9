/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_director.c: tests of the hub's side of the stage, message by message:
 * passes, who shares one, and how large its window is.  unit_director_lease.c
 * has what is made in them, unit_director_wait.c waiting, late and dead ones,
 * unit_director_lies.c what no client says.
 */

#include <config.h>

#include <string.h>

#include "stage/director.h"
#include "tests/harness/guests.h"
#include "tests/harness/unit.h"

static int
start_larger(void **state)
{
	return guests_start_with(state, 16 * 8192, 1, 12);
}

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
only_the_same_stream_is_shared(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	guests_attach(0, &w);
	guests_attach(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	assert_true(s[1].number != s[0].number);
	w.key = "another";
	guests_attach(2, &w);
	w = wish_plain;
	w.group = "ours";
	guests_attach(3, &w);
	w = wish_plain;
	w.seed = 8;
	guests_attach(4, &w);
	w = wish_plain;
	w.epoch = 1;
	guests_attach(5, &w);
	w = wish_plain;
	w.order = STAGE_ORDERED;
	guests_attach(6, &w);
	w = wish_plain;
	w.samples = 399;
	guests_attach(7, &w);
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
	guests_attach(0, &w);
	assert_int_equal(s[0].epoch, 0);
	guests_attach(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	assert_true(s[1].seed == s[0].seed && s[0].seed <= INT64_MAX);
	w.epoch = 3;		/* of the same stream */
	guests_attach(2, &w);
	assert_true(s[2].seed == s[0].seed);
	w.epoch = STAGE_ANY;	/* the newest */
	guests_attach(3, &w);
	assert_int_equal(s[3].is->pass, s[2].is->pass);
	assert_int_equal(s[3].epoch, 3);
	w.seeded = STAGE_SEED_KEPT;
	w.seed = s[0].seed;
	w.epoch = 0;
	guests_attach(4, &w);
	assert_int_equal(s[4].is->pass, s[0].is->pass);
	w.seed++;		/* that of an earlier hub */
	guests_attach(5, &w);
	assert_true(s[5].is->pass != s[0].is->pass);
	w.seed = s[0].seed;
	w.seeded = STAGE_SEED_OWN;	/* a number that is equal by chance */
	guests_attach(6, &w);
	assert_true(s[6].is->pass != s[0].is->pass);
}

static void
passes_are_chosen_by_position(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	guests_attach(0, &w);
	w.at = 3;
	guests_attach(1, &w);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	w.at = 50;
	guests_attach(2, &w);
	assert_true(s[2].is->pass != s[0].is->pass);
	assert_int_equal(atomic_load(&s[2].is->base), 50);
	assert_int_equal(stand_state(&s[2], 53), UNIT_FREE);
	w.at = 26;		/* of 8: 52 of 4 */
	w.unit = 8;
	guests_attach(3, &w);
	assert_int_equal(s[3].is->pass, s[2].is->pass);
	assert_int_equal(s[3].unit, 4);
	assert_int_equal(s[3].units, 100);
	w = wish_plain;		/* anywhere: where most are */
	stand_begin(&s[2], 50);
	guests_attach(4, &w);
	assert_int_equal(s[4].is->pass, s[2].is->pass);
	w.at = 49;		/* just gone, and nobody else there */
	guests_attach(5, &w);
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
	guests_attach(0, &w);
	stand_begin(&s[0], 10);
	w.at = 0;
	guests_attach(1, &w);
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
	guests_attach(0, &w);
	assert_int_equal(atomic_load(&s[0].is->window), WINDOW_UNITS);
	w.window = 20;
	guests_attach(1, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 20);
	w.window = 5;
	guests_attach(2, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 20);
	w.window = 20;		/* of twice the size */
	w.unit = 8;
	guests_attach(3, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 40);
	w.window = 0;
	w.window_bytes = 50 * 8192;
	guests_attach(4, &w);
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
	guests_attach(0, &w);
	assert_int_equal(atomic_load(&s[0].is->window), 1000);
	stand_make(&s[0], 0);
	assert_int_equal(atomic_load(&s[0].is->window), 4);
}

/* One who is detached may keep a window: as much is left for the others. */
static void
the_window_is_half_of_the_budget(void **state)
{
	struct wish w = wish_plain;

	(void)state;
	w.window = 1000;
	guests_attach(0, &w);
	stand_make(&s[0], 0);
	assert_int_equal(atomic_load(&s[0].is->window), 8);
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

static void
a_pass_that_is_over_is_not_joined(void **state)
{
	(void)state;
	guests_attach(0, &wish_plain);
	stand_begin(&s[0], 0);
	stand_sit(&s[0], 99, 99);
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	guests_attach(1, &wish_plain);
	assert_int_equal(s[1].is->pass, s[0].is->pass);
	stand_sit(&s[0], 100, 99);
	stand_tell(&s[0], MSG_NEWS);
	guest_sync(&a);
	guests_attach(3, &wish_plain);
	assert_true(s[3].is->pass != s[0].is->pass);
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

UNIT_MAIN(
	GUESTS_UNIT(a_pass_is_made_and_ends),
	GUESTS_UNIT(only_the_same_stream_is_shared),
	GUESTS_UNIT(the_hub_gives_a_seed),
	GUESTS_UNIT(passes_are_chosen_by_position),
	GUESTS_UNIT(on_an_ordered_stream_one_catches_up),
	GUESTS_UNIT(the_window_is_the_largest_asked_for),
	GUESTS_SMALL_UNIT(the_window_is_within_the_budget),
	GUESTS_UNIT(two_in_one_process),
	GUESTS_UNIT(a_pass_that_is_over_is_not_joined),
	cmocka_unit_test_setup_teardown(the_window_is_half_of_the_budget,
	    start_larger, guests_stop),
	GUESTS_UNIT(one_process_has_so_many_places))
