/* SPDX-License-Identifier: Apache-2.0
 *
 * interval.h: from repeated blocks to a figure and its 95 % interval, on a
 * machine whose speed drifts.  Runs in the command only; pure.
 *
 *  1. Means are of times per sample, each block the same, however many samples
 *     it had; a rate is the inverse of the mean time, as an epoch has it.
 *  2. An interval is never narrower than the drift that blocks of one run cannot
 *     show, since they share it (interval_drift()).
 *  3. What is not a time (zero, negative, infinite, not a number) is left out.
 *     Nothing left: not known.
 */

#ifndef ANALYZER_INTERVAL_H
#define ANALYZER_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/result.h"

struct interval_block {
	uint64_t samples;		/* 0: it counts for nothing */
	double	time_s;			/* per sample */
	double	cpu_s;			/* per sample, of all processors; negative:
					 * not known */
};

struct figure interval_of_times(const struct interval_block *block, size_t nr);
	/* Seconds per sample. */
struct figure interval_of_rate(const struct interval_block *block, size_t nr);
	/* Samples a second. */

double interval_student(unsigned df);
	/* The quantile 0.975 of Student's t; infinite for 0 degrees. */

double interval_drift(double cpu_share);
	/* Half the width, relative, below which no interval goes.  A time that
	 * is of processors varies from run to run with their speed, one that
	 * is slept does not.  Not a number counts as all of processors. */

bool interval_is_narrow(const struct figure *f, double confidence);
	/* Half the width is at most this part of the value. */

/*--- figures from figures -------------------------------------------------*/

struct figure interval_exact(double value);
	/* Known without doubt; not known if it is no finite number. */
struct figure interval_scale(const struct figure *f, double factor);
struct figure interval_invert(const struct figure *f);
	/* Of what is above zero; else not known. */
double interval_half(const struct figure *f);
	/* Half the width; infinite if it is not known. */

typedef double interval_law(const double *in, const void *more);

struct figure interval_combine(interval_law *law, const struct figure *in,
    size_t nr, const void *more);
	/* What a law makes of independent figures, 16 at most.  Each is moved to
	 * both ends of its interval while the others stay; the moves up and down
	 * are added in squares.  That is propagation of the first order without
	 * derivatives, good enough since all are within a few per cent; sampling
	 * would bring random numbers for less than they are worth.  Drift that
	 * the figures share is counted for each, which errs to the wide side. */

#endif
