/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_facts.c: tests of analyzer/facts.c.
 */

#include <config.h>

#include "analyzer/facts.h"

#include <string.h>

#include "tests/harness/told.h"

static void
nothing_told_is_nothing(void **state)
{
	(void)state;
	told_init();
	assert_null(facts_training(&facts));
	assert_null(facts_loader(&facts, 0, 1));
	assert_int_equal(facts_ranks(&facts), 0);
	assert_int_equal(facts_ranks_expected(&facts), 1);
	assert_int_equal(facts_blocks_ended(&facts), 0);
	assert_false(facts_all_left(&facts));
	assert_false(facts_has_role(&facts, ROLE_PYTHON));
	told_fini();
}

static void
ranks_are_those_who_train(void **state)
{
	(void)state;
	told_init();
	TELL(0, JOURNAL_HELLO, 0, ROLE_PYTHON, 50, 1, 0, 7);	/* a launcher */
	TELL(1, JOURNAL_HELLO, 0, ROLE_WORKER, 60, 50, 0, 9);
	tell_rank(2, 4, 0, 2);
	assert_int_equal(facts_ranks(&facts), 1);
	assert_int_equal(facts_ranks_expected(&facts), 2);
	assert_ptr_equal(facts_training(&facts), facts_loader(&facts, 2, 1));
	assert_int_equal(facts_training(&facts)->workers, 4);
	assert_int_equal(facts_training(&facts)->batch_size, 10);
	assert_true(facts_has_role(&facts, ROLE_WORKER));
	assert_false(facts_has_role(&facts, ROLE_NATIVE));
	tell_end(2, 0, BLOCK_REPLAY, 5);
	tell_end(2, 1, BLOCK_REPLAY, 6);
	assert_int_equal(facts_blocks_ended(&facts), 2);
	tell_rank(3, 4, 1, 2);
	assert_int_equal(facts_blocks_ended(&facts), 0);
	tell_end(3, 0, BLOCK_REPLAY, 5);
	assert_int_equal(facts_blocks_ended(&facts), 1);
	TELL(2, JOURNAL_LEFT, 0, 1, LEFT_EPOCH);
	assert_false(facts_all_left(&facts));
	TELL(3, JOURNAL_LEFT, 0, 1, LEFT_END);
	assert_true(facts_all_left(&facts));
	assert_int_equal(facts.processes[2].why, LEFT_EPOCH);
	assert_int_equal(facts.processes[3].why, LEFT_END);
	told_fini();
}

/* A rank that is still starting has not left. */
static void
all_have_left_when_all_were_there(void **state)
{
	(void)state;
	told_init();
	tell_rank(0, 0, 0, 2);
	TELL(0, JOURNAL_LEFT, 0, 1, LEFT_END);
	assert_false(facts_all_left(&facts));
	tell_rank(1, 0, 1, 2);
	assert_false(facts_all_left(&facts));
	TELL(1, JOURNAL_LEFT, 0, 1, LEFT_END);
	assert_true(facts_all_left(&facts));
	told_fini();
}

static void
loaders_are_known_by_their_first_word(void **state)
{
	const struct fact_loader *l;

	(void)state;
	told_init();
	tell_words(0, JOURNAL_LOADER, 3, "a\033[31mname",
	    (const uint64_t[7]){ 8, 2, 4, 100, 800, LOADER_PINNED });
	TELL(0, JOURNAL_LOADER, 3, 9, 9, 9, 9, 9, 9);
	TELL(0, JOURNAL_STEP, 3, JOURNAL_NO_BLOCK, 0, 5 * MS, 9 * MS, 8);
	TELL(0, JOURNAL_STEP, 3, JOURNAL_NO_BLOCK, 1, 20 * MS, 21 * MS, 8);
	TELL(0, JOURNAL_STEP, 3, JOURNAL_NO_BLOCK, 2, 50 * MS, 40 * MS, 8);
	TELL(0, JOURNAL_STEP, 4, JOURNAL_NO_BLOCK, 0, 0, MS, 8);
	l = facts_loader(&facts, 0, 3);
	assert_non_null(l);
	assert_int_equal(facts.nr_loaders, 1);
	assert_int_equal(l->batch_size, 8);
	assert_int_equal(l->batches, 100);
	assert_int_equal(l->samples, 800);
	assert_int_equal(l->flags, LOADER_PINNED);
	assert_int_equal(l->given, 2);		/* not the one that is no time */
	assert_int_equal(l->given_ns, 5 * MS);
	assert_string_equal(l->name, "a\\x1b[31mname");
	assert_null(facts_loader(&facts, 1, 3));
	told_fini();
}

