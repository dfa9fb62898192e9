/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_profile.h: `destall profile` of one of the demo's jobs, as its user would
 * run it.  Runs in the command only; the profile and its job are processes of
 * their own.
 *
 *  1. All that is told of it is read from the document that it wrote.
 *  2. It has a store of its own, in the demo's folder.
 *  3. No process outlives the call.
 */

#ifndef TOOL_DEMO_PROFILE_H
#define TOOL_DEMO_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "reports/result.h"
#include "tool/demo_jobs.h"

#define DEMO_COMMAND	160u

struct demo_profile {
	bool		is_wanted;
	bool		is_measured;
	struct ds_err	why_not;
	char		command[DEMO_COMMAND];	/* without its paths */
	struct result	result;
};

void demo_profile_init(struct demo_profile *p);
void demo_profile_fini(struct demo_profile *p);

int demo_profile_run(struct demo_profile *p, const struct demo_jobs_place *at,
    uint64_t for_ns, struct ds_err *err);
	/* 0 also if it could not be measured; -EINTR: a signal came. */

#endif
