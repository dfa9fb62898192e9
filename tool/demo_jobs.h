/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_jobs.h: several training jobs at once, without and with DESTALL=1.
 * Runs in the command only; the jobs are processes of their own.
 *
 *  1. A job is PyTorch's loader (loader/python/destall/_demo.py), or, where no
 *     Python has PyTorch and Pillow, `destall emulate`, which has no arrays.
 *  2. All figures are the jobs' own, of this run; either all jobs of both runs
 *     have told theirs, or nothing is shown but why not.
 *  3. The jobs begin together, once the last of them could.
 *  4. No process outlives the call.
 */

#ifndef TOOL_DEMO_JOBS_H
#define TOOL_DEMO_JOBS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/progress.h"
#include "base/stop.h"
#include "tool/demo_place.h"

#define DEMO_JOBS_MAX		16u
#define DEMO_JOBS_ITEMS		480u
#define DEMO_JOBS_EPOCHS	3u

/* What the accelerator takes for a batch of arrays, and of pictures where that
 * is not nothing. */
#define DEMO_ARRAYS_STEP_MS	"2"
#define DEMO_PICTURES_STEP_MS	"5"

struct demo_jobs_sum {		/* of all jobs */
	uint64_t	samples;
	uint64_t	of_others;	/* made by another job */
	double		seconds;	/* of the slowest */
	double		cpu_seconds;
};

struct demo_jobs {
	unsigned	nr;		/* 0: none are wanted */
	bool		is_torch;
	bool		is_measured;
	struct ds_err	why_not;
	struct demo_jobs_sum plain, shared;
};

#define DEMO_SCRIPT	"train.py"	/* in the demo's folder: the job */

const char *demo_python_find(const char *dir);
	/* One with PyTorch and Pillow, by name or path, which has its job in
	 * that folder then; NULL: there is none. */

enum demo_kind { DEMO_PICTURES, DEMO_ARRAYS, DEMO_KINDS };

struct demo_jobs_place {
	enum demo_kind	kind;		/* of the data */
	const char	*data;		/* their folder, in the demo's */
	const char	*python;	/* NULL: there is none */
	struct demo_place *place;
	struct stop	*stop;
	struct progress	*progress;
};

int demo_jobs_run(struct demo_jobs *j, const struct demo_jobs_place *p,
    struct ds_err *err);
	/* j->nr of them, twice.  0 also if it could not be measured;
	 * -EINTR: a signal came. */

double demo_jobs_rate(const struct demo_jobs_sum *s);
	/* Samples per second, of all jobs together. */
double demo_jobs_cost(const struct demo_jobs_sum *s);
	/* Processor seconds per sample. */

#endif
