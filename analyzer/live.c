/* SPDX-License-Identifier: Apache-2.0
 *
 * live.c: a result from a job that was only watched.
 * Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/live.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/interval.h"
#include "base/clock.h"
#include "base/say.h"

enum { LIVE_BEGIN, LIVE_END, LIVE_BATCHES, LIVE_SAMPLES, LIVE_WAITED, LIVE_FOUND,
    LIVE_TIMES };
enum { MADE_WORKER, MADE_END, MADE_BATCHES, MADE_SAMPLES, MADE_TIME, MADE_CPU,
    MADE_KEPT };

/* Of the loader that counts, in all processes that have it. */
struct sums {
	double	s, batches, samples;	/* of all ranks, one after the other */
	double	waited_s, found_s, found;
	double	made, made_s, made_cpu_s, made_kept_s;
	unsigned ranks;
};

static double
to_s(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* A process's loader that trains; of one that has none, the one that gave most. */
static uint32_t
find_loader(const struct facts *f, uint32_t process)
{
	const struct fact *p;
	uint64_t given[64] = { 0 }, most = 0;
	uint32_t found = 0;

	if (f->processes[process].trains != 0)
		return f->processes[process].trains;
	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_LIVE || p->process != process ||
		    p->loader >= 64)
			continue;
		given[p->loader] += p->word[LIVE_BATCHES];
		if (given[p->loader] > most) {
			most = given[p->loader];
			found = p->loader;
		}
	}
	return found;
}

/* Where some processes train, only they count. */
static bool
counts(const struct facts *f, uint32_t process)
{
	return f->processes[process].trains != 0 || facts_ranks(f) == 0;
}

static void
add_windows(struct sums *s, const struct facts *f, uint32_t process,
    uint32_t loader)
{
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_LIVE || p->process != process ||
		    p->loader != loader ||
		    p->word[LIVE_END] <= p->word[LIVE_BEGIN])
			continue;
		s->s += to_s(p->word[LIVE_END] - p->word[LIVE_BEGIN]);
		s->batches += (double)p->word[LIVE_BATCHES];
		s->samples += (double)p->word[LIVE_SAMPLES];
		s->waited_s += to_s(p->word[LIVE_WAITED]);
		s->found_s += to_s(p->word[LIVE_FOUND]);
		s->found += (double)p->word[LIVE_TIMES];
	}
}

static void
add_made(struct sums *s, const struct facts *f, uint32_t loader)
{
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_LIVE_MADE || p->loader != loader)
			continue;
		s->made += (double)p->word[MADE_SAMPLES];
		s->made_s += to_s(p->word[MADE_TIME]);
		s->made_cpu_s += to_s(p->word[MADE_CPU]);
		s->made_kept_s += to_s(p->word[MADE_KEPT]);
	}
}

/*--- figures -------------------------------------------------------------*/

/* A rate by windows of about a second each. */
static struct figure
rate_of_windows(const struct facts *f, const struct sums *s, bool is_busy)
{
	struct interval_block *list = calloc(f->nr + 1, sizeof *list);
	double time, samples;
	struct figure rate;
	const struct fact *p;
	size_t nr = 0;

	if (list == NULL)
		say_no_memory();
	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_LIVE || !counts(f, p->process) ||
		    p->loader != find_loader(f, p->process) ||
		    p->word[LIVE_END] <= p->word[LIVE_BEGIN])
			continue;
		time = to_s(p->word[LIVE_END] - p->word[LIVE_BEGIN]);
		if (is_busy)
			time -= to_s(p->word[LIVE_WAITED] + p->word[LIVE_FOUND]);
		samples = (double)p->word[LIVE_SAMPLES];
		if (time > 0 && samples > 0)
			list[nr++] = (struct interval_block){
				.samples = p->word[LIVE_SAMPLES],
				.time_s = time / samples / s->ranks,
				.cpu_s = -1,
			};
	}
	rate = interval_of_rate(list, nr);
	free(list);
	return rate;
}

