/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c: RUN on a command line.  Runs in the command only.
 */

#include <config.h>

#include "reports/find.h"

#include <stdbool.h>
#include <string.h>

#include "reports/in_json.h"
#include "reports/runstore.h"

#define SUFFIX	".json"

static bool
is_path(const char *run)
{
	size_t len = strlen(run);

	return strchr(run, '/') != NULL || (len > strlen(SUFFIX) &&
	    strcmp(run + len - strlen(SUFFIX), SUFFIX) == 0);
}

int
find_result(struct result *r, const char *run, struct ds_err *note,
    struct ds_err *err)
{
	struct runstore *s = NULL;
	int rc;

	*note = (struct ds_err){ 0 };
	if (is_path(run))
		return in_json_read(r, run, err);
	rc = runstore_open(&s, RUNSTORE_READ, note, err);
	if (rc == 0)
		rc = runstore_get(s, run, r, err);
	runstore_close(&s);
	return rc;
}
