/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_json.c: what the demo found, as JSON.  Runs in the command only.
 */

#include <config.h>

#include "tool/demo.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/say.h"
#include "reports/out_json.h"

static json_t *
make_run(const struct demo_found *f, enum demo_run run)
{
	json_t *bytes = json_must(json_array());
	json_t *seconds = json_must(json_array());
	uint64_t n;

	for (unsigned e = 0; e < DEMO_EPOCHS; e++) {
		n = demo_storage(f, run, e);
		json_append(bytes, n == DEMO_NOT_COUNTED ? json_null() :
		    json_integer((json_int_t)n));
		json_append(seconds, json_real(
		    (double)f->epoch[run][e].elapsed_ns / (double)NS_PER_S));
	}
	return json_must(json_pack("{ss so so}", "cache",
	    run == DEMO_DESTALL ? "destall" : f->limit_bytes > 0 ?
	    "page_cache" : "none", "storage_bytes", bytes, "seconds",
	    seconds));
}

static json_t *
make_destall(const struct demo_found *f)
{
	json_t *run = make_run(f, DEMO_DESTALL), *more;
	json_t *reads = json_must(json_array());

	for (unsigned e = 0; e < DEMO_EPOCHS; e++)
		json_append(reads, json_integer(
		    (json_int_t)f->epoch[DEMO_DESTALL][e].reads));
	more = json_must(json_pack("{so sI sI}", "storage_reads", reads,
	    "cached_items", (json_int_t)f->held.items,
	    "cached_bytes", (json_int_t)f->held.bytes));
	if (json_object_update(run, more) != 0)
		say_no_memory();
	json_decref(more);
	return run;
}

static json_t *
make_computed(const struct demo_found *f, enum demo_cache c)
{
	static const char *const names[DEMO_CACHES] = {
		[DEMO_LRU] = "lru", [DEMO_RANDOM] = "random_replacement",
		[DEMO_MINIO] = "minio",
	};
	json_t *reads = json_must(json_array());
	json_t *bytes = json_must(json_array());

	for (unsigned e = 0; e < DEMO_EPOCHS; e++) {
		json_append(reads, json_integer(
		    (json_int_t)f->law.miss[c][e].items));
		json_append(bytes, json_integer(
		    (json_int_t)f->law.miss[c][e].bytes));
	}
	return json_must(json_pack("{ss so so}", "cache", names[c],
	    "storage_bytes", bytes, "storage_reads", reads));
}

static json_t *
make_jobs_run(const struct demo_jobs_sum *s)
{
	return json_must(json_pack("{sI sI sf sf sf sf}",
	    "samples", (json_int_t)s->samples,
	    "samples_of_others", (json_int_t)s->of_others,
	    "seconds", s->seconds,
	    "cpu_seconds", s->cpu_seconds,
	    "samples_per_s", demo_jobs_rate(s),
	    "cpu_seconds_per_sample", demo_jobs_cost(s)));
}

static json_t *
make_jobs(const struct demo_jobs *j)
{
	json_t *doc;

	if (j->nr == 0)
		return json_null();
	doc = json_must(json_pack("{si ss so}", "jobs", (int)j->nr,
	    "kind", j->is_torch ? "pytorch" : "emulate",
	    "failed", j->is_measured ? json_null() :
	    json_text(j->why_not.text)));
	json_put(doc, "plain", j->is_measured ? make_jobs_run(&j->plain) :
	    json_null());
	json_put(doc, "shared", j->is_measured ? make_jobs_run(&j->shared) :
	    json_null());
	return doc;
}

static json_t *
make_rate(const struct demo_jobs *j, const struct demo_jobs_sum *s)
{
	if (!j->is_measured)
		return json_null();
	return json_must(json_pack("{sI sf sf}",
	    "samples", (json_int_t)s->samples, "seconds", s->seconds,
	    "samples_per_s", demo_jobs_rate(s)));
}

/* Its workers outlive the epochs: their processor time is not known in time. */
static json_t *
make_caching(const struct demo_jobs *j)
{
	if (j->nr == 0)
		return json_null();
	return json_must(json_pack("{so so so}",
	    "failed", j->is_measured ? json_null() :
	    json_text(j->why_not.text),
	    "plain", make_rate(j, &j->plain),
	    "cached", make_rate(j, &j->shared)));
}

static json_t *
make_profile(const struct demo_profile *p)
{
	if (!p->is_wanted)
		return json_null();
	return json_must(json_pack("{so so so}",
	    "command", json_text(p->command),
	    "failed", p->is_measured ? json_null() :
	    json_text(p->why_not.text),
	    "result", p->is_measured ? out_json_make(&p->result) :
	    json_null()));
}

/* The cache next to others; null where it was not tried. */
static void
put_cache(json_t *doc, const struct demo_found *f)
{
	static const char *const keys[] = { "items", "bytes", "cache_share",
	    "cap_bytes", "seed", "memory_limit_bytes", "storage_is_counted",
	    "measured", "computed" };
	json_t *measured, *computed, *more;

	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
		json_put(doc, keys[i], json_null());
	if (f->share == NULL)
		return;
	measured = json_must(json_array());
	computed = json_must(json_array());
	json_append(measured, make_run(f, DEMO_PLAIN));
	json_append(measured, make_destall(f));
	for (unsigned c = 0; c < DEMO_CACHES; c++)
		json_append(computed, make_computed(f, c));
	more = json_must(json_pack("{sI sI sf sI sI so sb so so}",
	    "items", (json_int_t)f->law.items,
	    "bytes", (json_int_t)f->bytes,
	    "cache_share", f->part,
	    "cap_bytes", (json_int_t)f->law.cap_bytes,
	    "seed", (json_int_t)f->law.seed,
	    "memory_limit_bytes", f->limit_bytes > 0 ?
	    json_integer((json_int_t)f->limit_bytes) : json_null(),
	    "storage_is_counted", (int)demo_is_counted(f),
	    "measured", measured,
	    "computed", computed));
	if (json_object_update(doc, more) != 0)
		say_no_memory();
	json_decref(more);
}

int
demo_write_json(const struct demo_found *f, const char *path,
    struct ds_err *err)
{
	json_t *doc = json_doc_new();

	json_put(doc, "profiles", json_must(json_pack("{so so}",
	    "pictures", make_profile(&f->profile[DEMO_PICTURES]),
	    "arrays", make_profile(&f->profile[DEMO_ARRAYS]))));
	json_put(doc, "caching", make_caching(&f->caching));
	json_put(doc, "sharing", make_jobs(&f->jobs));
	put_cache(doc, f);
	json_put(doc, "seconds", json_real((double)f->elapsed_ns /
	    (double)NS_PER_S));
	return json_doc_write(doc, path, err);
}
