/* SPDX-License-Identifier: Apache-2.0
 *
 * found.c: how much of a data set is in memory.  Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/found.h"

#include <math.h>
#include <stdbool.h>

#define ALIKE_SIGMAS	4.0	/* further apart, they are not of one data set */
#define SIGMAS		1.96	/* of a 95 % interval */
#define PART_LEAST	0.5	/* of what a block took, is left in any case */

/*--- what blocks found ---------------------------------------------------*/

struct fresh {			/* of the job as it is, its blocks */
	double	nr;
	double	sum_s;		/* for a sample */
	double	sum_resident;
	double	samples;
	double	beside, files;	/* others of the data set */
};

static double
clamp(double share)
{
	return fmin(fmax(share, 0), 1);
}

static void
add(struct fresh *all, const struct measured *m)
{
	if (m->kind != BLOCK_ACTUAL || m->resident < 0)
		return;
	all->nr++;
	all->sum_s += m->s_per_sample;
	all->sum_resident += clamp(m->resident);
	all->samples += m->samples;
	/* Each start of the job looks anew: the last one counts. */
	all->beside = clamp(m->beside);
	all->files = m->beside_files;
}

/* One standard deviation of a share by chance, of so many. */
static double
scatter(double share, double nr)
{
	return sqrt(share * (1 - share) / nr);
}

static bool
are_alike(const struct fresh *f)
{
	return f->nr > 0 && f->files > 0 && f->samples > 0 &&
	    fabs(f->sum_resident / f->nr - f->beside) <= ALIKE_SIGMAS *
	    hypot(scatter(f->beside, f->files), scatter(f->beside, f->samples));
}

/* By all files that tell of it. */
static double
pool(const struct fresh *f)
{
	return (f->beside * f->files + f->samples * f->sum_resident / f->nr) /
	    (f->files + f->samples);
}

double
found_resident(const struct measured_list *l)
{
	struct fresh f = { 0 };

	for (size_t i = 0; i < l->nr; i++)
		add(&f, &l->list[i]);
	return are_alike(&f) ? pool(&f) : f.nr > 0 ? f.sum_resident / f.nr : -1;
}

/*--- what they would have taken ------------------------------------------*/

void
found_init(struct found *f, const struct measured *const *actual, size_t nr,
    double cached_s, double cold_s)
{
	struct fresh all = { 0 };
	double more_s;

	*f = (struct found){ 0 };
	for (size_t i = 0; i < nr; i++)
		add(&all, actual[i]);
	if (!are_alike(&all))
		return;
	more_s = all.sum_s / all.nr - cached_s;
	/* What is not slower than with all in memory does not wait for files. */
	if (!(more_s > 0) || all.sum_resident >= all.nr)
		return;
	f->resident = pool(&all);
	f->files = all.files + all.samples;
	/* Never more than it takes if nothing is there. */
	f->slope_s = fmin(more_s / (1 - all.sum_resident / all.nr),
	    fmax(cold_s - cached_s, 0));
}

double
found_time(const struct found *f, const struct measured *m)
{
	if (f->files == 0 || m->kind != BLOCK_ACTUAL || m->resident < 0)
		return m->s_per_sample;
	return fmax(m->s_per_sample +
	    f->slope_s * (clamp(m->resident) - f->resident),
	    PART_LEAST * m->s_per_sample);
}

double
found_half(const struct found *f)
{
	return f->files == 0 ? 0 :
	    SIGMAS * f->slope_s * scatter(f->resident, f->files);
}
