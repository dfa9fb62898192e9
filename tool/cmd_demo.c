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
#include "tool/demo.h"
#include "tool/demo_data.h"
#include "tool/demo_group.h"
#include "tool/demo_place.h"
#include "tool/gen_run.h"

extern const struct command cmd_demo;

#define COUNT_MAX	100000u
#define SLACK_BYTES	(UINT64_C(64) << 20)	/* of the hub's ceiling */
#define ITEM_BYTES	4096u			/* of the kernel's own */
#define PROCESS_BYTES	(UINT64_C(8) << 20)
#define CPU_BYTES	(UINT64_C(256) << 10)	/* that each takes ahead */

struct demo_options {
	uint64_t	count;
	const char	*share;
	uint64_t	seed;
	uint64_t	jobs;
	bool		json;
	const char	*output;
};

static const struct demo_options defaults = { .count = 2000, .share = "35%",
	.jobs = 4 };

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
	{ .name = "jobs", .kind = ARG_COUNT, .offset = FIELD(jobs),
	  .value = "N", .max = DEMO_JOBS_MAX,
	  .help = "how many training jobs share at the end; 0: leave that "
	    "out [4]" },
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
	struct demo_group group;
	struct demo_data data;
	struct stop	stop;
	struct progress	progress;
	uint64_t	done;		/* items read */
	struct demo_found found;
};

/*--- the data ------------------------------------------------------------*/

static void
say_stopping(unsigned in_work)
{
	(void)in_work;		/* milliseconds */
}

static int
make_data(struct demo *d, const char *path, uint64_t count, struct ds_err *err)
{
	const struct gen_plan plan = {
		.seed = d->o->seed, .classes = 10, .quality = 94,
		.size = { .width = 500, .height = 375 },
	};
	struct gen_request ask = {
		.plan = &plan, .path = path, .count = count,
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

static int
write_orders(struct demo *d, struct ds_err *err)
{
	char path[2 * DEMO_PATH];
	int rc = 0;

	for (unsigned e = 0; rc == 0 && e < DEMO_EPOCHS; e++) {
		(void)snprintf(path, sizeof path, "%s/" DEMO_ORDER,
		    d->place.dir, e + 1);
		rc = demo_data_order(&d->data, &d->found.law, e, path, err);
	}
	return rc;
}

/* What other caches would read, and by that how much memory is needed. */
static int
look_at_data(struct demo *d, struct ds_err *err)
{
	struct demo_found *f = &d->found;
	int rc;

	rc = demo_data_open(&d->data, d->place.data, &f->law, &d->stop, err);
	if (rc < 0)
		return rc;
	f->bytes = d->data.bytes;
	f->digest = d->data.digest;
	rc = write_orders(d, err);
	return rc < 0 ? rc : demo_law_run(&f->law,
	    (uint64_t)(f->part * (double)f->bytes), err);
}

/*--- the memory ----------------------------------------------------------*/

/* For the share, in whole pages, with what the kernel needs for each item; for
 * the processes and processors; and for what the hub leaves free, a sixteenth. */
static uint64_t
choose_limit(const struct demo_law *l)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = l->admitted_pages + l->admitted * ITEM_BYTES +
	    PROCESS_BYTES + (cpus > 0 ? (uint64_t)cpus : 1) * CPU_BYTES;

	return demo_law_pages(bytes / 15 * 16);
}

static void
limit_memory(struct demo *d)
{
	struct demo_found *f = &d->found;
	uint64_t bytes = choose_limit(&f->law);

	if (demo_group_open(&d->group, "/", bytes, &f->no_limit) == 0)
		f->limit_bytes = bytes;
}

/*--- the reading ---------------------------------------------------------*/

static int
read_once(struct demo *d, enum demo_run run, struct ds_err *err)
{
	struct demo_reading r = {
		.share = run == DEMO_DESTALL ? d->o->share : NULL,
		.evict = d->found.limit_bytes == 0,
		.place = &d->place, .group = &d->group, .data = &d->data,
		.law = &d->found.law, .stop = &d->stop,
		.progress = &d->progress, .done = &d->done,
	};

	return demo_read(&r, d->found.epoch[run], &d->found.held, err);
}

static int
read_cached(struct demo *d, struct ds_err *err)
{
	int rc = demo_hub_start(&d->place, d->found.bytes + SLACK_BYTES +
	    d->o->count * DEMO_LAW_PAGE, &d->group, &d->stop, err);

	if (rc == 0)
		rc = read_once(d, DEMO_DESTALL, err);
	demo_hub_end(&d->place);
	return rc;
}

static int
read_all(struct demo *d, struct ds_err *err)
{
	int rc;

	progress_start(&d->progress, "demo", "images read", 0,
	    d->o->count * DEMO_RUNS * DEMO_EPOCHS);
	rc = read_once(d, DEMO_PLAIN, err);
	if (rc == 0)
		rc = read_cached(d, err);
	progress_end(&d->progress);
	/* The hub has the share to the byte. */
	return rc < 0 ? rc : demo_law_run(&d->found.law,
	    d->found.held.cap_bytes, err);
}

/*--- the jobs ------------------------------------------------------------*/

static int
run_jobs(struct demo *d, struct ds_err *err)
{
	char data[2 * DEMO_PATH];
	const struct demo_jobs_place p = {
		.data = data, .place = &d->place, .stop = &d->stop,
		.progress = &d->progress,
	};
	int rc;

	d->found.jobs.nr = (unsigned)d->o->jobs;
	if (d->o->jobs == 0)
		return 0;
	(void)snprintf(data, sizeof data, "%s/jobs", d->place.dir);
	rc = make_data(d, data, DEMO_JOBS_ITEMS, err);
	return rc < 0 ? rc : demo_jobs_run(&d->found.jobs, &p, err);
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
		rc = make_data(d, d->place.data, d->o->count, err);
	if (rc == 0)
		rc = look_at_data(d, err);
	if (rc == 0) {
		limit_memory(d);
		rc = read_all(d, err);
	}
	if (rc == 0)
		rc = demo_check(f, err);
	if (rc == 0)
		rc = run_jobs(d, err);
	f->elapsed_ns = clock_now_ns() - start_ns;
	return rc;
}

/* Both, and why the first of them that failed did. */
static int
clean_up(struct demo *d, struct ds_err *err)
{
	int rc, end;

	demo_hub_end(&d->place);
	demo_data_close(&d->data);
	rc = demo_group_close(&d->group, err);
	end = demo_place_close(&d->place, rc < 0 ? NULL : err);
	return rc < 0 ? rc : end;
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
	end = clean_up(d, &later);
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
	.about = "Makes a data set of images and has cat, which knows nothing "
	    "of destall, read it for three epochs in new random orders: with "
	    "the page cache, and then behind 'destall run' in as much memory. "
	    "Draws how much was read from storage and how fast, next to what "
	    "other caches of that size would read. Then training jobs, of "
	    "PyTorch where it is, prepare others at the same time, "
	    "without and with DESTALL=1. It has a hub and a "
	    "temporary folder of its own, takes about a minute, and leaves "
	    "nothing behind.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
