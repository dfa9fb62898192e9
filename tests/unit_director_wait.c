/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_director_wait.c: tests of the hub's side of the stage: those who die,
 * are late, are waited for, and wait.  The hub's clock runs fast.
 */

#include <config.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "stage/director.h"
#include "tests/harness/guests.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

#define SPEED	200u

/* A patience that outlasts any stall of the machine: at this speed that of a
 * few seconds may be over in one of milliseconds. */
#define FOREVER_NS	UINT64_MAX

/* b is a job of its own. */
static int
start(void **state)
{
	return guests_start_with(state, UINT64_C(64) << 20, SPEED, 0);
}

/* A tick, which is in real time, is a second of the hub's. */
static int
start_slower(void **state)
{
	return guests_start_with(state, UINT64_C(64) << 20, 10, 0);
}

static int
start_small(void **state)
{
	return guests_start_with(state, 4 * 8192, SPEED, 0);	/* four units */
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, guests_stop)
#define TEST_SMALL(test) \
	cmocka_unit_test_setup_teardown(test, start_small, guests_stop)
#define TEST_SLOWER(test) \
	cmocka_unit_test_setup_teardown(test, start_slower, guests_stop)

static enum place_state
place_state(const struct stand *at)
{
	return atomic_load(&at->is->places[at->place].state);
}

static void
await_work(const struct stand *at, uint32_t before)
{
	while (stand_works(at) == before)
		usleep(100);
}

static void
await_detached(const struct stand *at)
{
	while (place_state(at) != PLACE_DETACHED)
		usleep(100);
}

/* b has everything behind it, and wants more. */
static void
let_b_wait(void)
{
	stand_sit(&s[1], 4, 4);
	stand_wait(&s[1], 4);
}

/*--- those who die -------------------------------------------------------*/

static void
a_lease_of_the_dead_is_free(void **state)
{
	struct wish w = wish_plain;
	struct granted g, again;
	uint32_t works;

	(void)state;
	w.ahead = 1;
	guest_attach(&a, &w, &s[0]);
	guest_attach(&b, &w, &s[1]);
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	assert_int_equal(g.unit, 0);
	works = stand_works(&s[1]);
	assert_int_equal(stand_lease(&s[1], UNIT_BYTES, 1).unit, 1);
	assert_int_equal(stand_lease(&s[1], UNIT_BYTES, 1).why, STAGE_WAIT);
	guest_leave(&a);
	await_work(&s[1], works);
	again = stand_lease(&s[1], UNIT_BYTES, 1);
	assert_int_equal(again.unit, 0);
	assert_true(again.generation != g.generation);
	stand_publish(&s[1], &again, UNIT_BYTES);
	guest_sync(&b);
	assert_int_equal(stand_state(&s[1], 0), UNIT_STAGED);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_REVOKED), 1);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_BYTES), 2 * 8192);
}

/* In any state of the search for memory. */
static void
they_die_asking(void **state)
{
	uint32_t lease[4] = { 0, 1 << 20, 0, 1 };

	(void)state;
	guest_attach(&b, &wish_plain, &s[1]);
	for (unsigned i = 0; i < 40; i++) {
		guest_attach(&a, &wish_plain, &s[0]);
		lease[0] = s[0].number;
		testhub_send(a.sock, MSG_STAGE_LEASE, lease, sizeof lease);
		if (i % 4 == 1)
			stand_tell(&s[0], MSG_LEAVE);
		if (i % 4 == 2)
			guest_sync(&b);
		guest_leave(&a);
		stand_forget(&s[0]);
		guest_join(&a, 11);
	}
	while (stand_stat(&s[1], STAGE_PASS_BYTES) != 0)
		continue;
	stand_make(&s[1], 0);
}

/* Who leaves while memory is looked for is still answered. */
static void
who_leaves_is_answered(void **state)
{
	struct wire_frame f;
	uint32_t lease[4] = { 0, 1 << 20, 0, 1 };

	(void)state;
	guest_attach(&b, &wish_plain, &s[1]);
	guest_attach(&a, &wish_plain, &s[0]);
	lease[0] = s[0].number;
	testhub_send(a.sock, MSG_STAGE_LEASE, lease, sizeof lease);
	stand_tell(&s[0], MSG_LEAVE);
	assert_true(testhub_recv(a.sock, &f) != 0);
	wire_close_fds(&f);
	guest_sync(&a);
	stand_make(&s[1], 0);
}

