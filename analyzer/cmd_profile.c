/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_profile.c: `destall profile`: how much of its time a job waits for data, and
 * why.  Runs in the command only.
 *
 *  1. The job's standard output is its own; all lines of ours are on standard
 *     error.
 *  2. The run is stored first, for the verdict is printed with its number: a store
 *     that fails is a line, and loses nothing else.
 *  3. A job that ended by itself passes its status on; one that we ended is a
 *     success.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/conclude.h"
#include "analyzer/conduct.h"
#include "analyzer/runs.h"
#include "base/clock.h"
#include "base/command.h"
#include "base/outfile.h"
#include "base/redact.h"
#include "base/say.h"
#include "launch/hook.h"
#include "launch/object.h"
#include "reports/gate.h"
#include "reports/out_json.h"
#include "reports/out_term.h"
#include "reports/runstore.h"

extern const struct command cmd_profile;

extern char **environ;

/*--- options -------------------------------------------------------------*/

struct profile_options {
	uint64_t	for_ns;
	double		confidence;
	bool		live, continues, pass_epochs;
	struct marker_choice marker;
	uint64_t	step_samples;
	const char	*name, *json;
	struct gate	gate;
};

static const struct profile_options defaults = {
	.for_ns = 60 * NS_PER_S,
	.confidence = 0.02,
	.step_samples = 1,
};

#define FIELD(member)	offsetof(struct profile_options, member)

static const struct arg_option options[] = {
	{ .name = "for", .kind = ARG_DURATION, .offset = FIELD(for_ns),
	  .value = "TIME",
	  .help = "measure for so long at the most, start-up not counted [60s]" },
	{ .name = "confidence", .kind = ARG_SHARE, .offset = FIELD(confidence),
	  .value = "PERCENT",
	  .help = "end sooner when half the width of the 95 % interval of each "
	  "speed that decides is at most this much of it [2%]" },
	{ .name = "live", .kind = ARG_FLAG, .offset = FIELD(live),
	  .help = "watch an ordinary run to its end, and steer nothing" },
	{ .name = "continue", .kind = ARG_FLAG, .offset = FIELD(continues),
	  .help = "let the job run on when all is measured" },
	{ .name = "pass-epochs", .kind = ARG_FLAG, .offset = FIELD(pass_epochs),
	  .help = "go on past the end of an epoch, where jobs save and validate, "
	  "instead of starting the job again" },
	{ .name = "step-marker", .kind = ARG_PARSED, .offset = FIELD(marker),
	  .value = "WHAT", .parse = marker_parse,
	  .help = "of a program without a data loader that can be seen: what "
	  "tells its steps: stdout, stdout:TEXT or file:PATH" },
	{ .name = "step-samples", .kind = ARG_COUNT, .offset = FIELD(step_samples),
	  .value = "N", .min = 1, .max = 1u << 30,
	  .help = "samples in such a step [1]" },
	{ .name = "name", .kind = ARG_TEXT, .offset = FIELD(name),
	  .value = "TEXT", .help = "a name for this run in the store" },
	{ .name = "json", .kind = ARG_TEXT, .offset = FIELD(json),
	  .value = "FILE", .help = "write the result there, too, as JSON" },
	{ .name = "fail-if", .kind = ARG_PARSED, .offset = FIELD(gate),
	  .value = "CONDITION", .parse = gate_parse,
	  .help = "exit with status 3 if it is true: 'fetch_stall>10%' or "
	  "'speed<1000', for example" },
	{ .name = NULL },
};

static int
check(const struct profile_options *o, struct ds_err *err)
{
	if (o->live && (o->continues || o->pass_epochs))
		return err_fail(err, -EINVAL, "--live steers nothing: leave out "
		    "--continue and --pass-epochs");
	if (o->for_ns < NS_PER_S)
		return err_fail(err, -ERANGE, "--for: less than a second shows "
		    "nothing");
	if (o->confidence <= 0)
		return err_fail(err, -ERANGE, "--confidence: write more than 0%%");
	return o->json != NULL ? outfile_check(o->json, err) : 0;
}

/*--- what is told --------------------------------------------------------*/

/* It is stored, and shown to others in reports. */
static void
note_command(struct result *r, int nr, char **operands)
{
	char *text = redact_line(nr, operands);

	result_set_text(&r->command, text);
	free(text);
}

/* Why there is nothing to judge. */
static void
say_nothing(const struct conduct *c)
{
	const struct facts *f = &c->facts;

	if (f->nr_loaders == 0 && !facts_has_role(f, ROLE_PYTHON) &&
	    !facts_has_role(f, ROLE_MAIN) && !facts_has_role(f, ROLE_NATIVE))
		say("profile: no data loader was seen: this is no Python program "
		    "that can be looked into (python -I, -E and -S, static "
		    "programs and an emptied environment cannot), nor one with "
		    "the native loader: --step-marker tells the steps of others");
	else if (f->nr_loaders == 0)
		say("profile: the program has used no %s loader: there is nothing "
		    "to measure", facts_has_role(f, ROLE_NATIVE) ? "data" :
		    "PyTorch data");
	else if (facts_has_left(f, LEFT_EPOCH))
		say("profile: an epoch has too few batches for a block: "
		    "--pass-epochs goes on past its end");
	else if (facts_training(f) != NULL)
		say("profile: the job ended before a block was measured");
	else if (c->result->nr_confessions > 0)
		say("profile: no loader was seen to train that can be steered");
	else
		say("profile: no loader was seen to train: the job ended, or "
		    "iterates too few batches");
	for (size_t i = 0; i < c->result->nr_confessions; i++)
		say("profile: %s", c->result->confessions[i]);
}

