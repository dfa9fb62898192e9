/* SPDX-License-Identifier: Apache-2.0
 *
 * in_json_lists.c: the lists of a result, from JSON.  Runs in the command only.
 */

#include <config.h>

#include "reports/in_json_priv.h"

#include <limits.h>
#include <stdlib.h>

#define LIST_MAX	100000u
#define CONFESSIONS_MAX	1000u	/* each is compared with those before */

static void
take_worker(struct in_json *in, const json_t *o, struct result *r)
{
	double fetch_ms = 0, prep_ms = 0;

	in_json_number(in, o, "fetch_ms_per_sample", &fetch_ms);
	in_json_number(in, o, "prep_ms_per_sample", &prep_ms);
	result_add_worker(r, fetch_ms, prep_ms);
}

static void
take_alone(struct in_json *in, const json_t *o, struct result *r)
{
	uint64_t workers = 0;
	struct figure f;
	double cpu_ms = 0;

	in_json_count(in, o, "workers", &workers);
	if (workers > UINT_MAX)
		in_json_refuse(in, "workers", "a number of workers");
	in_json_figure(in, o, "samples_per_s", o, "interval", &f);
	in_json_number(in, o, "cpu_ms_per_sample", &cpu_ms);
	result_add_alone(r, (unsigned)workers, &f, cpu_ms);
}

static void
take_fix(struct in_json *in, const json_t *o, struct result *r)
{
	double gain = 0;

	in_json_number(in, o, "gain", &gain);
	result_add_fix(r, in_json_text(in, o, "what"), gain,
	    in_json_text(in, o, "command"));
}

static void
take_cut(struct in_json *in, const json_t *o, struct result *r)
{
	uint64_t times = 0;
	double seconds = 0;

	in_json_number(in, o, "seconds", &seconds);
	in_json_count(in, o, "times", &times);
	result_add_cut(r, in_json_text(in, o, "what"), seconds, times);
}

static void
take_loader(struct in_json *in, const json_t *o, struct result *r)
{
	struct result_loader l = { .is_training = false };

	result_set_text(&l.name, in_json_text(in, o, "name"));
	in_json_flag(in, o, "is_training", &l.is_training);
	in_json_count(in, o, "batch_size", &l.batch_size);
	in_json_count(in, o, "workers", &l.workers);
	in_json_count(in, o, "batches", &l.batches);
	in_json_number(in, o, "seconds", &l.seconds);
	result_add_loader(r, &l);
	free(l.name);
}

static void
take_seen(struct in_json *in, const json_t *o, struct result *r)
{
	double value = 0;

	in_json_number(in, o, "value", &value);
	result_add_seen(r, in_json_text(in, o, "phase"),
	    in_json_text(in, o, "source"), in_json_text(in, o, "name"),
	    in_json_text(in, o, "unit"), value);
}

/*--- all of them -----------------------------------------------------------*/

/* NULL if there is none. */
static const json_t *
get_list(struct in_json *in, const json_t *doc, const char *key, size_t max)
{
	const json_t *list = json_object_get(doc, key);

	in->part = NULL;
	if (list == NULL || json_is_null(list))
		return NULL;
	if (json_is_array(list) && json_array_size(list) <= max)
		return list;
	in_json_refuse(in, key, json_is_array(list) ?
	    "an array of a length that makes sense" : "an array");
	return NULL;
}

static void
take_list(struct in_json *in, const json_t *doc, const char *key,
    void (*take)(struct in_json *in, const json_t *o, struct result *r),
    struct result *r)
{
	const json_t *list = get_list(in, doc, key, LIST_MAX), *o;
	size_t i;

	json_array_foreach(list, i, o) {
		in->part = NULL;
		if (!json_is_object(o))
			in_json_refuse(in, key, "an array of objects");
		in->part = key;
		take(in, o, r);
	}
}

static void
take_confessions(struct in_json *in, const json_t *doc, struct result *r)
{
	const json_t *list = get_list(in, doc, "confessions",
	    CONFESSIONS_MAX), *o;
	size_t i;

	json_array_foreach(list, i, o) {
		if (json_is_string(o))
			result_confess(r, "%s", json_string_value(o));
		else
			in_json_refuse(in, "confessions", "an array of texts");
	}
}

void
in_json_lists(struct in_json *in, const json_t *doc, struct result *r)
{
	take_list(in, doc, "workers", take_worker, r);
	take_list(in, doc, "alone", take_alone, r);
	take_list(in, doc, "fixes", take_fix, r);
	take_list(in, doc, "cuts", take_cut, r);
	take_list(in, doc, "loaders", take_loader, r);
	take_list(in, doc, "observations", take_seen, r);
	take_confessions(in, doc, r);
}
