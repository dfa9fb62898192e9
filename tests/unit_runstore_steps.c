/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_runstore_steps.c: tests of reports/runstore_steps.c: files of older and of
 * newer schemas, made by hand.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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

static sqlite3 *
open_raw(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	return db;
}

static void
change(const char *sql)
{
	sqlite3 *db = open_raw();
	char *why = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}

static int64_t
ask(sqlite3 *db, const char *sql)
{
	int64_t value = -1;

	assert_int_equal(store_pragma(db, sql, &value), SQLITE_OK);
	return value;
}

static int
try_open(struct runstore **s, enum runstore_how how, struct ds_err *err)
{
	struct ds_err note;
	int rc = runstore_open_at(s, path, how, &note, err);

	assert_string_equal(note.text, "");
	return rc;
}

/*--- steps -----------------------------------------------------------------*/

static const char *const later[] = {
	"CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)",
	"ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1",
	"CREATE TABLE b AS SELECT x + y AS z FROM a",
	"INSERT INTO nowhere VALUES (1)",
};

/* One of version 1 comes to 3, with what was in it; one of 3 is left alone. */
static void
old_files_come_to_the_newest(void **state)
{
	sqlite3 *db;

	(void)state;
	change("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (5); "
	    "PRAGMA user_version = 1");
	db = open_raw();
	assert_int_equal(store_migrate(db, later, 3), SQLITE_OK);
	assert_int_equal(ask(db, "PRAGMA user_version"), 3);
	assert_int_equal(ask(db, "PRAGMA application_id"),
	    RUNSTORE_APPLICATION);
	assert_int_equal(ask(db, "SELECT z FROM b"), 11);
	assert_int_equal(store_migrate(db, later, 3), SQLITE_OK);
	assert_int_equal(ask(db, "SELECT count(*) FROM a"), 1);
	sqlite3_close(db);
}

static void
new_files_take_all_steps(void **state)
{
	sqlite3 *db = open_raw();

	(void)state;
	assert_int_equal(store_migrate(db, later, 3), SQLITE_OK);
	assert_int_equal(ask(db, "SELECT z FROM b"), 3);
	sqlite3_close(db);
}

/* All steps or none. */
static void
a_step_that_fails_undoes_all(void **state)
{
	sqlite3 *db;

	(void)state;
	change("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (5); "
	    "PRAGMA user_version = 1");
	db = open_raw();
	assert_int_equal(store_migrate(db, later, 4), SQLITE_ERROR);
	assert_int_equal(ask(db, "PRAGMA user_version"), 1);
	assert_int_equal(ask(db, "SELECT count(*) FROM "
	    "pragma_table_info('a')"), 1);
	assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_master"), 1);
	sqlite3_close(db);
}

/*--- whole files -----------------------------------------------------------*/

/* The first schema, written by hand: a file that was released once can be read
 * for ever.  It is never changed; what later steps add has its default. */
static void
the_first_schema_can_be_read(void **state)
{
	struct runstore *s;
	struct result r;
	struct ds_err err;

	(void)state;
	change(store_steps[0]);
	change("INSERT INTO runs (id, started, mode, bottleneck, command) "
	    "VALUES ('20200101-000000-0000', 1577836800, 'live', 'fetch', "
	    "'old'); INSERT INTO rates VALUES (1, 'actual', 7, 6, 8); "
	    "INSERT INTO rates VALUES (1, 'of the future', 7, 6, 8); "
	    "PRAGMA application_id = 1146311762; PRAGMA user_version = 1");
	assert_int_equal(try_open(&s, RUNSTORE_READ, &err), 0);
	result_init(&r);
	assert_int_equal(runstore_get(s, "2020", &r, &err), 0);
	assert_string_equal(r.command, "old");
	assert_int_equal(r.mode, MODE_LIVE);
	assert_int_equal(r.bottleneck, SHARE_FETCH);
	assert_true(r.rate[RATE_ACTUAL].high == 8);
	result_fini(&r);
	runstore_close(&s);
}

