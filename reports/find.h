/* SPDX-License-Identifier: Apache-2.0
 *
 * find.h: RUN on a command line: an id, the beginning of one, "last", or the path
 * of a profile's JSON, which has a slash in it or ends in .json.
 * Runs in the command only.
 */

#ifndef REPORTS_FIND_H
#define REPORTS_FIND_H

#include "base/err.h"
#include "reports/result.h"

int find_result(struct result *r, const char *run, struct ds_err *note,
    struct ds_err *err);
	/* Into a result that was begun.  note->text is "", or what else the
	 * user is to be told (runstore_open). */

#endif
