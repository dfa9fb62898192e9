/* SPDX-License-Identifier: Apache-2.0
 *
 * out_json.h: a result as the JSON document that doc and man page promise to
 * scripts; in_json.h reads it back.  Runs in the command only.
 *
 *  1. What is not known, or no number that JSON has, is null.
 */

#ifndef REPORTS_OUT_JSON_H
#define REPORTS_OUT_JSON_H

#include "base/json.h"
#include "reports/result.h"

json_t *out_json_make(const struct result *r);
	/* A document. */

int out_json_write(const struct result *r, const char *path,
    struct ds_err *err);
	/* To standard output if path is NULL. */

json_t *out_json_time(int64_t s);
	/* "2026-11-17T13:45:02Z", of seconds since 1970; null if there is no
	 * such time. */

json_t *out_json_number(double value);
json_t *out_json_text(const char *text);
	/* null of what is no number that JSON has, and of NULL. */

#endif
