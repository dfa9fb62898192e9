/* SPDX-License-Identifier: Apache-2.0
 *
 * helper.h: the hub's one helper thread, for what would hold up the loop:
 * allocating, freeing, copying of listings.  Runs in the hub only.
 *
 *  1. work() runs in the helper and touches nothing but its job: no metadata.
 *  2. done() runs in the loop, once for each job that was submitted, in the
 *     order in which the jobs ended.
 *  3. A long job works in pieces and takes turns with the others.
 */

#ifndef HUB_HELPER_H
#define HUB_HELPER_H

#include <stdbool.h>

#include "base/err.h"
#include "hub/loop.h"

struct helper;

struct helper_job {			/* the first member of what it is for */
	bool	(*work)(struct helper_job *);	/* true: there is more to do */
	void	(*done)(struct helper_job *);	/* owns the job from then on */
	struct helper_job *next;
};

int helper_new(struct helper **out, struct loop *l, struct ds_err *err);

void helper_free(struct helper **hp);
	/* Waits for the work in hand; the other jobs are not begun any more;
	 * done() is called for each. */

void helper_submit(struct helper *h, struct helper_job *job);
unsigned helper_waiting(const struct helper *h);

#endif
