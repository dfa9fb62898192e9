/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_result_json.c: tests of reports/out_json.c and reports/in_json.c.
 */

#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/in_json.h"
#include "reports/out_json.h"
#include "tests/harness/fullresult.h"
#include "tests/harness/unit.h"

/* Through the text, as a file would have it. */
static void
pass_through(const struct result *from, struct result *to)
{
	json_t *doc = out_json_make(from);
	char *text = json_dumps(doc, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	struct ds_err err;

	json_decref(doc);
	assert_int_equal(json_doc_parse(&doc, text, strlen(text), "doc", &err),
	    0);
	result_init(to);
	if (in_json_take(to, doc, "doc", &err) != 0)
		fail_msg("%s", err.text);
	json_decref(doc);
	free(text);
}

static void
all_of_it_comes_back(void **state)
{
	struct result a, b;
	const char *differs;

	(void)state;
	full_result_make(&a, 3);
	result_set_text(&a.id, "20261117-134502-3f2a");
	pass_through(&a, &b);
	differs = full_result_differ(&a, &b);
	if (differs != NULL)
		fail_msg("%s differs", differs);
	assert_string_equal(b.id, a.id);
	result_fini(&a);
	result_fini(&b);
}

static void
nothing_comes_back_as_nothing(void **state)
{
	struct result a, b;

	(void)state;
	result_init(&a);
	pass_through(&a, &b);
	assert_null(full_result_differ(&a, &b));
	assert_null(b.id);
	assert_false(b.has_verdict);
	assert_false(b.rate[RATE_ACTUAL].is_known);
	assert_true(b.job.resident < 0);
	result_fini(&b);
}

/* No number of JSON's: it is null, and not known again. */
static void
what_is_no_number_is_null(void **state)
{
	struct result a, b;

	(void)state;
	full_result_make(&a, 0);
	a.rate[RATE_PREP] = (struct figure){ true, (double)INFINITY, 0, 1 };
	a.seconds = (double)NAN;
	a.fixes[0].gain = -(double)INFINITY;
	a.started_s = INT64_MAX;
	pass_through(&a, &b);
	assert_false(b.rate[RATE_PREP].is_known);
	assert_true(b.seconds == 0);
	assert_true(b.fixes[0].gain == 0);
	assert_int_equal(b.started_s, 0);	/* there is no such time */
	result_fini(&a);
	result_fini(&b);
}

#define PROFILE(rest) \
	"{\"schema_version\":1,\"rates_samples_per_s\":{},\"shares\":{}" rest "}"
#define RATE(rest) \
	"{\"schema_version\":1,\"shares\":{},\"rates_samples_per_s\":{" rest "}"

static void
strange_documents_are_refused(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{\"schema_version\":1}", "doc: not a profile" },
		{ "{\"schema_version\":1,\"rates_samples_per_s\":[]}",
		    "doc: not a profile" },
		{ "{\"schema_version\":1,\"rates_samples_per_s\":{}}",
		    "doc: shares is not there" },
		{ RATE("\"prep\":\"1\"") "}",
		    "doc: rates_samples_per_s.prep is not a number" },
		{ RATE("\"prep\":-1") "}", "a number of 0 or more" },
		{ RATE("\"prep\":1") ",\"intervals\":[]}",
		    "doc: intervals is not an object" },
		{ RATE("\"prep\":1") ",\"intervals\":{"
		    "\"rates_samples_per_s\":{\"prep\":[2,1]}}}",
		    "an interval [low, high]" },
		{ RATE("\"prep\":1") ",\"intervals\":{"
		    "\"rates_samples_per_s\":{\"prep\":[0,1,2]}}}",
		    "an interval [low, high]" },
		{ RATE("\"prep\":1") ",\"intervals\":{"
		    "\"rates_samples_per_s\":{\"prep\":1}}}",
		    "an interval [low, high]" },
		{ "{\"schema_version\":1,\"rates_samples_per_s\":{},"
		    "\"shares\":{\"prep\":1.5}}", "a share of 0 to 1" },
		{ PROFILE(",\"mode\":\"loud\""), "doc: mode is not known" },
		{ PROFILE(",\"starts\":-1"), "doc: starts is not a whole" },
		{ PROFILE(",\"starts\":1.5"), "doc: starts is not a whole" },
		{ PROFILE(",\"job\":{\"is_iterable\":1}"),
		    "doc: job.is_iterable is not true or false" },
		{ PROFILE(",\"job\":7"), "doc: job is not an object" },
		{ PROFILE(",\"run\":{\"started\":\"yesterday\"}"),
		    "doc: run.started is not a time" },
		{ PROFILE(",\"run\":{\"started\":\"2026-11-17T13:45:02Zx\"}"),
		    "doc: run.started is not a time" },
		{ PROFILE(",\"run\":{\"command\":[]}"),
		    "doc: run.command is not a text" },
		{ PROFILE(",\"verdict\":{\"bottleneck\":\"gpu\"}"),
		    "doc: verdict.bottleneck is not known" },
		{ PROFILE(",\"workers\":{}"), "doc: workers is not an array" },
		{ PROFILE(",\"workers\":[1]"),
		    "doc: workers is not an array of objects" },
		{ PROFILE(",\"workers\":[{\"prep_ms_per_sample\":\"1\"}]"),
		    "doc: workers.prep_ms_per_sample is not a number" },
		{ PROFILE(",\"alone\":[{\"workers\":4294967296}]"),
		    "doc: alone.workers is not" },
		{ PROFILE(",\"confessions\":[1]"),
		    "doc: confessions is not an array of texts" },
		{ PROFILE(",\"cuts\":[{\"what\":1}]"),
		    "doc: cuts.what is not a text" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *text = cases[i].text;
		struct result r;
		struct ds_err err = { 0 };
		json_t *doc;

		if (json_doc_parse(&doc, text, strlen(text), "doc", &err) != 0)
			fail_msg("%zu: %s", i, err.text);
		result_init(&r);
		assert_int_equal(in_json_take(&r, doc, "doc", &err), -EBADMSG);
		if (strstr(err.text, cases[i].want) == NULL)
			fail_msg("%zu: %s", i, err.text);
		assert_int_equal(in_json_take(&r, doc, "doc", NULL), -EBADMSG);
		result_fini(&r);
		json_decref(doc);
	}
}

/* Each sentence is compared with all before it: so many are no profile. */
static void
lists_have_a_limit(void **state)
{
	json_t *doc = json_doc_new(), *list = json_array();
	struct result r;
	struct ds_err err;

	(void)state;
	for (unsigned i = 0; i < 100001; i++)
		json_append(list, json_null());
	json_put(doc, "rates_samples_per_s", json_object());
	json_put(doc, "shares", json_object());
	json_put(doc, "confessions", list);
	result_init(&r);
	assert_int_equal(in_json_take(&r, doc, "doc", &err), -EBADMSG);
	assert_non_null(strstr(err.text, "length that makes sense"));
	result_fini(&r);
	json_decref(doc);
}

/* What the C library keeps of time zones is not a test's. */
static int
begin_time(void **state)
{
	(void)state;
	tzset();
	return 0;
}

UNIT_MAIN_WITH(begin_time, NULL,
	UNIT(all_of_it_comes_back),
	UNIT(nothing_comes_back_as_nothing),
	UNIT(what_is_no_number_is_null),
	UNIT(strange_documents_are_refused),
	UNIT(lists_have_a_limit))
