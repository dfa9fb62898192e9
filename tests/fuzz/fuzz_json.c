/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_json.c: any bytes as a document, and as the text of a value.
 *
 * What is accepted is an object of our version, and is the same again after
 * it was written and read.
 */

#include <config.h>

#include <errno.h>

#include "base/json.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "json";

static void
check_document(json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT);
	json_t *again;

	must(json_is_object(doc));
	must(json_integer_value(json_object_get(doc, "schema_version")) ==
	    JSON_SCHEMA_VERSION);
	must(text != NULL);
	must(json_doc_parse(&again, text, strlen(text), "again", NULL) == 0);
	must(json_equal(doc, again));
	json_decref(again);
	free(text);
}

/* Any bytes give a string that can be written. */
static void
check_text(const uint8_t *bytes, size_t len)
{
	char *raw = fuzz_text(bytes, len), *text;
	json_t *doc = json_doc_new();

	must(json_object_set_new(doc, "text", json_text(raw)) == 0);
	text = json_dumps(doc, JSON_COMPACT);
	must(text != NULL);
	json_decref(doc);
	must(json_doc_parse(&doc, text, strlen(text), "text", NULL) == 0);
	json_decref(doc);
	free(text);
	free(raw);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *tight = fuzz_copy(bytes, len);
	json_t *doc = NULL;
	struct ds_err err;
	int rc = json_doc_parse(&doc, tight, len, "document", &err);

	if (rc == 0) {
		check_document(doc);
		json_decref(doc);
	} else {
		must(rc == -EBADMSG && doc == NULL);
		fuzz_check_error(&err, rc);
	}
	free(tight);
	check_text(bytes, len);
	return 0;
}