static void
newer_and_foreign_files_are_left_alone(void **state)
{
	struct runstore *s;
	struct ds_err err;
	sqlite3 *db;

	(void)state;
	change(store_schema);
	change("PRAGMA application_id = 1146311762; PRAGMA user_version = 77");
	for (int how = RUNSTORE_READ; how <= RUNSTORE_WRITE; how++) {
		assert_int_equal(try_open(&s, (enum runstore_how)how, &err),
		    -ENOTSUP);
		assert_null(s);
		assert_non_null(strstr(err.text, "of a newer destall (schema "
		    "77, this one knows 1)"));
	}
	change("PRAGMA application_id = 5; PRAGMA user_version = 1");
	assert_int_equal(try_open(&s, RUNSTORE_WRITE, &err), -EINVAL);
	assert_non_null(strstr(err.text, "of another program"));
	change("PRAGMA application_id = 0; PRAGMA user_version = 0");
	assert_int_equal(try_open(&s, RUNSTORE_WRITE, &err), -EINVAL);
	db = open_raw();
	assert_int_equal(ask(db, "PRAGMA user_version"), 0);
	assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_master "
	    "WHERE name = 'runs'"), 1);
	sqlite3_close(db);
}

/* What says that it is ours and has other tables, columns, or a trigger that
 * would run: put aside, or of no effect. */
static void
wrong_shapes_are_put_aside(void **state)
{
	static const char *const shapes[] = {
		"DROP TABLE shares",
		"ALTER TABLE rates RENAME COLUMN low TO lo",
		"DROP TABLE runs; CREATE VIEW runs AS SELECT 1 AS run",
	};
	struct ds_err note, err;
	struct runstore *s;

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		unlink(path);
		change(store_schema);
		change("PRAGMA application_id = 1146311762; "
		    "PRAGMA user_version = 1");
		change(shapes[i]);
		assert_int_equal(runstore_open_at(&s, path, RUNSTORE_WRITE,
		    &note, &err), 0);
		assert_non_null(strstr(note.text, "was damaged: it is now"));
		runstore_close(&s);
	}
}

static void
triggers_do_not_run(void **state)
{
	struct runstore *s;
	struct ds_err err;
	struct result r;
	sqlite3 *db;

	(void)state;
	change(store_schema);
	change("CREATE TRIGGER evil AFTER INSERT ON runs BEGIN "
	    "DELETE FROM runs; END; PRAGMA application_id = 1146311762; "
	    "PRAGMA user_version = 1");
	full_result_make(&r, 1);
	assert_int_equal(try_open(&s, RUNSTORE_WRITE, &err), 0);
	assert_int_equal(runstore_add(s, &r, &err), 0);
	runstore_close(&s);
	result_fini(&r);
	db = open_raw();
	assert_int_equal(ask(db, "SELECT count(*) FROM runs"), 1);
	sqlite3_close(db);
}

/* Two that find no file make it once. */
static void
two_begin_at_once(void **state)
{
	struct runstore *s, *other;
	struct ds_err err;
	struct result r;

	(void)state;
	assert_int_equal(try_open(&s, RUNSTORE_WRITE, &err), 0);
	assert_int_equal(try_open(&other, RUNSTORE_WRITE, &err), 0);
	full_result_make(&r, 1);
	assert_int_equal(runstore_add(s, &r, &err), 0);
	assert_int_equal(runstore_add(other, &r, &err), 0);
	assert_int_equal(runstore_get(s, r.id, &r, &err), 0);
	runstore_close(&s);
	runstore_close(&other);
	result_fini(&r);
}

UNIT_MAIN_WITH(begin_sqlite, end_sqlite,
	STORE_UNIT(old_files_come_to_the_newest),
	STORE_UNIT(new_files_take_all_steps),
	STORE_UNIT(a_step_that_fails_undoes_all),
	STORE_UNIT(the_first_schema_can_be_read),
	STORE_UNIT(newer_and_foreign_files_are_left_alone),
	STORE_UNIT(wrong_shapes_are_put_aside),
	STORE_UNIT(triggers_do_not_run),
	STORE_UNIT(two_begin_at_once))
