/* SPDX-License-Identifier: Apache-2.0
 *
 * runstore.h: the run store: every profile of this user, in a SQLite file.
 * Runs in the command only, never in a job: a connection does not survive fork().
 *
 * The file is $DESTALL_STORE, or destall/runs.sqlite in $XDG_DATA_HOME or in
 * ~/.local/share; schema.sql says what is in it.
 *
 *  1. A run that runstore_add() has returned 0 for is there after any death of
 *     any process.
 *  2. What is in the file is looked at before anything is written to it or its
 *     log: one of a newer schema, of another program, or no file, is refused and
 *     left as it is.
 *  3. One that is damaged is renamed, never removed, and a new one is begun.  A
 *     log (-wal) that does not fit is renamed first: what is without it may be
 *     whole.
 *  4. Nobody waits for another for longer than RUNSTORE_WAIT_MS.
 */

#ifndef REPORTS_RUNSTORE_H
#define REPORTS_RUNSTORE_H

#include "base/err.h"
#include "reports/result.h"

#define RUNSTORE_ENV		"DESTALL_STORE"
#define RUNSTORE_WAIT_MS	3000
#define RUNSTORE_LAST		"last"	/* the run that was stored last */

struct runstore;

enum runstore_how {
	RUNSTORE_READ,		/* nothing is made: -ENOENT if there is none */
	RUNSTORE_WRITE,
};

int runstore_open(struct runstore **out, enum runstore_how how,
    struct ds_err *note, struct ds_err *err);
	/* The user's.  note->text is "", or what was done about a damaged
	 * one, which is to be said even if this failed. */

int runstore_open_at(struct runstore **out, const char *path,
    enum runstore_how how, struct ds_err *note, struct ds_err *err);
	/* The one of this path, whose folder is there. */

void runstore_close(struct runstore **sp);

int runstore_add(struct runstore *s, struct result *r, struct ds_err *err);
	/* Gives it an id, r->id, of the time at which it began.  All of it is
	 * stored, or nothing. */

int runstore_get(struct runstore *s, const char *run, struct result *r,
    struct ds_err *err);
	/* Into a result that was begun; run is an id, the beginning of one, or
	 * RUNSTORE_LAST.  -ENOENT: there is none; -ENOTUNIQ: there are several. */

/* A line of `destall runs`. */
struct run_line {
	char		*id, *name, *command;
	int64_t		started_s;
	double		seconds;
	bool		has_verdict;
	enum share	bottleneck;
	char		*sentence;
	struct figure	share;		/* of the bottleneck */
	struct figure	actual;		/* samples a second */
};

struct run_list {
	struct run_line	*lines;		/* the last run last */
	size_t		nr;
};

int runstore_list(struct runstore *s, struct run_list *list,
    struct ds_err *err);
void run_list_fini(struct run_list *list);

#endif
