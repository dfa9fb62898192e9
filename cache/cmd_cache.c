/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_cache.c: `destall cache`: shows, fills and forgets what is cached.
 * Runs in the command only.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/cpus.h"
#include "base/must.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/stop.h"
#include "base/text.h"
#include "cache/source.h"
#include "cache/survey.h"
#include "cache/warm.h"

extern const struct command cmd_cache;

struct cache_options {
	bool		json;
	const char	*output;
	const char	*share;
	uint64_t	threads;	/* 0: not given */
};

static const struct cache_options defaults = { 0 };

/* Kept as text, which is what the interface of the library takes. */
static int
parse_cache(const char *text, void *field, struct ds_err *err)
{
	struct budget b;
	int rc = parse_budget(text, &b, err);

	if (rc < 0)
		return rc;
	if (!b.is_share)
		return err_fail(err, -EINVAL, "'%s' is a size: write a share "
		    "of the data set, such as 35%%; the size of the whole "
		    "cache is set by 'destall serve'", text);
	*(const char **)field = text;
	return 0;
}

#define FIELD(member)	offsetof(struct cache_options, member)

static const struct arg_option options[] = {
	{ .name = "json", .kind = ARG_FLAG, .offset = FIELD(json),
	  .help = "stat: write one JSON document instead of text" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = FIELD(output), .value = "FILE",
	  .help = "stat --json: write it to FILE instead of standard output" },
	{ .name = "cache", .kind = ARG_PARSED, .offset = FIELD(share),
	  .value = "SHARE", .parse = parse_cache,
	  .help = "warm: cache this share of the data set, 35% [as much as "
	  "there is room for]" },
	{ .name = "threads", .kind = ARG_COUNT, .offset = FIELD(threads),
	  .value = "N", .min = 1, .max = WARM_THREADS_MAX,
	  .help = "warm: how many items are read at once [the number of "
	  "processors]" },
	{ .name = NULL },
};

/*--- stat ----------------------------------------------------------------*/

