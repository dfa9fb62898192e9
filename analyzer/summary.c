/* SPDX-License-Identifier: Apache-2.0
 *
 * summary.c: what is told of a job beside its figures.
 * Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/summary.h"

#include "base/clock.h"

#define FEW	0.02		/* pages that are where they should not be */

/*--- loaders -------------------------------------------------------------*/

static bool
is_training(const struct facts *f, const struct fact_loader *l)
{
	return f->processes[l->process].trains == l->loader;
}

/* Of ranks, which have the same loaders, the first one's. */
static bool
is_of_first(const struct facts *f, const struct fact_loader *l)
{
	for (uint32_t i = 0; i < l->process; i++) {
		if (f->processes[i].trains != 0 &&
		    f->processes[l->process].trains != 0)
			return false;
	}
	return true;
}

void
summary_loaders(struct result *r, const struct facts *f)
{
	const struct fact_loader *l;

	for (size_t i = 0; i < f->nr_loaders; i++) {
		l = &f->loaders[i];
		if (!is_of_first(f, l))
			continue;
		result_add_loader(r, &(struct result_loader){
			.name = f->loaders[i].name,
			.is_training = is_training(f, l),
			.batch_size = l->batch_size, .workers = l->workers,
			.batches = l->given,
			.seconds = (double)l->given_ns / (double)NS_PER_S,
		});
	}
}

/*--- what was left out ---------------------------------------------------*/

void
summary_cuts(struct result *r, const struct measured_list *l)
{
	if (l->nr_other > 0)
		result_add_cut(r, "other loaders, between steps", l->other_s,
		    l->nr_other);
	if (l->nr_outlier > 0)
		result_add_cut(r, "steps far longer than the others",
		    l->outlier_s, l->nr_outlier);
}

/*--- what could not be shown ---------------------------------------------*/

static bool
is_cold(enum block_kind kind)
{
	return kind == BLOCK_COLD || kind == BLOCK_RAW_COLD;
}

static bool
is_warm(enum block_kind kind)
{
	return kind == BLOCK_CACHED || kind == BLOCK_RAW_CACHED ||
	    kind == BLOCK_ALONE;
}

void
summary_residency(struct result *r, const struct measured_list *l)
{
	unsigned nr_warm = 0, nr_cold = 0, untold = 0, blocks = 0;
	const struct measured *m;

	for (size_t i = 0; i < l->nr; i++) {
		m = &l->list[i];
		if (!m->has_files || (!is_cold(m->kind) && !is_warm(m->kind)))
			continue;
		blocks++;
		untold += m->resident < 0;
		nr_cold += is_cold(m->kind) && m->resident > FEW;
		nr_warm += is_warm(m->kind) && m->resident_after >= 0 &&
		    m->resident_after < 1 - FEW;
	}
	if (untold > 0)
		result_confess(r, "whether files were in memory could not be "
		    "verified in %u of %u blocks: the kernel tells it to "
		    "their owner only", untold, blocks);
	if (nr_cold > 0)
		result_confess(r, "files stayed in memory in %u blocks that "
		    "were to read them from storage", nr_cold);
	if (nr_warm > 0)
		result_confess(r, "files left memory in %u blocks that were "
		    "to find them there", nr_warm);
}

void
summary_ranks(struct result *r, const struct facts *f)
{
	uint64_t expected = facts_ranks_expected(f);
	size_t there = facts_ranks(f);

	if (there > 0 && there < expected)
		result_confess(r, "%zu of %llu ranks were measured: the others "
		    "could not be looked into", there,
		    (unsigned long long)expected);
}
