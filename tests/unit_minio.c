/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_minio.c: tests of cache/minio.c.  The last ones are orders of events
 * that the model (tests/model) found to be the shortest to tell a right hub
 * from a wrong one.
 */

#include <config.h>

#include "cache/minio.h"

#include <errno.h>
#include <string.h>

#include "cache/index.h"
#include "tests/harness/unit.h"

#define ITEMS	3u
#define A	7u	/* clients */
#define B	9u

static _Atomic uint64_t words[ITEMS];
static struct minio_item items[ITEMS];
static struct minio_set set;

/* Three items of 10, 20 and 30 bytes; one user. */
static void
start(uint64_t cap)
{
	memset(&set, 0, sizeof set);
	for (unsigned i = 0; i < ITEMS; i++) {
		atomic_init(&words[i], 0);
		items[i] = (struct minio_item){ &words[i], 10 * (i + 1) };
	}
	minio_join(&set, cap);
}

static void
expect_item(unsigned i, enum item_state state, uint32_t generation,
    uint32_t owner)
{
	assert_int_equal(atomic_load(&words[i]),
	    item_word(state, generation, owner));
	minio_check_set(&set, items, ITEMS);
}

/* Leases item i to a client, which must work. */
static void
grant(unsigned i, uint32_t client)
{
	assert_int_equal(minio_ask(&set, items[i], client, false), MINIO_GRANT);
}

static void
asked_leased_published(void **state)
{
	(void)state;
	start(MINIO_NO_CAP);
	grant(0, A);
	expect_item(0, ITEM_LEASED, 1, A);
	assert_int_equal(set.leases, 1);
	assert_int_equal(set.admitted_bytes, 10);
	assert_int_equal(minio_ask(&set, items[0], B, false), MINIO_BUSY);
	assert_int_equal(minio_ask(&set, items[0], A, true), MINIO_BUSY);
	assert_int_equal(minio_check(&set, items[0], A, 1), 0);
	expect_item(0, ITEM_LEASED, 1, A);
	assert_int_equal(minio_publish(&set, items[0], A, 1), 0);
	expect_item(0, ITEM_READY, 1, 0);
	assert_int_equal(set.leases, 0);
	assert_int_equal(set.ready_items, 1);
	assert_int_equal(set.ready_bytes, 10);
	assert_int_equal(set.admitted_bytes, 10);
	assert_int_equal(minio_ask(&set, items[0], B, true), MINIO_LOOK);
	assert_int_equal(set.late, 0);
}

static void
closed_by_the_first_that_does_not_fit(void **state)
{
	(void)state;
	start(45);
	grant(0, A);
	grant(1, B);
	assert_false(set.closed);
	assert_int_equal(minio_ask(&set, items[2], A, false), MINIO_CLOSED);
	assert_true(set.closed);
	/* Room that comes later opens nothing. */
	assert_int_equal(minio_return(&set, items[1], B, 1), 0);
	assert_int_equal(minio_ask(&set, items[1], A, false), MINIO_CLOSED);
	assert_int_equal(minio_publish(&set, items[0], A, 1), 0);
	expect_item(0, ITEM_READY, 1, 0);
	assert_int_equal(set.admitted_bytes, 10);
	/* Neither does a second user, or the first one's leaving. */
	minio_join(&set, MINIO_NO_CAP);
	minio_leave(&set);
	assert_true(set.closed);
	assert_int_equal(set.cap_bytes, 45);
}

static void
exactly_full_is_not_closed(void **state)
{
	(void)state;
	start(30);
	grant(0, A);
	grant(1, A);
	assert_int_equal(set.admitted_bytes, 30);
	assert_false(set.closed);
	start(0);
	assert_int_equal(minio_ask(&set, items[0], A, false), MINIO_CLOSED);
	start(UINT64_MAX);
	items[0].bytes = UINT64_MAX;
	grant(0, A);
	assert_int_equal(minio_ask(&set, items[1], A, false), MINIO_CLOSED);
	expect_item(0, ITEM_LEASED, 1, A);
}

