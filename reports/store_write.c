/* SPDX-License-Identifier: Apache-2.0
 *
 * store_write.c: a result into the run store; the one file that says INSERT.
 * Runs in the command only.
 *
 *  1. A result is one transaction.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/crash.h"
#include "base/must.h"

#define ID_SIZE		64
#define ID_TRIES	16	/* there are 65,536 in each second */

/*--- rows ------------------------------------------------------------------*/

struct insert {
	sqlite3_stmt	*st;
	int		code;		/* the first that was not SQLITE_OK */
};

static void
insert_begin(struct insert *in, sqlite3 *db, const char *sql)
{
	in->st = NULL;
	if (in->code == SQLITE_OK)
		in->code = sqlite3_prepare_v2(db, sql, -1, &in->st, NULL);
}

static void
insert_end(struct insert *in)
{
	sqlite3_finalize(in->st);
	in->st = NULL;
}

static void
bind_figure(sqlite3_stmt *st, int at, const struct figure *f)
{
	if (!f->is_known)
		return;		/* NULL, as all that is not bound */
	(void)sqlite3_bind_double(st, at, f->value);
	(void)sqlite3_bind_double(st, at + 1, f->low);
	(void)sqlite3_bind_double(st, at + 2, f->high);
}

/* One row, of i: int64_t, d: double, t: text or NULL, f: struct figure *, which
 * is three columns. */
static void
insert_row(struct insert *in, const char *kinds, ...)
{
	int at = 1, code = SQLITE_OK;
	va_list ap;

	if (in->code != SQLITE_OK)
		return;
	va_start(ap, kinds);
	for (; *kinds != '\0' && code == SQLITE_OK; kinds++, at++) {
		switch (*kinds) {
		case 'i':
			code = sqlite3_bind_int64(in->st, at,
			    va_arg(ap, int64_t));
			break;
		case 'd':
			code = sqlite3_bind_double(in->st, at,
			    va_arg(ap, double));
			break;
		case 't':
			code = sqlite3_bind_text(in->st, at,
			    va_arg(ap, const char *), -1, SQLITE_STATIC);
			break;
		default:
			must(*kinds == 'f');
			bind_figure(in->st, at, va_arg(ap,
			    const struct figure *));
			at += 2;
		}
	}
	va_end(ap);
	must(code != SQLITE_OK ||
	    at == sqlite3_bind_parameter_count(in->st) + 1);
	if (code == SQLITE_OK)
		code = sqlite3_step(in->st);
	if (code != SQLITE_DONE)
		in->code = code;
	(void)sqlite3_reset(in->st);
	(void)sqlite3_clear_bindings(in->st);
}

/*--- tables ----------------------------------------------------------------*/

#define INSERT_RUN \
	"INSERT INTO runs (id, name, command, started, seconds, startup_s, " \
	"measured_s, starts, mode, bottleneck, sentence, " \
	"handover_ms_per_batch, handover_low, handover_high, " \
	"cpu_ms_per_sample, cpu_low, cpu_high, batch_size, workers, prefetch, " \
	"ranks, samples, cores, bytes_per_sample, resident, fetch_s, prep_s, " \
	"prep_cpu_s, handover_s, is_pipelined, is_iterable) VALUES (?, ?, ?, " \
	"?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " \
	"?, ?, ?, ?, ?)"

static void
put_run(struct insert *in, sqlite3 *db, const struct result *r, const char *id)
{
	const struct result_job *j = &r->job;

	insert_begin(in, db, INSERT_RUN);
	insert_row(in, "tttidddittt" "ff" "iiiii" "ddddddd" "ii", id, r->name,
	    r->command, r->started_s, r->seconds, r->startup_s, r->measured_s,
	    (int64_t)r->starts, mode_names[r->mode],
	    r->has_verdict ? share_names[r->bottleneck] : NULL, r->sentence,
	    &r->handover_ms_per_batch, &r->cpu_ms_per_sample,
	    (int64_t)j->batch_size, (int64_t)j->workers, (int64_t)j->prefetch,
	    (int64_t)j->ranks, (int64_t)j->samples, j->cores,
	    j->bytes_per_sample, j->resident, j->fetch_s, j->prep_s,
	    j->prep_cpu_s, j->handover_s, (int64_t)j->is_pipelined,
	    (int64_t)j->is_iterable);
	insert_end(in);
}

static void
put_figures(struct insert *in, sqlite3 *db, const struct result *r, int64_t run)
{
	insert_begin(in, db, "INSERT INTO rates (run, name, samples_per_s, low, "
	    "high) VALUES (?, ?, ?, ?, ?)");
	for (unsigned i = 0; i < RATES; i++)
		if (r->rate[i].is_known)
			insert_row(in, "itf", run, rate_names[i], &r->rate[i]);
	insert_end(in);
	insert_begin(in, db, "INSERT INTO shares (run, name, share, low, high) "
	    "VALUES (?, ?, ?, ?, ?)");
	for (unsigned i = 0; i < SHARES; i++)
		if (r->share[i].is_known)
			insert_row(in, "itf", run, share_names[i],
			    &r->share[i]);
	insert_end(in);
}

