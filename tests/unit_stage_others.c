/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_stage_others.c: tests of the client's side of the stage, against a real
 * hub, one step at a time: another job, a child, and a hub that dies.
 */

#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "stage/stage.h"
#include "tests/harness/parties.h"
#include "tests/harness/payload.h"
#include "tests/harness/unit.h"

static struct ds_err err;

/*--- two -----------------------------------------------------------------*/

static void
begin_both(const char *window, const char *lag)
{
	party_join_with(&a, "s", window, lag);
	party_join_with(&b, "s", window, lag);
	party_begin(&a);
	party_begin(&b);
}

/* a makes what there is to make, until it has this one. */
static void
make_until_taken(uint64_t unit)
{
	struct ds_taken t;
	struct ds_lease l;

	while (ds_pass_take(a.pass, unit, 5, &t, &err) == DS_TAKE_WAIT) {
		if (ds_pass_lease(a.pass, 0, &l, &err) == 1)
			party_publish(&a, &l);
	}
	party_check(&t, unit);
	ds_stage_release(a.stage, &t);
}

static void
two_share(void **state)
{
	struct ds_taken t, u;

	(void)state;
	begin_both("", "auto");
	for (uint64_t i = 0; i < UNITS; i++) {
		party_make(i % 2 == 0 ? &a : &b, i);
		party_take(&a, i, &t);
		party_take(&b, i, &u);
		assert_int_equal(t.is_own, i % 2 == 0);
		assert_int_equal(u.is_own, i % 2 == 1);
		/* What one writes the other does not see. */
		memset(t.bytes, 1, t.len);
		party_check(&u, i);
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
	party_join(&a, "s");
	assert_int_equal(ds_pass_open(&b.pass, a.stage, 0, DS_ANY, &b.info,
	    &err), 0);
	party_begin(&a);
	party_begin(&b);
	for (uint64_t i = 0; i < 8; i++) {
		party_make(&a, i);
		party_take(&a, i, &t);
		party_take(&b, i, &u);
		assert_ptr_not_equal(t.bytes, u.bytes);
		memset(t.bytes, 1, t.len);
		party_check(&u, i);
		ds_stage_release(a.stage, &t);
		ds_stage_release(a.stage, &u);
	}
	ds_pass_close(&b.pass);
}

/* A slot is the process's, whichever of its streams made use of it before. */
static void
two_streams_of_one_connection(void **state)
{
	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	party_make(&a, 0);
	party_use(&a, 0);
	ds_pass_end(a.pass);
	ds_pass_close(&a.pass);
	b.hub = a.hub;
	party_open(&b, "other", UNITS, BYTES);
	party_attend(&b, 0);
	party_begin(&b);
	party_make(&b, 0);
	party_use(&b, 0);
	b.hub = NULL;
	party_leave(&b);
	/* And when all maps are gone, new ones are made. */
	ds_stage_close(&a.stage);
	party_open(&a, "third", UNITS, BYTES);
	party_attend(&a, 0);
	party_begin(&a);
	party_make(&a, 0);
	party_use(&a, 0);
}

static void
one_who_keeps_all_holds_nobody_up(void **state)
{
	struct ds_taken kept[UNITS];

	(void)state;
	begin_both("4", "auto");
	for (uint64_t i = 0; i < UNITS; i++) {
		/* The hub wants room, and the next take makes it. */
		while (ds_pass_take(b.pass, i, 0, &kept[i], &err) !=
		    DS_TAKEN) {
			struct ds_lease l;

			if (ds_pass_lease(a.pass, 10, &l, &err) == 1)
				party_publish(&a, &l);
		}
		party_use(&a, i);
	}
	for (uint64_t i = 0; i < UNITS; i++)
		party_check(&kept[i], i);
	for (uint64_t i = 0; i < UNITS; i += 2)
		ds_stage_release(b.stage, &kept[i]);
	ds_pass_close(&b.pass);
	for (uint64_t i = 1; i < UNITS; i += 2) {
		party_check(&kept[i], i);
		if (i % 4 == 1)		/* others go with the stage */
			ds_stage_release(b.stage, &kept[i]);
	}
}

static void
the_slow_is_detached(void **state)
{
	struct ds_taken slow[2], t;

	(void)state;
	begin_both("4", "detach:10ms");
	party_make(&a, 0);
	party_make(&a, 1);
	party_take(&b, 0, &slow[0]);
	party_take(&b, 1, &slow[1]);
	for (uint64_t i = 0; i < UNITS; i++)
		make_until_taken(i);
	party_check(&slow[0], 0);
	assert_int_equal(ds_pass_take(b.pass, 2, 0, &t, &err),
	    DS_TAKE_DETACHED);
	assert_int_equal(ds_pass_take(b.pass, 2, 0, &t, &err),
	    DS_TAKE_DETACHED);
	party_check(&slow[0], 0);
	party_check(&slow[1], 1);
	ds_stage_release(b.stage, &slow[1]);
	ds_stage_release(b.stage, &slow[0]);
	/* At its next epoch it is a member again. */
	ds_pass_close(&b.pass);
	party_attend(&b, 1);
	party_begin(&b);
}

/* Its slot stays as it is, although the pass was closed. */
static void
what_cannot_be_made_private_stays(void **state)
{
	struct ds_taken kept;

	(void)state;
	begin_both("4", "detach:10ms");
	party_make(&a, 0);
	party_take(&b, 0, &kept);
	assert_int_equal(mprotect(kept.bytes, kept.len, PROT_READ), 0);
	ds_pass_end(b.pass);
	assert_int_equal(b.pass->is, OWES_END);
	ds_pass_close(&b.pass);
	assert_non_null(b.stage->closed);
	for (uint64_t i = 0; i < UNITS; i++) {
		make_until_taken(i);
		party_check(&kept, 0);
	}
	assert_int_equal(mprotect(kept.bytes, kept.len,
	    PROT_READ | PROT_WRITE), 0);
	ds_stage_release(b.stage, &kept);
	assert_null(b.stage->closed);
	party_attend(&b, 1);
	party_begin(&b);
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
	party_join(&b, "child's");
	party_begin(&b);
	party_leave(&b);
	return 0;
}

static void
what_is_held_survives_a_fork(void **state)
{
	struct ds_taken t[2];
	int go[2], status;
	char c;
	pid_t pid;

	(void)state;
	party_join(&a, "s");
	party_begin(&a);
	for (uint64_t i = 0; i < 2; i++) {
		party_make(&a, i);
		party_take(&a, i, &t[i]);
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
		party_make(&a, i);
		party_use(&a, i);
	}
	assert_int_equal(a.pass->released, 30);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	party_check(&t[0], 0);
	party_check(&t[1], 1);
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
	party_join(&a, "s");
	party_begin(&a);
	party_make(&a, 0);
	party_take(&a, 0, &t);
	party_lease(&a, &l);
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
	party_check(&t, 0);
	ds_pass_end(a.pass);
	party_check(&t, 0);
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
	party_join(&a, "s");
	party_begin(&a);
	party_make(&a, 0);
	party_take(&a, 0, &t);
	ds_disconnect(&a.hub);
	assert_int_equal(ds_pass_lease(a.pass, 1000, &l, &err), -ESTALE);
	party_check(&t, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PARTIES_UNIT(two_share),
		PARTIES_UNIT(two_passes_of_one_stage),
		PARTIES_UNIT(two_streams_of_one_connection),
		PARTIES_UNIT(one_who_keeps_all_holds_nobody_up),
		PARTIES_UNIT(the_slow_is_detached),
		PARTIES_UNIT(what_cannot_be_made_private_stays),
		PARTIES_UNIT(what_is_held_survives_a_fork),
		PARTIES_UNIT(all_calls_end_when_the_hub_does),
		PARTIES_UNIT(all_calls_end_when_disconnected),
	};

	return cmocka_run_group_tests(tests, stagehub_open, stagehub_close);
}