/* It hung up, but its process lives: it may still look at what it had. */
static void
what_a_ghost_may_see_stays(void **state)
{
	uint64_t room;
	uint32_t slot;

	(void)state;
	guests_fill(STAGE_LAG_WAIT, LAG_WAIT_NS);
	slot = atomic_load(&s[1].is->entries[3].slot);
	let_b_wait();
	guest_leave(&a);
	while (atomic_load(&s[1].is->nr_members) != 1)
		usleep(100);
	assert_int_equal(stand_map(&s[1], slot, &room), MSG_MAPPED);
	assert_int_equal(room, 8192);
	stand_make(&s[1], 4);		/* a held nobody up any more */
	stand_sit(&s[1], 5, 5);
	for (unsigned i = 5; i < 8; i++)
		stand_make(&s[1], i);
	assert_int_equal(stand_map(&s[1], slot, &room), MSG_MAPPED);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_BYTES), 8 * 8192);
}

static uint64_t
count_gone(const struct stand *at)
{
	const struct floor *fl = at->fl.base;

	return atomic_load(&fl->nr_gone);
}

/* Another process that is a guest, does this, and stays. */
static pid_t
start_other(void (*act)(struct guest *g, bool arg), bool arg)
{
	static struct guest other;
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		guest_join(&other, 13);
		guest_attach(&other, &wish_plain, &s[0]);
		act(&other, arg);
		_exit(write(ready[1], &byte, 1) != 1 || pause() == 0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Leases all memory that there is, and hangs up. */
static void
lease_all(struct guest *g, bool is_member)
{
	if (is_member)
		stand_begin(&s[0], 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).unit, i);
	guest_leave(g);
}

/* It may still fill what it had leased: nobody else gets that memory, and it is
 * not told to unmap it, as long as its process lives. */
static void
write_until_a_maker_dies(bool is_member)
{
	struct granted g;
	pid_t pid;

	guest_attach(&b, &wish_plain, &s[1]);
	pid = start_other(lease_all, is_member);
	do		/* its leases are anybody's at once */
		g = stand_lease(&s[1], 0, 1);
	while (g.type != MSG_STAGE_LEASED || g.unit != 0);
	stand_give_up(&s[1], &g, STAGE_LATER);
	for (unsigned i = 0; i < 20; i++) {
		g = stand_lease(&s[1], UNIT_BYTES, 1);
		assert_int_equal(g.why, STAGE_NO_ROOM);
		usleep(1000);	/* slots that are not used grow old */
	}
	assert_int_equal(count_gone(&s[1]), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	do
		g = stand_lease(&s[1], UNIT_BYTES, 1);
	while (g.type != MSG_STAGE_LEASED);
	assert_int_equal(g.unit, 0);
}

static void
what_a_ghost_may_write_stays(void **state)
{
	(void)state;
	write_until_a_maker_dies(false);
}

static void
what_a_ghostly_member_may_write_stays(void **state)
{
	(void)state;
	write_until_a_maker_dies(true);
}

/*--- those who are late --------------------------------------------------*/

/* Both make units of this pass, b is a member, and has a unit ahead of the
 * others, so that a lease is one of the units that it waits for. */
static void
begin_slow_units(void)
{
	struct wish w = wish_plain;

	w.ahead = 1;
	guest_attach(&a, &w, &s[0]);
	guest_attach(&b, &w, &s[1]);
	stand_begin(&s[1], 0);
}

/* b waits for unit 0, which a has: until it may make it itself. */
static void
wait_until_late(void)
{
	uint32_t works = stand_works(&s[1]);

	assert_int_equal(stand_lease(&s[1], UNIT_BYTES, 1).why, STAGE_WAIT);
	stand_wait(&s[1], 0);
	await_work(&s[1], works);
}

static void
the_late_are_not_waited_for(void **state)
{
	struct granted g, again;

	(void)state;
	begin_slow_units();
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	(void)stand_lease(&s[1], 0, 1);
	wait_until_late();
	again = stand_lease(&s[1], UNIT_BYTES, 1);
	assert_int_equal(again.unit, 0);
	assert_true(again.slot != g.slot);
	/* It comes before, between or behind: it does not count. */
	stand_publish(&s[0], &g, 1);
	guest_sync(&a);
	assert_int_equal(stand_state(&s[1], 0), UNIT_LEASED);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_LATE), 1);
	stand_publish(&s[1], &again, UNIT_BYTES);
	guest_sync(&b);
	assert_int_equal(stand_state(&s[1], 0), UNIT_STAGED);
	assert_int_equal(atomic_load(&s[1].is->entries[0].bytes), UNIT_BYTES);
	stand_sit(&s[1], 1, 1);
	/* What it wrote too late is its own to write again. */
	again = stand_lease(&s[0], UNIT_BYTES, 1);
	assert_int_equal(again.slot, g.slot);
	assert_false(again.has_fd);
}

