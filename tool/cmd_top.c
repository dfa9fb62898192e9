/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_top.c: `destall top`: who shares what, how fast, and who waits for whom.
 * Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/say.h"
#include "base/stop.h"
#include "tool/top.h"

#define INTERVAL_LEAST_NS	(10 * NS_PER_MS)

extern const struct command cmd_top;

struct top_options {
	bool		json, once;
	const char	*output;
	uint64_t	interval_ns;
};

static const struct top_options defaults = { .interval_ns = NS_PER_S };

#define FIELD(member)	offsetof(struct top_options, member)

static const struct arg_option options[] = {
	{ .name = "once", .kind = ARG_FLAG, .offset = FIELD(once),
	  .help = "show it once, and end" },
	{ .name = "interval", .kind = ARG_DURATION,
	  .offset = FIELD(interval_ns), .value = "TIME",
	  .help = "show it again after this time [1s]" },
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "write one JSON document instead of text, and end" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "with --json: write it to FILE instead of standard output" },
	{ .name = NULL },
};

/*--- one look ------------------------------------------------------------*/

static int
take(struct top *t, struct link *l, struct ds_err *err)
{
	int rc;

	*t = (struct top){ 0 };
	rc = survey_take(&t->cache, l, err);
	if (rc == 0)
		rc = look_take(&t->stage, l, err);
	return rc;
}

static void
fini(struct top *t)
{
	survey_fini(&t->cache);
	look_fini(&t->stage);
}

static int
show_once(const struct top_options *o, struct link *l, struct ds_err *err)
{
	struct term term;
	struct top t;
	int rc;

	rc = take(&t, l, err);
	if (rc == 0 && o->json)
		rc = top_write_json(&t, o->output, err);
	else if (rc == 0) {
		term_init(&term, stdout);
		top_print(&t, &term);
	}
	fini(&t);
	return rc;
}

/*--- again and again -----------------------------------------------------*/

/* 1: somebody has seen enough; what cannot be written main() tells. */
static int
show_next(struct top_screen *s, struct link *l, struct stop *stop,
    uint64_t until_ns, struct ds_err *err)
{
	struct top t;
	int rc;

	rc = take(&t, l, err);
	if (rc == 0)
		top_screen_draw(s, &t);
	fini(&t);
	if (rc < 0)
		return rc;
	return ferror(stdout) != 0 || top_screen_wait(s, stop->fd, until_ns) ||
	    stop_look(stop) != 0;
}

static int
show_on(const struct top_options *o, struct link *l, struct ds_err *err)
{
	struct top_screen s;
	struct stop stop;
	int rc, signal;

	rc = stop_open(&stop, err);
	top_screen_open(&s);
	while (rc == 0)
		rc = show_next(&s, l, &stop, clock_now_ns() + o->interval_ns,
		    err);
	top_screen_close(&s);
	signal = stop_close(&stop);
	if (signal != 0)
		stop_die(signal);
	return rc < 0 ? rc : 0;
}

/*--- the command ---------------------------------------------------------*/

/* NULL if all is well. */
static const char *
find_fault(const struct top_options *o)
{
	if (o->output != NULL && !o->json)
		return "-o goes with --json";
	if (o->interval_ns < INTERVAL_LEAST_NS)
		return "--interval is at least 10ms";
	return NULL;
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct top_options *o = opts;
	const char *fault = find_fault(o);
	struct link *l = NULL;
	struct ds_err err;
	int rc;

	(void)nr;
	(void)operands;
	if (fault != NULL) {
		say("top: %s (see 'destall top --help')", fault);
		return STATUS_USAGE;
	}
	rc = link_new(&l, false, &err);
	if (rc == -ENOENT)
		rc = err_hint(&err, rc, "jobs with DESTALL=1 start it, or "
		    "'destall serve'");
	else if (rc == 0)
		rc = o->once || o->json ? show_once(o, l, &err) :
		    show_on(o, l, &err);
	link_free(&l);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "show who shares batches, how fast, and who waits",
	.operands = "",
	.about = "Shows the jobs that share batches and the streams that they "
	    "share: how fast each is, where it is, and for whom it waits; and "
	    "how much of the cache is used. On a terminal the table is drawn "
	    "anew every second, until q or Ctrl-C; elsewhere it is printed "
	    "again and again. It does not start the hub.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
