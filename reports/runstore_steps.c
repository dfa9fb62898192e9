/* SPDX-License-Identifier: Apache-2.0
 *
 * runstore_steps.c: the versions of the schema, and how an older file comes to
 * the newest.  Runs in the command only.
 *
 *  1. A step that was released is never changed; a change of schema.sql is then
 *     a step of its own, and schema.sql stays what all of them lead to.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <stdio.h>

const char *const store_steps[] = {
	store_schema,
};

const unsigned store_version = sizeof store_steps / sizeof store_steps[0];

int
store_pragma(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	if (code == SQLITE_ROW) {
		*value = sqlite3_column_int64(st, 0);
		code = SQLITE_OK;
	} else if (code == SQLITE_DONE) {
		code = SQLITE_ERROR;
	}
	sqlite3_finalize(st);
	return code;
}

static int
set_version(sqlite3 *db, unsigned version)
{
	char sql[96];

	(void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; "
	    "PRAGMA user_version = %u", RUNSTORE_APPLICATION, version);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int
store_migrate(sqlite3 *db, const char *const *steps, unsigned to)
{
	int64_t from = 0;
	int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return code;
	/* Asked within: another may have been here before us. */
	code = store_pragma(db, "PRAGMA user_version", &from);
	if (code == SQLITE_OK && from < 0)
		code = SQLITE_CORRUPT;
	for (int64_t v = from; code == SQLITE_OK && v < to; v++)
		code = sqlite3_exec(db, steps[v], NULL, NULL, NULL);
	if (code == SQLITE_OK && from < to)
		code = set_version(db, to);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}
