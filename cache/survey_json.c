/* SPDX-License-Identifier: Apache-2.0
 *
 * survey_json.c: `destall cache stat --json`.  Runs in the command only.
 *
 * The members that doc and man page name are promised to scripts.
 */

#include <config.h>

#include "cache/survey.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/say.h"

static void
put_us(json_t *object, const char *key, uint64_t ns)
{
	json_put(object, key, json_real((double)ns / 1000));
}

/*--- data sets -----------------------------------------------------------*/

static const struct {
	const char	*key;
	enum cache_stat	word;
} counts[] = {
	{ "items", CACHE_STAT_ITEMS },
	{ "bytes", CACHE_STAT_BYTES },
	{ "cached_items", CACHE_STAT_CACHED_ITEMS },
	{ "cached_bytes", CACHE_STAT_CACHED_BYTES },
	{ "hits", CACHE_STAT_HITS },
	{ "misses", CACHE_STAT_MISSES },
	{ "storage_reads", CACHE_STAT_STORAGE_READS },
	{ "storage_bytes", CACHE_STAT_STORAGE_BYTES },
	{ "cached_pages_bytes", CACHE_STAT_CACHED_PAGES_BYTES },
	{ "index_bytes", CACHE_STAT_INDEX_BYTES },
	{ "failed_items", CACHE_STAT_FAILED_ITEMS },
	{ "corrupt_items", CACHE_STAT_CORRUPT },
	{ "leases", CACHE_STAT_LEASES },
	{ "late_publishes", CACHE_STAT_LATE },
	{ "expired_leases", CACHE_STAT_EXPIRED },
	{ "passed_containers", CACHE_STAT_PASSED_CONTAINERS },
	{ "passed_large", CACHE_STAT_PASSED_LARGE },
	{ "passed_changed", CACHE_STAT_PASSED_CHANGED },
};

static json_t *
make_set(const struct survey_set *s)
{
	json_t *set = json_must(json_object());
	uint64_t cap = s->word[CACHE_STAT_CAP_BYTES];

	json_put(set, "root", json_text(s->root));
	for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++)
		json_put_count(set, counts[i].key, s->word[counts[i].word]);
	json_put(set, "cap_bytes", cap > 0 ? json_integer((json_int_t)cap) :
	    json_null());
	json_put(set, "in_use", json_boolean(s->in_use));
	json_put(set, "admission", json_string(s->closed ? "closed" : "open"));
	put_us(set, "fetch_p50_us", s->word[CACHE_STAT_FETCH_P50_NS]);
	put_us(set, "fetch_p99_us", s->word[CACHE_STAT_FETCH_P99_NS]);
	put_us(set, "fetch_max_us", s->word[CACHE_STAT_FETCH_MAX_NS]);
	return set;
}

/*--- jobs and hub --------------------------------------------------------*/

/* The name begins with it; 0 in another form. */
static uint64_t
pid_of(const char *name)
{
	uint64_t pid = 0;

	for (; *name >= '0' && *name <= '9' && pid < UINT32_MAX; name++)
		pid = pid * 10 + (uint64_t)(*name - '0');
	return pid;
}

static json_t *
make_job(const struct survey *s, const struct survey_job *j)
{
	const struct survey_set *set = survey_find(s, j->set);
	json_t *job = json_must(json_object());

	json_put_count(job, "pid", pid_of(j->name));
	json_put(job, "name", json_text(j->name));
	json_put(job, "live", json_boolean(j->live));
	json_put(job, "root", set != NULL ? json_text(set->root) : json_null());
	json_put_count(job, "hits", j->count[COUNT_HITS]);
	json_put_count(job, "misses", j->count[COUNT_MISSES]);
	json_put_count(job, "storage_reads", j->count[COUNT_STORAGE_READS]);
	json_put_count(job, "storage_bytes", j->count[COUNT_STORAGE_BYTES]);
	json_put_count(job, "failures", j->count[COUNT_FAILURES]);
	return job;
}

static json_t *
make_hub(const struct survey_hub *h)
{
	json_t *hub = json_must(json_object());
	char generation[17];

	/* A name, and more than the integers of many readers. */
	(void)snprintf(generation, sizeof generation, "%016" PRIx64,
	    h->generation);
	json_put_count(hub, "pid", h->pid);
	json_put(hub, "generation", json_string(generation));
	json_put(hub, "up_seconds", json_real((double)h->up_ns / (double)NS_PER_S));
	json_put_count(hub, "clients", h->clients);
	json_put_count(hub, "connects", h->connects);
	json_put_count(hub, "deaths", h->deaths);
	json_put_count(hub, "refused", h->refused);
	json_put_count(hub, "expelled", h->expelled);
	json_put_count(hub, "turns", h->turns);
	json_put_count(hub, "turns_over_1ms_cpu", h->turns_over_1ms);
	put_us(hub, "longest_turn_cpu_us", h->longest_turn_cpu_ns);
	put_us(hub, "longest_turn_wall_us", h->longest_turn_wall_ns);
	return hub;
}

void
survey_fill_json(const struct survey *s, json_t *doc)
{
	json_t *sets = json_must(json_array()), *jobs = json_must(json_array());

	for (size_t i = 0; i < s->nr_sets; i++)
		json_append(sets, make_set(&s->sets[i]));
	for (size_t i = 0; i < s->nr_jobs; i++)
		json_append(jobs, make_job(s, &s->jobs[i]));
	json_put(doc, "datasets", sets);
	json_put_count(doc, "budget_bytes", s->hub.budget_bytes);
	json_put_count(doc, "used_bytes", s->hub.used_bytes);
	json_put(doc, "jobs", jobs);
	json_put(doc, "hub", make_hub(&s->hub));
}

int
survey_write_json(const struct survey *s, const char *path,
    struct ds_err *err)
{
	json_t *doc = json_doc_new();

	survey_fill_json(s, doc);
	return json_doc_write(doc, path, err);
}
