/* SPDX-License-Identifier: Apache-2.0
 *
 * estimate.h: from the values of blocks to the figures of a result.
 * Runs in the command only; no I/O.
 */

#ifndef ANALYZER_ESTIMATE_H
#define ANALYZER_ESTIMATE_H

#include <stdbool.h>

#include "analyzer/facts.h"
#include "analyzer/measure.h"
#include "reports/result.h"

void estimate_rates(struct result *r, const struct measured_list *l,
    unsigned workers);
	/* Rates, hand-over, processor time, and the loader alone by number of
	 * workers; workers: the job's own. */

void estimate_job(struct result *r, const struct measured_list *l);
	/* What models need: r->job, whose batch_size and workers are there. */

void estimate_workers(struct result *r, const struct facts *f);
	/* Of each worker: time for a sample, as the job is. */

bool estimate_is_narrow(const struct measured_list *l, unsigned workers,
    double confidence);
	/* The rates by which the job is judged are as narrow as wanted. */

#endif
