/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_gen.c: `destall gen`: a data set of JPEG images for tests and trials.
 * Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/json.h"
#include "base/outfile.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/stop.h"
#include "base/text.h"
#include "tool/gen_plan.h"
#include "tool/gen_run.h"
#include "tool/gen_tar.h"

extern const struct command cmd_gen;

struct gen_options {
	uint64_t	count;		/* 0: not given */
	uint64_t	threads;	/* 0: not given */
	struct gen_plan	plan;
	bool		json;
	const char	*output;
};

static const struct gen_options defaults = {
	.plan = {
		.classes = 10, .quality = 94,
		.size = { .width = 500, .height = 375 },
	},
};

static int
parse_shard_size(const char *text, void *field, struct ds_err *err)
{
	uint64_t *bytes = field;
	int rc = parse_size(text, bytes, err);

	if (rc == 0 && *bytes < GEN_TAR_MIN)
		return err_fail(err, -ERANGE, "'%s' is too small for a shard: "
		    "write 64M or 1G; at least %" PRIu64 " bytes", text,
		    GEN_TAR_MIN);
	return rc;
}

#define FIELD(member)	offsetof(struct gen_options, member)

static const struct arg_option options[] = {
	{ .name = "count", .letter = 'n', .kind = ARG_COUNT,
	  .offset = FIELD(count), .value = "N", .min = 1, .max = GEN_COUNT_MAX,
	  .help = "how many images; needed" },
	{ .name = "seed", .kind = ARG_COUNT, .offset = FIELD(plan.seed),
	  .value = "S", .max = INT64_MAX,
	  .help = "other images for every seed, the same for the same [0]" },
	{ .name = "size", .kind = ARG_PARSED, .offset = FIELD(plan.size),
	  .value = "WxH|A-B", .parse = gen_size_parse,
	  .help = "width and height in pixels, or limits of the longer side "
	  "[500x375]" },
	{ .name = "classes", .kind = ARG_COUNT, .offset = FIELD(plan.classes),
	  .value = "C", .min = 1, .max = GEN_CLASSES_MAX,
	  .help = "into how many class folders [10]" },
	{ .name = "tar", .kind = ARG_PARSED,
	  .offset = FIELD(plan.shard_bytes), .value = "SHARDSIZE",
	  .parse = parse_shard_size,
	  .help = "tar shards instead of folders, a new one where this size "
	  "would be passed" },
	{ .name = "quality", .kind = ARG_COUNT, .offset = FIELD(plan.quality),
	  .value = "Q", .min = 1, .max = 100,
	  .help = "of the JPEG encoder [94: about 110 kB at 500x375]" },
	{ .name = "threads", .kind = ARG_COUNT, .offset = FIELD(threads),
	  .value = "N", .min = 1, .max = 1024,
	  .help = "how many work at once [as processors and memory allow]" },
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "the result as a JSON document" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "where the JSON document goes [standard output]" },
	{ .name = NULL },
};

static int
check_usage(const struct gen_options *o, const char *dir)
{
	if (o->count == 0)
		say("gen: --count is missing: how many images? (see 'destall "
		    "gen --help')");
	else if (o->output != NULL && !o->json)
		say("gen: --output is for --json (see 'destall gen --help')");
	else if (o->output != NULL && o->output[0] == '\0')
		say("gen: --output is empty: name a file");
	else if (dir[0] == '\0')
		say("gen: DIR is empty: name a folder");
	else
		return STATUS_OK;
	return STATUS_USAGE;
}

/* Before the work, which may take an hour, and not after it. */
static int
check_output(const char *path)
{
	struct ds_err err;

	if (path == NULL || outfile_check(path, &err) == 0)
		return STATUS_OK;
	return say_failure(&err, STATUS_FAILED);
}

static double
per_minute(const struct gen_outcome *r)
{
	return r->elapsed_ns == 0 ? 0 : (double)r->made * 60 *
	    (double)NS_PER_S / (double)r->elapsed_ns;
}

static void
print_result(const struct gen_options *o, const char *path,
    const struct gen_outcome *r)
{
	char images[TEXT_FIGURE], made[TEXT_FIGURE], bytes[TEXT_FIGURE];
	char median[TEXT_FIGURE], time[TEXT_FIGURE], speed[TEXT_FIGURE];
	char clean[1024];

	text_clean(clean, sizeof clean, path);
	printf("%s: %s images, %s, median %s: ", clean,
	    text_count(images, r->there), text_size(bytes, r->sizes.sum),
	    text_size(median, hist_quantile(&r->sizes, 0.5)));
	if (r->made > 0)
		printf("%s made in %s, %s a minute",
		    text_count(made, r->made),
		    text_duration(time, r->elapsed_ns),
		    text_count(speed, (uint64_t)per_minute(r)));
	else
		printf("all were there already, nothing to do");
	if (r->in_set > o->count)
		printf("; %s images are there, %s asked for",
		    text_count(made, r->in_set), text_count(speed, o->count));
	putchar('\n');
}

