/* SPDX-License-Identifier: Apache-2.0
 *
 * in_json.c: a result from JSON.  Runs in the command only.
 */

#include <config.h>

#include "reports/in_json_priv.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "reports/json_fields.h"

#define SHARE_SLACK	1e-6	/* what rounding may add */

/*--- values ----------------------------------------------------------------*/

void
in_json_refuse(struct in_json *in, const char *key, const char *want)
{
	if (in->rc == 0)
		in->rc = err_fail(in->err, -EBADMSG, "%s: %s%s%s is not %s",
		    in->file, in->part != NULL ? in->part : "",
		    in->part != NULL ? "." : "", key, want);
}

/* NULL of what is not there, and of null. */
static const json_t *
get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

const json_t *
in_json_object(struct in_json *in, const json_t *parent, const char *key)
{
	const json_t *value = get(parent, key);

	if (value != NULL && !json_is_object(value)) {
		in_json_refuse(in, key, "an object");
		return NULL;
	}
	return value;
}

void
in_json_number(struct in_json *in, const json_t *object, const char *key,
    double *out)
{
	const json_t *value = get(object, key);

	if (value != NULL && !json_is_number(value))
		in_json_refuse(in, key, "a number");
	else if (value != NULL)
		*out = json_number_value(value);
}

void
in_json_count(struct in_json *in, const json_t *object, const char *key,
    uint64_t *out)
{
	const json_t *value = get(object, key);

	if (value != NULL && (!json_is_integer(value) ||
	    json_integer_value(value) < 0))
		in_json_refuse(in, key, "a whole number of 0 or more");
	else if (value != NULL)
		*out = (uint64_t)json_integer_value(value);
}

void
in_json_flag(struct in_json *in, const json_t *object, const char *key,
    bool *out)
{
	const json_t *value = get(object, key);

	if (value != NULL && !json_is_boolean(value))
		in_json_refuse(in, key, "true or false");
	else if (value != NULL)
		*out = json_is_true(value);
}

const char *
in_json_text(struct in_json *in, const json_t *object, const char *key)
{
	const json_t *value = get(object, key);

	if (value != NULL && !json_is_string(value))
		in_json_refuse(in, key, "a text");
	return json_string_value(value);
}

int
in_json_choice(struct in_json *in, const json_t *object, const char *key,
    const char *const *names)
{
	const char *text = in_json_text(in, object, key);

	for (int i = 0; text != NULL && names[i] != NULL; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	if (text != NULL)
		in_json_refuse(in, key, "known");
	return -1;
}

static void
take_interval(struct in_json *in, const json_t *pair, const char *key,
    struct figure *out)
{
	const json_t *low = json_array_get(pair, 0);
	const json_t *high = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_number(low) ||
	    !json_is_number(high) ||
	    json_number_value(low) > json_number_value(high)) {
		in_json_refuse(in, key, "an interval [low, high]");
		return;
	}
	out->low = json_number_value(low);
	out->high = json_number_value(high);
}

void
in_json_figure(struct in_json *in, const json_t *object, const char *key,
    const json_t *intervals, const char *interval_key, struct figure *out)
{
	const json_t *pair = get(intervals, interval_key);

	*out = (struct figure){ .is_known = get(object, key) != NULL };
	in_json_number(in, object, key, &out->value);
	if (out->value < 0)
		in_json_refuse(in, key, "a number of 0 or more");
	out->low = out->high = out->value;
	if (out->is_known && pair != NULL)
		take_interval(in, pair, interval_key, out);
}

/*--- parts -----------------------------------------------------------------*/

/* As out_json_time() writes it, and no other way. */
static void
take_started(struct in_json *in, const json_t *run, struct result *r)
{
	const char *text = in_json_text(in, run, "started"), *end;
	struct tm tm = { 0 };

	if (text == NULL)
		return;
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (end == NULL || *end != '\0')
		in_json_refuse(in, "started", "a time like "
		    "2026-11-17T13:45:02Z");
	else
		r->started_s = timegm(&tm);
}

