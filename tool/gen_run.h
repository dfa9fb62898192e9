/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_run.h: one run of `destall gen`: opens the set, makes what is missing,
 * and tells how it ended.  Runs in the command only, in its main thread.
 */

#ifndef TOOL_GEN_RUN_H
#define TOOL_GEN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "tool/gen_plan.h"

struct gen_request {
	const struct gen_plan *plan;
	const char	*path;
	uint64_t	count;
	unsigned	threads;	/* 0: see gen_threads_choose() */
	void		(*stopping)(unsigned in_work);
			/* A signal came, and that many images will still be
			 * finished; called at once. */
};

/* Images count here if they are asked for: their index is below the count. */
struct gen_outcome {
	bool		is_counted;	/* else found and there are not known */
	uint64_t	found;		/* images that were there before */
	uint64_t	made;
	uint64_t	there;		/* images that are there now */
	uint64_t	in_set;		/* those not asked for included */
	uint64_t	shards;
	uint64_t	elapsed_ns;
	unsigned	threads;
	int		signal;		/* that ended it early, or 0 */
	struct hist	sizes;		/* of the files of the images there */
};

int gen_run(const struct gen_request *ask, struct gen_outcome *out,
    struct ds_err *err);
	/* out is filled on failure too. */

#endif