static int
write_result(const struct gen_options *o, const char *path,
    const struct gen_outcome *r)
{
	unsigned width, height;
	json_t *doc = json_doc_new(), *more;
	struct ds_err err;

	gen_size_max(&o->plan.size, &width, &height);
	more = json_pack("{so sI sI sI sI sI sI sI sI sf sf sI si si sI sI si}",
	    "dir", json_text(path),
	    "count", (json_int_t)o->count,
	    "images", (json_int_t)r->there,
	    "images_in_set", (json_int_t)r->in_set,
	    "bytes", (json_int_t)r->sizes.sum,
	    "classes", (json_int_t)o->plan.classes,
	    "seed", (json_int_t)o->plan.seed,
	    "made", (json_int_t)r->made,
	    "found", (json_int_t)r->found,
	    "seconds", (double)r->elapsed_ns / (double)NS_PER_S,
	    "images_per_minute", per_minute(r),
	    "median_bytes", (json_int_t)hist_quantile(&r->sizes, 0.5),
	    "max_width", (int)width,
	    "max_height", (int)height,
	    "quality", (json_int_t)o->plan.quality,
	    "shards", (json_int_t)r->shards,
	    "threads", (int)r->threads);
	if (more == NULL || json_object_update(doc, more) != 0)
		say_no_memory();
	json_decref(more);
	if (json_doc_write(doc, o->output, &err) < 0)
		return say_failure(&err, STATUS_FAILED);
	return STATUS_OK;
}

/* Can the same command do better once that is mended, which is not in the
 * set? */
static bool
can_go_on(int code)
{
	static const int passing[] = {
		ENOSPC, EDQUOT, EIO, EFBIG, EROFS, EACCES, EPERM, ENOMEM,
		EMFILE, ENFILE, EAGAIN,
	};

	for (unsigned i = 0; i < sizeof passing / sizeof passing[0]; i++) {
		if (code == -passing[i])
			return true;
	}
	return false;
}

#define GOES_ON	"%" PRIu64 " of %" PRIu64 " images are there, the same " \
	"command goes on from them"
#define BEGIN_AGAIN	"no image is there yet, run the same command again"

/* One sentence, so that of a long one the path is cut and not the rest. */
static int
report_failure(const struct gen_options *o, const struct gen_outcome *r,
    const struct ds_err *err)
{
	struct ds_err whole;

	if (!r->is_counted || !can_go_on(err->code))
		return say_failure(err, STATUS_FAILED);
	if (r->there > 0)
		err_fail(&whole, err->code, "%s: " GOES_ON, err->text,
		    r->there, o->count);
	else
		err_fail(&whole, err->code, "%s: " BEGIN_AGAIN, err->text);
	return say_failure(&whole, STATUS_FAILED);
}

static void
report_stopping(unsigned in_work)
{
	say("gen: stopping after the %u image%s in work; once more to stop "
	    "now", in_work, in_work == 1 ? "" : "s");
}

static void
report_stopped(const struct gen_options *o, const struct gen_outcome *r)
{
	if (!r->is_counted)
		say("gen: stopped while looking at what is there: run the "
		    "same command again");
	else if (r->there > 0)
		say("gen: stopped: " GOES_ON, r->there, o->count);
	else
		say("gen: stopped: " BEGIN_AGAIN);
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct gen_options *o = opts;
	struct gen_request ask = {
		.plan = &o->plan, .path = operands[0], .count = o->count,
		.threads = (unsigned)o->threads, .stopping = report_stopping,
	};
	struct gen_outcome r;
	struct ds_err err;

	(void)nr;
	if (check_usage(o, operands[0]) != STATUS_OK)
		return STATUS_USAGE;
	if (check_output(o->output) != STATUS_OK)
		return STATUS_FAILED;
	if (gen_run(&ask, &r, &err) < 0)
		return report_failure(o, &r, &err);
	if (r.signal != 0) {
		report_stopped(o, &r);
		stop_die(r.signal);
	}
	if (o->json)
		return write_result(o, operands[0], &r);
	print_result(o, operands[0], &r);
	return STATUS_OK;
}

const struct command cmd_gen = {
	.name = "gen",
	.summary = "make a data set of JPEG images",
	.operands = "DIR",
	.about = "Makes images that cost as much to read and decode as "
	    "photographs, as DIR/classNNN/NNNNNN.jpg. The same seed gives the "
	    "same bytes (tried on x86-64 with libjpeg-turbo 2.1.5). What was "
	    "interrupted goes on with the same command; a larger --count adds "
	    "to a set.",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
