/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_job.c: what `destall run` and `destall env` have in common.
 * Runs in the command only.
 */

#include <config.h>

#include "loader/cmd_job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "cache/data.h"
#include "cache/source_root.h"
#include "hub/api.h"
#include "hub/start.h"
#include "launch/hook.h"
#include "loader/wait_line.h"

#define LINE_SIZE	1536u
#define LIMIT_SIZE	96u

/*--- options -------------------------------------------------------------*/

/* Kept as text, as DESTALL_CACHE has it. */
static int
parse_cache(const char *text, void *field, struct ds_err *err)
{
	struct budget b;
	int rc = parse_budget(text, &b, err);

	if (rc < 0)
		return rc;
	if (!b.is_share && b.bytes == 0)
		return err_fail(err, -ERANGE, "'%s' is no cache: write more "
		    "than 0", text);
	*(const char **)field = text;
	return 0;
}

#define FIELD(member)	offsetof(struct job_options, member)

const struct arg_option job_options[] = {
	{ .name = "cache", .kind = ARG_PARSED, .offset = FIELD(cache),
	  .value = "SIZE", .parse = parse_cache,
	  .help = "cache this share of each data set, 35%, or give a hub that "
	  "is started this much memory, 8G [$DESTALL_CACHE, or half of the "
	  "memory that is free]" },
	{ .name = "data", .kind = ARG_LIST, .offset = FIELD(data),
	  .value = "DIR",
	  .help = "cache the files below this folder; for several data sets "
	  "it is given several times [$DESTALL_DATA]" },
	{ .name = NULL },
};

const struct job_options job_defaults = { 0 };

/*--- lines ---------------------------------------------------------------*/

void
job_note(const struct job *j, const char *fmt, ...)
{
	const char *level = getenv("DESTALL_LOG");
	char line[LINE_SIZE];
	va_list ap;

	if (level != NULL && strcmp(level, "quiet") == 0)
		return;
	va_start(ap, fmt);
	if (vsnprintf(line, sizeof line, fmt, ap) < 0)
		line[0] = '\0';
	va_end(ap);
	say("%s: %s", j->command, line);
}

/*--- settings ------------------------------------------------------------*/

static const char *
read_variable(const char *name)
{
	const char *text = getenv(name);

	return text != NULL && text[0] != '\0' ? text : NULL;
}

/* A wrong value is told before anything is started. */
static int
check_variable(const char *text, struct ds_err *err)
{
	struct ds_err why;
	const char *kept;
	int rc = parse_cache(text, &kept, &why);

	return rc < 0 ? err_fail(err, rc, "DESTALL_CACHE: %s", why.text) : 0;
}

int
job_init(struct job *j, const char *command, const struct job_options *o,
    struct ds_err *err)
{
	*j = (struct job){ .command = command, .cache = o->cache };
	if (o->cache != NULL && setenv("DESTALL_CACHE", o->cache, 1) != 0)
		return err_errno(err, "DESTALL_CACHE");
	if (o->cache != NULL)
		return 0;
	j->cache = read_variable("DESTALL_CACHE");
	return j->cache != NULL ? check_variable(j->cache, err) : 0;
}

int
job_find_roots(struct job *j, const struct job_options *o, int argc,
    char *const argv[], struct ds_err *err)
{
	const char *text = getenv("DESTALL_DATA");
	int rc = 0;

	/* From the job that this one is part of, which has looked already. */
	if (text != NULL && strcmp(text, ROOTS_OPEN) == 0) {
		text = NULL;
		argc = 0;
	}
	j->are_named = o->data.nr > 0 || text != NULL;
	for (unsigned i = 0; i < o->data.nr && rc == 0; i++)
		rc = roots_add(&j->roots, o->data.text[i], err);
	if (o->data.nr == 0 && text != NULL)
		rc = roots_from_text(&j->roots, text, err);
	if (!j->are_named)
		(void)roots_from_args(&j->roots, argc, argv);
	return rc;
}

void
job_find_hook(const struct job *j, char path[PATH_MAX])
{
	struct ds_err err;

	if (hook_find(path, &err) == 0)
		return;
	path[0] = '\0';
	say("%s: Python jobs do not share batches: %s", j->command, err.text);
}

bool
job_is_open(const struct job *j)
{
	return j->roots.nr == 0 && !j->are_named;
}

void
job_tell_none(const struct job *j, const char *hook)
{
	job_note(j, "no data set: name it with --data DIR%s",
	    job_is_open(j) && hook[0] != '\0' ?
	    "; PyTorch loaders find their own" : "");
}

/*--- the hub -------------------------------------------------------------*/

/* A hub that runs already has the ceiling that it was started with. */
static void
compare_ceiling(const struct job *j)
{
	const struct control *c = link_control(hub_api_link(j->hub));
	/* relaxed: it does not change (hub/control.h) */
	uint64_t has = atomic_load_explicit(&c->budget_bytes,
	    memory_order_relaxed);
	char size[TEXT_FIGURE];
	struct budget b;

	if (j->cache == NULL || parse_budget(j->cache, &b, NULL) < 0 ||
	    b.is_share || b.bytes == has || has == 0)	/* not told yet */
		return;
	job_note(j, "a hub runs already, with a cache of %s: for %s stop it "
	    "first (destall serve --stop)", text_size(size, has), j->cache);
}

