/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_runs.c: `destall runs`: the profiles that are stored.
 * Runs in the command only.
 *
 * What has a name of any length stands last in its line, where a terminal that
 * is too narrow cuts it; elsewhere it is whole.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/command.h"
#include "base/say.h"
#include "base/text.h"
#include "reports/out_json.h"
#include "reports/out_term.h"
#include "reports/runstore.h"

extern const struct command cmd_runs;

struct runs_options {
	bool		json;
	const char	*output;
};

static const struct runs_options defaults = { .json = false };

#define FIELD(member)	offsetof(struct runs_options, member)

static const struct arg_option options[] = {
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "write one JSON document instead of text" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "with --json: write it to FILE instead of standard output" },
	{ .name = NULL },
};

/*--- JSON ------------------------------------------------------------------*/

static json_t *
make_run(const struct run_line *l)
{
	json_t *run = json_must(json_object());

	json_put(run, "id", out_json_text(l->id));
	json_put(run, "name", out_json_text(l->name));
	json_put(run, "command", out_json_text(l->command));
	json_put(run, "started", out_json_time(l->started_s));
	json_put(run, "seconds", out_json_number(l->seconds));
	json_put(run, "bottleneck", out_json_text(l->has_verdict ?
	    share_names[l->bottleneck] : NULL));
	json_put(run, "share", l->share.is_known ?
	    out_json_number(l->share.value) : json_null());
	json_put(run, "samples_per_s", l->actual.is_known ?
	    out_json_number(l->actual.value) : json_null());
	json_put(run, "sentence", out_json_text(l->sentence));
	return run;
}

static int
write_json(const struct run_list *list, const char *path, struct ds_err *err)
{
	json_t *doc = json_doc_new(), *runs = json_must(json_array());

	for (size_t i = 0; i < list->nr; i++)
		json_append(runs, make_run(&list->lines[i]));
	json_put(doc, "runs", runs);
	return json_doc_write(doc, path, err);
}

/*--- a table ---------------------------------------------------------------*/

#define TIME_SIZE	32
#define VERDICT_SIZE	32
#define BEFORE_NAME	61u	/* columns */
#define NAME_LEAST	12u

/* In the user's own time; the id is in UTC, and has the year. */
static void
copy_time(char out[TIME_SIZE], int64_t s)
{
	time_t t = (time_t)s;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(out, TIME_SIZE, "%b %d %H:%M", &tm) == 0)
		strcpy(out, "-");
}

static void
copy_verdict(char out[VERDICT_SIZE], const struct run_line *l)
{
	if (!l->has_verdict)
		strcpy(out, "-");
	else if (!l->share.is_known)
		(void)snprintf(out, VERDICT_SIZE, "%s",
		    share_names[l->bottleneck]);
	else
		(void)snprintf(out, VERDICT_SIZE, "%s %.0f %%",
		    share_names[l->bottleneck], 100 * l->share.value);
}

/* The verdict is coloured as its part of the bar is; the padding is not. */
static void
print_line(const struct run_line *l, const struct term *t)
{
	char time[TIME_SIZE], verdict[VERDICT_SIZE], speed[TEXT_FIGURE];
	const char *name = l->name != NULL ? l->name :
	    l->command != NULL ? l->command : "";
	unsigned room = t->width > BEFORE_NAME + NAME_LEAST ?
	    t->width - BEFORE_NAME : NAME_LEAST;
	int pad;

	copy_time(time, l->started_s);
	copy_verdict(verdict, l);
	pad = 14 - (int)strlen(verdict);
	fprintf(t->out, "%-20s  %-12s  %s%s%s%*s %8s  ",
	    l->id != NULL ? l->id : "", time,
	    l->has_verdict ? out_term_colour(t, l->bottleneck) : "", verdict,
	    l->has_verdict ? term_off(t) : "", pad > 0 ? pad : 0, "",
	    l->actual.is_known ? out_term_rate(speed, l->actual.value) : "-");
	out_term_text(t, name, t->can_redraw ? room : 0);
	fputc('\n', t->out);
}

static void
print_table(const struct run_list *list)
{
	struct term t;

	term_init(&t, stdout);
	fprintf(t.out, "%s%-20s  %-12s  %-13s %9s  %s%s\n",
	    term_on(&t, TERM_DIM), "run", "started", "verdict", "samples/s",
	    "job", term_off(&t));
	for (size_t i = 0; i < list->nr; i++)
		print_line(&list->lines[i], &t);
}

/*--- the command -----------------------------------------------------------*/

/* None is not a failure: a script may ask before the first run. */
static int
read_list(struct run_list *list, struct ds_err *err)
{
	struct runstore *s = NULL;
	struct ds_err note;
	int rc;

	*list = (struct run_list){ 0 };
	rc = runstore_open(&s, RUNSTORE_READ, &note, err);
	if (note.text[0] != '\0')
		say("%s", note.text);
	if (rc == 0)
		rc = runstore_list(s, list, err);
	runstore_close(&s);
	return rc == -ENOENT ? 0 : rc;
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct runs_options *o = opts;
	struct run_list list;
	struct ds_err err;
	int rc;

	(void)nr;
	(void)operands;
	if (o->output != NULL && !o->json) {
		say("runs: -o goes with --json (see 'destall runs --help')");
		return STATUS_USAGE;
	}
	rc = read_list(&list, &err);
	if (rc == 0 && o->json)
		rc = write_json(&list, o->output, &err);
	else if (rc == 0 && list.nr > 0)
		print_table(&list);
	else if (rc == 0)
		puts("No runs are stored yet.");
	run_list_fini(&list);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

const struct command cmd_runs = {
	.name = "runs",
	.summary = "list the profiles that are stored",
	.operands = "",
	.about = "Lists the runs that were profiled, the last one last: the id "
	    "by which 'destall report' finds it, when it began, what it waits "
	    "for most, its speed, and its name or its command.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
