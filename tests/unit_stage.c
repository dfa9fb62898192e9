/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_stage.c: tests of the client's side of the stage, against a real hub,
 * one step at a time.  unit_stage_jobs.c has whole jobs.
 */

#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "hub/link.h"
#include "stage/stage.h"
#include "tests/harness/payload.h"
#include "tests/harness/stagehub.h"
#include "tests/harness/unit.h"

#define UNITS	40u
#define BYTES	8192u
#define SOON_MS	20000u		/* longer than anything takes that comes */

static struct party a, b;
static struct ds_err err;

static int
start(void **state)
{
	leak_before(state);
	alarm(100);
	stagehub_start(0);
	return 0;
}

static int
stop(void **state)
{
	party_leave(&a);
	party_leave(&b);
	stagehub_stop();
	alarm(0);
	return leak_after(state);
}

#define STAGE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start, stop)

/*--- steps ---------------------------------------------------------------*/

static void
join_with(struct party *p, const char *stream, const char *window,
    const char *lag)
{
	party_connect(p);
	party_open(p, stream, UNITS, BYTES);
	party_set(p, "window", window);
	party_set(p, "lag", lag);
	party_attend(p, 0);
}

static void
join(struct party *p, const char *stream)
{
	join_with(p, stream, "", "auto");
}

static void
begin(struct party *p)
{
	uint64_t at = 99;

	assert_int_equal(ds_pass_begin(p->pass, 0, UNITS, &at, &err), 1);
	assert_int_equal(at, 0);
}

static void
lease(struct party *p, struct ds_lease *l)
{
	assert_int_equal(ds_pass_lease(p->pass, SOON_MS, l, &err), 1);
	assert_non_null(l->bytes);
	assert_true(l->room >= BYTES);
}

static void
publish(struct party *p, struct ds_lease *l)
{
	payload_fill(l->bytes, BYTES, 0, l->unit);
	assert_int_equal(ds_pass_publish(p->pass, l, BYTES,
	    payload_hash(0, l->unit), 0, &err), 0);
}

static void
make(struct party *p, uint64_t unit)
{
	struct ds_lease l;

	lease(p, &l);
	assert_int_equal(l.unit, unit);
	publish(p, &l);
}

static void
check_unit(const struct ds_taken *t, uint64_t unit)
{
	assert_int_equal(t->unit, unit);
	assert_int_equal(t->len, BYTES);
	assert_true(t->hash == payload_hash(0, unit));
	assert_true(payload_is(t->bytes, BYTES, 0, unit));
}

static void
take(struct party *p, uint64_t unit, struct ds_taken *t)
{
	assert_int_equal(ds_pass_take(p->pass, unit, SOON_MS, t, &err),
	    DS_TAKEN);
	check_unit(t, unit);
}

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

/* An empty one says nothing.  See stagehub_open(). */
static void
clear_variables(void)
{
	static char none[][24] = { "DESTALL_WINDOW=", "DESTALL_GROUP=",
	    "DESTALL_LAG=" };

	for (int i = 0; i < 3; i++)
		putenv(none[i]);
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
	clear_variables();
}

/*--- one job -------------------------------------------------------------*/