static int
run_stat(const struct cache_options *o, const char *uri)
{
	struct survey s = { 0 };
	struct link *l;
	struct ds_err err;
	int rc;

	(void)uri;
	rc = link_new(&l, true, &err);
	if (rc < 0)
		return say_failure(&err, STATUS_FAILED);
	rc = survey_take(&s, l, &err);
	link_free(&l);
	if (rc == 0 && o->json)
		rc = survey_write_json(&s, o->output, &err);
	else if (rc == 0)
		survey_print(&s);
	survey_fini(&s);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

/*--- warm ----------------------------------------------------------------*/

#define NAME_SIZE	(4 * CACHE_URI_MAX + 1)

/* An empty item is never cached, and never read. */
static bool
is_whole(const struct warm_outcome *r)
{
	return r->cached_items + r->empty_items == r->items;
}

static void
print_warm(const char *uri, const struct warm_outcome *r)
{
	char items[TEXT_FIGURE], of[TEXT_FIGURE], size[TEXT_FIGURE];
	char whole[TEXT_FIGURE], read[TEXT_FIGURE], time[TEXT_FIGURE];
	char name[NAME_SIZE];

	text_clean(name, sizeof name, uri);
	printf("%s: ", name);
	if (is_whole(r))
		printf("all %s items are cached, %s",
		    text_count(items, r->items),
		    text_size(size, r->cached_bytes));
	else
		printf("%s of %s items are cached, %s of %s",
		    text_count(items, r->cached_items),
		    text_count(of, r->items),
		    text_size(size, r->cached_bytes),
		    text_size(whole, r->bytes));
	if (r->read_items > 0)
		printf(": %s read in %s\n", text_count(read, r->read_items),
		    text_duration(time, r->elapsed_ns));
	else
		puts(": nothing had to be read");
}

/* Why not more. */
static void
say_full(const struct warm_outcome *r)
{
	if (!r->closed || is_whole(r))
		return;
	if (r->cap_bytes > 0 &&
	    r->cached_bytes + r->largest_bytes > r->cap_bytes)
		say("cache warm: no more fits into its share, %.1f %%",
		    100 * (double)r->cap_bytes / (double)r->bytes);
	else
		say("cache warm: the cache is full: 'destall cache stat' shows "
		    "with what");
}

/* What is in the folder and no item. */
static void
say_left_out(const struct source_notes *n)
{
	const struct {
		uint64_t nr;
		const char *what;
	} notes[] = {
		{ n->unreadable, "that may not be looked at" },
		{ n->links, "links to folders, to nowhere or out of it" },
		{ n->others, "that are no files" },
		{ n->too_long, "with names that are too long" },
		{ n->too_large, "that are too large" },
	};

	for (unsigned i = 0; i < sizeof notes / sizeof notes[0]; i++) {
		if (notes[i].nr > 0)
			say("cache warm: left out: %llu %s",
			    (unsigned long long)notes[i].nr, notes[i].what);
	}
}

static int
report_warm(const char *uri, const struct warm_outcome *r)
{
	if (r->hub_gone) {
		say("cache warm: the hub went away, and with it what it had "
		    "cached: run the same command again");
		return STATUS_FAILED;
	}
	print_warm(uri, r);
	say_full(r);
	say_left_out(&r->left_out);
	if (r->failed_items == 0)
		return STATUS_OK;
	say("cache warm: %llu item%s could not be read, the first: %s",
	    (unsigned long long)r->failed_items,
	    r->failed_items == 1 ? "" : "s", r->first.text);
	return STATUS_FAILED;
}

static int
run_warm(const struct cache_options *o, const char *uri)
{
	struct warm_request ask = {
		.uri = uri, .share = o->share,
		.threads = o->threads > 0 ? (unsigned)o->threads :
		    cpus_usable(),
	};
	struct warm_outcome r;
	struct ds_err err;
	int status;

	if (ask.threads > WARM_THREADS_MAX)
		ask.threads = WARM_THREADS_MAX;
	if (warm_run(&ask, &r, &err) < 0)
		return say_failure(&err, STATUS_FAILED);
	status = report_warm(uri, &r);
	if (r.signal != 0) {
		say("cache warm: stopped: the same command goes on from there");
		(void)fflush(stdout);
		stop_die(r.signal);
	}
	return status;
}

/*--- drop ----------------------------------------------------------------*/

/* As the hub has it: canonical, or, of a data set that is gone from its place,
 * as given. */
static int
find_name(const char *uri, char name[CACHE_URI_MAX + 1], struct ds_err *err)
{
	struct source *s = NULL;
	int rc = source_open(&s, uri, err);

	if (rc == 0)
		uri = source_uri(s);
	else if (strchr(uri, '/') != NULL)
		rc = 0;
	if (rc == 0 && strlen(uri) > CACHE_URI_MAX)
		rc = err_fail(err, -ENAMETOOLONG, "%s: longer than the name "
		    "of any data set", uri);
	if (rc == 0)
		strcpy(name, uri);
	source_close(&s);
	return rc;
}

static int
ask_drop(struct link *l, const char *name, struct ds_err *err)
{
	struct wire_writer w;
	struct wire_frame f;

	wire_write(&w, &f, MSG_DROP, 0);
	wire_put_bytes(&w, name, strlen(name));
	must(wire_write_end(&w));
	return link_call_long(l, &f, MSG_DONE, err);
}

static const struct survey_set *
find_set(const struct survey *s, const char *name)
{
	for (size_t i = 0; i < s->nr_sets; i++) {
		if (strcmp(s->sets[i].root, name) == 0)
			return &s->sets[i];
	}
	return NULL;
}

/* One of those who use it. */
static int
hint_user(const struct survey *s, const struct survey_set *set, int rc,
    struct ds_err *err)
{
	for (size_t i = 0; set != NULL && i < s->nr_jobs; i++) {
		if (s->jobs[i].live && s->jobs[i].set == set->set)
			return err_hint(err, rc, "such as %s",
			    s->jobs[i].name);
	}
	return rc;
}

static int
drop(struct link *l, const char *name, struct ds_err *err)
{
	char clean[NAME_SIZE], items[TEXT_FIGURE], bytes[TEXT_FIGURE];
	const struct survey_set *set;
	struct survey s;
	int rc;

	rc = survey_take(&s, l, err);
	if (rc == 0) {
		set = find_set(&s, name);
		rc = ask_drop(l, name, err);
		if (rc == -EBUSY)
			rc = hint_user(&s, set, rc, err);
	}
	if (rc == 0 && set != NULL) {
		text_clean(clean, sizeof clean, name);
		printf("%s: dropped, with %s items of %s\n", clean,
		    text_count(items, set->word[CACHE_STAT_CACHED_ITEMS]),
		    text_size(bytes, set->word[CACHE_STAT_CACHED_BYTES]));
	}
	survey_fini(&s);
	return rc;
}

static int
run_drop(const struct cache_options *o, const char *uri)
{
	char name[CACHE_URI_MAX + 1] = "";
	struct link *l = NULL;
	struct ds_err err;
	int rc;

	(void)o;
	rc = find_name(uri, name, &err);
	if (rc == 0)
		rc = link_new(&l, false, &err);
	if (rc == -ENOENT && l == NULL && name[0] != '\0')
		err_fail(&err, rc, "%s: nothing of it is cached: no hub runs",
		    name);
	if (rc == 0)
		rc = drop(l, name, &err);
	link_free(&l);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

/*--- the command ---------------------------------------------------------*/

static const char *const words[] = { "stat", "warm", "drop", NULL };

static const struct action {
	bool	has_uri;
	bool	has_json;
	bool	has_warm;	/* its options */
	int	(*run)(const struct cache_options *o, const char *uri);
} actions[] = {
	{ .has_json = true, .run = run_stat },
	{ .has_uri = true, .has_warm = true, .run = run_warm },
	{ .has_uri = true, .run = run_drop },
};

static int
find_action(const char *word)
{
	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -ENOENT;
}

/* NULL if all is well. */
static const char *
find_fault(const struct cache_options *o, const struct action *a,
    const char *uri)
{
	if (a->has_uri && uri == NULL)
		return "which data set? DIR or tar:PATH is missing";
	if (!a->has_uri && uri != NULL)
		return "takes no data set: it shows all";
	if (uri != NULL && uri[0] == '\0')
		return "the data set is empty: name a folder";
	if ((o->json || o->output != NULL) && !a->has_json)
		return "--json and -o are for stat";
	if (o->output != NULL && !o->json)
		return "-o goes with --json";
	if ((o->share != NULL || o->threads > 0) && !a->has_warm)
		return "--cache and --threads are for warm";
	return NULL;
}

static int
run(const void *opts, int nr, char **operands)
{
	const char *uri = nr > 1 ? operands[1] : NULL, *fault, *near;
	int n = find_action(operands[0]);

	if (n < 0) {
		near = text_nearest(operands[0], words);
		if (near != NULL)
			say("cache: unknown word '%s': did you mean '%s'?",
			    operands[0], near);
		else
			say("cache: unknown word '%s': stat, warm or drop "
			    "(see 'destall cache --help')", operands[0]);
		return STATUS_USAGE;
	}
	fault = find_fault(opts, &actions[n], uri);
	if (fault != NULL) {
		say("cache %s: %s (see 'destall cache --help')", words[n],
		    fault);
		return STATUS_USAGE;
	}
	return actions[n].run(opts, uri);
}

const struct command cmd_cache = {
	.name = "cache",
	.summary = "show, fill and forget what is cached",
	.operands = "stat | warm DATA | drop DATA",
	.about = "stat shows what is cached and who used it. warm fills the "
	    "cache with a data set before a job needs it. drop forgets a data "
	    "set that no job uses. DATA is a folder, or tar:PATH for tar "
	    "shards. What was admitted is never evicted while a job uses the "
	    "data set.",
	.min_operands = 1,
	.max_operands = 2,
	.operand_words = words,
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
