/* SPDX-License-Identifier: Apache-2.0
 *
 * out_json.c: a result as JSON.  Runs in the command only.
 */

#include <config.h>

#include "reports/out_json.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "reports/json_fields.h"

/*--- values ----------------------------------------------------------------*/

json_t *
out_json_number(double value)
{
	return json_must(isfinite(value) ? json_real(value) : json_null());
}

json_t *
out_json_text(const char *text)
{
	return text != NULL ? json_text(text) : json_must(json_null());
}

json_t *
out_json_time(int64_t s)
{
	time_t t = (time_t)s;
	struct tm tm;
	char text[64];

	if (s < 0 || gmtime_r(&t, &tm) == NULL ||
	    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return json_must(json_null());
	return json_must(json_string(text));
}

static void
put_number(json_t *object, const char *key, double value)
{
	json_put(object, key, out_json_number(value));
}

static void
put_text(json_t *object, const char *key, const char *text)
{
	json_put(object, key, out_json_text(text));
}

static json_t *
make_interval(const struct figure *f)
{
	json_t *pair;

	if (!f->is_known)
		return json_must(json_null());
	pair = json_must(json_array());
	json_append(pair, out_json_number(f->low));
	json_append(pair, out_json_number(f->high));
	return pair;
}

/* The figure, and its interval under the same key. */
static void
put_figure(json_t *object, json_t *intervals, const char *key,
    const struct figure *f)
{
	json_put(object, key, f->is_known ? out_json_number(f->value) :
	    json_null());
	json_put(intervals, key, make_interval(f));
}

static void
put_figures(json_t *doc, json_t *intervals, const char *key,
    const char *const *names, const struct figure *list)
{
	json_t *values = json_must(json_object());
	json_t *ends = json_must(json_object());

	for (unsigned i = 0; names[i] != NULL; i++)
		put_figure(values, ends, names[i], &list[i]);
	json_put(doc, key, values);
	json_put(intervals, key, ends);
}

/*--- plain numbers ---------------------------------------------------------*/

static void
put_field(json_t *object, const struct json_field *f, const void *field)
{
	double number = f->kind == FIELD_NUMBER ? *(const double *)field : 0;
	uint64_t count = f->kind == FIELD_COUNT ? *(const uint64_t *)field : 0;

	if ((f->zero_is_unknown && number <= 0 && count == 0) ||
	    (f->negative_is_unknown && number < 0))
		json_put(object, f->key, json_null());
	else if (f->kind == FIELD_NUMBER)
		put_number(object, f->key, number);
	else if (f->kind == FIELD_COUNT)
		json_put_count(object, f->key, count);
	else
		json_put(object, f->key, json_boolean(*(const bool *)field));
}

static void
put_fields(json_t *object, const struct json_field *f, const void *base)
{
	for (; f->key != NULL; f++)
		put_field(object, f, (const char *)base + f->offset);
}

/*--- lists -----------------------------------------------------------------*/

static json_t *
make_workers(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_workers; i++) {
		json_t *o = json_must(json_object());

		put_number(o, "fetch_ms_per_sample",
		    r->workers[i].fetch_ms_per_sample);
		put_number(o, "prep_ms_per_sample",
		    r->workers[i].prep_ms_per_sample);
		json_append(list, o);
	}
	return list;
}

static json_t *
make_alone(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_alone; i++) {
		const struct result_alone *a = &r->alone[i];
		json_t *o = json_must(json_object());

		json_put_count(o, "workers", a->workers);
		json_put(o, "samples_per_s", a->samples_per_s.is_known ?
		    out_json_number(a->samples_per_s.value) : json_null());
		json_put(o, "interval", make_interval(&a->samples_per_s));
		put_number(o, "cpu_ms_per_sample", a->cpu_ms_per_sample);
		json_append(list, o);
	}
	return list;
}

static json_t *
make_fixes(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_fixes; i++) {
		json_t *o = json_must(json_object());

		put_text(o, "what", r->fixes[i].what);
		put_number(o, "gain", r->fixes[i].gain);
		put_text(o, "command", r->fixes[i].command);
		json_append(list, o);
	}
	return list;
}

static json_t *
make_cuts(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_cuts; i++) {
		json_t *o = json_must(json_object());

		put_text(o, "what", r->cuts[i].what);
		put_number(o, "seconds", r->cuts[i].seconds);
		json_put_count(o, "times", r->cuts[i].times);
		json_append(list, o);
	}
	return list;
}

static json_t *
make_loaders(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_loaders; i++) {
		const struct result_loader *l = &r->loaders[i];
		json_t *o = json_must(json_object());

		put_text(o, "name", l->name);
		json_put(o, "is_training", json_boolean(l->is_training));
		json_put_count(o, "batch_size", l->batch_size);
		json_put_count(o, "workers", l->workers);
		json_put_count(o, "batches", l->batches);
		put_number(o, "seconds", l->seconds);
		json_append(list, o);
	}
	return list;
}

static json_t *
make_observations(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_seen; i++) {
		const struct result_seen *s = &r->seen[i];
		json_t *o = json_must(json_object());

		put_text(o, "phase", s->phase);
		put_text(o, "source", s->source);
		put_text(o, "name", s->name);
		put_text(o, "unit", s->unit);
		put_number(o, "value", s->value);
		json_append(list, o);
	}
	return list;
}

static json_t *
make_confessions(const struct result *r)
{
	json_t *list = json_must(json_array());

	for (size_t i = 0; i < r->nr_confessions; i++)
		json_append(list, json_text(r->confessions[i]));
	return list;
}

/*--- the document ----------------------------------------------------------*/

static json_t *
make_run(const struct result *r)
{
	json_t *run = json_must(json_object());

	put_text(run, "id", r->id);
	put_text(run, "name", r->name);
	put_text(run, "command", r->command);
	json_put(run, "started", out_json_time(r->started_s));
	return run;
}

static json_t *
make_verdict(const struct result *r)
{
	json_t *verdict = json_must(json_object());

	put_text(verdict, "bottleneck",
	    r->has_verdict ? share_names[r->bottleneck] : NULL);
	put_text(verdict, "sentence", r->sentence);
	return verdict;
}

json_t *
out_json_make(const struct result *r)
{
	json_t *doc = json_doc_new(), *intervals = json_must(json_object());
	json_t *job = json_must(json_object());

	json_put(doc, "run", make_run(r));
	json_put(doc, "verdict", make_verdict(r));
	put_figures(doc, intervals, "rates_samples_per_s", rate_names, r->rate);
	put_figure(doc, intervals, "handover_ms_per_batch",
	    &r->handover_ms_per_batch);
	put_figures(doc, intervals, "shares", share_names, r->share);
	put_figure(doc, intervals, "cpu_ms_per_sample", &r->cpu_ms_per_sample);
	json_put(doc, "intervals", intervals);
	json_put(doc, "workers", make_workers(r));
	json_put(doc, "fixes", make_fixes(r));
	json_put(doc, "confessions", make_confessions(r));
	put_text(doc, "mode", mode_names[r->mode]);
	put_fields(doc, json_run_fields, r);
	put_fields(job, json_job_fields, &r->job);
	json_put(doc, "job", job);
	json_put(doc, "alone", make_alone(r));
	json_put(doc, "loaders", make_loaders(r));
	json_put(doc, "cuts", make_cuts(r));
	json_put(doc, "observations", make_observations(r));
	return doc;
}

int
out_json_write(const struct result *r, const char *path, struct ds_err *err)
{
	return json_doc_write(out_json_make(r), path, err);
}