static void
put_loading(struct insert *in, sqlite3 *db, const struct result *r, int64_t run)
{
	insert_begin(in, db, "INSERT INTO workers (run, nr, "
	    "fetch_ms_per_sample, prep_ms_per_sample) VALUES (?, ?, ?, ?)");
	for (size_t i = 0; i < r->nr_workers; i++)
		insert_row(in, "iidd", run, (int64_t)i,
		    r->workers[i].fetch_ms_per_sample,
		    r->workers[i].prep_ms_per_sample);
	insert_end(in);
	insert_begin(in, db, "INSERT INTO alone (run, nr, workers, "
	    "samples_per_s, low, high, cpu_ms_per_sample) "
	    "VALUES (?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < r->nr_alone; i++)
		insert_row(in, "iiifd", run, (int64_t)i,
		    (int64_t)r->alone[i].workers, &r->alone[i].samples_per_s,
		    r->alone[i].cpu_ms_per_sample);
	insert_end(in);
	insert_begin(in, db, "INSERT INTO loaders (run, nr, name, is_training, "
	    "batch_size, workers, batches, seconds) "
	    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < r->nr_loaders; i++) {
		const struct result_loader *l = &r->loaders[i];

		insert_row(in, "iitiiiid", run, (int64_t)i, l->name,
		    (int64_t)l->is_training, (int64_t)l->batch_size,
		    (int64_t)l->workers, (int64_t)l->batches, l->seconds);
	}
	insert_end(in);
}

static void
put_findings(struct insert *in, sqlite3 *db, const struct result *r,
    int64_t run)
{
	insert_begin(in, db, "INSERT INTO fixes (run, nr, what, gain, command) "
	    "VALUES (?, ?, ?, ?, ?)");
	for (size_t i = 0; i < r->nr_fixes; i++)
		insert_row(in, "iitdt", run, (int64_t)i, r->fixes[i].what,
		    r->fixes[i].gain, r->fixes[i].command);
	insert_end(in);
	insert_begin(in, db, "INSERT INTO cuts (run, nr, what, seconds, times) "
	    "VALUES (?, ?, ?, ?, ?)");
	for (size_t i = 0; i < r->nr_cuts; i++)
		insert_row(in, "iitdi", run, (int64_t)i, r->cuts[i].what,
		    r->cuts[i].seconds, (int64_t)r->cuts[i].times);
	insert_end(in);
	insert_begin(in, db, "INSERT INTO seen (run, nr, phase, source, name, "
	    "unit, value) VALUES (?, ?, ?, ?, ?, ?, ?)");
	for (size_t i = 0; i < r->nr_seen; i++)
		insert_row(in, "iittttd", run, (int64_t)i, r->seen[i].phase,
		    r->seen[i].source, r->seen[i].name, r->seen[i].unit,
		    r->seen[i].value);
	insert_end(in);
	insert_begin(in, db, "INSERT INTO confessions (run, nr, sentence) "
	    "VALUES (?, ?, ?)");
	for (size_t i = 0; i < r->nr_confessions; i++)
		insert_row(in, "iit", run, (int64_t)i, r->confessions[i]);
	insert_end(in);
}

/*--- the whole -------------------------------------------------------------*/

static void
make_id(char id[ID_SIZE], int64_t started_s)
{
	time_t t = (time_t)started_s;
	struct tm tm = { .tm_mday = 1 };
	uint16_t digits = 0;

	(void)gmtime_r(&t, &tm);
	/* Without random numbers all but one of a second are refused. */
	(void)!getrandom(&digits, sizeof digits, GRND_NONBLOCK);
	(void)snprintf(id, ID_SIZE, "%04d%02d%02d-%02d%02d%02d-%04x",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
	    tm.tm_sec, digits);
}

/* SQLITE_CONSTRAINT_UNIQUE: the id is taken. */
static int
put_result(sqlite3 *db, const struct result *r, const char *id)
{
	struct insert in = { .code = SQLITE_OK };
	int64_t run;

	put_run(&in, db, r, id);
	run = sqlite3_last_insert_rowid(db);
	put_figures(&in, db, r, run);
	put_loading(&in, db, r, run);
	put_findings(&in, db, r, run);
	return in.code;
}

static int
commit(sqlite3 *db)
{
	/* A test's failure here is that of a disk. */
	if (crash_point("runstore.written") < 0)
		return SQLITE_FULL;
	return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

int
runstore_add(struct runstore *s, struct result *r, struct ds_err *err)
{
	char id[ID_SIZE];
	int code, rc;

	must_be(s, RUNSTORE_MAGIC);
	code = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		return store_fail(s, code, err);
	for (unsigned i = 0; i < ID_TRIES; i++) {
		make_id(id, r->started_s);
		code = put_result(s->db, r, id);
		if (code != SQLITE_CONSTRAINT_UNIQUE)
			break;
	}
	if (code == SQLITE_OK)
		code = commit(s->db);
	if (code != SQLITE_OK) {
		rc = store_fail(s, code, err);
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return rc;
	}
	(void)crash_point("runstore.committed");
	result_set_text(&r->id, id);
	return 0;
}
