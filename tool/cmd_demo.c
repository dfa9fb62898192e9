/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_demo.c: `destall demo`: what destall finds out and what helps, on generated
 * data.  Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/parse.h"
#include "base/say.h"
#include "tool/demo.h"
#include "tool/demo_arrays.h"
#include "tool/demo_cache.h"
#include "tool/demo_data.h"
#include "tool/demo_place.h"

extern const struct command cmd_demo;

#define COUNT_MAX	100000u

struct demo_options {
	uint64_t	for_ns;
	uint64_t	jobs;
	uint64_t	count;
	const char	*share;
	uint64_t	seed;
	bool		json;
	const char	*output;
};

static const struct demo_options defaults = { .for_ns = 10 * NS_PER_S,
	.jobs = 4, .count = 2000 };

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
	{ .name = "for", .kind = ARG_DURATION, .offset = FIELD(for_ns),
	  .value = "TIME",
	  .help = "how long each of the two profiles measures; 0s: leave them "
	    "out, and what helps reading [10s]" },
	{ .name = "jobs", .kind = ARG_COUNT, .offset = FIELD(jobs),
	  .value = "N", .max = DEMO_JOBS_MAX,
	  .help = "how many training jobs share; 0: leave that out [4]" },
	{ .name = "cache", .kind = ARG_PARSED, .offset = FIELD(share),
	  .value = "SHARE", .parse = parse_cache,
	  .help = "also compare a cache of such a share of a data set, 35% for "
	    "example, with the page cache" },
	{ .name = "count", .letter = 'n', .kind = ARG_COUNT,
	  .offset = FIELD(count), .value = "N", .min = 2, .max = COUNT_MAX,
	  .help = "with --cache: how many images that set has [2000]" },
	{ .name = "seed", .kind = ARG_COUNT, .offset = FIELD(seed),
	  .value = "S", .max = INT64_MAX,
	  .help = "other data and orders for every seed [0]" },
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "write one JSON document instead of a picture" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "with --json: write it to FILE instead of standard output" },
	{ .name = NULL },
};

static int
check(const struct demo_options *o, struct ds_err *err)
{
	if (o->output != NULL && !o->json)
		return err_fail(err, -EINVAL, "demo: -o goes with --json (see "
		    "'destall demo --help')");
	if (o->for_ns > 0 && o->for_ns < NS_PER_S)
		return err_fail(err, -ERANGE, "demo: --for: less than a second "
		    "shows nothing");
	return 0;
}

/*--- the parts -----------------------------------------------------------*/

struct demo {
	const struct demo_options *o;
	struct demo_place place;
	struct demo_jobs_place at[DEMO_KINDS];
	struct stop	stop;
	struct progress	progress;
	struct demo_page page;
	struct demo_found found;
};

static int
prepare(struct demo *d, struct ds_err *err)
{
	const char *python;
	int rc = demo_place_open(&d->place, err);

	if (rc < 0)
		return rc;
	python = demo_python_find(d->place.dir);
	for (unsigned k = 0; k < DEMO_KINDS; k++)
		d->at[k] = (struct demo_jobs_place){
			.kind = k, .data = k == DEMO_ARRAYS ? "arrays" :
			"pictures", .python = python, .place = &d->place,
			.stop = &d->stop, .progress = &d->progress,
		};
	return 0;
}

static int
make_data(struct demo *d, enum demo_kind kind, struct ds_err *err)
{
	char path[2 * DEMO_PATH];

	(void)snprintf(path, sizeof path, "%s/%s", d->place.dir,
	    d->at[kind].data);
	return kind == DEMO_ARRAYS ?
	    demo_arrays_make(path, d->o->seed, &d->stop, err) :
	    demo_data_make(path, d->o->seed, DEMO_JOBS_ITEMS, &d->stop, err);
}

static int
profile(struct demo *d, enum demo_kind kind, struct ds_err *err)
{
	struct demo_profile *p = &d->found.profile[kind];
	int rc;

	rc = demo_profile_run(p, &d->at[kind], d->o->for_ns, err);
	if (rc == 0 && !d->o->json)
		demo_print_profile(&d->page, p, kind);
	return rc;
}

