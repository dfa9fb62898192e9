/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_residency.c: tests of analyzer/residency.c.
 */

#include <config.h>

#include "analyzer/residency.h"

#include "tests/harness/told.h"

#define BLOCK	4

/* 1000 pages, of which 900 are told, in a block whose files should be in memory. */
static struct measured
take(uint64_t resident_before, uint64_t resident_after)
{
	struct measured m = { .kind = BLOCK_CACHED, .number = BLOCK,
	    .resident = -1, .resident_after = -1, .from_storage = -1 };

	TELL(0, JOURNAL_PAGES, 1, BLOCK, 0, 1000, resident_before, 100);
	TELL(0, JOURNAL_PAGES, 1, BLOCK + 1, 0, 9999, 0, 0);
	TELL(0, JOURNAL_PAGES, 1, BLOCK, 1, 1000, resident_after, 100);
	residency_take(&m, &facts);
	return m;
}

static void
tell_hello(size_t process, enum journal_role role)
{
	TELL(process, JOURNAL_HELLO, 0, role, 100 + process, 1, 0, 1, 0);
}

static void
pages_are_looked_at(void **state)
{
	struct measured m;

	(void)state;
	told_init();
	m = take(450, 900);
	assert_true(m.has_files);
	assert_near(m.pages, 1000);
	assert_near(m.resident, 0.5);
	assert_near(m.resident_after, 1);
	assert_true(residency_is_misplaced(&m));
	told_fini();
}

static void
what_was_read_nonetheless_shows(void **state)
{
	struct measured m;

	(void)state;
	told_init();
	for (size_t i = 1; i <= 2; i++) {
		tell_hello(i, ROLE_WORKER);
		TELL(i, JOURNAL_STORAGE, 1, BLOCK - 1, 100, 1 * MS);
		TELL(i, JOURNAL_STORAGE, 1, BLOCK, 1000, 2 * MS);
	}
	m = take(900, 900);
	assert_false(residency_is_misplaced(&m));
	/* One of them has not begun another block yet. */
	TELL(1, JOURNAL_STORAGE, 1, BLOCK + 2, 1000 + 30 * 4096, 9 * MS);
	residency_take_reads(&m, &facts);
	assert_near(m.from_storage, -1);
	assert_false(residency_is_misplaced(&m));
	TELL(2, JOURNAL_STORAGE, 1, BLOCK + 1, 1000, 9 * MS);
	residency_take_reads(&m, &facts);
	assert_near(m.from_storage, 0.03);
	assert_true(residency_is_misplaced(&m));
	/* As it should be. */
	m.kind = BLOCK_COLD;
	m.resident = 0;
	assert_false(residency_is_misplaced(&m));
	told_fini();
}

static void
who_delivers_tells_of_a_block(void **state)
{
	struct measured m;

	(void)state;
	told_init();
	tell_hello(0, ROLE_NATIVE);
	TELL(0, JOURNAL_STORAGE, 1, BLOCK, 4 * 4096, 1 * MS, 9 * MS);
	m = take(900, 900);
	residency_take_reads(&m, &facts);
	assert_near(m.from_storage, 0.004);
	assert_false(residency_is_misplaced(&m));
	told_fini();
}

/* Of each rank; what is not told, or cannot be, does not count. */
static void
others_of_the_data_set_count_for_fresh_batches(void **state)
{
	struct measured m = { .kind = BLOCK_ACTUAL, .number = BLOCK,
	    .resident = -1 };

	(void)state;
	told_init();
	TELL(0, JOURNAL_BESIDE, 1, 300, 1000, 100, 500);
	TELL(1, JOURNAL_BESIDE, 1, 100, 500, 300, 0);
	TELL(1, JOURNAL_BESIDE, 1, 700, 100, 0, 100);
	TELL(1, JOURNAL_BESIDE, 1, 700, 100, 0, 101);
	residency_take(&m, &facts);
	assert_near(m.beside_files, 400);
	assert_near(m.beside, 0.4);
	m = take(900, 900);
	assert_near(m.beside_files, 0);
	told_fini();
}

/* Hostile. */
static void
numbers_that_go_back_tell_nothing(void **state)
{
	struct measured m;

	(void)state;
	told_init();
	tell_hello(0, ROLE_WORKER);
	TELL(0, JOURNAL_STORAGE, 1, BLOCK, 5000, 1 * MS);
	TELL(0, JOURNAL_STORAGE, 1, BLOCK + 1, 10, 2 * MS);
	m = take(900, 900);
	residency_take_reads(&m, &facts);
	assert_near(m.from_storage, -1);
	told_fini();
}

UNIT_MAIN(
	UNIT(pages_are_looked_at),
	UNIT(what_was_read_nonetheless_shows),
	UNIT(who_delivers_tells_of_a_block),
	UNIT(others_of_the_data_set_count_for_fresh_batches),
	UNIT(numbers_that_go_back_tell_nothing))
