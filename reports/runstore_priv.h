/* SPDX-License-Identifier: Apache-2.0
 *
 * runstore_priv.h: what the files of the run store share, and nobody else sees.
 * Runs in the command only.
 */

#ifndef REPORTS_RUNSTORE_PRIV_H
#define REPORTS_RUNSTORE_PRIV_H

#include <stdbool.h>
#include <sqlite3.h>

#include "reports/runstore.h"

#define RUNSTORE_APPLICATION	0x44535452	/* "DSTR", PRAGMA application_id */
#define RUNSTORE_MAGIC		0x6e7571b3u
#define RUNSTORE_LOG		"-wal"		/* SQLite's, beside the file */

struct runstore {
	unsigned	magic;
	sqlite3		*db;
	char		*path;
};

/*--- runstore_file.c: the file, before SQLite sees it ----------------------*/

struct store_file {
	uint64_t	device, inode;
	bool		is_empty;
	bool		has_head;	/* of a SQLite file */
	bool		is_ours;	/* its head says so */
	bool		is_cut;		/* within a page */
	bool		has_log;
};

int store_file_place(char **path, struct ds_err *err);
	/* From the environment. */

int store_file_make(const char *path, struct ds_err *err);
	/* An empty one, for this user alone, where there is none. */

int store_file_make_folders(const char *path, struct ds_err *err);
	/* That it is to lie in, for this user alone. */

int store_file_look(struct store_file *f, const char *path, struct ds_err *err);
	/* -ENOENT: there is none.  What is no file, or a link, is refused. */

int store_file_read(const char *path, struct ds_err *err);
	/* Can all of it be read?  What cannot is not damaged, as far as one
	 * knows. */

/* What was renamed because it was damaged. */
struct store_aside {
	unsigned	number;		/* PATH.damaged-NUMBER; 0: nothing yet */
	bool		log, file;
};

int store_file_put_aside(struct store_aside *a, const struct store_file *f,
    const char *path, struct ds_err *err);
	/* Its log if it has one and that was not tried, else the file.  One
	 * that somebody has replaced meanwhile is left alone. */

void store_file_note(const struct store_aside *a, const char *path,
    struct ds_err *note);

/*--- runstore_error.c -----------------------------------------------------*/

bool store_is_damage(int code);
	/* Does this result of SQLite's say that the file is damaged? */

int store_fail(const struct runstore *s, int code, struct ds_err *err);
	/* SQLite's result as -errno and a sentence; -EUCLEAN for damage. */

/*--- runstore_steps.c -----------------------------------------------------*/

extern const char store_schema[];	/* schema.sql */

extern const char *const store_steps[];
	/* SQL that leads from the version before to the next; [0] from nothing
	 * to version 1. */
extern const unsigned store_version;	/* of this program: so many steps */

int store_migrate(sqlite3 *db, const char *const *steps, unsigned to);
	/* From the version that it has, in one transaction.  A result of
	 * SQLite's. */

int store_pragma(sqlite3 *db, const char *sql, int64_t *value);
	/* The number that this gives.  A result of SQLite's. */

/*--- store_read.c ---------------------------------------------------------*/

int store_read_check(sqlite3 *db);
	/* Are all tables and columns there that are read?  A result of
	 * SQLite's. */

#endif