int
job_connect(struct job *j, char *const options[], struct ds_err *err)
{
	int rc;

	rc = ds_connect(&j->hub, DS_NO_START, err);
	if (rc == 0)
		compare_ceiling(j);
	if (rc != -ENOENT)
		return rc;
	rc = options != NULL ? start_with(options, err) : 0;
	if (rc == 0 || rc == -EALREADY)
		rc = ds_connect(&j->hub, 0, err);
	if (rc == 0)
		compare_ceiling(j);	/* another may have been quicker */
	return rc;
}

/*--- the data sets -------------------------------------------------------*/

/* Is it what we asked for?  The first job of a data set decides. */
static bool
is_share(const struct job *j, uint64_t cap, uint64_t bytes)
{
	struct budget b;
	double share = (double)cap / (double)bytes;

	return j->cache != NULL && parse_budget(j->cache, &b, NULL) == 0 &&
	    b.is_share && share > b.share * 0.99 - 0.001 &&
	    share < b.share * 1.01 + 0.001;
}

/* How much of it may be cached: of this data set, or by the hub at all. */
static const char *
text_limit(char out[LIMIT_SIZE], const struct job *j, const struct survey *s,
    const struct survey_set *set)
{
	uint64_t bytes = set->word[CACHE_STAT_BYTES];
	uint64_t cap = set->word[CACHE_STAT_CAP_BYTES];
	char size[TEXT_FIGURE];

	if (cap > 0 && bytes > 0)
		(void)snprintf(out, LIMIT_SIZE, "up to %.3g%%%s",
		    100 * (double)cap / (double)bytes, is_share(j, cap, bytes) ?
		    "" : ", as a job decided that uses it already");
	else if (bytes > s->hub.budget_bytes)
		(void)snprintf(out, LIMIT_SIZE, "up to %s",
		    text_size(size, s->hub.budget_bytes));
	else
		(void)snprintf(out, LIMIT_SIZE, "all of it");
	return out;
}

static void
note_caching(const struct job *j, const struct survey *s, unsigned i)
{
	const struct survey_set *set = j->data[i]->index.index != NULL ?
	    survey_find(s, j->data[i]->set) : NULL;
	const char *root = j->roots.root[i].given;
	const char *why = ds_data_uncached(j->data[i]);
	char items[TEXT_FIGURE], size[TEXT_FIGURE], limit[LIMIT_SIZE];

	if (set == NULL) {
		say("%s: %s is not cached: %s", j->command, root,
		    why != NULL ? why : "the hub has dropped it");
		return;
	}
	job_note(j, "caching %s: %s file%s, %s, %s", root,
	    text_count(items, set->word[CACHE_STAT_ITEMS]),
	    set->word[CACHE_STAT_ITEMS] == 1 ? "" : "s",
	    text_size(size, set->word[CACHE_STAT_BYTES]),
	    text_limit(limit, j, s, set));
}

static void
note_all(const struct job *j)
{
	struct survey s;
	struct ds_err err;

	if (survey_take(&s, hub_api_link(j->hub), &err) < 0) {
		say("%s: %s", j->command, err.text);
	} else {
		for (unsigned i = 0; i < j->roots.nr; i++)
			note_caching(j, &s, i);
	}
	survey_fini(&s);
}

static int
open_one(struct job *j, const struct root *r, struct ds_data **out,
    struct ds_err *err)
{
	struct wait_line line;
	int rc;

	wait_line_start(&line, j->command, r->given);
	rc = ds_data_open(out, j->hub, r->canonical, NULL, err);
	wait_line_end(&line);
	/* Not held open, for the job may want to unmount it; a source that
	 * needs its folder opens it anew. */
	if (rc == 0)
		source_root_close((*out)->source);
	return rc;
}

/* Those that could be listed, in the order they had. */
int
job_open_data(struct job *j, struct ds_err *err)
{
	struct roots all = j->roots;
	int rc = 0;

	j->roots = (struct roots){ 0 };
	for (unsigned i = 0; i < all.nr && rc == 0; i++) {
		rc = open_one(j, &all.root[i], &j->data[j->roots.nr], err);
		if (rc == 0)
			rc = roots_add(&j->roots, all.root[i].given, err);
		if (rc < 0 && j->data[j->roots.nr] != NULL)
			ds_data_close(&j->data[j->roots.nr]);
		if (rc < 0 && !j->are_named) {
			say("%s: left out: %s", j->command, err->text);
			rc = 0;
		}
	}
	roots_fini(&all);
	if (rc == 0)
		note_all(j);
	return rc;
}

void
job_fini(struct job *j)
{
	for (unsigned i = 0; i < ROOTS_MAX; i++) {
		if (j->data[i] != NULL)
			ds_data_close(&j->data[i]);
	}
	ds_disconnect(&j->hub);
	roots_fini(&j->roots);
}