static void
notes_are_confessed_once(void **state)
{
	static const uint64_t none[7];

	(void)state;
	told_init();
	tell_words(0, JOURNAL_NOTE, 0, "100 %s of %n", none);
	tell_words(5, JOURNAL_NOTE, 0, "100 %s of %n", none);
	tell_words(0, JOURNAL_NOTE, 0, "another", none);
	assert_int_equal(result.nr_confessions, 2);
	assert_string_equal(result.confessions[0], "100 %s of %n");
	assert_int_equal(facts.nr, 0);
	told_fini();
}

static void
files_are_told_by_whole_paths(void **state)
{
	char far[JOURNAL_TEXT_MAX + 1];
	static const uint64_t size[7] = { 1000 };

	(void)state;
	told_init();
	tell_words(0, JOURNAL_OPEN, 0, "/b", size);
	tell_words(0, JOURNAL_OPEN, 0, "relative", size);
	tell_words(0, JOURNAL_OPEN, 0, "", size);
	tell_words(1, JOURNAL_OPEN, 0, "/b", size);
	assert_int_equal(facts.opened.opens, 2);
	assert_int_equal(facts.opened.bytes, 2000);
	assert_int_equal(facts.processes[0].opens, 1);
	memset(far, 'f', sizeof far - 1);
	far[sizeof far - 1] = '\0';
	tell_words(0, JOURNAL_SET, 1, far, size);
	assert_int_equal(strlen(facts.data), sizeof facts.data - 1);
	tell_words(0, JOURNAL_SET, 1, "/data", size);
	assert_string_equal(facts.data, "/data");
	told_fini();
}

/* Words of all ones, of every kind, of many processes. */
static void
no_word_is_trusted(void **state)
{
	static const uint64_t ones[7] = { UINT64_MAX, UINT64_MAX, UINT64_MAX,
	    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

	(void)state;
	told_init();
	for (uint16_t kind = 1; kind < JOURNAL_KINDS; kind++) {
		tell_words(0, (enum journal_kind)kind, UINT32_MAX, "/x", ones);
		tell_words(4095, (enum journal_kind)kind, 0, "", ones);
		tell_words(4096, (enum journal_kind)kind, 1, "", ones);
		tell_words(SIZE_MAX, (enum journal_kind)kind, 1, "", ones);
	}
	assert_int_equal(facts.nr_processes, 4096);
	assert_int_equal(facts_ranks(&facts), 1);
	assert_int_equal(facts_ranks_expected(&facts), 1);
	assert_int_equal(facts.processes[0].why, LEFT_ASKED);
	assert_true(facts.loaders[0].workers <= 4096);
	told_fini();
}

static void
so_many_loaders_are_kept(void **state)
{
	(void)state;
	told_init();
	for (uint32_t i = 1; i <= 2000; i++)
		TELL(0, JOURNAL_LOADER, i, i);
	assert_int_equal(facts.nr_loaders, 1024);
	assert_int_equal(facts_loader(&facts, 0, 1024)->batch_size, 1024);
	assert_null(facts_loader(&facts, 0, 1025));
	told_fini();
}

UNIT_MAIN(
	UNIT(nothing_told_is_nothing),
	UNIT(ranks_are_those_who_train),
	UNIT(all_have_left_when_all_were_there),
	UNIT(loaders_are_known_by_their_first_word),
	UNIT(notes_are_confessed_once),
	UNIT(files_are_told_by_whole_paths),
	UNIT(no_word_is_trusted),
	UNIT(so_many_loaders_are_kept))
