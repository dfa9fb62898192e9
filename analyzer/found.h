/* SPDX-License-Identifier: Apache-2.0
 *
 * found.h: how much of a data set is in memory, and how fast a job is that finds so
 * much of it.  Runs in the command only; no I/O.
 *
 * Which of its files a block of fresh batches finds there is chance: with half of a data
 * set in memory, and 200 samples, its speed is off by 5 %.  Other files of the data set,
 * thousands, tell of it, too, and blocks are taken to what all of them say: what they
 * took beyond a job whose files are all in memory is in proportion to what was missing.
 */

#ifndef ANALYZER_FOUND_H
#define ANALYZER_FOUND_H

#include "analyzer/measure.h"

double found_resident(const struct measured_list *l);
	/* 0 to 1: of fresh batches and of those other files, or, where the latter
	 * tell another story, of fresh batches; negative: not known. */

struct found {
	double	resident;	/* of the data set */
	double	files;		/* that say so; 0: blocks count as they are */
	double	slope_s;	/* for a sample, that what is missing takes, if that
				 * is all of it */
};

void found_init(struct found *f, const struct measured *const *actual,
    size_t nr, double cached_s, double cold_s);
	/* Of blocks of the job as it is; seconds for a sample with its files in
	 * memory, and out of it; not a number: not known. */
double found_time(const struct found *f, const struct measured *m);
	/* Of such a block: seconds for a sample, had it found as much in memory as
	 * there is of the data set. */
double found_half(const struct found *f);
	/* Half the width of what is not known of that, since not all files were
	 * looked at: seconds for a sample. */

#endif