/* One that was stopped with all the threads that may make. */
static void
the_late_do_not_make(void **state)
{
	struct granted g[2], next;
	uint32_t works;

	(void)state;
	guest_attach(&a, &wish_plain, &s[0]);
	guest_attach(&b, &wish_plain, &s[1]);
	stand_begin(&s[1], 0);
	g[0] = stand_lease(&s[0], 0, 4096);
	g[1] = stand_lease(&s[0], 0, 4096);
	assert_int_equal(g[1].unit, 1);
	works = stand_works(&s[1]);
	next = stand_lease(&s[1], UNIT_BYTES, 1);
	if (next.type != MSG_STAGE_LEASED) {	/* or it is late already */
		assert_int_equal(next.why, STAGE_WAIT);
		stand_wait(&s[1], 0);
		await_work(&s[1], works);
		next = stand_lease(&s[1], UNIT_BYTES, 1);
	}
	assert_int_equal(next.type, MSG_STAGE_LEASED);
	assert_int_equal(next.unit % 2, 0);
}

static void
the_late_may_give_up(void **state)
{
	struct granted g, r;

	(void)state;
	begin_slow_units();
	g = stand_lease(&s[0], 0, 1);
	(void)stand_lease(&s[1], 0, 1);
	wait_until_late();
	assert_int_equal(stand_lease(&s[1], 0, 1).unit, 0);
	r = stand_room(&s[0], &g, UNIT_BYTES);
	assert_int_equal(r.why, STAGE_WAIT);
	assert_int_equal(stand_state(&s[1], 0), UNIT_LEASED);
}

/* A unit that takes far longer than others: whoever is given it by turns makes
 * it in the end. */
static void
what_takes_long_is_made_in_the_end(void **state)
{
	uint64_t since_ns;
	struct granted g, next;
	unsigned cur = 0, round;
	uint32_t works;

	(void)state;
	begin_slow_units();
	stand_make(&s[0], 0);
	stand_sit(&s[1], 1, 1);
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	assert_int_equal(g.unit, 1);
	assert_int_equal(stand_lease(&s[1], 0, 1).unit, 2);
	stand_wait(&s[1], 1);
	for (round = 0; round < 12; round++) {
		since_ns = clock_now_ns();
		works = stand_works(&s[1 - cur]);
		next = stand_lease(&s[1 - cur], UNIT_BYTES, 1);
		while (next.type != MSG_STAGE_LEASED &&
		    clock_now_ns() - since_ns < 250 * NS_PER_MS) {
			if (stand_works(&s[1 - cur]) != works) {
				works = stand_works(&s[1 - cur]);
				next = stand_lease(&s[1 - cur], UNIT_BYTES, 1);
			}
		}
		stand_publish(&s[cur], &g, UNIT_BYTES);
		guest_sync(s[cur].guest);
		if (next.type != MSG_STAGE_LEASED)
			break;
		assert_int_equal(next.unit, 1);
		assert_int_equal(stand_state(&s[1], 1), UNIT_LEASED);
		g = next;
		cur = 1 - cur;
	}
	assert_true(round < 12);
	assert_int_equal(stand_state(&s[1], 1), UNIT_STAGED);
}

/* Of unit 0 all is over; a has 1, b has 2, waits for 1 and wants to make
 * something.  When that was; *works: its word before. */
static uint64_t
let_b_wait_for_a(uint32_t *works)
{
	uint64_t since_ns;

	stand_sit(&s[1], 1, 1);
	assert_int_equal(stand_lease(&s[0], 0, 1).unit, 1);
	assert_int_equal(stand_lease(&s[1], 0, 1).unit, 2);
	since_ns = clock_now_ns();
	*works = stand_works(&s[1]);
	stand_wait(&s[1], 1);
	assert_int_equal(stand_lease(&s[1], UNIT_BYTES, 1).why, STAGE_WAIT);
	return since_ns;
}

/* Who knows the size of a unit only when it is made is timed from the lease. */
static void
who_asks_for_room_late_is_not_late(void **state)
{
	struct granted g, r;
	uint64_t since_ns;
	uint32_t works;

	(void)state;
	begin_slow_units();
	g = stand_lease(&s[0], 0, 1);
	usleep(100000);			/* so long it takes */
	r = stand_room(&s[0], &g, UNIT_BYTES);
	assert_int_equal(r.type, MSG_STAGE_LEASED);
	stand_publish_after(&s[0], &r, UNIT_BYTES, NS_PER_S);	/* the hub's */
	guest_sync(&a);
	assert_int_equal(stand_state(&s[1], 0), UNIT_STAGED);
	since_ns = let_b_wait_for_a(&works);
	usleep(200000);
	if (clock_now_ns() - since_ns < 350 * NS_PER_MS)	/* of four times */
		assert_int_equal(stand_works(&s[1]), works);
}

