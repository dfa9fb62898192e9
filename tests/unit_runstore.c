/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_runstore.c: tests of the run store: reports/runstore.c, store_write.c,
 * store_read.c.
 */

#include <config.h>

#include "reports/runstore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/folder.h"
#include "tests/harness/fullresult.h"
#include "tests/harness/unit.h"

static char folder[FOLDER_PATH];
static char path[FOLDER_PATH + 32];

static int
make_folder(void **state)
{
	if (folder_make(folder, "unit_runstore") != 0)
		return -1;
	(void)snprintf(path, sizeof path, "%s/runs.sqlite", folder);
	return leak_before(state);
}

static int
remove_folder(void **state)
{
	int rc = leak_after(state);

	return folder_remove(folder) == 0 ? rc : -1;
}

#define STORE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

/* What SQLite and the C library keep for the process is not a test's. */
static int
begin_sqlite(void **state)
{
	(void)state;
	tzset();
	return sqlite3_initialize() == SQLITE_OK ? 0 : -1;
}

static int
end_sqlite(void **state)
{
	(void)state;
	return sqlite3_shutdown() == SQLITE_OK ? 0 : -1;
}

static struct runstore *
open_store(enum runstore_how how)
{
	struct runstore *s;
	struct ds_err note, err;

	if (runstore_open_at(&s, path, how, &note, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(note.text, "");
	return s;
}

static void
add(struct runstore *s, struct result *r)
{
	struct ds_err err;

	if (runstore_add(s, r, &err) != 0)
		fail_msg("%s", err.text);
	assert_non_null(r->id);
}

static void
expect_same(struct runstore *s, const char *run, const struct result *want)
{
	struct result r;
	struct ds_err err;
	const char *differs;

	result_init(&r);
	if (runstore_get(s, run, &r, &err) != 0)
		fail_msg("%s", err.text);
	differs = full_result_differ(want, &r);
	if (differs != NULL)
		fail_msg("%s: %s differs", run, differs);
	assert_string_equal(r.id, want->id);
	result_fini(&r);
}

/*--- results ---------------------------------------------------------------*/

static void
all_of_it_comes_back(void **state)
{
	struct runstore *s = open_store(RUNSTORE_WRITE);
	struct result a, b, empty;

	(void)state;
	full_result_make(&a, 3);
	full_result_make(&b, 9);
	/* What no decimal of 12 digits is, and no UTF-8. */
	b.seconds = 1.0 / 3;
	b.share[SHARE_FETCH].high = 2.0 / 7;
	result_set_text(&b.command, "train \xff\xfe\x1b[31m");
	result_init(&empty);
	add(s, &a);
	add(s, &b);
	add(s, &empty);
	expect_same(s, a.id, &a);
	expect_same(s, b.id, &b);
	expect_same(s, empty.id, &empty);
	runstore_close(&s);
	assert_null(s);
	s = open_store(RUNSTORE_READ);
	expect_same(s, a.id, &a);
	expect_same(s, b.id, &b);
	expect_same(s, RUNSTORE_LAST, &empty);
	runstore_close(&s);
	result_fini(&a);
	result_fini(&b);
	result_fini(&empty);
}

static void
ids_tell_the_time_and_are_unique(void **state)
{
	struct runstore *s = open_store(RUNSTORE_WRITE);
	struct run_list list;
	struct ds_err err;

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		struct result r;

		full_result_make(&r, 0);
		add(s, &r);
		assert_int_equal(strlen(r.id), 20);
		assert_memory_equal(r.id, "20261117-134502-", 16);
		result_fini(&r);
	}
	assert_int_equal(runstore_list(s, &list, &err), 0);
	assert_int_equal(list.nr, 400);
	for (size_t i = 0; i < list.nr; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(list.lines[i].id,
			    list.lines[j].id);
	run_list_fini(&list);
	runstore_close(&s);
}

static void
beginnings_find_runs(void **state)
{
	struct runstore *s = open_store(RUNSTORE_WRITE);
	struct result a, b, r;
	struct ds_err err;

	(void)state;
	result_init(&r);
	assert_int_equal(runstore_get(s, RUNSTORE_LAST, &r, &err), -ENOENT);
	full_result_make(&a, 0);
	full_result_make(&b, 3600);
	add(s, &a);
	add(s, &b);
	expect_same(s, "20261117-13", &a);
	expect_same(s, "20261117-14", &b);
	expect_same(s, RUNSTORE_LAST, &b);
	assert_int_equal(runstore_get(s, "2026", &r, &err), -ENOTUNIQ);
	assert_non_null(strstr(err.text, a.id));
	assert_non_null(strstr(err.text, b.id));
	assert_int_equal(runstore_get(s, "", &r, &err), -ENOENT);
	assert_int_equal(runstore_get(s, "2026%", &r, &err), -ENOENT);
	assert_int_equal(runstore_get(s, "' OR 1 --", &r, &err), -ENOENT);
	result_fini(&r);
	result_fini(&a);
	result_fini(&b);
	runstore_close(&s);
}

static void
the_list_has_all_runs(void **state)
{
	struct runstore *s = open_store(RUNSTORE_WRITE);
	struct result a, b;
	struct run_list list;
	struct ds_err err;

	(void)state;
	full_result_make(&a, 1);
	result_init(&b);
	add(s, &a);
	add(s, &b);
	assert_int_equal(runstore_list(s, &list, &err), 0);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.lines[0].id, a.id);
	assert_string_equal(list.lines[0].name, a.name);
	assert_string_equal(list.lines[0].command, a.command);
	assert_string_equal(list.lines[0].sentence, a.sentence);
	assert_true(list.lines[0].has_verdict);
	assert_int_equal(list.lines[0].bottleneck, SHARE_PREP);
	assert_true(list.lines[0].share.value == 0.25);
	assert_true(list.lines[0].actual.value == a.rate[RATE_ACTUAL].value);
	assert_int_equal(list.lines[0].started_s, a.started_s);
	assert_false(list.lines[1].has_verdict);
	assert_false(list.lines[1].share.is_known);
	assert_false(list.lines[1].actual.is_known);
	assert_null(list.lines[1].command);
	run_list_fini(&list);
	result_fini(&a);
	result_fini(&b);
	runstore_close(&s);
}

/*--- the file --------------------------------------------------------------*/

static void
readers_make_nothing(void **state)
{
	struct runstore *s;
	struct ds_err note, err;

	(void)state;
	assert_int_equal(runstore_open_at(&s, path, RUNSTORE_READ, &note, &err),
	    -ENOENT);
	assert_null(s);
	assert_int_equal(access(path, F_OK), -1);
	/* An empty file is one that its maker did not come to fill. */
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(runstore_open_at(&s, path, RUNSTORE_READ, &note, &err),
	    -ENOENT);
	assert_string_equal(note.text, "");
}

static void
the_file_is_the_users_alone(void **state)
{
	mode_t before = umask(0);
	struct runstore *s;
	struct result r;
	struct stat st;
	char log[sizeof path + 4];

	(void)state;
	full_result_make(&r, 0);
	s = open_store(RUNSTORE_WRITE);
	add(s, &r);
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	(void)snprintf(log, sizeof log, "%s-wal", path);
	assert_int_equal(stat(log, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	runstore_close(&s);
	assert_int_equal(stat(log, &st), -1);
	result_fini(&r);
}

static void
what_is_no_file_is_refused(void **state)
{
	struct runstore *s;
	struct ds_err note, err;
	char other[sizeof path + 8];

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(runstore_open_at(&s, path, RUNSTORE_WRITE, &note,
	    &err), -EINVAL);
	assert_non_null(strstr(err.text, "is not a file"));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(runstore_open_at(&s, path, RUNSTORE_READ, &note, &err),
	    -EINVAL);
	assert_int_equal(unlink(path), 0);
	(void)snprintf(other, sizeof other, "%s.other", path);
	close(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(runstore_open_at(&s, path, RUNSTORE_WRITE, &note,
	    &err), -ELOOP);
	assert_non_null(strstr(err.text, "is a symbolic link"));
}

UNIT_MAIN_WITH(begin_sqlite, end_sqlite,
	STORE_UNIT(all_of_it_comes_back),
	STORE_UNIT(ids_tell_the_time_and_are_unique),
	STORE_UNIT(beginnings_find_runs),
	STORE_UNIT(the_list_has_all_runs),
	STORE_UNIT(readers_make_nothing),
	STORE_UNIT(the_file_is_the_users_alone),
	STORE_UNIT(what_is_no_file_is_refused))
