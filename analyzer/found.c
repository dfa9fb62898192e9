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

struct fresh {			/* all batches of the job as it is */
	double	resident;	/* of their files; negative: not known */
	double	samples;
	double	beside, files;	/* others of the data set */
};

static struct fresh
sum_fresh(const struct measured_list *l)
{
	struct fresh all = { .resident = 0 };
	double nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct measured *m = &l->list[i];

		if (m->kind != BLOCK_ACTUAL || m->resident < 0)
			continue;
		all.resident += m->resident;
		all.samples += m->samples;
		nr++;
		/* Each start of the job looks anew: the last one counts. */
		all.beside = m->beside;
		all.files = m->beside_files;
	}
	all.resident = nr > 0 ? all.resident / nr : -1;
	return all;
}

/* Half of the width in which the share of so many lies by chance, in sigmas. */
static double
scatter(double share, double nr)
{
	return sqrt(share * (1 - share) / nr);
}

static bool
are_alike(const struct fresh *f)
{
	double share = fmin(fmax(f->beside, 0), 1);

	return f->resident >= 0 && f->files > 0 && f->samples > 0 &&
	    fabs(f->resident - share) <= ALIKE_SIGMAS *
	    hypot(scatter(share, f->files), scatter(share, f->samples));
}

double
found_resident(const struct measured_list *l)
{
	struct fresh f = sum_fresh(l);

	return are_alike(&f) ? f.beside : f.resident;
}

void
found_init(struct found *f, const struct measured_list *l, double actual_s,
    double cached_s)
{
	struct fresh all = sum_fresh(l);

	*f = (struct found){ .resident = all.beside };
	/* What is not slower than with all in memory does not wait for files. */
	if (!are_alike(&all) || !(actual_s > cached_s) || !(all.resident < 1))
		return;
	f->files = all.files;
	f->slope_s = (actual_s - cached_s) / (1 - all.resident);
}

double
found_time(const struct found *f, const struct measured *m)
{
	if (f->files == 0 || m->kind != BLOCK_ACTUAL || m->resident < 0)
		return m->s_per_sample;
	return fmax(m->s_per_sample + f->slope_s * (m->resident - f->resident),
	    PART_LEAST * m->s_per_sample);
}

double
found_half(const struct found *f)
{
	return f->files == 0 ? 0 :
	    SIGMAS * f->slope_s * scatter(f->resident, f->files);
}
