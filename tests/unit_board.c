/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_board.c: tests of stage/board.c, and of the words in stage/board.h.
 */

#include <config.h>

#include "stage/board.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/unit.h"

#define LONG_NS	(60 * NS_PER_S)

static void
a_word_holds_all_three(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 0x123456, 0xffffff };
	uint64_t word;

	(void)state;
	for (unsigned s = UNIT_FREE; s <= UNIT_ALONE; s++) {
		for (unsigned i = 0; i < 4; i++) {
			word = board_word((enum unit_state)s, numbers[i],
			    ~numbers[i]);
			assert_int_equal(board_state(word), s);
			assert_int_equal(board_generation(word), numbers[i]);
			assert_int_equal(board_maker(word), ~numbers[i]);
		}
	}
	/* a generation goes round, and into nothing else */
	word = board_word(UNIT_LEASED, LINE_GENERATIONS + 5, 7);
	assert_int_equal(board_generation(word), 5);
	assert_int_equal(board_state(word), UNIT_LEASED);
	assert_int_equal(board_maker(word), 7);
}

/* Each is what it says, and no other. */
static void
kinds_are_told_apart(void **state)
{
	static const struct segment_kind *const kinds[] = { &board_kind,
		&seat_kind, &floor_kind };
	static const size_t sizes[] = { sizeof(struct board),
		sizeof(struct seat), sizeof(struct floor) };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct segment made = { 0 }, got = { 0 };
		struct ds_err err;

		assert_int_equal(segment_create(&made, kinds[i], sizes[i], 5,
		    &err), 0);
		for (int j = 0; j < 3; j++) {
			int fd = fcntl(made.fd, F_DUPFD_CLOEXEC, 3);
			int rc = segment_attach(&got, kinds[j], fd, &err);

			assert_int_equal(rc, i == j ? 0 : -EBADMSG);
			if (i == j)
				segment_detach(&got);
			else
				assert_int_equal(close(fd), 0);
		}
		segment_detach(&made);
	}
}

static _Atomic uint32_t wake, done;

static void *
wait_for_it(void *arg)
{
	(void)arg;
	if (board_wait(&wake, 0, clock_now_ns() + LONG_NS) == 0)
		atomic_fetch_add(&done, 1);
	return NULL;
}

static void
waiting_ends_by_waking(void **state)
{
	pthread_t threads[3];

	(void)state;
	assert_int_equal(board_wait(&wake, 0, 0), -ETIMEDOUT);
	assert_int_equal(board_wait(&wake, 0, clock_now_ns() + NS_PER_MS),
	    -ETIMEDOUT);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it,
		    NULL), 0);
	board_wake(&wake);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(atomic_load(&done), 3);
	assert_int_equal(board_wait(&wake, 0, 0), 0);
	assert_int_equal(board_wait(&wake, 1, 0), -ETIMEDOUT);
}

UNIT_MAIN(
	UNIT(a_word_holds_all_three),
	UNIT(kinds_are_told_apart),
	UNIT(waiting_ends_by_waking))
