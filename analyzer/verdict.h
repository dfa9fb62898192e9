/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict.h: from rates to shares, and from shares to a verdict in one sentence.
 * Runs in the command only; pure.
 *
 *     rates -> verdict_take_shares() -> shares -> verdict_decide() -> sentence
 *
 *  1. A loader that is behind decides alone, however long the steps are: the
 *     bottleneck is the larger of prep and fetch, unless these together are below
 *     2 %, or, below 10 %, less than half the width of their interval.  Else it is
 *     what the main process does more of: computing, or taking batches over.
 *  2. There is no verdict where what is not known could be larger; the sentence
 *     then says what is known.
 *  3. Rates and cores are those of all ranks together; batches, workers and times
 *     those of one.
 */

#ifndef ANALYZER_VERDICT_H
#define ANALYZER_VERDICT_H

#include "reports/result.h"

void verdict_take_shares(struct result *r);
	/* From the rates actual, ingest and loader_cached and the hand-over of a
	 * batch.  Shares that lack one of these are left as they are. */

void verdict_decide(struct result *r);
	/* Bottleneck and sentence, from the shares. */

void verdict_say(struct result *r);
	/* The sentence alone, of a bottleneck that is decided; for
	 * verdict_decide(). */

#endif