static void
what_is_made_is_taken(void **state)
{
	struct ds_taken t;

	(void)state;
	join(&a, "s");
	assert_int_equal(a.info.units, UNITS);
	assert_int_equal(a.info.unit, 4);
	assert_int_equal(a.info.seed, 1);
	begin(&a);
	for (uint64_t u = 0; u < UNITS; u++) {
		assert_int_equal(ds_pass_take(a.pass, u, 0, &t, &err),
		    DS_TAKE_WAIT);
		make(&a, u);
		take(&a, u, &t);
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
	join(&a, "s");
	begin(&a);
	for (uint64_t u = 0; u < 4; u++)
		make(&a, u);
	assert_int_equal(ds_pass_lease(a.pass, 0, &l, &err), 0);
	assert_int_equal(ds_pass_lease(a.pass, 20, &l, &err), 0);
	take(&a, 0, &t);
	make(&a, 4);		/* the hub has been told */
	ds_stage_release(a.stage, &t);
}

static void
order_of_taking_is_checked(void **state)
{
	struct ds_taken t, u;

	(void)state;
	join(&a, "s");
	assert_int_equal(ds_pass_take(a.pass, 0, 0, &t, &err), -EINVAL);
	assert_int_equal(ds_pass_begin(a.pass, 0, UNITS + 1, NULL, &err),
	    -EINVAL);
	assert_int_equal(ds_pass_begin(a.pass, 5, 5, NULL, &err), -EINVAL);
	begin(&a);
	assert_int_equal(ds_pass_begin(a.pass, 0, UNITS, NULL, &err),
	    -EALREADY);
	make(&a, 0);
	make(&a, 1);
	take(&a, 1, &t);
	assert_int_equal(ds_pass_take(a.pass, 0, 0, &u, &err), -EINVAL);
	assert_int_equal(ds_pass_take(a.pass, UNITS, 0, &u, &err), -EINVAL);
	ds_stage_release(a.stage, &t);
}

static void
leases_end_once(void **state)
{
	struct ds_lease l;

	(void)state;
	join(&a, "s");
	begin(&a);
	lease(&a, &l);
	assert_int_equal(ds_pass_publish(a.pass, &l, l.room + 1, 0, 0, &err),
	    -EINVAL);
	publish(&a, &l);
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
	join(&a, "s");
	begin(&a);
	for (uint64_t u = 0; u < 3; u++) {
		make(&a, u);
		take(&a, u, &t[u]);
	}
	assert_int_equal(a.pass->released, 0);
	ds_stage_release(a.stage, &t[1]);
	assert_int_equal(a.pass->released, 0);
	ds_stage_release(a.stage, &t[0]);
	assert_int_equal(a.pass->released, 2);
	check_unit(&t[2], 2);
	ds_stage_release(a.stage, &t[2]);
	assert_int_equal(a.pass->released, 3);
}

static void
what_failed_is_made_by_each(void **state)
{
	struct ds_lease l;
	struct ds_taken t;

	(void)state;
	join(&a, "s");
	begin(&a);
	lease(&a, &l);
	ds_pass_give_up(a.pass, &l, DS_GIVE_UP_LATER);
	lease(&a, &l);
	assert_int_equal(l.unit, 0);
	ds_pass_give_up(a.pass, &l, DS_GIVE_UP_ALONE);
	assert_int_equal(ds_pass_take(a.pass, 0, SOON_MS, &t, &err),
	    DS_TAKE_SELF);
	ds_pass_skip(a.pass, 0);
	make(&a, 1);
	take(&a, 1, &t);
	ds_stage_release(a.stage, &t);
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
	begin(&a);
	assert_int_equal(ds_pass_lease(a.pass, SOON_MS, &l, &err), 1);
	assert_null(l.bytes);
	assert_int_equal(ds_pass_publish(a.pass, &l, 0, 0, 0, &err), -EINVAL);
	assert_int_equal(ds_pass_room(a.pass, &l, BYTES, &err), 0);
	assert_true(l.room >= BYTES);
	publish(&a, &l);
	take(&a, 0, &t);
	ds_stage_release(a.stage, &t);
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
	join(&a, "s");
	begin(&a);
	for (uint64_t u = 0; u < 3; u++) {
		make(&a, u);
		take(&a, u, &t);
		if (u == 1)
			kept = t;
		else
			ds_stage_release(a.stage, &t);
	}
	ds_pass_end(a.pass);
	check_unit(&kept, 1);
	begin(&a);		/* what is there still is shared */
	for (uint64_t u = 0; u < 3; u++) {
		take(&a, u, &t);
		ds_stage_release(a.stage, &t);
	}
	ds_stage_release(a.stage, &kept);
}

/*--- two -----------------------------------------------------------------*/

static void
two_share(void **state)
{
	struct ds_taken t, u;

	(void)state;
	join(&a, "s");
	join(&b, "s");
	begin(&a);
	begin(&b);
	for (uint64_t i = 0; i < UNITS; i++) {
		make(i % 2 == 0 ? &a : &b, i);
		take(&a, i, &t);
		take(&b, i, &u);
		assert_int_equal(t.is_own, i % 2 == 0);
		assert_int_equal(u.is_own, i % 2 == 1);
		/* What one writes the other does not see. */
		memset(t.bytes, 1, t.len);
		check_unit(&u, i);
		ds_stage_release(a.stage, &t);
		ds_stage_release(b.stage, &u);
	}
}

/* Two iterators of one process, on one connection. */
static void
two_passes_of_one_stage(void **state)
{
	struct ds_taken t, u;

	(void)state;
	join(&a, "s");
	assert_int_equal(ds_pass_open(&b.pass, a.stage, 0, DS_ANY, &b.info,
	    &err), 0);
	begin(&a);
	begin(&b);
	for (uint64_t i = 0; i < 8; i++) {
		make(&a, i);
		take(&a, i, &t);
		take(&b, i, &u);
		assert_ptr_not_equal(t.bytes, u.bytes);
		memset(t.bytes, 1, t.len);
		check_unit(&u, i);
		ds_stage_release(a.stage, &t);
		ds_stage_release(a.stage, &u);
	}
	ds_pass_close(&b.pass);
}

/* A slot is the process's, whichever of its streams made use of it before. */
static void
two_streams_of_one_connection(void **state)
{
	struct ds_taken t;

	(void)state;
	join(&a, "s");
	begin(&a);
	make(&a, 0);
	take(&a, 0, &t);
	ds_stage_release(a.stage, &t);
	ds_pass_end(a.pass);
	ds_pass_close(&a.pass);
	b.hub = a.hub;
	party_open(&b, "other", UNITS, BYTES);
	party_attend(&b, 0);
	begin(&b);
	make(&b, 0);
	take(&b, 0, &t);
	ds_stage_release(b.stage, &t);
	b.hub = NULL;
	party_leave(&b);
	/* And when all maps are gone, new ones are made. */
	ds_stage_close(&a.stage);
	party_open(&a, "third", UNITS, BYTES);
	party_attend(&a, 0);
	begin(&a);
	make(&a, 0);
	take(&a, 0, &t);
	ds_stage_release(a.stage, &t);
}

static void
one_who_keeps_all_holds_nobody_up(void **state)
{
	struct ds_taken kept[UNITS], t;

	(void)state;
	join_with(&a, "s", "4", "auto");
	join_with(&b, "s", "4", "auto");
	begin(&a);
	begin(&b);
	for (uint64_t i = 0; i < UNITS; i++) {
		/* The hub wants room, and the next take makes it. */
		while (ds_pass_take(b.pass, i, 0, &kept[i], &err) !=
		    DS_TAKEN) {
			struct ds_lease l;

			if (ds_pass_lease(a.pass, 10, &l, &err) == 1)
				publish(&a, &l);
		}
		take(&a, i, &t);
		ds_stage_release(a.stage, &t);
	}
	for (uint64_t i = 0; i < UNITS; i++)
		check_unit(&kept[i], i);
	for (uint64_t i = 0; i < UNITS; i += 2)
		ds_stage_release(b.stage, &kept[i]);
	ds_pass_close(&b.pass);
	for (uint64_t i = 1; i < UNITS; i += 2) {
		check_unit(&kept[i], i);
		if (i % 4 == 1)		/* others go with the stage */
			ds_stage_release(b.stage, &kept[i]);
	}
}

static void
the_slow_is_detached(void **state)
{
	struct ds_taken slow[2], t;
	struct ds_lease l;

	(void)state;
	join_with(&a, "s", "4", "detach:10ms");
	join_with(&b, "s", "4", "detach:10ms");
	begin(&a);
	begin(&b);
	make(&a, 0);
	make(&a, 1);
	take(&b, 0, &slow[0]);
	take(&b, 1, &slow[1]);
	for (uint64_t i = 0; i < UNITS; i++) {
		while (ds_pass_take(a.pass, i, 5, &t, &err) == DS_TAKE_WAIT) {
			if (ds_pass_lease(a.pass, 0, &l, &err) == 1)
				publish(&a, &l);
		}
		check_unit(&t, i);
		ds_stage_release(a.stage, &t);
	}
	check_unit(&slow[0], 0);
	assert_int_equal(ds_pass_take(b.pass, 2, 0, &t, &err),
	    DS_TAKE_DETACHED);
	assert_int_equal(ds_pass_take(b.pass, 2, 0, &t, &err),
	    DS_TAKE_DETACHED);
	check_unit(&slow[0], 0);
	check_unit(&slow[1], 1);
	ds_stage_release(b.stage, &slow[1]);
	ds_stage_release(b.stage, &slow[0]);
	/* At its next epoch it is a member again. */
	ds_pass_close(&b.pass);
	party_attend(&b, 1);
	begin(&b);
}

/* Its slot stays as it is, although the pass was closed. */
static void
what_cannot_be_made_private_stays(void **state)
{
	struct ds_taken kept, t;
	struct ds_lease l;

	(void)state;
	join_with(&a, "s", "4", "detach:10ms");
	join_with(&b, "s", "4", "detach:10ms");
	begin(&a);
	begin(&b);
	make(&a, 0);
	take(&b, 0, &kept);
	assert_int_equal(mprotect(kept.bytes, kept.len, PROT_READ), 0);
	ds_pass_end(b.pass);
	assert_int_equal(b.pass->is, OWES_END);
	ds_pass_close(&b.pass);
	assert_non_null(b.stage->closed);
	for (uint64_t i = 0; i < UNITS; i++) {
		while (ds_pass_take(a.pass, i, 5, &t, &err) == DS_TAKE_WAIT) {
			if (ds_pass_lease(a.pass, 0, &l, &err) == 1)
				publish(&a, &l);
		}
		check_unit(&t, i);
		ds_stage_release(a.stage, &t);
		check_unit(&kept, 0);
	}
	assert_int_equal(mprotect(kept.bytes, kept.len,
	    PROT_READ | PROT_WRITE), 0);
	ds_stage_release(b.stage, &kept);
	assert_null(b.stage->closed);
	party_attend(&b, 1);
	begin(&b);
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
	join(&a, "s");
	begin(&a);
	for (uint64_t i = 0; i < 4; i++)
		make(&a, i);
	take(&a, 0, &t);
	join(&b, "other");
	begin(&b);
	assert_int_equal(ds_pass_lease(b.pass, 0, &l, &err), 0);
	assert_int_equal(ds_pass_take(b.pass, 0, SOON_MS, &u, &err),
	    DS_TAKE_SELF);
	ds_pass_skip(b.pass, 0);
	/* When there is memory again, it is told. */
	party_leave(&a);
	make(&b, 1);
	take(&b, 1, &u);
	ds_stage_release(b.stage, &u);
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
	begin(&a);
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

/*--- forks ---------------------------------------------------------------*/

/* In the child: what was held is there, and nothing else works. */
static int
be_child(struct ds_taken *t)
{
	struct ds_taken other;
	struct ds_lease l;

	if (!payload_is(t[0].bytes, BYTES, 0, 0) ||
	    !payload_is(t[1].bytes, BYTES, 0, 1))
		return 1;
	memset(t[0].bytes, 2, BYTES);
	if (ds_pass_take(a.pass, 2, 1000, &other, &err) != -ESTALE ||
	    ds_pass_lease(a.pass, 1000, &l, &err) != -ESTALE ||
	    ds_pass_begin(a.pass, 0, UNITS, NULL, &err) != -ESTALE ||
	    ds_pass_is_alive(a.pass) != 0)
		return 2;
	ds_pass_skip(a.pass, 2);
	ds_pass_delivered(a.pass, 1);
	ds_pass_end(a.pass);
	ds_stage_release(a.stage, &t[0]);
	if (!payload_is(t[1].bytes, BYTES, 0, 1))
		return 3;
	if (ds_pass_open(&b.pass, a.stage, 0, 0, NULL, &err) != -ESTALE)
		return 4;
	party_leave(&a);
	/* A connection of its own works. */
	join(&b, "child's");
	begin(&b);
	party_leave(&b);
	return 0;
}

static void
what_is_held_survives_a_fork(void **state)
{
	struct ds_taken t[2], u;
	int go[2], status;
	char c;
	pid_t pid;

	(void)state;
	join(&a, "s");
	begin(&a);
	for (uint64_t i = 0; i < 2; i++) {
		make(&a, i);
		take(&a, i, &t[i]);
	}
	assert_int_equal(pipe(go), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(go[1]);
		_exit(read(go[0], &c, 1) == 0 ? be_child(t) : 9);
	}
	close(go[0]);
	/* Its slots are used again and again. */
	for (uint64_t i = 2; i < 30; i++) {
		make(&a, i);
		take(&a, i, &u);
		ds_stage_release(a.stage, &u);
	}
	assert_int_equal(a.pass->released, 30);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check_unit(&t[0], 0);
	check_unit(&t[1], 1);
	ds_stage_release(a.stage, &t[0]);
	ds_stage_release(a.stage, &t[1]);
}

/*--- the hub's death -----------------------------------------------------*/

static void
all_calls_end_when_the_hub_does(void **state)
{
	struct ds_lease l, m;
	struct ds_taken t, u;
	uint64_t since_ns;

	(void)state;
	join(&a, "s");
	begin(&a);
	make(&a, 0);
	take(&a, 0, &t);
	lease(&a, &l);
	stagehub_kill();
	since_ns = clock_now_ns();
	assert_int_equal(ds_pass_take(a.pass, 1, 60000, &u, &err), -ESTALE);
	assert_int_equal(ds_pass_take(a.pass, 1, 60000, &u, &err), -ESTALE);
	assert_int_equal(ds_pass_lease(a.pass, 60000, &m, &err), -ESTALE);
	/* Not about speed: 60 s are what they were ready to wait. */
	assert_true(clock_now_ns() - since_ns < 30 * NS_PER_S);
	payload_fill(l.bytes, BYTES, 0, l.unit);	/* still its own */
	assert_int_equal(ds_pass_publish(a.pass, &l, BYTES, 0, 0, &err),
	    -ESTALE);
	assert_int_equal(ds_pass_is_alive(a.pass), 0);
	check_unit(&t, 0);
	ds_pass_end(a.pass);
	check_unit(&t, 0);
	ds_stage_release(a.stage, &t);
	ds_pass_close(&a.pass);
	assert_int_equal(ds_pass_open(&a.pass, a.stage, 1, 0, NULL, &err),
	    -ESTALE);
}

static void
all_calls_end_when_disconnected(void **state)
{
	struct ds_lease l;
	struct ds_taken t;

	(void)state;
	join(&a, "s");
	begin(&a);
	make(&a, 0);
	take(&a, 0, &t);
	ds_disconnect(&a.hub);
	assert_int_equal(ds_pass_lease(a.pass, 1000, &l, &err), -ESTALE);
	check_unit(&t, 0);
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
	join(&a, "s");
	begin(&a);
	make(&a, 0);
	take(&a, 0, &t);
	ds_stage_release(a.stage, &t);
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
		STAGE_UNIT(options_are_checked),
		STAGE_UNIT(variables_are_options),
		STAGE_UNIT(what_is_made_is_taken),
		STAGE_UNIT(units_are_not_made_far_ahead),
		STAGE_UNIT(order_of_taking_is_checked),
		STAGE_UNIT(leases_end_once),
		STAGE_UNIT(released_in_any_order),
		STAGE_UNIT(what_failed_is_made_by_each),
		STAGE_UNIT(memory_is_found_when_the_size_is_known),
		STAGE_UNIT(a_pass_is_begun_again),
		STAGE_UNIT(two_share),
		STAGE_UNIT(two_passes_of_one_stage),
		STAGE_UNIT(two_streams_of_one_connection),
		STAGE_UNIT(one_who_keeps_all_holds_nobody_up),
		STAGE_UNIT(the_slow_is_detached),
		STAGE_UNIT(what_cannot_be_made_private_stays),
		STAGE_UNIT(without_memory_each_makes_its_own),
		STAGE_UNIT(what_is_too_large_each_makes_itself),
		STAGE_UNIT(what_is_held_survives_a_fork),
		STAGE_UNIT(all_calls_end_when_the_hub_does),
		STAGE_UNIT(all_calls_end_when_disconnected),
		STAGE_UNIT(a_board_is_not_trusted),
	};

	clear_variables();
	return cmocka_run_group_tests(tests, stagehub_open, stagehub_close);
}
