/* SPDX-License-Identifier: Apache-2.0
 *
 * live.h: from what a job told that was only watched to a result.
 * Runs in the command only; no I/O.
 *
 *  1. A job that is not steered shows how long it waits, and not what it would do
 *     if it did not: its speed without data is that of its steps while workers
 *     were busy.
 *  2. Waiting is split as workers spend their time: on a processor, or kept from
 *     one, they prepare; otherwise they wait for storage, or sleep.
 */

#ifndef ANALYZER_LIVE_H
#define ANALYZER_LIVE_H

#include <stdbool.h>

#include "analyzer/facts.h"
#include "reports/result.h"

bool live_estimate(struct result *r, const struct facts *f);
	/* False: there was no loader that trains, nor any other. */

#endif