/* Who keeps a unit for itself until somebody comes has not made it all the
 * time: others are late as soon as ever. */
static void
keeping_is_not_making(void **state)
{
	struct granted g;
	uint64_t since_ns;
	uint32_t works;

	(void)state;
	begin_slow_units();
	g = stand_lease(&s[0], 0, 1);
	usleep(500000);
	g = stand_room(&s[0], &g, UNIT_BYTES);
	stand_publish_after(&s[0], &g, UNIT_BYTES, NS_PER_MS);
	guest_sync(&a);
	since_ns = let_b_wait_for_a(&works);
	await_work(&s[1], works);
	assert_true(clock_now_ns() - since_ns < 1500 * NS_PER_MS);
}

/*--- those who are waited for --------------------------------------------*/

static void
the_slow_are_detached(void **state)
{
	uint32_t slot, wakes;
	uint64_t room, start;

	(void)state;
	guests_fill(STAGE_LAG_DETACH, LAG_DETACH_NS);
	stand_sit(&s[0], 2, 0);
	slot = atomic_load(&s[0].is->entries[1].slot);
	wakes = stand_wakes(&s[0]);
	let_b_wait();
	await_detached(&s[0]);
	assert_true(stand_wakes(&s[0]) != wakes);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_DETACHED), 1);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_MEMBERS), 1);
	for (unsigned i = 4; i < 8; i++)
		stand_make(&s[1], i);
	assert_int_equal(atomic_load(&s[1].is->base), 4);
	/* What it may still look at stays, until it says that it does not. */
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_BYTES), 8 * 8192);
	assert_int_equal(stand_map(&s[0], slot, &room), MSG_MAPPED);
	stand_tell(&s[0], MSG_END);
	guest_sync(&a);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_BYTES), 4 * 8192);
	assert_int_equal(stand_map(&s[0], slot, &room), MSG_REFUSED);
	assert_int_equal(place_state(&s[0]), PLACE_MAKER);
	assert_int_equal(stand_try_begin(&s[0], 2, 100, 0, 0, &start),
	    MSG_BEHIND);
}

/* A member makes the first four units, keeps them, and perhaps hangs up. */
static void
keep_all(struct guest *g, bool hangs_up)
{
	stand_begin(&s[0], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[0], i);
	stand_sit(&s[0], 2, 0);
	guest_sync(g);
	if (hangs_up)
		guest_leave(g);
}

static void
run_until_a_keeper_dies(bool hangs_up)
{
	uint64_t start;
	pid_t pid;

	guest_attach(&b, &wish_plain, &s[1]);
	assert_int_equal(stand_try_begin(&s[1], 0, 100, STAGE_LAG_WAIT,
	    NS_PER_S, &start), MSG_BEGUN);
	stand_sit(&s[1], 0, 0);
	pid = start_other(keep_all, hangs_up);
	let_b_wait();
	while (atomic_load(&s[1].is->nr_members) != 1)
		usleep(100);
	for (unsigned i = 4; i < 8; i++)
		stand_make(&s[1], i);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_BYTES), 8 * 8192);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	while (stand_stat(&s[1], STAGE_PASS_BYTES) != 4 * 8192)
		usleep(100);
}

static void
the_slow_may_die_detached(void **state)
{
	(void)state;
	run_until_a_keeper_dies(false);
}

static void
a_ghost_is_watched(void **state)
{
	(void)state;
	run_until_a_keeper_dies(true);
}

