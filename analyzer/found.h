/* SPDX-License-Identifier: Apache-2.0
 *
 * found.h: how much of a data set is in memory, and how fast a job is that finds so
 * much of it.  Runs in the command only; no I/O.
 *
 * Which of its files a block of fresh batches finds there is chance: with half of a data
 * set in memory, and 200 samples, its speed is off by 5 %.  Other files of the data set,
 * thousands, say better how many are there, and blocks are taken to that: what they
 * took beyond a job whose files are all in memory is in proportion to what was missing.
 */

#ifndef ANALYZER_FOUND_H
#define ANALYZER_FOUND_H

#include "analyzer/measure.h"
#include "reports/result.h"

double found_resident(const struct measured_list *l);
	/* 0 to 1: of those other files, or, where fresh batches tell another story, or
	 * none were looked at, of fresh batches; negative: not known. */

struct found {
	double	resident;	/* of the data set */
	double	slope_s;	/* for a sample, what is missing takes if that is all */
	double	files;		/* that were looked at; 0: blocks count as they are */
};

void found_init(struct found *f, const struct measured_list *l, double actual_s,
    double cached_s);
	/* Seconds for a sample of the job as it is, by its blocks, and with its
	 * files in memory; not a number: not known. */
double found_time(const struct found *f, const struct measured *m);
	/* Of a block of the job as it is: seconds for a sample, had it found as much
	 * in memory as there is of the data set. */
double found_half(const struct found *f);
	/* Half the width of what is not known of that, since not all files were
	 * looked at: seconds for a sample. */

#endif
