/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_result.c: any bytes as the JSON of a profile.
 *
 * What is accepted can be shown in every way, and is the same again after it was
 * written and read.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "reports/gate.h"
#include "reports/in_json.h"
#include "reports/out_json.h"
#include "reports/out_term.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "result";

static void
show(const struct result *r)
{
	static FILE *null;
	struct term t = { .width = 80, .colour = true };

	if (null == NULL)
		null = fopen("/dev/null", "w");
	must(null != NULL);
	t.out = null;
	out_term_print(r, &t);
	for (unsigned i = 0; i < SHARES; i++)
		must(!r->share[i].is_known || (r->share[i].value >= 0 &&
		    r->share[i].low <= r->share[i].high));
}

static void
write_and_read(const struct result *r)
{
	json_t *doc = out_json_make(r), *again;
	struct result other;
	struct ds_err err;

	result_init(&other);
	must(in_json_take(&other, doc, "again", &err) == 0);
	again = out_json_make(&other);
	must(json_equal(doc, again));
	json_decref(doc);
	json_decref(again);
	result_fini(&other);
}

static void
try_gate(const uint8_t *bytes, size_t len, const struct result *r)
{
	char *text = fuzz_text(bytes, len);
	struct gate g = { 0 };
	struct ds_err err;
	int rc = gate_parse(text, &g, &err);

	if (rc < 0)
		fuzz_check_error(&err, rc);
	else
		must(gate_ask(&g, r, &err) <= 1);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *tight = fuzz_copy(bytes, len);
	json_t *doc = NULL;
	struct ds_err err;
	struct result r;
	int rc = json_doc_parse(&doc, tight, len, "document", &err);

	result_init(&r);
	if (rc == 0)
		rc = in_json_take(&r, doc, "document", &err);
	if (rc == 0) {
		show(&r);
		write_and_read(&r);
	} else {
		must(rc == -EBADMSG);
		fuzz_check_error(&err, rc);
	}
	try_gate(bytes, len, &r);
	json_decref(doc);
	result_fini(&r);
	free(tight);
	return 0;
}