/* Arrays are PyTorch's only. */
static int
read_arrays(struct demo *d, struct ds_err *err)
{
	struct demo_jobs *j = &d->found.caching;
	int rc;

	if (d->at[DEMO_ARRAYS].python == NULL)
		return profile(d, DEMO_ARRAYS, err);
	rc = make_data(d, DEMO_ARRAYS, err);
	if (rc == 0)
		rc = profile(d, DEMO_ARRAYS, err);
	j->nr = 1;
	if (rc == 0)
		rc = demo_jobs_run(j, &d->at[DEMO_ARRAYS], err);
	if (rc == 0 && !d->o->json)
		demo_print_caching(&d->page, j);
	return rc;
}

static int
share(struct demo *d, struct ds_err *err)
{
	struct demo_jobs *j = &d->found.jobs;
	int rc;

	j->nr = (unsigned)d->o->jobs;
	rc = demo_jobs_run(j, &d->at[DEMO_PICTURES], err);
	if (rc == 0 && !d->o->json)
		demo_print_jobs(&d->page, j);
	return rc;
}

static int
compare_caches(struct demo *d, struct ds_err *err)
{
	const struct demo_cache_ask ask = {
		.count = d->o->count, .seed = d->o->seed, .place = &d->place,
		.stop = &d->stop, .progress = &d->progress,
	};
	int rc;

	d->found.share = d->o->share;
	rc = demo_cache_run(&d->found, &ask, err);
	if (rc == 0 && !d->o->json)
		demo_print_cache(&d->page, &d->found);
	return rc;
}

/*--- the whole -----------------------------------------------------------*/

static int
play(struct demo *d, struct ds_err *err)
{
	const struct demo_options *o = d->o;
	int rc = 0;

	if (o->for_ns > 0 || o->jobs > 0)
		rc = make_data(d, DEMO_PICTURES, err);
	if (rc == 0 && o->for_ns > 0)
		rc = profile(d, DEMO_PICTURES, err);
	if (rc == 0 && o->for_ns > 0)
		rc = read_arrays(d, err);
	if (rc == 0 && o->jobs > 0)
		rc = share(d, err);
	if (rc == 0 && o->share != NULL)
		rc = compare_caches(d, err);
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
		rc = prepare(d, err);
	if (rc == 0)
		rc = play(d, err);
	end = demo_place_close(&d->place, &later);
	sig = stop_close(&d->stop);
	if (end < 0 && rc >= 0) {
		*err = later;
		rc = end;
	}
	if (rc == -EINTR && sig != 0)
		stop_die(sig);
	return rc;
}

static int
tell(struct demo *d, struct ds_err *err)
{
	if (d->o->json)
		return demo_write_json(&d->found, d->o->output, err);
	demo_print_end(&d->page, &d->found);
	return 0;
}

static int
run(const void *opts, int nr, char **operands)
{
	struct demo d = { .o = opts };
	uint64_t start_ns = clock_now_ns();
	struct ds_err err;
	int rc;

	(void)nr;
	(void)operands;
	if (check(d.o, &err) < 0)
		return say_failure(&err, STATUS_USAGE);
	term_init(&d.page.term, stdout);
	for (unsigned k = 0; k < DEMO_KINDS; k++)
		demo_profile_init(&d.found.profile[k]);
	rc = play_in_place(&d, &err);
	d.found.elapsed_ns = clock_now_ns() - start_ns;
	if (rc == 0)
		rc = tell(&d, &err);
	for (unsigned k = 0; k < DEMO_KINDS; k++)
		demo_profile_fini(&d.found.profile[k]);
	demo_law_fini(&d.found.law);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

const struct command cmd_demo = {
	.name = "demo",
	.summary = "show what destall finds out and what helps, on generated data",
	.operands = "",
	.about = "Makes data, and profiles two unmodified PyTorch jobs: one "
	    "that waits for pictures to be prepared, and one that waits for "
	    "storage. Then it shows what helps: the second with its files in "
	    "the cache, and several of the first at the same time, without and "
	    "with DESTALL=1. It has a hub, a store of runs and a temporary folder "
	    "of its own, takes about a minute, and leaves nothing behind.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
