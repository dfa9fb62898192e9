/* SPDX-License-Identifier: Apache-2.0
 *
 * summary.c: what is told of a job beside its figures.
 * Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/summary.h"

#include <math.h>
#include <string.h>

#include "analyzer/residency.h"
#include "base/clock.h"

#define STOLEN_WORTH 0.02	/* of the time: is worth a word */

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
	const struct cut *cut = &l->cut;

	if (cut->nr_first > 0)
		result_add_cut(r, "first steps, which took far longer",
		    cut->first_s, cut->nr_first);
	if (cut->nr_other > 0)
		result_add_cut(r, "other loaders, between steps", cut->other_s,
		    cut->nr_other);
	if (cut->nr_outlier > 0)
		result_add_cut(r, "steps far longer than the others",
		    cut->outlier_s, cut->nr_outlier);
}

/*--- what could not be shown ---------------------------------------------*/

void
summary_stolen(struct result *r, const struct measured_list *l)
{
	double least = 1, most = 0, s = 0, taken = 0, length;
	const struct measured *m;

	for (size_t i = 0; i < l->nr; i++) {
		m = &l->list[i];
		length = (double)(m->end_ns - m->begin_ns);
		s += length;
		taken += length * m->stolen;
		least = fmin(least, m->stolen);
		most = fmax(most, m->stolen);
	}
	if (s > 0 && taken >= STOLEN_WORTH * s)
		result_confess(r, "the host of this machine took %.0f %% of the "
		    "processor time that was wanted (%.0f to %.0f %% in a "
		    "block): speeds are lower for it, and differ another time",
		    100 * taken / s, 100 * least, 100 * most);
}

void
summary_residency(struct result *r, const struct measured_list *l)
{
	unsigned nr_warm = 0, nr_cold = 0, untold = 0, blocks = 0;
	const struct measured *m;

	for (size_t i = 0; i < l->nr; i++) {
		m = &l->list[i];
		if (!m->has_files ||
		    (!residency_is_cold(m) && !residency_is_warm(m)))
			continue;
		blocks++;
		untold += m->resident < 0;
		nr_cold += residency_is_cold(m) && residency_is_misplaced(m);
		nr_warm += residency_is_warm(m) && residency_is_misplaced(m);
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

static bool
needs_files(enum rate rate)
{
	return rate == RATE_STORAGE || rate == RATE_CACHE ||
	    rate == RATE_LOADER_COLD;
}

/* Of a program of which only steps are seen. */
static bool
needs_a_run(enum rate rate)
{
	return needs_files(rate) || rate == RATE_LOADER_CACHED;
}

static bool
needs_workers(enum rate rate)
{
	return rate == RATE_INGEST_BUSY;
}

void
summary_missing(struct result *r, bool knows_files)
{
	static const char *const why[MODES] = {
		[MODE_STEERED] = "no block of that kind came to its end",
		[MODE_LIVE] = "an ordinary run does not show it",
		[MODE_RUNS] = "of this program only steps are seen",
	};
	char names[RATES * 16] = "", *end = names;

	for (int i = 0; i < RATES; i++) {
		if (r->rate[i].is_known ||
		    (!knows_files && needs_files((enum rate)i)))
			continue;
		if (r->mode == MODE_RUNS && needs_a_run((enum rate)i)) {
			result_confess(r, "not measured: %s: it was not run so "
			    "often", rate_names[i]);
			continue;
		}
		if (r->mode == MODE_STEERED && r->job.workers == 0 &&
		    needs_workers((enum rate)i)) {
			result_confess(r, "not measured: %s: there are no workers "
			    "that could be busy", rate_names[i]);
			continue;
		}
		if (end != names)
			end = stpcpy(end, ", ");
		end = stpcpy(end, rate_names[i]);
	}
	if (end != names)
		result_confess(r, "not measured: %s: %s", names, why[r->mode]);
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