/* It takes, slowly: that is no reason by this policy. */
static void
who_takes_is_waited_for(void **state)
{
	uint64_t word[STAGE_MEMBER_WORDS];
	uint32_t place;

	(void)state;
	guests_fill(STAGE_LAG_WAIT, FOREVER_NS);
	let_b_wait();
	do {
		stand_sit(&s[0], 1, 0);
		stand_tell(&s[0], MSG_NEWS);
		assert_true(guest_stat_job(&b, s[1].is->pass, s[1].place,
		    &place, word));
		assert_int_equal(place, s[1].place);
	} while (word[STAGE_MEMBER_WAITS_NS] < NS_PER_S);
	assert_int_equal(word[STAGE_MEMBER_WAITS_PID], getpid());
	assert_int_equal(word[STAGE_MEMBER_TAKEN], 4);
	assert_int_equal(word[STAGE_MEMBER_STATE], PLACE_LIVE);
	assert_true(guest_stat_job(&b, s[1].is->pass, 0, &place, word));
	assert_int_equal(place, s[0].place);
	assert_int_equal(word[STAGE_MEMBER_MADE], 4);
	assert_int_equal(word[STAGE_MEMBER_WAITS_PID], 0);
	assert_false(guest_stat_job(&b, s[1].is->pass, 2, &place, word));
	assert_false(guest_stat_job(&b, 12345, 0, &place, word));
	/* Away: nobody waits for it. */
	stand_tell(&s[0], MSG_END);
	stand_make(&s[0], 4);
	stand_sit(&s[1], 5, 5);
	stand_tell(&s[1], MSG_NEWS);
	assert_true(guest_stat_job(&b, s[1].is->pass, s[1].place, &place,
	    word));
	assert_int_equal(word[STAGE_MEMBER_WAITS_NS], 0);
	assert_true(word[STAGE_MEMBER_WAITED_NS] >= NS_PER_S);
	assert_int_equal(stand_stat(&s[1], STAGE_PASS_DETACHED), 0);
}

static void
nobody_waits_for_its_own_job(void **state)
{
	struct granted g;

	(void)state;
	guest_attach(&a, &wish_plain, &s[0]);
	guest_attach(&a, &wish_plain, &s[1]);
	stand_begin(&s[0], 0);
	stand_begin(&s[1], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[0], i);
	let_b_wait();
	/* At once when somebody asks, unless a tick was even before that. */
	g = stand_lease(&s[0], UNIT_BYTES, 1);
	guest_sync(&a);
	assert_int_equal(place_state(&s[0]), PLACE_DETACHED);
	if (g.type == MSG_STAGE_LEASED) {
		assert_int_equal(g.unit, 4);
		stand_publish(&s[0], &g, UNIT_BYTES);
	} else {
		assert_int_equal(g.why, STAGE_WAIT);
		stand_make(&s[0], 4);
	}
}

static void
circles_are_broken(void **state)
{
	struct wish w = wish_plain;
	uint64_t start;

	(void)state;
	guests_fill(STAGE_LAG_WAIT, FOREVER_NS);
	w.key = "another stream";
	guest_attach(&a, &w, &s[2]);
	guest_attach(&b, &w, &s[3]);
	assert_int_equal(stand_try_begin(&s[2], 0, 100, STAGE_LAG_WAIT,
	    FOREVER_NS, &start), MSG_BEGUN);
	stand_sit(&s[2], 0, 0);
	stand_begin(&s[3], 0);
	for (unsigned i = 0; i < 4; i++)
		stand_make(&s[3], i);
	let_b_wait();			/* for a */
	stand_sit(&s[2], 4, 4);		/* and a for b */
	stand_wait(&s[2], 4);
	while (place_state(&s[0]) != PLACE_DETACHED &&
	    place_state(&s[3]) != PLACE_DETACHED)
		usleep(100);
	/* One of them, no more. */
	guest_sync(&b);
	assert_true(place_state(&s[0]) != place_state(&s[3]));
	assert_int_equal(place_state(&s[1]), PLACE_LIVE);
	assert_int_equal(place_state(&s[2]), PLACE_LIVE);
}

static void
who_gives_no_room_goes_alone(void **state)
{
	(void)state;
	guests_fill_alone();
	stand_sit(&s[0], 4, 0);
	assert_int_equal(stand_lease(&s[0], UNIT_BYTES, 1).why, STAGE_WAIT);
	assert_true(atomic_load(&s[0].is->wants_room) > 0);
	stand_wait(&s[0], 4);
	await_detached(&s[0]);
}

UNIT_MAIN(
	TEST(a_lease_of_the_dead_is_free),
	TEST(they_die_asking),
	TEST(who_leaves_is_answered),
	TEST(what_a_ghost_may_see_stays),
	TEST_SMALL(what_a_ghost_may_write_stays),
	TEST_SMALL(what_a_ghostly_member_may_write_stays),
	TEST(the_late_are_not_waited_for),
	TEST(the_late_do_not_make),
	TEST(the_late_may_give_up),
	TEST_SLOWER(what_takes_long_is_made_in_the_end),
	TEST_SLOWER(who_asks_for_room_late_is_not_late),
	TEST_SLOWER(keeping_is_not_making),
	TEST(the_slow_are_detached),
	TEST(the_slow_may_die_detached),
	TEST(a_ghost_is_watched),
	TEST(who_takes_is_waited_for),
	TEST(nobody_waits_for_its_own_job),
	TEST(circles_are_broken),
	TEST(who_gives_no_room_goes_alone))