/* Half the width of the interval of what the job waits, by windows. */
static double
half_of_windows(const struct facts *f)
{
	double sum = 0, squares = 0, share, variance, time;
	const struct fact *p;
	unsigned nr = 0;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_LIVE || !counts(f, p->process) ||
		    p->loader != find_loader(f, p->process) ||
		    p->word[LIVE_END] <= p->word[LIVE_BEGIN])
			continue;
		time = to_s(p->word[LIVE_END] - p->word[LIVE_BEGIN]);
		share = to_s(p->word[LIVE_WAITED]) / time;
		sum += share;
		squares += share * share;
		nr++;
	}
	if (nr < 2)
		return 1;
	variance = (squares - sum * sum / nr) / (nr - 1);
	return interval_student(nr - 1) * sqrt(fmax(variance, 0) / nr);
}

/* A share, as sure as the whole of the waiting is. */
static struct figure
part(double value, double half)
{
	value = fmin(1, fmax(0, value));
	return (struct figure){ .is_known = true, .value = value,
	    .low = fmax(0, value - half), .high = fmin(1, value + half) };
}

static void
fill_shares(struct result *r, const struct sums *s, double half)
{
	double each = s->found > 0 ? s->found_s / s->found : 0;
	double handover = each * s->batches;
	double stall = s->waited_s + s->found_s - handover;
	double fetch = 0, blocked;

	if (stall < 0)
		stall = 0;
	blocked = s->made_s - s->made_cpu_s - s->made_kept_s;
	if (s->made_s > 0 && blocked > 0)
		fetch = blocked / s->made_s;
	r->share[SHARE_COMPUTE] = part(1 - (stall + handover) / s->s,
	    half);
	r->share[SHARE_PREP] = part(stall * (1 - fetch) / s->s, half);
	r->share[SHARE_FETCH] = part(stall * fetch / s->s, half);
	r->share[SHARE_HANDOVER] = part(handover / s->s, half);
	if (s->found > 0)
		r->handover_ms_per_batch = interval_exact(1e3 * each);
}

static void
fill_workers(struct result *r, const struct facts *f, uint32_t loader)
{
	double samples, fetch, prep;
	const struct fact *p;

	for (uint64_t w = 0; w <= r->job.workers; w++) {
		samples = fetch = prep = 0;
		for (size_t i = 0; i < f->nr; i++) {
			p = &f->list[i];
			if (p->kind != JOURNAL_LIVE_MADE ||
			    p->loader != loader || p->word[MADE_WORKER] != w)
				continue;
			samples += (double)p->word[MADE_SAMPLES];
			prep += to_s(p->word[MADE_CPU] + p->word[MADE_KEPT]);
			fetch += to_s(p->word[MADE_TIME]) -
			    to_s(p->word[MADE_CPU] + p->word[MADE_KEPT]);
		}
		if (samples > 0)
			result_add_worker(r, 1e3 * fmax(fetch, 0) / samples,
			    1e3 * prep / samples);
	}
}

static void
fill_job(struct result *r, const struct facts *f, uint32_t process,
    uint32_t loader, const struct sums *s)
{
	const struct fact_loader *l = facts_loader(f, process, loader);
	struct result_job *j = &r->job;

	if (l != NULL) {
		j->batch_size = l->batch_size;
		j->workers = l->workers;
		j->prefetch = l->prefetch;
		j->samples = l->samples;
		j->is_iterable = (l->flags & LOADER_ITERABLE) != 0;
	}
	j->ranks = s->ranks;
	if (s->made > 0) {
		j->prep_cpu_s = s->made_cpu_s / s->made;
		j->prep_s = (s->made_cpu_s + s->made_kept_s) / s->made;
		r->cpu_ms_per_sample = interval_exact(1e3 * j->prep_cpu_s);
	}
}

bool
live_estimate(struct result *r, const struct facts *f)
{
	uint32_t process = 0, loader = 0, found;
	struct sums s = { 0 };

	for (uint32_t i = 0; i < f->nr_processes; i++) {
		found = counts(f, i) ? find_loader(f, i) : 0;
		if (found == 0)
			continue;
		add_windows(&s, f, i, found);
		s.ranks++;
		process = i;
		loader = found;
	}
	if (loader == 0 || s.s <= 0)
		return false;
	add_made(&s, f, loader);
	fill_job(r, f, process, loader, &s);
	r->rate[RATE_ACTUAL] = rate_of_windows(f, &s, false);
	r->rate[RATE_INGEST_BUSY] = rate_of_windows(f, &s, true);
	fill_shares(r, &s, half_of_windows(f));
	fill_workers(r, f, loader);
	result_confess(r, "nothing was steered: waiting is split into fetch and "
	    "prep by how workers spent their time, and only the speed is measured");
	return true;
}
