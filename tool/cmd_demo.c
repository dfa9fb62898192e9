/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_demo.c: `destall demo`: the cache at work on generated data, next to
 * what others would do.  Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/parse.h"
#include "base/say.h"
#include "destall.h"
#include "tool/demo.h"
#include "tool/demo_place.h"
#include "tool/gen_run.h"

extern const struct command cmd_demo;

#define COUNT_MAX	100000u
#define SLACK_BYTES	(UINT64_C(64) << 20)	/* of the hub's ceiling */
#define PAGE_BYTES	4096u

struct demo_options {
	uint64_t	count;
	const char	*share;
	uint64_t	seed;
	bool		json;
	const char	*output;
};

static const struct demo_options defaults = { .count = 2000, .share = "35%" };

static int
parse_cache(const char *text, void *field, struct ds_err *err)
{
	struct budget b;
	int rc = parse_budget(text, &b, err);

	if (rc < 0)
		return rc;
	if (!b.is_share)
		return err_fail(err, -EINVAL, "'%s' is a size: write a share "
		    "of the data set, such as 35%%", text);
	*(const char **)field = text;
	return 0;
}

#define FIELD(member)	offsetof(struct demo_options, member)

static const struct arg_option options[] = {
	{ .name = "count", .letter = 'n', .kind = ARG_COUNT,
	  .offset = FIELD(count), .value = "N", .min = 2, .max = COUNT_MAX,
	  .help = "how many images [2000]" },
	{ .name = "cache", .kind = ARG_PARSED, .offset = FIELD(share),
	  .value = "SHARE", .parse = parse_cache,
	  .help = "the cache, as a share of the data set [35%]" },
	{ .name = "seed", .kind = ARG_COUNT, .offset = FIELD(seed),
	  .value = "S", .max = INT64_MAX,
	  .help = "other images and orders for every seed [0]" },
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "write one JSON document instead of a picture" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "with --json: write it to FILE instead of standard output" },
	{ .name = NULL },
};

struct demo {
	const struct demo_options *o;
	struct demo_place place;
	struct stop	stop;
	struct progress	progress;
	uint64_t	done;		/* gets */
	struct demo_found found;
};

/*--- the data ------------------------------------------------------------*/

static void
say_stopping(unsigned in_work)
{
	(void)in_work;		/* milliseconds */
}

static int
make_data(struct demo *d, struct ds_err *err)
{
	const struct gen_plan plan = {
		.seed = d->o->seed, .classes = 10, .quality = 94,
		.size = { .width = 240, .height = 180 },
	};
	struct gen_request ask = {
		.plan = &plan, .path = d->place.data, .count = d->o->count,
		.stopping = say_stopping,
	};
	struct gen_outcome r;
	int rc = gen_run(&ask, &r, err);

	if (rc < 0)
		return rc;
	if (r.signal != 0) {
		d->stop.signal = r.signal;
		return err_fail(err, -EINTR, "demo: stopped");
	}
	return 0;
}

/* Their sizes, as the library lists them. */
static int
look_at_data(struct demo *d, struct ds_err *err)
{
	struct demo_found *f = &d->found;
	struct ds_data *data;
	struct ds_info info;
	int rc;

	rc = ds_data_open(&data, NULL, d->place.data, NULL, err);
	if (rc < 0)
		return rc;
	if (ds_data_count(data) != d->o->count)
		rc = err_fail(err, -EBADMSG, "demo: %" PRIu64 " items are "
		    "listed where %" PRIu64 " were made", ds_data_count(data),
		    d->o->count);
	for (uint32_t i = 0; rc == 0 && i < d->o->count; i++) {
		rc = ds_data_info(data, i, &info);
		f->law.size[i] = info.size;
		f->bytes += info.size;
	}
	ds_data_close(&data);
	return rc;
}

/*--- the reading ---------------------------------------------------------*/

static struct demo_reading
plan_reading(struct demo *d)
{
	return (struct demo_reading){
		.uri = d->place.data, .law = &d->found.law,
		.jobs = 1, .epochs = 1, .stop = &d->stop,
		.progress = &d->progress, .done = &d->done,
	};
}

