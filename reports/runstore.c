/* SPDX-License-Identifier: Apache-2.0
 *
 * runstore.c: opening the run store: what it finds is looked at with distrust,
 * and put aside if it is damaged.  Runs in the command only.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/say.h"

#define TRIES	10u	/* twice the log, twice the file, a new one; others that
			 * do so at the same time */

/*--- a connection ----------------------------------------------------------*/

/* Nothing that is in the file is trusted: no code of its schema is run, and its
 * log, if it has one, is not written into it before all was looked at. */
static int
configure(sqlite3 *db, bool has_log)
{
	const struct {
		int what, on;
	} settings[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log },
	};

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, RUNSTORE_WAIT_MS);
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		(void)sqlite3_db_config(db, settings[i].what, settings[i].on,
		    NULL);
	return sqlite3_exec(db, "PRAGMA cell_size_check = ON; "
	    "PRAGMA mmap_size = 0; PRAGMA synchronous = NORMAL",
	    NULL, NULL, NULL);
}

static int
open_db(struct runstore *s, const struct store_file *f, bool immutable)
{
	char *uri = immutable ? sqlite3_mprintf("file:%s?immutable=1", s->path) :
	    NULL;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, code;

	/* In the name of a file that is given as it is, nothing is special. */
	if (immutable)
		flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_URI;
	sqlite3_close(s->db);
	s->db = NULL;
	code = sqlite3_open_v2(immutable ? uri : s->path, &s->db, flags, NULL);
	sqlite3_free(uri);
	return code != SQLITE_OK ? code : configure(s->db, f->has_log);
}

/*--- what it is ------------------------------------------------------------*/

enum content { CONTENT_NONE, CONTENT_OURS, CONTENT_DAMAGED };

static int
refuse_foreign(const struct runstore *s, struct ds_err *err)
{
	return err_fail(err, -EINVAL, "the run store %s is a file of another "
	    "program: set " RUNSTORE_ENV " to another path", s->path);
}

static int
refuse_newer(const struct runstore *s, int64_t version, struct ds_err *err)
{
	return err_fail(err, -ENOTSUP, "the run store %s is of a newer destall "
	    "(schema %lld, this one knows %u): use that, or set " RUNSTORE_ENV
	    " to another path", s->path, (long long)version, store_version);
}

/* Is what SQLite can read whole, and of the shape that it says?  Older shapes
 * are not asked for their columns. */
static int
check_whole(struct runstore *s, int64_t version)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &st,
	    NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	if (code == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		code = text != NULL && strcmp(text, "ok") == 0 ? SQLITE_OK :
		    SQLITE_CORRUPT;
	}
	sqlite3_finalize(st);
	if (code == SQLITE_OK && version == store_version) {
		code = store_read_check(s->db);
		if (code == SQLITE_ERROR)
			code = SQLITE_CORRUPT;
	}
	return code;
}

/* An enum content, or why it cannot be told. */
static int
examine(struct runstore *s, const struct store_file *f, struct ds_err *err)
{
	int64_t id = 0, version = 0, tables = 0;
	int code;

	code = store_pragma(s->db, "PRAGMA application_id", &id);
	if (code == SQLITE_OK)
		code = store_pragma(s->db, "PRAGMA user_version", &version);
	if (code == SQLITE_OK)
		code = store_pragma(s->db, "SELECT count(*) FROM sqlite_master",
		    &tables);
	/* SQLite takes a few bytes of anything for an empty file, and what a
	 * page lacks for zeros. */
	if (code == SQLITE_OK && !f->is_empty && (!f->has_head || f->is_cut))
		return CONTENT_DAMAGED;
	if (code == SQLITE_OK && id == 0 && version == 0 && tables == 0 &&
	    !f->is_ours)
		return CONTENT_NONE;
	if (code == SQLITE_OK && id != RUNSTORE_APPLICATION) {
		/* Another's log beside ours: so it is the log. */
		if (!f->is_ours)
			return refuse_foreign(s, err);
		code = SQLITE_CORRUPT;
	}
	if (code == SQLITE_OK && version > store_version)
		return refuse_newer(s, version, err);
	if (code == SQLITE_OK)
		code = version > 0 ? check_whole(s, version) : SQLITE_CORRUPT;
	if (store_is_damage(code))
		return CONTENT_DAMAGED;
	return code == SQLITE_OK ? CONTENT_OURS : store_fail(s, code, err);
}

/*--- making it ready -------------------------------------------------------*/

/* Where there can be no log, as on some file systems of networks, SQLite keeps
 * to its older way. */
