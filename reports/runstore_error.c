/* SPDX-License-Identifier: Apache-2.0
 *
 * runstore_error.c: what SQLite says, as a failure of ours.
 * Runs in the command only.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <errno.h>

#define PRIMARY(code)	((code) & 0xff)

bool
store_is_damage(int code)
{
	return PRIMARY(code) == SQLITE_CORRUPT || PRIMARY(code) == SQLITE_NOTADB;
}

/* What the system said, if SQLite knows it.  That there is no file is of one
 * beside it which need not be there, or of an earlier call. */
static int
system_errno(const struct runstore *s)
{
	int code = s->db != NULL ? sqlite3_system_errno(s->db) : 0;

	return code > 0 && code != ENOENT ? code : EIO;
}

int
store_fail(const struct runstore *s, int code, struct ds_err *err)
{
	switch (PRIMARY(code)) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_fail(err, -EBUSY, "the run store %s: another program "
		    "has kept it locked for %d s", s->path,
		    RUNSTORE_WAIT_MS / 1000);
	case SQLITE_FULL:
		errno = ENOSPC;
		break;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		errno = EROFS;
		break;
	case SQLITE_NOMEM:
		errno = ENOMEM;
		break;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		/* Of the log's index, which has no room, SQLite says no more. */
		errno = code == SQLITE_IOERR_SHMSIZE ? ENOSPC : system_errno(s);
		break;
	default:
		return err_fail(err, store_is_damage(code) ? -EUCLEAN : -EPROTO,
		    "the run store %s: %s", s->path, sqlite3_errstr(code));
	}
	return err_errno(err, "the run store %s", s->path);
}
