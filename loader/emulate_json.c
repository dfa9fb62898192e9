/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_json.c: what an emulated job has measured, as JSON.
 * Runs in the command only.
 */

#include <config.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/say.h"
#include "destall.h"
#include "loader/emulate.h"

/* Members of the second into the first. */
static void
add(json_t *object, json_t *more)
{
	if (json_object_update(object, json_must(more)) != 0)
		say_no_memory();
	json_decref(more);
}

static double
seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static json_t *
make_speed(const struct emulate_epoch *at)
{
	return json_must(json_pack("{sI sf sf sf}",
	    "samples", (json_int_t)at->samples,
	    "seconds", seconds(at->elapsed_ns),
	    "samples_per_s", emulate_rate(at),
	    "stall_share", emulate_stall(at)));
}

static json_t *
make_epochs(const struct emulate_result *r)
{
	json_t *list = json_must(json_array()), *one;

	for (size_t i = 0; i < r->nr_epochs; i++) {
		const struct emulate_epoch *at = &r->epochs[i];

		one = json_must(json_pack("{sI sf}",
		    "epoch", (json_int_t)at->epoch,
		    "cpu_seconds", seconds(at->cpu_ns)));
		add(one, make_speed(at));
		add(one, json_pack("{sI sb}",
		    "skipped", (json_int_t)at->skipped,
		    "complete",
		    (int)(at->samples + at->skipped == r->samples)));
		json_append(list, one);
	}
	return list;
}

static json_t *
make_bad(const struct emulate *e)
{
	json_t *list = json_must(json_array());
	struct ds_info info;
	struct ds_bad bad;

	for (uint64_t i = 0; ds_loader_bad(e->loader, i, &bad) == 0; i++) {
		if (ds_data_info(e->data, bad.item, &info) < 0)
			info.name = "";
		json_append(list, json_pack("{so sI sI so}",
		    "sample", json_text(info.name),
		    "epoch", (json_int_t)bad.epoch,
		    "position", (json_int_t)bad.position,
		    "why", json_text(emulate_reason(bad.why, info.name))));
	}
	return list;
}

static json_t *
make_cache(const struct emulate *e)
{
	struct ds_counts c;

	ds_data_counts(e->data, &c);
	return json_must(json_pack("{sb sI sI sI sI}",
	    "in_use", (int)(e->hub != NULL && c.cached != 0),
	    "hits", (json_int_t)c.hits,
	    "misses", (json_int_t)c.misses,
	    "storage_reads", (json_int_t)c.storage_reads,
	    "storage_bytes", (json_int_t)c.storage_bytes));
}

static json_t *
make_stage(const struct emulate *e)
{
	struct ds_loader_counts c;
	char how[DS_ERR_TEXT];
	int rc = ds_loader_shared(e->loader, how, sizeof how);

	ds_loader_counts(e->loader, &c);
	return json_must(json_pack("{sb so sI sI sI sI sI sI sI sI "
	    "sI sI sI sf sf}",
	    "shared", (int)(rc == 1),
	    "how", rc < 0 ? json_null() : json_text(how),
	    "batches", (json_int_t)c.staged_batches,
	    "units", (json_int_t)c.staged_units,
	    "units_of_others", (json_int_t)c.others_units,
	    "units_alone", (json_int_t)c.own_units,
	    "units_published", (json_int_t)c.published_units,
	    "units_compared", (json_int_t)c.audited_units,
	    "units_different", (json_int_t)c.different_units,
	    "detached", (json_int_t)c.detached,
	    "samples_of_others", (json_int_t)c.others_samples,
	    "samples_for_all", (json_int_t)c.staged_samples,
	    "samples_alone", (json_int_t)emulate_alone(&c),
	    "wait_seconds", seconds(c.stage_wait_ns),
	    "blocked_seconds", seconds(c.blocked_ns)));
}

static json_t *
make_loader(const struct emulate *e)
{
	struct ds_loader_counts c;

	ds_loader_counts(e->loader, &c);
	return json_must(json_pack("{sI sI sI sI sI sI sf sf sI}",
	    "threads", (json_int_t)c.threads,
	    "readers", (json_int_t)c.readers,
	    "skipped", (json_int_t)c.skipped,
	    "substituted", (json_int_t)c.substituted,
	    "cut_short", (json_int_t)c.cut_short,
	    "batches", (json_int_t)c.batches,
	    "fetch_seconds", seconds(c.fetch_ns),
	    "prep_seconds", seconds(c.prep_ns),
	    "batch_memory_bytes", (json_int_t)c.memory_bytes));
}

/* What was given by --set, as it was written. */
static json_t *
make_set(const struct arg_list *set)
{
	json_t *object = json_must(json_object());
	char name[EMULATE_NAME];

	for (unsigned i = 0; i < set->nr; i++) {
		const char *value = emulate_split(set->text[i], name);

		if (json_object_set_new(object, name, json_text(value)) != 0)
			say_no_memory();
	}
	return object;
}

static json_t *
make_options(const struct emulate_options *o)
{
	return json_must(json_pack("{so sI sI sf ss ss ss so}",
	    "data", json_text(o->data),
	    "batch", (json_int_t)o->batch,
	    "seed", (json_int_t)o->seed,
	    "step_ms", (double)o->step_ns / (double)NS_PER_MS,
	    "order", emulate_orders[o->order],
	    "touch", emulate_touches[o->touch],
	    "on_bad", emulate_on_bad[o->on_bad],
	    "set", make_set(&o->set)));
}

int
emulate_write_json(const struct emulate *e, const char *failed,
    const char *path, struct ds_err *err)
{
	const struct emulate_result *r = &e->result;
	json_t *doc = json_doc_new();

	add(doc, json_pack("{so}", "epochs", make_epochs(r)));
	add(doc, make_speed(&r->all));
	add(doc, json_pack("{sf sf sI}",
	    "cpu_seconds", seconds(r->cpu_ns),
	    "touch_cpu_seconds", seconds(r->touch_ns),
	    "peak_bytes", (json_int_t)r->peak_bytes));
	add(doc, json_pack("{ss sI}",
	    "version", ds_version(),
	    "samples_per_epoch", (json_int_t)r->samples));
	add(doc, make_options(e->options));
	add(doc, make_loader(e));
	add(doc, json_pack("{so so so so so}",
	    "cache", make_cache(e),
	    "stage", make_stage(e),
	    "bad", make_bad(e),
	    "stopped_by_signal", r->signal == 0 ? json_null() :
	    json_integer(r->signal),
	    "failed", failed == NULL ? json_null() : json_text(failed)));
	return json_doc_write(doc, path, err);
}