static void
the_first_user_decides(void **state)
{
	(void)state;
	start(30);
	grant(1, A);
	assert_int_equal(minio_publish(&set, items[1], A, 1), 0);
	assert_int_equal(minio_ask(&set, items[2], A, false), MINIO_CLOSED);
	minio_leave(&set);
	assert_true(set.closed);
	minio_join(&set, 60);
	assert_false(set.closed);
	assert_int_equal(set.cap_bytes, 60);
	minio_leave(&set);
	/* What is there stays, though the share is smaller now. */
	minio_join(&set, 5);
	assert_int_equal(set.cap_bytes, 20);
	assert_int_equal(minio_ask(&set, items[0], A, false), MINIO_CLOSED);
	expect_item(1, ITEM_READY, 1, 0);
}

static void
failed_and_tried_again(void **state)
{
	(void)state;
	start(60);
	grant(2, A);
	assert_int_equal(minio_fail(&set, items[2], A, 1), 0);
	expect_item(2, ITEM_FAILED, 1, 0);
	assert_int_equal(set.failed_items, 1);
	assert_int_equal(set.admitted_bytes, 0);
	assert_int_equal(minio_ask(&set, items[2], B, false), MINIO_LOOK);
	assert_int_equal(minio_ask(&set, items[2], B, true), MINIO_GRANT);
	expect_item(2, ITEM_LEASED, 2, B);
	assert_int_equal(set.failed_items, 0);
	assert_int_equal(minio_fail(&set, items[2], B, 2), 0);
	/* Closed: it stays failed. */
	set.closed = true;
	assert_int_equal(minio_ask(&set, items[2], B, true), MINIO_CLOSED);
	expect_item(2, ITEM_FAILED, 2, 0);
	assert_int_equal(set.failed_items, 1);
}

static void
no_memory(void **state)
{
	(void)state;
	start(60);
	grant(0, A);
	minio_no_room(&set, items[0], false);
	expect_item(0, ITEM_EMPTY, 1, 0);
	assert_false(set.closed);
	grant(0, A);
	minio_no_room(&set, items[0], true);
	expect_item(0, ITEM_EMPTY, 2, 0);
	assert_true(set.closed);
	assert_int_equal(set.admitted_bytes, 0);
}

static void
corrupt_is_empty_again(void **state)
{
	(void)state;
	start(20);
	grant(1, A);
	assert_int_equal(minio_publish(&set, items[1], A, 1), 0);
	minio_corrupt(&set, items[1]);
	expect_item(1, ITEM_EMPTY, 1, 0);
	assert_int_equal(set.ready_items, 0);
	assert_int_equal(set.ready_bytes, 0);
	grant(1, B);
	expect_item(1, ITEM_LEASED, 2, B);
}

static void
generations_wrap(void **state)
{
	(void)state;
	start(60);
	atomic_store(&words[0],
	    item_word(ITEM_EMPTY, ITEM_GENERATIONS - 1, 0));
	grant(0, A);
	expect_item(0, ITEM_LEASED, 0, A);
	assert_int_equal(minio_publish(&set, items[0], A, ITEM_GENERATIONS - 1),
	    -ESTALE);
	assert_int_equal(minio_publish(&set, items[0], A, 0), 0);
	expect_item(0, ITEM_READY, 0, 0);
}

/* Each rule is seen to be broken. */
static void
broken_sets_are_told(void **state)
{
	const struct {
		uint64_t word;
		struct minio_set set;
		const char *want;
	} cases[] = {
		{ UINT64_C(9) << 56, { .users = 1 }, "no state" },
		{ item_word(ITEM_READY, 1, A), { .users = 1 }, "rule 1" },
		{ item_word(ITEM_LEASED, 1, A), { .users = 1 }, "rule 1" },
		{ item_word(ITEM_LEASED, 1, A), { .leases = 1 }, "rule 6" },
		{ item_word(ITEM_LEASED, 1, A), { .users = 1, .leases = 1 },
		    "rule 3: admitted" },
		{ item_word(ITEM_LEASED, 1, A), { .users = 1, .leases = 1,
		    .admitted_bytes = 10, .cap_bytes = 9 }, "rule 3: more" },
		{ item_word(ITEM_READY, 1, 0), { .users = 1, .cap_bytes = 60,
		    .admitted_bytes = 10, .ready_items = 1 }, "ready" },
		{ item_word(ITEM_FAILED, 1, 0), { .users = 1 }, "failed" },
	};

	(void)state;
	start(0);
	assert_null(minio_broken(&set, items, ITEMS));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *got;

		atomic_store(&words[0], cases[i].word);
		got = minio_broken(&cases[i].set, items, ITEMS);
		if (got == NULL || strstr(got, cases[i].want) == NULL)
			fail_msg("%zu: %s", i, got != NULL ? got : "nothing");
	}
}