static int
read_plainly(struct demo *d, struct ds_err *err)
{
	struct demo_reading r = plan_reading(d);
	struct demo_epoch e;
	int rc = demo_read(&r, &e, NULL, err);

	d->found.digest = e.digest;
	return rc;
}

/* A hub for each run: both begin with nothing cached. */
static int
read_cached(struct demo *d, struct demo_run *run, unsigned jobs,
    struct ds_err *err)
{
	struct demo_reading r = plan_reading(d);
	int rc;

	rc = demo_hub_start(&d->place, d->found.bytes + SLACK_BYTES +
	    d->o->count * PAGE_BYTES, &d->stop, err);
	r.share = d->o->share;
	r.epochs = DEMO_EPOCHS;
	r.jobs = run->jobs = jobs;
	if (rc == 0)
		rc = demo_read(&r, run->epoch, &run->held, err);
	demo_hub_end(&d->place);
	return rc;
}

static int
read_all(struct demo *d, struct ds_err *err)
{
	static const unsigned jobs[DEMO_RUNS] = { 1, 4 };
	struct demo_found *f = &d->found;
	int rc;

	progress_start(&d->progress, "demo", "reads", 0,
	    d->o->count * (1 + DEMO_RUNS * DEMO_EPOCHS));
	rc = read_plainly(d, err);
	for (unsigned i = 0; rc == 0 && i < DEMO_RUNS; i++)
		rc = read_cached(d, &f->run[i], jobs[i], err);
	progress_end(&d->progress);
	if (rc == 0)
		rc = demo_law_run(&f->law, f->run[0].held.cap_bytes, err);
	return rc;
}

/*--- the whole -----------------------------------------------------------*/

static int
play(struct demo *d, struct ds_err *err)
{
	uint64_t start_ns = clock_now_ns();
	struct demo_found *f = &d->found;
	int rc;

	f->share = d->o->share;
	(void)parse_share(f->share, &f->part, NULL);
	rc = demo_law_init(&f->law, (uint32_t)d->o->count, DEMO_EPOCHS,
	    d->o->seed, err);
	if (rc == 0)
		rc = make_data(d, err);
	if (rc == 0)
		rc = look_at_data(d, err);
	if (rc == 0)
		rc = read_all(d, err);
	f->elapsed_ns = clock_now_ns() - start_ns;
	return rc;
}

/* Whatever happens, nothing is left behind. */
static int
play_in_place(struct demo *d, struct ds_err *err)
{
	struct ds_err later;
	int rc, end, sig;

	rc = stop_open(&d->stop, err);
	if (rc == 0)
		rc = demo_place_open(&d->place, err);
	if (rc == 0)
		rc = play(d, err);
	end = demo_place_close(&d->place, &later);
	sig = stop_close(&d->stop);
	if (end < 0 && rc >= 0) {
		*err = later;
		rc = end;
	}
	if (rc == -EINTR && sig != 0) {
		demo_law_fini(&d->found.law);
		stop_die(sig);
	}
	return rc;
}

static int
run(const void *opts, int nr, char **operands)
{
	struct demo d = { .o = opts };
	struct ds_err err;
	int rc;

	(void)nr;
	(void)operands;
	if (d.o->output != NULL && !d.o->json) {
		say("demo: -o goes with --json (see 'destall demo --help')");
		return STATUS_USAGE;
	}
	rc = play_in_place(&d, &err);
	if (rc == 0)
		rc = demo_check(&d.found, &err);
	if (rc == 0 && d.o->json)
		rc = demo_write_json(&d.found, d.o->output, &err);
	else if (rc == 0)
		demo_print(&d.found);
	demo_law_fini(&d.found.law);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

const struct command cmd_demo = {
	.name = "demo",
	.summary = "show the cache at work on generated data",
	.operands = "",
	.about = "Makes a data set of small images, reads it for three epochs "
	    "in new random orders through a cache of a third of it, by one "
	    "process and by four that split each epoch, and draws how many "
	    "images were read from storage, next to what other caches of that "
	    "size would read. It has a hub and a temporary folder of its own, "
	    "takes some seconds, and leaves nothing behind.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
