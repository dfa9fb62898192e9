/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_stage.c: tests of the client's side of the stage, against a real hub,
 * one step at a time: its options, and one job.  unit_stage_others.c has what
 * others do to it, unit_stage_jobs.c whole jobs.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hub/link.h"
#include "stage/stage.h"
#include "tests/harness/parties.h"
#include "tests/harness/unit.h"

static struct ds_err err;

/*--- options -------------------------------------------------------------*/

static void
options_are_checked(void **state)
{
	const struct ds_option *o = ds_stage_options();

	(void)state;
	party_connect(&a);
	party_open(&a, "s", UNITS, BYTES);
	for (; o->name != NULL; o++)
		assert_int_equal(ds_stage_set(a.stage, o->name, o->value,
		    &err), 0);
	assert_int_equal(ds_stage_set(a.stage, "windw", "3", &err), -ENOENT);
	assert_non_null(strstr(err.text, "window"));
	assert_int_equal(ds_stage_set(a.stage, "window", "much", &err),
	    -EINVAL);
	assert_int_equal(ds_stage_set(a.stage, "seed", "kept", &err), -EINVAL);
	assert_int_equal(ds_stage_set(a.stage, "seed", "kept:7", &err), 0);
	assert_int_equal(a.stage->options.seed.seeded, STAGE_SEED_KEPT);
	assert_int_equal(a.stage->options.seed.seed, 7);
	assert_int_equal(ds_stage_set(a.stage, "window", "2G", &err), 0);
	assert_true(a.stage->options.window.bytes == UINT64_C(2) << 30);
	assert_int_equal(a.stage->options.window.units, 0);
	/* Without a stream, and without samples. */
	assert_int_equal(ds_pass_open(&a.pass, a.stage, 0, 0, &a.info, &err),
	    -EINVAL);
	party_set(&a, "stream", "s");
	assert_int_equal(ds_pass_open(&a.pass, a.stage, 0, 0, &a.info, &err),
	    -EINVAL);
	party_set(&a, "samples", "8");
	party_set(&a, "seed", "1");
	party_attend(&a, 0);
	assert_int_equal(ds_stage_set(a.stage, "samples", "9", &err), -EBUSY);
}

static void
variables_are_options(void **state)
{
	static char window[] = "DESTALL_WINDOW=24",
	    group[] = "DESTALL_GROUP=trials",
	    lag[] = "DESTALL_LAG=detach:3s", bad_lag[] = "DESTALL_LAG=never";

	(void)state;
	party_connect(&a);
	putenv(window);
	putenv(group);
	putenv(lag);
	party_open(&a, "s", UNITS, BYTES);
	assert_int_equal(a.stage->options.window.units, 24);
	assert_string_equal(a.stage->options.group, "trials");
	assert_int_equal(a.stage->options.lag.kind, STAGE_LAG_DETACH);
	putenv(bad_lag);
	assert_int_equal(ds_stage_open(&b.stage, a.hub, &err), -EINVAL);
	assert_non_null(strstr(err.text, "DESTALL_LAG"));
	stagehub_clear();
}

/*--- one job -------------------------------------------------------------*/

static void
what_is_made_is_taken(void **state)
{
	struct ds_taken t;

	(void)state;
	party_join(&a, "s");
	assert_int_equal(a.info.units, UNITS);
	assert_int_equal(a.info.unit, 4);
	assert_int_equal(a.info.seed, 1);
	party_begin(&a);
	for (uint64_t u = 0; u < UNITS; u++) {
		assert_int_equal(ds_pass_take(a.pass, u, 0, &t, &err),
		    DS_TAKE_WAIT);
		party_make(&a, u);
		party_take(&a, u, &t);
		assert_int_equal(t.is_own, 1);
		ds_pass_delivered(a.pass, 4);
		ds_stage_release(a.stage, &t);
		assert_null(t.bytes);
	}
	assert_int_equal(ds_pass_is_alive(a.pass), 1);
	ds_pass_end(a.pass);
	assert_int_equal(ds_pass_take(a.pass, 0, 0, &t, &err), -EINVAL);
}

static void
units_are_not_made_far_ahead(void **state)
{
	struct ds_lease l;
	struct ds_taken t;

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	for (uint64_t u = 0; u < 4; u++)
		party_make(&a, u);
	assert_int_equal(ds_pass_lease(a.pass, 0, &l, &err), 0);
	assert_int_equal(ds_pass_lease(a.pass, 20, &l, &err), 0);
	party_take(&a, 0, &t);
	party_make(&a, 4);		/* the hub has been told */
	ds_stage_release(a.stage, &t);
}

