/* SPDX-License-Identifier: Apache-2.0
 *
 * lag.h: how long the fast wait for the slow.  Runs in the hub; pure.
 *
 *  1. `wait:T`: as long as it takes units; T of waiting without one detach it.
 *  2. `detach:T`: T of waiting detach it.
 *  3. `auto`: as `wait:60s`; and it is detached when, over the last 10 s, the
 *     job that waits received fewer samples than its own makers would have made
 *     alone: their number divided by the mean time they took per sample.
 *  4. It is the policy of the one who waits that counts.
 */

#ifndef STAGE_LAG_H
#define STAGE_LAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "stage/messages.h"

#define LAG_WAIT_NS	(UINT64_C(60) * 1000000000)
#define LAG_DETACH_NS	(UINT64_C(5) * 1000000000)
#define LAG_SPAN_NS	(UINT64_C(10) * 1000000000)
#define LAG_SPAN_PARTS	20u

struct lag {
	enum stage_lag	kind;
	uint64_t	ns;
};

int lag_parse(const char *text, struct lag *lag, struct ds_err *err);
	/* auto, wait, wait:60s, detach, detach:5s.  -EINVAL: the result is left
	 * alone.  Runs in clients, too. */

/* What a member received over the last LAG_SPAN_NS, in parts. */
struct pace {
	uint64_t	samples[LAG_SPAN_PARTS];	/* at the end of each part */
	uint64_t	begun_ns;	/* 0: never */
	uint64_t	part;		/* the number of the newest, ever */
};

void pace_note(struct pace *p, uint64_t now_ns, uint64_t samples);
	/* samples: in all, ever.  The first note is where it begins. */
double pace_rate(const struct pace *p, uint64_t now_ns);
	/* Samples per second over the span, or over what there is of it. */
bool pace_is_full(const struct pace *p, uint64_t now_ns);
	/* Is there a whole span to judge by? */

/* What it takes a job's makers to make samples. */
struct making {
	uint64_t	samples, ns;	/* lately; ns of one thread */
	uint32_t	makers;		/* threads, or processes */
};

void making_note(struct making *m, uint64_t samples, uint64_t ns);
double making_rate(const struct making *m);
	/* Samples per second, alone; 0: not known. */

struct lag_case {
	uint64_t	now_ns;
	uint64_t	waits_since_ns;	/* of the one who waits, for a blocker;
					 * 0: it does not */
	uint64_t	blocker_took_ns;/* when the blocker took something last */
	const struct pace *pace;	/* of the one who waits */
	const struct making *making;	/* of its job */
};

bool lag_is_over(const struct lag *lag, const struct lag_case *c);
	/* Is the blocker to be detached? */

#endif