/*--- from the model ------------------------------------------------------*/

/* Of `model --break generation`: B's time is over, A has the item, and then
 * B's publish comes. */
static void
late_publish_changes_nothing(void **state)
{
	struct minio_set before;

	(void)state;
	start(60);
	grant(0, B);
	minio_revoke(&set, items[0]);
	expect_item(0, ITEM_EMPTY, 1, 0);
	assert_int_equal(minio_publish(&set, items[0], B, 1), -ESTALE);
	grant(0, A);
	before = set;
	assert_int_equal(minio_check(&set, items[0], B, 1), -ESTALE);
	assert_int_equal(minio_publish(&set, items[0], B, 1), -ESTALE);
	assert_int_equal(minio_publish(&set, items[0], B, 2), -ESTALE);
	assert_int_equal(minio_publish(&set, items[0], A, 1), -ESTALE);
	assert_int_equal(set.late, before.late + 4);
	assert_int_equal(minio_fail(&set, items[0], B, 1), -ESTALE);
	assert_int_equal(minio_return(&set, items[0], A, 1), -ESTALE);
	set.late = before.late;
	assert_memory_equal(&set, &before, sizeof set);
	expect_item(0, ITEM_LEASED, 2, A);
	assert_int_equal(minio_publish(&set, items[0], A, 2), 0);
	/* And once more, after the fact. */
	assert_int_equal(minio_publish(&set, items[0], A, 2), -ESTALE);
	expect_item(0, ITEM_READY, 2, 0);
}

/* Of `model --break holds`: the lease is over before the helper is done, and
 * the same client has asked again. */
static void
allocation_for_a_lease_that_is_over(void **state)
{
	(void)state;
	start(60);
	grant(0, A);
	assert_true(minio_holds(items[0], A, 1));
	minio_revoke(&set, items[0]);
	assert_false(minio_holds(items[0], A, 1));
	grant(0, A);
	assert_false(minio_holds(items[0], A, 1));
	assert_true(minio_holds(items[0], A, 2));
	assert_int_equal(set.late, 0);
}

/* Of `model --break revoke`: a request that was handled after its sender's
 * death, then the death. */
static void
the_dead_leave_no_lease(void **state)
{
	(void)state;
	start(60);
	grant(0, A);
	grant(2, A);
	minio_revoke(&set, items[0]);
	minio_revoke(&set, items[2]);
	minio_leave(&set);
	minio_check_set(&set, items, ITEMS);
	assert_int_equal(set.leases, 0);
	assert_int_equal(set.admitted_bytes, 0);
}

/* Of `model --break reopen`: READY, closed by another item, corrupt. */
static void
corruption_opens_nothing(void **state)
{
	(void)state;
	start(20);
	grant(0, A);
	assert_int_equal(minio_publish(&set, items[0], A, 1), 0);
	assert_int_equal(minio_ask(&set, items[1], A, false), MINIO_CLOSED);
	minio_corrupt(&set, items[0]);
	assert_true(set.closed);
	assert_int_equal(minio_ask(&set, items[0], B, false), MINIO_CLOSED);
	expect_item(0, ITEM_EMPTY, 1, 0);
}

UNIT_MAIN(
	UNIT(asked_leased_published),
	UNIT(closed_by_the_first_that_does_not_fit),
	UNIT(exactly_full_is_not_closed),
	UNIT(the_first_user_decides),
	UNIT(failed_and_tried_again),
	UNIT(no_memory),
	UNIT(corrupt_is_empty_again),
	UNIT(generations_wrap),
	UNIT(broken_sets_are_told),
	UNIT(late_publish_changes_nothing),
	UNIT(allocation_for_a_lease_that_is_over),
	UNIT(the_dead_leave_no_lease),
	UNIT(corruption_opens_nothing))