static void
order_of_taking_is_checked(void **state)
{
	struct ds_taken t, u;

	(void)state;
	party_join(&a, "s");
	assert_int_equal(ds_pass_take(a.pass, 0, 0, &t, &err), -EINVAL);
	assert_int_equal(ds_pass_begin(a.pass, 0, UNITS + 1, NULL, &err),
	    -EINVAL);
	assert_int_equal(ds_pass_begin(a.pass, 5, 5, NULL, &err), -EINVAL);
	party_begin(&a);
	assert_int_equal(ds_pass_begin(a.pass, 0, UNITS, NULL, &err),
	    -EALREADY);
	party_make(&a, 0);
	party_make(&a, 1);
	party_take(&a, 1, &t);
	assert_int_equal(ds_pass_take(a.pass, 0, 0, &u, &err), -EINVAL);
	assert_int_equal(ds_pass_take(a.pass, UNITS, 0, &u, &err), -EINVAL);
	ds_stage_release(a.stage, &t);
}

static void
leases_end_once(void **state)
{
	struct ds_lease l;

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	party_lease(&a, &l);
	assert_int_equal(ds_pass_publish(a.pass, &l, l.room + 1, 0, 0, &err),
	    -EINVAL);
	party_publish(&a, &l);
	assert_int_equal(ds_pass_publish(a.pass, &l, BYTES, 0, 0, &err),
	    -EINVAL);
	ds_pass_give_up(a.pass, &l, DS_GIVE_UP_ALONE);	/* nothing */
	assert_true(link_check(hub_api_link(a.hub)));
}

static void
released_in_any_order(void **state)
{
	struct ds_taken t[3];

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	for (uint64_t u = 0; u < 3; u++) {
		party_make(&a, u);
		party_take(&a, u, &t[u]);
	}
	assert_int_equal(a.pass->released, 0);
	ds_stage_release(a.stage, &t[1]);
	assert_int_equal(a.pass->released, 0);
	ds_stage_release(a.stage, &t[0]);
	assert_int_equal(a.pass->released, 2);
	party_check(&t[2], 2);
	ds_stage_release(a.stage, &t[2]);
	assert_int_equal(a.pass->released, 3);
}

static void
what_failed_is_made_by_each(void **state)
{
	struct ds_lease l;
	struct ds_taken t;

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	party_lease(&a, &l);
	ds_pass_give_up(a.pass, &l, DS_GIVE_UP_LATER);
	party_lease(&a, &l);
	assert_int_equal(l.unit, 0);
	ds_pass_give_up(a.pass, &l, DS_GIVE_UP_ALONE);
	assert_int_equal(ds_pass_take(a.pass, 0, SOON_MS, &t, &err),
	    DS_TAKE_SELF);
	ds_pass_skip(a.pass, 0);
	party_make(&a, 1);
	party_use(&a, 1);
}

static void
memory_is_found_when_the_size_is_known(void **state)
{
	struct ds_lease l;
	struct ds_taken t;

	(void)state;
	party_connect(&a);
	party_open(&a, "s", UNITS, 0);
	party_attend(&a, 0);
	party_begin(&a);
	assert_int_equal(ds_pass_lease(a.pass, SOON_MS, &l, &err), 1);
	assert_null(l.bytes);
	assert_int_equal(ds_pass_publish(a.pass, &l, 0, 0, 0, &err), -EINVAL);
	assert_int_equal(ds_pass_room(a.pass, &l, BYTES, &err), 0);
	assert_true(l.room >= BYTES);
	party_publish(&a, &l);
	party_use(&a, 0);
	assert_int_equal(ds_pass_lease(a.pass, SOON_MS, &l, &err), 1);
	assert_int_equal(ds_pass_room(a.pass, &l, (size_t)1 << 39, &err),
	    -EFBIG);
	assert_int_equal(ds_pass_take(a.pass, 1, SOON_MS, &t, &err),
	    DS_TAKE_SELF);
}

static void
a_pass_is_begun_again(void **state)
{
	struct ds_taken t, kept;

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	for (uint64_t u = 0; u < 3; u++) {
		party_make(&a, u);
		party_take(&a, u, &t);
		if (u == 1)
			kept = t;
		else
			ds_stage_release(a.stage, &t);
	}
	ds_pass_end(a.pass);
	party_check(&kept, 1);
	party_begin(&a);		/* what is there still is shared */
	for (uint64_t u = 0; u < 3; u++)
		party_use(&a, u);
	ds_stage_release(a.stage, &kept);
}

