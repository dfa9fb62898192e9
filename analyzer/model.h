/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h: the laws of speed, in closed form: what a job does, and what it would
 * do if it were given something else.  Runs in the command only; pure.
 *
 *     measured times -> struct model_job -> samples a second, shares, x*
 *
 * Pipelined loaders, which fetch while they prepare:  min(F(x), P, G).
 * Serial workers, PyTorch's, which fetch and then prepare:
 *     min(W / (t_fetch + t_prep), cores / t_cpu, S / (1 - x), 1 / (1/G + h));
 * without workers the main process does all by itself, one after the other.
 * Of prep the processors' time counts, since prep may sleep, and with it that
 * of the main process, which is on the same processors.
 *
 *  1. Everything is of one rank, with its part of cores and storage.
 *  2. What is not known is not a number, and so is all that depends on it; what
 *     it does not matter for (storage, if all is in memory) is told all the same.
 *  3. An infinite rate is no limit; a rate of 0 is a speed of 0.
 *  4. Speeds are steady ones: starting and filling queues is not in them.
 */

#ifndef ANALYZER_MODEL_H
#define ANALYZER_MODEL_H

#include <stdbool.h>

#include "reports/result.h"

#define RESIDENT_ALL	0.995	/* of the files, in memory: all of them */

struct model_job {
	double	g;			/* s per sample: compute, data for nothing */
	double	h;			/* hand-over, in the main process */
	double	t_prep, t_prep_cpu;	/* in a worker, and of a processor */
	double	t_main_cpu;		/* of a processor, in the main process */
	double	t_fetch_hit, t_fetch_miss; /* in a worker */
	double	storage, cache;		/* S and C: samples a second, reading alone */
	double	x;			/* of the samples, in memory: 0 to 1 */
	unsigned workers;		/* 0: none; pipelined: not counted */
	double	cores;
	bool	is_pipelined;
};

void model_of_result(struct model_job *j, const struct result *r);
	/* The job as it was measured; g with busy workers, if that is known.
	 * Rates, cores and the loader alone are taken for those of all ranks
	 * together; times, batches and workers for those of one. */

double model_fetch_rate(double storage, double cache, double x);
	/* F(x) = 1 / (x/C + (1-x)/S) */
double model_ingest_rate(const struct model_job *j);
	/* 1 / (g + h) */
double model_prep_rate(const struct model_job *j);
	/* P, files in memory: by workers and by processors. */
double model_speed(const struct model_job *j);
	/* Samples a second. */

double model_jobs_speed(const struct model_job *j, unsigned jobs,
    bool is_coordinated);
	/* Of each of several such jobs at a time, on the cores and the storage
	 * of the one, each with workers and an accelerator of its own.
	 * Coordinated, each sample is fetched and prepared once for all. */

bool model_best_cache(const struct model_job *j, double *x);
	/* x*: the least part in memory at which fetching is no limit any more.
	 * False if no size suffices, or something is not known. */

double model_storage_needed(const struct model_job *j, double speed);
	/* The rate of reading alone at which fetching allows a speed, the part
	 * in memory as it is; infinite if none does.  Of serial workers, too:
	 * their fetching is taken to be as much shorter as storage is faster. */

/*--- shares --------------------------------------------------------------*/

bool model_is_resident(double x, double storage, double actual);
	/* The part x of the files is in memory; what is not costs nothing to
	 * speak of, if storage gives so many samples a second (0: not known) to a
	 * job that takes so many.  x < 0: not known. */

double model_share(enum share s, double actual, double ingest,
    double loader_cached, double h);
	/* Of the time of a sample, as measured: v/G, v(1/P' - 1/G - h),
	 * v(1/v - 1/P') and v h.  They sum to 1; noise may bring some of them
	 * below 0. */

void model_settle_shares(double share[SHARES]);
	/* What is below 0 is 0; the rest is scaled to sum to 1. */

#endif