/* An exit status; what --fail-if asks for and is not known is a failure, too. */
static int
check_gate(const struct profile_options *o, const struct result *r)
{
	struct ds_err err;
	int status = gate_status(&o->gate, r, &err);

	return status != STATUS_OK ? say_failure(&err, status) : STATUS_OK;
}

static void
store(struct result *r)
{
	struct runstore *s = NULL;
	struct ds_err note, err;
	int rc;

	rc = runstore_open(&s, RUNSTORE_WRITE, &note, &err);
	if (note.text[0] != '\0')
		say("profile: %s", note.text);
	if (rc == 0)
		rc = runstore_add(s, r, &err);
	if (rc < 0)
		say("profile: this run is not stored: %s", err.text);
	if (s != NULL)
		runstore_close(&s);
}

/* An exit status. */
static int
tell(const struct profile_options *o, struct result *r)
{
	struct ds_err err;
	struct term t;

	term_init(&t, stderr);
	store(r);
	out_term_print(r, &t);
	if (o->json != NULL && out_json_write(r, o->json, &err) < 0)
		return say_failure(&err, STATUS_FAILED);
	return check_gate(o, r);
}

/*--- the whole -----------------------------------------------------------*/

struct profile {
	const struct profile_options *options;
	struct conduct_options how;
	struct launch	launch;
	struct conduct	conduct;
	struct launch_end end;
	struct result	result;
	char		object[PATH_MAX], hook[PATH_MAX];
	uint64_t	begin_ns;
	bool		has_ended;	/* we have ended the job, its first run */
};

static int
prepare(struct profile *p, struct ds_err *err)
{
	const struct profile_options *o = p->options;
	int rc;

	launch_prepare(&p->launch);
	rc = object_find(p->object, err);
	if (rc == 0)
		rc = hook_find(p->hook, err);
	p->how = (struct conduct_options){
		.for_ns = o->for_ns, .confidence = o->confidence,
		.pass_epochs = o->pass_epochs, .continues = o->continues,
		.is_live = o->live, .marker = o->marker,
		.step_samples = (double)o->step_samples, .object = p->object,
		.hook = p->hook[0] != '\0' ? p->hook : NULL,
	};
	p->conduct = (struct conduct){
		.options = &p->how, .launch = &p->launch,
		.result = &p->result, .environment = environ,
		.wants_opens = o->marker.kind != MARKER_NONE,
		.run_is = BLOCK_ACTUAL,
	};
	p->begin_ns = clock_now_ns();
	p->result.started_s = (int64_t)time(NULL);
	return rc;
}

/* Is there anything to judge? */
static bool
has_measured(const struct profile *p)
{
	const struct conduct *c = &p->conduct;

	return c->measured.nr > 0 || (p->options->live && c->facts.nr > 0) ||
	    c->steps > 0;
}

static int
measure(struct profile *p, char **operands, struct ds_err *err)
{
	struct conduct *c = &p->conduct;
	int rc;

	p->result.mode = p->options->live ? MODE_LIVE : MODE_STEERED;
	rc = conduct_run(c, operands, &p->end, err);
	/* One that was asked to end has ended for us, however it did. */
	p->has_ended = c->has_ended || c->is_asked;
	if (rc < 0 || p->end.exec_errno != 0 || p->options->live ||
	    c->measured.nr > 0 || c->steps == 0)
		return rc;
	p->result.mode = MODE_RUNS;
	runs_measure(c, operands, &p->end);
	return 0;
}

/* Of a job that we have ended it is ours. */
static int
leave(const struct profile *p, int status)
{
	const struct launch_end by_signal = { .status = p->conduct.died_by };

	if (p->conduct.died_by != 0)
		return launch_leave(&by_signal);
	return status != STATUS_OK || p->has_ended ? status :
	    launch_leave(&p->end);
}

static int
finish(struct profile *p)
{
	struct result *r = &p->result;

	if (p->end.exec_errno != 0)
		return STATUS_OK;
	if (!has_measured(p)) {
		say_nothing(&p->conduct);
		return check_gate(p->options, r);
	}
	r->seconds = (double)(clock_now_ns() - p->begin_ns) / (double)NS_PER_S;
	conclude(r, &p->conduct);
	return tell(p->options, r);
}

static int
run(const void *opts, int nr, char **operands)
{
	struct profile p = { .options = opts };
	struct ds_err err;
	int rc, status;

	result_init(&p.result);
	note_command(&p.result, nr, operands);
	result_set_text(&p.result.name, p.options->name);
	if (check(p.options, &err) < 0) {
		result_fini(&p.result);
		return say_failure(&err, STATUS_USAGE);
	}
	rc = prepare(&p, &err);
	if (rc == 0)
		rc = measure(&p, operands, &err);
	if (rc < 0)
		say("profile: %s", err.text);
	else if (p.end.exec_errno != 0)
		say("profile: %s: %s", operands[0],
		    strerror(p.end.exec_errno));
	status = rc < 0 ? STATUS_BEFORE_CHILD : finish(&p);
	conduct_fini(&p.conduct);
	result_fini(&p.result);
	return rc < 0 ? status : leave(&p, status);
}

const struct command cmd_profile = {
	.name = "profile",
	.summary = "measure how long a job waits for data, and why",
	.operands = "CMD [ARG]...",
	.about = "Runs a training job, unmodified, and finds out how much of its "
	    "time it waits for data, why, and what would help. Its data loader is "
	    "steered from block to block: batches of before (what the "
	    "accelerator could take), files in memory, files out of it, reading "
	    "alone. When all is measured, the job is ended where it is: nothing "
	    "that it does at the end of an epoch is done. With --live an ordinary "
	    "run is watched to its end instead.",
	.min_operands = 1,
	.max_operands = INT_MAX,
	.runs_command = true,
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
