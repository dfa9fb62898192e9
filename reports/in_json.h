/* SPDX-License-Identifier: Apache-2.0
 *
 * in_json.h: a result from a JSON document, as out_json.h has written it and
 * anybody may have changed it.  Runs in the command only.
 *
 *  1. What is not there, or null, is not known; what is there and makes no sense
 *     is refused by the name of its key.
 */

#ifndef REPORTS_IN_JSON_H
#define REPORTS_IN_JSON_H

#include "base/json.h"
#include "reports/result.h"

int in_json_take(struct result *r, const json_t *doc, const char *name,
    struct ds_err *err);
	/* Into a result that was begun; name is for messages.  -EBADMSG: it
	 * is no profile; some of it may be filled then. */

int in_json_read(struct result *r, const char *path, struct ds_err *err);
	/* The same from a file. */

#endif