static int
prepare(struct runstore *s, enum runstore_how how, struct ds_err *err)
{
	int64_t version = 0;
	int code;

	code = store_pragma(s->db, "PRAGMA user_version", &version);
	if (code == SQLITE_OK && how == RUNSTORE_WRITE)
		code = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL,
		    NULL, NULL);
	if (code == SQLITE_OK && version < store_version)
		code = store_migrate(s->db, store_steps, store_version);
	if (code != SQLITE_OK)
		return store_fail(s, code, err);
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0,
	    NULL);
	return 0;
}

/* Without a place for the log's index, a file that has no log can be read as one
 * that does not change. */
static int
try_read_only(struct runstore *s, const struct store_file *f, int was,
    struct ds_err *err)
{
	if (f->has_log || strpbrk(s->path, "?#%") != NULL)
		return was;
	if (open_db(s, f, true) != SQLITE_OK)
		return was;
	return examine(s, f, err);
}

static int
open_file(struct runstore *s, enum runstore_how how, struct store_file *f,
    struct ds_err *err)
{
	int rc, code;

	rc = store_file_look(f, s->path, err);
	if (rc == -ENOENT && how == RUNSTORE_WRITE) {
		rc = store_file_make(s->path, err);
		if (rc == 0)
			rc = store_file_look(f, s->path, err);
	}
	if (rc < 0)
		return rc;
	code = open_db(s, f, false);
	if (how == RUNSTORE_WRITE && s->db != NULL &&
	    sqlite3_db_readonly(s->db, "main") > 0)
		code = SQLITE_READONLY;
	if (code == SQLITE_OK)
		rc = examine(s, f, err);
	else
		rc = store_is_damage(code) ? CONTENT_DAMAGED :
		    store_fail(s, code, err);
	if (how == RUNSTORE_READ && rc < 0 && rc != -EBUSY && rc != -ENOTSUP &&
	    rc != -EINVAL)
		rc = try_read_only(s, f, rc, err);
	return rc;
}

/* Damage is believed if it is found twice in a file that can be read: what SQLite
 * cannot read it may call damaged, too. */
static int
believe(struct runstore *s, const struct store_file *f,
    struct store_aside *aside, unsigned found, struct ds_err *err)
{
	int rc;

	/* Not while SQLite has it. */
	sqlite3_close(s->db);
	s->db = NULL;
	rc = store_file_read(s->path, err);
	if (rc == 0 && found % 2 == 0)
		rc = store_file_put_aside(aside, f, s->path, err);
	return rc < 0 ? rc : CONTENT_DAMAGED;
}

static int
open_store(struct runstore *s, enum runstore_how how, struct store_aside *aside,
    struct ds_err *err)
{
	struct store_file f = { 0 };
	int rc = CONTENT_DAMAGED;

	for (unsigned i = 1; i <= TRIES && rc == CONTENT_DAMAGED; i++) {
		rc = open_file(s, how, &f, err);
		if (rc == CONTENT_DAMAGED)
			rc = believe(s, &f, aside, i, err);
	}
	if (rc == CONTENT_DAMAGED)
		return store_fail(s, SQLITE_CORRUPT, err);
	if (rc == CONTENT_NONE && how == RUNSTORE_READ)
		rc = err_fail(err, -ENOENT, "the run store %s: it is empty",
		    s->path);
	return rc < 0 ? rc : prepare(s, how, err);
}

/*--- for others ------------------------------------------------------------*/

int
runstore_open_at(struct runstore **out, const char *path,
    enum runstore_how how, struct ds_err *note, struct ds_err *err)
{
	struct runstore *s = calloc(1, sizeof *s);
	struct store_aside aside = { 0 };
	int rc;

	if (s == NULL || (s->path = strdup(path)) == NULL)
		say_no_memory();
	s->magic = RUNSTORE_MAGIC;
	*note = (struct ds_err){ 0 };
	rc = open_store(s, how, &aside, err);
	store_file_note(&aside, path, note);
	if (rc < 0)
		runstore_close(&s);
	*out = s;
	return rc;
}

int
runstore_open(struct runstore **out, enum runstore_how how,
    struct ds_err *note, struct ds_err *err)
{
	char *path = NULL;
	int rc;

	*out = NULL;
	*note = (struct ds_err){ 0 };
	rc = store_file_place(&path, err);
	if (rc == 0 && how == RUNSTORE_WRITE)
		rc = store_file_make_folders(path, err);
	if (rc == 0)
		rc = runstore_open_at(out, path, how, note, err);
	free(path);
	if (rc == -ENOENT && how == RUNSTORE_READ)
		(void)err_fail(err, rc, "no runs are stored yet: destall "
		    "profile stores them");
	return rc;
}

void
runstore_close(struct runstore **sp)
{
	struct runstore *s = *sp;

	*sp = NULL;
	if (s == NULL)
		return;
	must_be(s, RUNSTORE_MAGIC);
	sqlite3_close(s->db);
	free(s->path);
	s->magic = 0;
	free(s);
}
