/* SPDX-License-Identifier: Apache-2.0
 *
 * conclude.h: from what was measured of a job to a verdict.
 * Runs in the command only.
 */

#ifndef ANALYZER_CONCLUDE_H
#define ANALYZER_CONCLUDE_H

#include "analyzer/conduct.h"
#include "reports/result.h"

void conclude(struct result *r, struct conduct *c);
	/* Figures, shares, verdict, fixes, and what could not be shown.  The
	 * rates of programs that were run once for each phase (runs.h) are there
	 * already. */

#endif
