/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_emulate.c: `destall emulate`: a training job with an emulated
 * accelerator.  Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/outfile.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/stop.h"
#include "loader/emulate.h"

extern const struct command cmd_emulate;

static const struct emulate_options defaults = {
	.batch = 64, .epochs = 1, .touch = TOUCH_READ,
};

#define STEP_MS_MAX	3600000.0

/* Milliseconds, with a point or without. */
static int
parse_step(const char *text, void *field, struct ds_err *err)
{
	double ms;
	int rc = parse_decimal(text, &ms, err);

	if (rc == 0 && ms > STEP_MS_MAX)
		return err_fail(err, -ERANGE, "'%s' is more than an hour",
		    text);
	if (rc == 0)
		*(uint64_t *)field = (uint64_t)(ms * (double)NS_PER_MS);
	return rc;
}

#define FIELD(member)	offsetof(struct emulate_options, member)

static const struct arg_option options[] = {
	{ .name = "data", .kind = ARG_TEXT, .offset = FIELD(data),
	  .value = "DIR",
	  .help = "the pictures: a folder, or tar:PATH for tar shards; needed" },
	{ .name = "batch", .kind = ARG_COUNT, .offset = FIELD(batch),
	  .value = "N", .min = 1, .max = 1 << 20,
	  .help = "samples in a batch [64]" },
	{ .name = "step-ms", .kind = ARG_PARSED, .offset = FIELD(step_ns),
	  .value = "MS", .parse = parse_step,
	  .help = "how long the emulated accelerator takes for a batch, such "
	  "as 2.5 [0]" },
	{ .name = "epochs", .kind = ARG_COUNT, .offset = FIELD(epochs),
	  .value = "N", .min = 1, .max = UINT32_MAX,
	  .help = "how often all of it is read [1]" },
	{ .name = "seed", .kind = ARG_COUNT, .offset = FIELD(seed),
	  .value = "S", .max = INT64_MAX,
	  .help = "of order, crops and flips [0]" },
	{ .name = "order", .kind = ARG_CHOICE, .offset = FIELD(order),
	  .value = "ORDER", .choices = emulate_orders,
	  .help = "random, another one in each epoch, or listed [random]" },
	{ .name = "touch", .kind = ARG_CHOICE, .offset = FIELD(touch),
	  .value = "HOW", .choices = emulate_touches,
	  .help = "what is done to a batch: none; read: every byte, as a "
	  "device copy would; write: every page, too [read]" },
	{ .name = "keep", .kind = ARG_FLAG, .offset = FIELD(keep),
	  .help = "keep every batch to the end, and see that none changes" },
	{ .name = "on-bad", .kind = ARG_CHOICE, .offset = FIELD(on_bad),
	  .value = "WHAT", .choices = emulate_on_bad,
	  .help = "a file that cannot be read: fail, skip it, or substitute "
	  "zeros [fail]" },
	{ .name = "threads", .kind = ARG_COUNT, .offset = FIELD(threads),
	  .value = "N", .max = 1024,
	  .help = "how many prepare samples; 0: one for each processor [0]" },
	{ .name = "set", .kind = ARG_LIST, .offset = FIELD(set),
	  .value = "NAME=VALUE",
	  .help = "another option of the loader, such as size=160 or "
	  "type=uint8; the man page names them" },
	{ .name = "ledger", .kind = ARG_TEXT, .offset = FIELD(ledger),
	  .value = "FILE",
	  .help = "write down each sample that is delivered "
	  "[in $DESTALL_LEDGER]" },
	{ .name = "save", .kind = ARG_TEXT, .offset = FIELD(save),
	  .value = "FILE",
	  .help = "keep the position there: at each end of an epoch, and when "
	  "it ends or is stopped" },
	{ .name = "resume", .kind = ARG_TEXT, .offset = FIELD(resume),
	  .value = "FILE",
	  .help = "go on where a job was that saved its position there" },
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "the result as a JSON document" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "where the JSON document goes [standard output]" },
	{ .name = NULL },
};

/*--- what was asked ------------------------------------------------------*/

static bool
is_empty(const char *text)
{
	return text != NULL && text[0] == '\0';
}

/* The option whose file has no name, or NULL. */
static const char *
find_nameless(const struct emulate_options *o)
{
	return is_empty(o->ledger) ? "--ledger" :
	    is_empty(o->save) ? "--save" :
	    is_empty(o->resume) ? "--resume" :
	    is_empty(o->output) ? "--output" : NULL;
}