static void
take_run(struct in_json *in, const json_t *doc, struct result *r)
{
	const json_t *run;

	in->part = NULL;
	run = in_json_object(in, doc, "run");
	in->part = "run";
	result_set_text(&r->id, in_json_text(in, run, "id"));
	result_set_text(&r->name, in_json_text(in, run, "name"));
	result_set_text(&r->command, in_json_text(in, run, "command"));
	take_started(in, run, r);
}

static void
take_verdict(struct in_json *in, const json_t *doc, struct result *r)
{
	const json_t *verdict;
	int share;

	in->part = NULL;
	verdict = in_json_object(in, doc, "verdict");
	in->part = "verdict";
	share = in_json_choice(in, verdict, "bottleneck", share_names);
	r->has_verdict = share >= 0;
	r->bottleneck = share >= 0 ? (enum share)share : SHARE_COMPUTE;
	result_set_text(&r->sentence, in_json_text(in, verdict, "sentence"));
}

static void
take_figures(struct in_json *in, const json_t *doc, const json_t *intervals,
    const char *key, const char *const *names, struct figure *list)
{
	const json_t *values, *ends;

	in->part = "intervals";
	ends = in_json_object(in, intervals, key);
	in->part = NULL;
	values = in_json_object(in, doc, key);
	if (values == NULL)
		in_json_refuse(in, key, "there");
	in->part = key;
	for (unsigned i = 0; names[i] != NULL; i++)
		in_json_figure(in, values, names[i], ends, names[i], &list[i]);
}

static void
take_measured(struct in_json *in, const json_t *doc, struct result *r)
{
	const json_t *intervals = in_json_object(in, doc, "intervals");

	take_figures(in, doc, intervals, "rates_samples_per_s", rate_names,
	    r->rate);
	take_figures(in, doc, intervals, "shares", share_names, r->share);
	for (unsigned i = 0; i < SHARES; i++)
		if (r->share[i].value > 1 + SHARE_SLACK)
			in_json_refuse(in, share_names[i], "a share of 0 to 1");
	in->part = NULL;
	in_json_figure(in, doc, "handover_ms_per_batch", intervals,
	    "handover_ms_per_batch", &r->handover_ms_per_batch);
	in_json_figure(in, doc, "cpu_ms_per_sample", intervals,
	    "cpu_ms_per_sample", &r->cpu_ms_per_sample);
}

static void
take_fields(struct in_json *in, const json_t *object,
    const struct json_field *f, void *base)
{
	for (; f->key != NULL; f++) {
		void *field = (char *)base + f->offset;

		if (f->kind == FIELD_NUMBER)
			in_json_number(in, object, f->key, field);
		else if (f->kind == FIELD_COUNT)
			in_json_count(in, object, f->key, field);
		else
			in_json_flag(in, object, f->key, field);
	}
}

/*--- the document ----------------------------------------------------------*/

int
in_json_take(struct result *r, const json_t *doc, const char *name,
    struct ds_err *err)
{
	struct in_json in = { .file = name, .err = err };
	const json_t *job;
	int mode;

	if (!json_is_object(json_object_get(doc, "rates_samples_per_s")))
		return err_fail(err, -EBADMSG, "%s: not a profile: it has no "
		    "rates_samples_per_s", name);
	take_measured(&in, doc, r);
	take_fields(&in, doc, json_run_fields, r);
	mode = in_json_choice(&in, doc, "mode", mode_names);
	r->mode = mode >= 0 ? (enum result_mode)mode : MODE_STEERED;
	job = in_json_object(&in, doc, "job");
	in.part = "job";
	take_fields(&in, job, json_job_fields, &r->job);
	take_run(&in, doc, r);
	take_verdict(&in, doc, r);
	in_json_lists(&in, doc, r);
	return in.rc;
}

int
in_json_read(struct result *r, const char *path, struct ds_err *err)
{
	json_t *doc;
	int rc = json_doc_read(&doc, path, err);

	if (rc < 0)
		return rc;
	rc = in_json_take(r, doc, path, err);
	json_decref(doc);
	return rc;
}
