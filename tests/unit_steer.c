/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_steer.c: tests of loader/steer*.c: what a job does in the middle of a
 * block.  What blocks deliver is in m0920-steer.sh.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "probe/journal.h"
#include "tests/harness/conducted.h"
#include "tests/harness/oneloader.h"

#define NR	64u		/* pictures */
#define BATCH	"batch=2 size=32 threads=2"

static int
start(void **state)
{
	if (conducted_make("unit_steer") != 0 || oneloader_start(state, NR) != 0)
		return -1;
	return conducted_start();
}

static int
stop(void **state)
{
	int rc;

	ds_loader_close(&loader);
	conducted_stop();
	rc = oneloader_stop(state);
	return folder_remove(folder) != 0 ? -1 : rc;
}

#define STEER_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* How many records of a kind all journals have. */
static unsigned
count(enum journal_kind kind)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	unsigned nr = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		struct journal_record r;
		FILE *f;

		if (strstr(e->d_name, JOURNAL_SUFFIX) == NULL)
			continue;
		f = fopen(in_folder(e->d_name), "re");
		assert_non_null(f);
		while (fread(&r, sizeof r, 1, f) == 1) {
			nr += r.kind == kind;
			(void)fseek(f, (r.text + 63) / 64 * 64, SEEK_CUR);
		}
		fclose(f);
	}
	closedir(d);
	return nr;
}

static void
take(unsigned nr)
{
	struct ds_batch *b;

	while (nr-- > 0) {
		assert_int_equal(ds_loader_next(loader, &b, &err), 1);
		assert_int_equal(b->count, 2);
		ds_loader_release(loader, &b);
	}
}

static void
is_closed_in_the_middle_of_any_block(void **state)
{
	static const enum block_kind kinds[] = { BLOCK_ACTUAL, BLOCK_REPLAY,
	    BLOCK_REPLAY_BUSY, BLOCK_CACHED, BLOCK_COLD };

	(void)state;
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		pid_t pid;
		int status;

		conducted_add(0, 1, BLOCK_SET, 3);
		conducted_add(1, 2, kinds[i], 10);
		/* One loader of a process is profiled. */
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			oneloader_open(BATCH);
			take(5 + 2);
			ds_loader_close(&loader);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count(JOURNAL_TRAINS), 5);
	assert_int_equal(count(JOURNAL_BLOCK), 10);
	assert_int_equal(count(JOURNAL_BLOCK_END), 5);
}

/* One that ended before it trained was not the one. */
static void
the_first_that_trains_is_profiled(void **state)
{
	struct ds_loader *second = NULL;
	struct ds_batch *b;

	(void)state;
	schedule->flags = SCHEDULE_LIVE;
	oneloader_open(BATCH);
	take(2);
	assert_int_equal(count(JOURNAL_HELLO), 1);
	assert_int_equal(ds_loader_open(&second, data, &err), 0);
	loaded_set(second, BATCH);
	assert_int_equal(ds_loader_next(second, &b, &err), 1);
	ds_loader_release(second, &b);
	assert_int_equal(count(JOURNAL_HELLO), 1);
	ds_loader_close(&second);
	oneloader_open(BATCH);
	take(9);
	assert_int_equal(count(JOURNAL_HELLO), 2);
	assert_int_equal(count(JOURNAL_TRAINS), 1);
	oneloader_open(BATCH);
	take(9);
	assert_int_equal(count(JOURNAL_HELLO), 2);
	assert_int_equal(count(JOURNAL_TRAINS), 1);
}

UNIT_MAIN(STEER_UNIT(is_closed_in_the_middle_of_any_block),
    STEER_UNIT(the_first_that_trains_is_profiled))
