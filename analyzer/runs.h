/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.h: a program that cannot be steered is run once for each phase: as it is,
 * with the files that it opened then in memory, and with them out of it.
 * Runs in the command only.
 *
 *  1. Its speed is told by a marker (marker.h), and its files by the preload
 *     object; what it does without data is not known: G is null.
 *  2. Each run is ended when it has had its part of the time.
 */

#ifndef ANALYZER_RUNS_H
#define ANALYZER_RUNS_H

#include "analyzer/conduct.h"
#include "analyzer/marker.h"
#include "reports/result.h"

void runs_measure(struct conduct *c, char *const argv[],
    const struct launch_end *first);
	/* Behind a first run that was not steered, whose marker has steps, and
	 * which ended so.  Fills the rates of the result; a run that cannot be made, or fails, is
	 * confessed. */

#endif
