/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_report.c: `destall report`: what a run found out, once more.
 * Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/command.h"
#include "base/outfile.h"
#include "base/say.h"
#include "reports/find.h"
#include "reports/gate.h"
#include "reports/out_json.h"
#include "reports/out_term.h"
#include "reports/runstore.h"

extern const struct command cmd_report;

enum form { FORM_TERM, FORM_JSON };

static const char *const forms[] = { "term", "json", NULL };

struct report_options {
	unsigned	form;
	const char	*output;
	struct gate	gate;
};

static const struct report_options defaults = { .form = FORM_TERM };

#define FIELD(member)	offsetof(struct report_options, member)

static const struct arg_option options[] = {
	{ .name = "as", .kind = ARG_CHOICE, .offset = FIELD(form),
	  .value = "FORM", .choices = forms,
	  .help = "term (text for people) or json [term]" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "write it to FILE instead of standard output" },
	{ .name = "fail-if", .kind = ARG_PARSED, .offset = FIELD(gate),
	  .value = "CONDITION", .parse = gate_parse,
	  .help = "exit with status 3 if it is true: 'fetch_stall>10%' or "
	  "'speed<1000', for example" },
	{ .name = NULL },
};

/* As it would be on a terminal of 80 columns. */
static int
write_text(const struct result *r, const char *path, struct ds_err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct term t;
	int rc;

	if (out == NULL)
		say_no_memory();
	term_init(&t, out);
	out_term_print(r, &t);
	if (fclose(out) != 0)
		say_no_memory();
	rc = outfile_write(path, text, err);
	free(text);
	return rc;
}

static int
write_report(const struct report_options *o, const struct result *r,
    struct ds_err *err)
{
	struct term t;

	if (o->form == FORM_JSON)
		return out_json_write(r, o->output, err);
	if (o->output != NULL)
		return write_text(r, o->output, err);
	term_init(&t, stdout);
	out_term_print(r, &t);
	return 0;
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct report_options *o = opts;
	struct ds_err note, err;
	struct result r;
	int rc, status;

	result_init(&r);
	rc = find_result(&r, nr > 0 ? operands[0] : RUNSTORE_LAST, &note, &err);
	if (note.text[0] != '\0')
		say("%s", note.text);
	if (rc == 0)
		rc = write_report(o, &r, &err);
	status = rc < 0 ? STATUS_FAILED : gate_status(&o->gate, &r, &err);
	result_fini(&r);
	return status != STATUS_OK ? say_failure(&err, status) : STATUS_OK;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "print what a profile found out",
	.operands = "[RUN]",
	.about = "Prints the verdict of a run that was profiled: what the job "
	    "waits for, how fast its parts are, and what would help. RUN is an "
	    "id that 'destall runs' shows, the beginning of one, 'last', or the "
	    "file that 'destall profile --json' has written; without it, it is "
	    "the last run.",
	.max_operands = 1,
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