static int
check_usage(const struct emulate_options *o, struct ds_err *err)
{
	const char *nameless = find_nameless(o);

	if (o->data == NULL)
		return err_fail(err, -EINVAL, "--data is missing: which "
		    "pictures?");
	if (is_empty(o->data))
		return err_fail(err, -EINVAL, "--data is empty: name a folder");
	if (nameless != NULL)
		return err_fail(err, -EINVAL, "%s is empty: name a file",
		    nameless);
	if (o->output != NULL && !o->json)
		return err_fail(err, -EINVAL, "--output is for --json");
	return emulate_check_set(&o->set, err);
}

static int
refuse(const struct ds_err *err)
{
	say("emulate: %s (see 'destall emulate --help')", err->text);
	return STATUS_USAGE;
}

/*--- what came of it -----------------------------------------------------*/

static void
say_waiting(void)
{
	say("emulate: stopping after the batch that is being made; once more "
	    "to stop now");
}

static void
say_sharing(const char *how)
{
	say("emulate: %s", how);
}

static void
say_stopped(const struct emulate *e)
{
	if (!e->result.is_begun)
		say("emulate: stopped before the first batch");
	else if (e->options->save != NULL)
		say("emulate: stopped: --resume %s goes on from there",
		    e->options->save);
	else
		say("emulate: stopped");
}

static int
show(const struct emulate *e, const char *failed)
{
	const struct emulate_options *o = e->options;
	struct ds_err err;

	if (!o->json)
		emulate_print(e);
	else if (emulate_write_json(e, failed, o->output, &err) < 0)
		return say_failure(&err, STATUS_FAILED);
	if (emulate_all_bad(e))
		say("emulate: every sample was bad: there was nothing to train "
		    "on");
	return STATUS_OK;
}

static int
report(const struct emulate *e)
{
	int status = show(e, NULL);

	if (status == STATUS_OK && e->result.signal != 0)
		say_stopped(e);
	return status;
}

static int
report_failure(const struct emulate *e, struct ds_err *err)
{
	const struct ds_err *unsaved = &e->result.unsaved;

	if (e->result.is_sample)
		err_hint(err, err->code, "--on-bad=skip leaves such files "
		    "out");
	(void)show(e, err->text);
	(void)say_failure(err, STATUS_FAILED);
	if (unsaved->text[0] != '\0')
		say("emulate: the position was not saved: %s", unsaved->text);
	return STATUS_FAILED;
}

static int
run_job(struct emulate *e, const struct emulate_options *o)
{
	struct ds_err err, note;

	if (emulate_open(e, o, &note, &err) < 0)
		return say_failure(&err, STATUS_FAILED);
	if (note.text[0] != '\0')
		say("emulate: %s: the job runs without the cache", note.text);
	switch (emulate_set(e, &err)) {
	case 0:
		break;
	case -EINVAL:
	case -ERANGE:
		return refuse(&err);
	default:
		return say_failure(&err, STATUS_FAILED);
	}
	if (emulate_run(e, &err) < 0)
		return report_failure(e, &err);
	return report(e);
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct emulate_options *o = opts;
	struct emulate e = {
		.epoch_ended = o->json ? NULL : emulate_print_epoch,
		.waiting = say_waiting,
		.sharing = say_sharing,
	};
	struct ds_err err;
	int status;

	(void)nr;
	(void)operands;
	if (check_usage(o, &err) < 0)
		return refuse(&err);
	/* Before the work, which may take hours, and not after it. */
	if (o->output != NULL && outfile_check(o->output, &err) < 0)
		return say_failure(&err, STATUS_FAILED);
	status = run_job(&e, o);
	emulate_close(&e);
	if (e.result.signal != 0) {
		(void)fflush(stdout);
		stop_die(e.result.signal);
	}
	return status;
}

const struct command cmd_emulate = {
	.name = "emulate",
	.summary = "a training job with an emulated accelerator",
	.operands = "",
	.about = "Reads, decodes and augments the pictures of a data set as a "
	    "training job does, and hands the batches to an accelerator that "
	    "only takes its time: to try storage, processors and the cache "
	    "without a framework and without a device. With DESTALL=1 in its "
	    "environment it shares the cache with other jobs, and makes each "
	    "batch that they want, too, once for all of them.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
