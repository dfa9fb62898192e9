/* SPDX-License-Identifier: Apache-2.0
 *
 * fixes_predict.h: what each fix would gain.  Runs in the command only; pure.
 *
 *  1. A gain of 0.3 is 30 % more samples a second.  Not a number: not known, or
 *     not to be had.
 *  2. Where a fix has a size, it is the least that gains nearly all.
 */

#ifndef ANALYZER_FIXES_PREDICT_H
#define ANALYZER_FIXES_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model.h"
#include "reports/result.h"

struct predict {
	const struct result *r;
	struct model_job now;
	double	ranks;
	double	actual, loader_cached;	/* of one rank, as measured */
	double	bytes_per_sample;
	bool	has_fetch_stall;	/* beyond its doubt */
};

void predict_init(struct predict *p, const struct result *r);
	/* The result is read until the last prediction. */

double predict_workers(const struct predict *p, unsigned *workers);
double predict_cores(const struct predict *p, unsigned *cores,
    unsigned *workers);
	/* For each rank. */
double predict_cache(const struct predict *p, double free_bytes, double *x,
    uint64_t *bytes);
double predict_storage(const struct predict *p, double *rate);
	/* A rate of all ranks together. */
double predict_jobs(const struct predict *p, unsigned jobs);
	/* Of jobs at a time that share, over as many that do not. */
double predict_no_handover(const struct predict *p);

#endif
