/* SPDX-License-Identifier: Apache-2.0
 *
 * json_fields.h: the members of a profile's JSON that are plain numbers, by key:
 * one table for who writes them and who reads them.  Runs in the command only.
 */

#ifndef REPORTS_JSON_FIELDS_H
#define REPORTS_JSON_FIELDS_H

#include <stdbool.h>

#include "reports/result.h"

struct json_field {
	const char	*key;
	enum { FIELD_NUMBER, FIELD_COUNT, FIELD_FLAG } kind;
	bool		zero_is_unknown;	/* then it is null */
	bool		negative_is_unknown;	/* the same; others are not */
	size_t		offset;
};
/* Tables end with a key of NULL. */

extern const struct json_field json_run_fields[];	/* of struct result */
extern const struct json_field json_job_fields[];	/* of struct result_job */

#endif
