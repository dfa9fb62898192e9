/* SPDX-License-Identifier: Apache-2.0
 *
 * store_read.c: results from the run store; the one file that says SELECT of its
 * tables.  Runs in the command only.
 *
 *  1. What is in the file may be anything: numbers are brought into range, names
 *     that are not known are left out.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/say.h"

#define NAMED_MAX	3	/* runs that one beginning is said to mean */

/*--- columns ---------------------------------------------------------------*/

static int
find_name(const char *const *names, const char *name)
{
	for (int i = 0; name != NULL && names[i] != NULL; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static const char *
text_at(sqlite3_stmt *st, int at)
{
	return (const char *)sqlite3_column_text(st, at);
}

static double
number_at(sqlite3_stmt *st, int at)
{
	double value = sqlite3_column_double(st, at);

	return isfinite(value) ? value : 0;
}

static uint64_t
count_at(sqlite3_stmt *st, int at)
{
	int64_t value = sqlite3_column_int64(st, at);

	return value > 0 ? (uint64_t)value : 0;
}

static struct figure
figure_at(sqlite3_stmt *st, int at)
{
	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return (struct figure){ .is_known = false };
	return (struct figure){ .is_known = true, .value = number_at(st, at),
	    .low = number_at(st, at + 1), .high = number_at(st, at + 2) };
}

/*--- rows ------------------------------------------------------------------*/

static void
take_run(sqlite3_stmt *st, struct result *r)
{
	struct result_job *j = &r->job;
	int mode = find_name(mode_names, text_at(st, 8));
	int share = find_name(share_names, text_at(st, 9));

	result_set_text(&r->id, text_at(st, 0));
	result_set_text(&r->name, text_at(st, 1));
	result_set_text(&r->command, text_at(st, 2));
	r->started_s = sqlite3_column_int64(st, 3);
	r->seconds = number_at(st, 4);
	r->startup_s = number_at(st, 5);
	r->measured_s = number_at(st, 6);
	r->starts = count_at(st, 7);
	r->mode = mode >= 0 ? (enum result_mode)mode : MODE_STEERED;
	r->has_verdict = share >= 0;
	r->bottleneck = share >= 0 ? (enum share)share : SHARE_COMPUTE;
	result_set_text(&r->sentence, text_at(st, 10));
	r->handover_ms_per_batch = figure_at(st, 11);
	r->cpu_ms_per_sample = figure_at(st, 14);
	j->batch_size = count_at(st, 17);
	j->workers = count_at(st, 18);
	j->prefetch = count_at(st, 19);
	j->ranks = count_at(st, 20);
	j->samples = count_at(st, 21);
	j->cores = number_at(st, 22);
	j->bytes_per_sample = number_at(st, 23);
	j->resident = number_at(st, 24);
	j->fetch_s = number_at(st, 25);
	j->prep_s = number_at(st, 26);
	j->prep_cpu_s = number_at(st, 27);
	j->handover_s = number_at(st, 28);
	j->is_pipelined = count_at(st, 29) > 0;
	j->is_iterable = count_at(st, 30) > 0;
}

static void
take_rate(sqlite3_stmt *st, struct result *r)
{
	int i = find_name(rate_names, text_at(st, 0));

	if (i >= 0)
		r->rate[i] = figure_at(st, 1);
}

static void
take_share(sqlite3_stmt *st, struct result *r)
{
	int i = find_name(share_names, text_at(st, 0));

	if (i >= 0)
		r->share[i] = figure_at(st, 1);
}

static void
take_worker(sqlite3_stmt *st, struct result *r)
{
	result_add_worker(r, number_at(st, 0), number_at(st, 1));
}

static void
take_alone(sqlite3_stmt *st, struct result *r)
{
	uint64_t workers = count_at(st, 0);
	struct figure f = figure_at(st, 1);

	result_add_alone(r, workers <= UINT_MAX ? (unsigned)workers : UINT_MAX,
	    &f, number_at(st, 4));
}

static void
take_fix(sqlite3_stmt *st, struct result *r)
{
	result_add_fix(r, text_at(st, 0), number_at(st, 1), text_at(st, 2));
}

static void
take_cut(sqlite3_stmt *st, struct result *r)
{
	result_add_cut(r, text_at(st, 0), number_at(st, 1), count_at(st, 2));
}

static void
take_loader(sqlite3_stmt *st, struct result *r)
{
	struct result_loader l = { .is_training = count_at(st, 1) > 0,
	    .batch_size = count_at(st, 2), .workers = count_at(st, 3),
	    .batches = count_at(st, 4), .seconds = number_at(st, 5) };
	char *name = NULL;

	result_set_text(&name, text_at(st, 0));
	l.name = name;
	result_add_loader(r, &l);
	free(name);
}

static void
take_seen(sqlite3_stmt *st, struct result *r)
{
	result_add_seen(r, text_at(st, 0), text_at(st, 1), text_at(st, 2),
	    text_at(st, 3), number_at(st, 4));
}

static void
take_confession(sqlite3_stmt *st, struct result *r)
{
	const char *text = text_at(st, 0);

	if (text != NULL)
		result_confess(r, "%s", text);
}

/*--- tables ----------------------------------------------------------------*/

/* Each asks for the rows of one run. */
static const struct table {
	const char	*sql;
	void		(*take)(sqlite3_stmt *st, struct result *r);
} tables[] = {
	{ "SELECT id, name, command, started, seconds, startup_s, measured_s, "
	  "starts, mode, bottleneck, sentence, handover_ms_per_batch, "
	  "handover_low, handover_high, cpu_ms_per_sample, cpu_low, cpu_high, "
	  "batch_size, workers, prefetch, ranks, samples, cores, "
	  "bytes_per_sample, resident, fetch_s, prep_s, prep_cpu_s, "
	  "handover_s, is_pipelined, is_iterable FROM runs WHERE run = ?",
	  take_run },
	{ "SELECT name, samples_per_s, low, high FROM rates WHERE run = ?",
	  take_rate },
	{ "SELECT name, share, low, high FROM shares WHERE run = ?",
	  take_share },
	{ "SELECT fetch_ms_per_sample, prep_ms_per_sample FROM workers "
	  "WHERE run = ? ORDER BY nr", take_worker },
	{ "SELECT workers, samples_per_s, low, high, cpu_ms_per_sample "
	  "FROM alone WHERE run = ? ORDER BY nr", take_alone },
	{ "SELECT what, gain, command FROM fixes WHERE run = ? ORDER BY nr",
	  take_fix },
	{ "SELECT what, seconds, times FROM cuts WHERE run = ? ORDER BY nr",
	  take_cut },
	{ "SELECT name, is_training, batch_size, workers, batches, seconds "
	  "FROM loaders WHERE run = ? ORDER BY nr", take_loader },
	{ "SELECT phase, source, name, unit, value FROM seen WHERE run = ? "
	  "ORDER BY nr", take_seen },
	{ "SELECT sentence FROM confessions WHERE run = ? ORDER BY nr "
	  "LIMIT 1000", take_confession },
};

#define TABLES	(sizeof tables / sizeof tables[0])

int
store_read_check(sqlite3 *db)
{
	int code = SQLITE_OK;

	for (size_t i = 0; i < TABLES && code == SQLITE_OK; i++) {
		sqlite3_stmt *st = NULL;

		code = sqlite3_prepare_v2(db, tables[i].sql, -1, &st, NULL);
		sqlite3_finalize(st);
	}
	return code & 0xff;
}

static int
read_table(sqlite3 *db, const struct table *t, int64_t run, struct result *r)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(db, t->sql, -1, &st, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(st, 1, run);
	while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
		t->take(st, r);
		code = SQLITE_OK;
	}
	sqlite3_finalize(st);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/*--- which run -------------------------------------------------------------*/

/* How many have an id that begins so, as far as NAMED_MAX; the ids go into
 * names, the last run that was found into *run. */
static int
find_runs(sqlite3 *db, const char *begin, int64_t *run, unsigned *nr,
    char *names, size_t size)
{
	static const char sql[] = "SELECT run, id FROM runs WHERE "
	    "substr(id, 1, length(?1)) = ?1 ORDER BY run DESC LIMIT ?2";
	sqlite3_stmt *st = NULL;
	size_t used = 0;
	int code = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	*nr = 0;
	names[0] = '\0';
	if (code == SQLITE_OK)
		code = sqlite3_bind_text(st, 1, begin, -1, SQLITE_STATIC);
	if (code == SQLITE_OK)
		code = sqlite3_bind_int(st, 2, NAMED_MAX);
	while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
		const char *id = text_at(st, 1);

		used += (size_t)snprintf(names + used, size - used, "%s%.40s",
		    *nr > 0 ? ", " : "", id != NULL ? id : "");
		*run = sqlite3_column_int64(st, 0);
		++*nr;
		code = SQLITE_OK;
	}
	sqlite3_finalize(st);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int
find_last(sqlite3 *db, int64_t *run, unsigned *nr)
{
	int code;

	*nr = 0;
	code = store_pragma(db, "SELECT coalesce(max(run), 0) FROM runs", run);
	if (code == SQLITE_OK && *run > 0)
		*nr = 1;
	return code;
}

static int
find_run(struct runstore *s, const char *run, int64_t *found,
    struct ds_err *err)
{
	char names[NAMED_MAX * 44];
	unsigned nr = 0;
	int code;

	if (strcmp(run, RUNSTORE_LAST) == 0)
		code = find_last(s->db, found, &nr);
	else if (*run == '\0')
		code = SQLITE_OK;
	else
		code = find_runs(s->db, run, found, &nr, names, sizeof names);
	if (code != SQLITE_OK)
		return store_fail(s, code, err);
	if (nr == 0 && strcmp(run, RUNSTORE_LAST) == 0)
		return err_fail(err, -ENOENT, "no runs are stored yet");
	if (nr == 0)
		return err_fail(err, -ENOENT, "no run '%s': see 'destall runs'",
		    run);
	if (nr > 1)
		return err_fail(err, -ENOTUNIQ, "'%s' is the beginning of "
		    "several runs: %s%s", run, names,
		    nr == NAMED_MAX ? ", ..." : "");
	return 0;
}

int
runstore_get(struct runstore *s, const char *run, struct result *r,
    struct ds_err *err)
{
	int64_t number = 0;
	int code = SQLITE_OK, rc;

	must_be(s, RUNSTORE_MAGIC);
	rc = find_run(s, run, &number, err);
	for (size_t i = 0; rc == 0 && i < TABLES; i++) {
		code = read_table(s->db, &tables[i], number, r);
		if (code != SQLITE_OK)
			rc = store_fail(s, code, err);
	}
	return rc;
}

/*--- all of them -----------------------------------------------------------*/

static void
take_line(struct run_list *list, sqlite3_stmt *st)
{
	struct run_line *l;
	int share = find_name(share_names, text_at(st, 5));

	list->lines = reallocarray(list->lines, list->nr + 1,
	    sizeof *list->lines);
	if (list->lines == NULL)
		say_no_memory();
	l = &list->lines[list->nr++];
	*l = (struct run_line){ .started_s = sqlite3_column_int64(st, 3),
	    .seconds = number_at(st, 4), .has_verdict = share >= 0,
	    .bottleneck = share >= 0 ? (enum share)share : SHARE_COMPUTE,
	    .share = figure_at(st, 7), .actual = figure_at(st, 10) };
	result_set_text(&l->id, text_at(st, 0));
	result_set_text(&l->name, text_at(st, 1));
	result_set_text(&l->command, text_at(st, 2));
	result_set_text(&l->sentence, text_at(st, 6));
}

int
runstore_list(struct runstore *s, struct run_list *list, struct ds_err *err)
{
	static const char sql[] = "SELECT id, r.name, command, started, "
	    "seconds, bottleneck, sentence, s.share, s.low, s.high, "
	    "a.samples_per_s, a.low, a.high FROM runs AS r "
	    "LEFT JOIN shares AS s ON s.run = r.run AND s.name = bottleneck "
	    "LEFT JOIN rates AS a ON a.run = r.run AND a.name = 'actual' "
	    "ORDER BY r.run";
	sqlite3_stmt *st = NULL;
	int code;

	must_be(s, RUNSTORE_MAGIC);
	code = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);
	*list = (struct run_list){ 0 };
	while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
		take_line(list, st);
		code = SQLITE_OK;
	}
	sqlite3_finalize(st);
	return code == SQLITE_DONE ? 0 : store_fail(s, code, err);
}

void
run_list_fini(struct run_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->lines[i].id);
		free(list->lines[i].name);
		free(list->lines[i].command);
		free(list->lines[i].sentence);
	}
	free(list->lines);
	*list = (struct run_list){ 0 };
}