/*--- no memory -----------------------------------------------------------*/

static void
without_memory_each_makes_its_own(void **state)
{
	struct ds_lease l;
	struct ds_taken t, u;

	(void)state;
	stagehub_stop();
	stagehub_start(4 * BYTES);
	party_join(&a, "s");
	party_begin(&a);
	for (uint64_t i = 0; i < 4; i++)
		party_make(&a, i);
	party_take(&a, 0, &t);
	party_join(&b, "other");
	party_begin(&b);
	assert_int_equal(ds_pass_lease(b.pass, 0, &l, &err), 0);
	assert_int_equal(ds_pass_take(b.pass, 0, SOON_MS, &u, &err),
	    DS_TAKE_SELF);
	ds_pass_skip(b.pass, 0);
	/* When there is memory again, it is told. */
	party_leave(&a);
	party_make(&b, 1);
	party_use(&b, 1);
}

static void
what_is_too_large_each_makes_itself(void **state)
{
	struct ds_lease l;
	struct ds_taken t;

	(void)state;
	stagehub_stop();
	stagehub_start(2 * BYTES);
	party_connect(&a);
	party_open(&a, "s", UNITS, 3 * BYTES);
	party_attend(&a, 0);
	party_begin(&a);
	for (uint64_t u = 0; u < 8; u++) {
		int rc;

		while ((rc = ds_pass_take(a.pass, u, 0, &t, &err)) ==
		    DS_TAKE_WAIT)
			assert_int_equal(ds_pass_lease(a.pass, 1, &l, &err),
			    -EFBIG);
		assert_int_equal(rc, DS_TAKE_SELF);
		ds_pass_skip(a.pass, u);
	}
}

/*--- what cannot be ------------------------------------------------------*/

static struct board_entry *
forge_board(struct ds_pass *p, struct board **forged)
{
	struct board *copy = malloc(sizeof *copy);

	assert_non_null(copy);
	memcpy(copy, p->board, sizeof *copy);
	p->board = *forged = copy;
	return copy->entries;
}

static void
a_board_is_not_trusted(void **state)
{
	struct board_entry *e;
	struct board *forged;
	struct ds_taken t;

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	party_make(&a, 0);
	party_use(&a, 0);
	e = forge_board(a.pass, &forged);
	atomic_store(&e[1].unit, 1);
	atomic_store(&e[1].word, board_word((enum unit_state)77, 1, 1));
	assert_int_equal(ds_pass_take(a.pass, 1, 0, &t, &err), DS_TAKE_SELF);
	atomic_store(&e[1].word, board_word(UNIT_STAGED, 1, 1));
	atomic_store(&e[1].slot, 0);
	assert_int_equal(ds_pass_take(a.pass, 1, 0, &t, &err), DS_TAKE_SELF);
	atomic_store(&e[1].slot, 1);
	atomic_store(&e[1].bytes, BYTES * 4);
	assert_int_equal(ds_pass_take(a.pass, 1, 0, &t, &err), DS_TAKE_SELF);
	atomic_store(&e[1].slot, 4711);
	assert_int_equal(ds_pass_take(a.pass, 1, 0, &t, &err), DS_TAKE_SELF);
	atomic_store(&e[1].unit, 1 + BOARD_RING);
	assert_int_equal(ds_pass_take(a.pass, 1, 0, &t, &err), DS_TAKE_SELF);
	atomic_store(&forged->base, 5);
	assert_int_equal(ds_pass_take(a.pass, 1, 0, &t, &err), DS_TAKE_SELF);
	assert_int_equal(a.stage->nr_odd, 5);
	a.pass->board = a.pass->board_seg.base;
	free(forged);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PARTIES_UNIT(options_are_checked),
		PARTIES_UNIT(variables_are_options),
		PARTIES_UNIT(what_is_made_is_taken),
		PARTIES_UNIT(units_are_not_made_far_ahead),
		PARTIES_UNIT(order_of_taking_is_checked),
		PARTIES_UNIT(leases_end_once),
		PARTIES_UNIT(released_in_any_order),
		PARTIES_UNIT(what_failed_is_made_by_each),
		PARTIES_UNIT(memory_is_found_when_the_size_is_known),
		PARTIES_UNIT(a_pass_is_begun_again),
		PARTIES_UNIT(without_memory_each_makes_its_own),
		PARTIES_UNIT(what_is_too_large_each_makes_itself),
		PARTIES_UNIT(a_board_is_not_trusted),
	};

	return cmocka_run_group_tests(tests, stagehub_open, stagehub_close);
}
