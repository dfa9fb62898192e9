/* SPDX-License-Identifier: Apache-2.0
 *
 * fullresult.c: a result in which every member is something.
 */

#include <config.h>

#include "tests/harness/fullresult.h"

#include <stdio.h>
#include <string.h>

static struct figure
known(double value)
{
	return (struct figure){ .is_known = true, .value = value,
	    .low = value * 0.5, .high = value * 1.25 };
}

static void
fill_lists(struct result *r, unsigned number)
{
	struct figure f = known(310.5);
	struct result_loader train = { .is_training = true, .batch_size = 256,
	    .workers = 4, .batches = 400, .seconds = 50.5 };
	struct result_loader other = { .batch_size = 512, .workers = 1,
	    .batches = 98, .seconds = 3.5 };
	char train_name[] = "ImageFolder", other_name[] = "validation";

	train.name = train_name;
	other.name = other_name;
	for (unsigned i = 0; i <= number % 5; i++)
		result_add_worker(r, 0.5 + i, 3.25 + i);
	result_add_alone(r, 1, &f, 3.125);
	f.is_known = false;
	f.value = f.low = f.high = 0;
	result_add_alone(r, 2, &f, 0);
	result_add_fix(r, "8 workers instead of 4", 0.93,
	    "DataLoader(..., num_workers=8)");
	result_add_fix(r, "a faster disk", 0.125, NULL);
	result_add_cut(r, "validation (loader 2)", 3.5, 2);
	result_add_loader(r, &train);
	result_add_loader(r, &other);
	result_add_seen(r, "replay", "proc", "rss", "bytes", 1234567);
	result_add_seen(r, "cold", "pfm", "cycles", "1", -0.5);
	result_confess(r, "no PMU");
	result_confess(r, "number %u", number);
}

void
full_result_make(struct result *r, unsigned number)
{
	result_init(r);
	result_set_text(&r->name, "a name");
	result_set_text(&r->command, "python train.py --data '/a b'");
	result_set_text(&r->sentence, "62 % of your epoch is prep stall");
	r->started_s = FULL_RESULT_STARTED + (int64_t)number;
	r->seconds = 61.25;
	r->startup_s = 4.5;
	r->measured_s = 50.75;
	r->starts = 2;
	r->mode = MODE_LIVE;
	r->has_verdict = true;
	r->bottleneck = SHARE_PREP;
	for (unsigned i = 0; i < RATES; i++)
		r->rate[i] = known(1000.5 + i + number);
	r->rate[RATE_STORAGE] = (struct figure){ .is_known = false };
	for (unsigned i = 0; i < SHARES; i++)
		r->share[i] = known(0.25);
	r->handover_ms_per_batch = known(1.5);
	r->cpu_ms_per_sample = known(12.5);
	r->job = (struct result_job){ .batch_size = 256, .workers = 4,
	    .prefetch = 2, .ranks = 3, .samples = 1281167, .cores = 7.5,
	    .bytes_per_sample = 110000.5, .resident = 0.25, .fetch_s = 0.5,
	    .prep_s = 0.25, .prep_cpu_s = 0.125, .handover_s = 0.0625,
	    .is_pipelined = true, .is_iterable = true };
	fill_lists(r, number);
}

/*--- equal? ----------------------------------------------------------------*/

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_figure(const struct figure *a, const struct figure *b)
{
	return a->is_known == b->is_known && (!a->is_known ||
	    memcmp(&a->value, &b->value, 3 * sizeof(double)) == 0);
}

#define DIFFER(is_same, name)	do { if (!(is_same)) return (name); } while (0)
#define SAME_TEXT(m)	DIFFER(same_text(a->m, b->m), #m)
#define SAME(m)		DIFFER(memcmp(&a->m, &b->m, sizeof a->m) == 0, #m)

static const char *
lists_differ(const struct result *a, const struct result *b)
{
	SAME(nr_workers);
	SAME(nr_alone);
	SAME(nr_fixes);
	SAME(nr_cuts);
	SAME(nr_loaders);
	SAME(nr_seen);
	SAME(nr_confessions);
	for (size_t i = 0; i < a->nr_workers; i++)
		SAME(workers[i]);
	for (size_t i = 0; i < a->nr_alone; i++) {
		SAME(alone[i].workers);
		SAME(alone[i].cpu_ms_per_sample);
		DIFFER(same_figure(&a->alone[i].samples_per_s,
		    &b->alone[i].samples_per_s), "alone.samples_per_s");
	}
	for (size_t i = 0; i < a->nr_fixes; i++) {
		SAME_TEXT(fixes[i].what);
		SAME(fixes[i].gain);
		SAME_TEXT(fixes[i].command);
	}
	for (size_t i = 0; i < a->nr_cuts; i++) {
		SAME_TEXT(cuts[i].what);
		SAME(cuts[i].seconds);
		SAME(cuts[i].times);
	}
	return NULL;
}

static const char *
names_differ(const struct result *a, const struct result *b)
{
	for (size_t i = 0; i < a->nr_loaders; i++) {
		SAME_TEXT(loaders[i].name);
		SAME(loaders[i].is_training);
		SAME(loaders[i].batch_size);
		SAME(loaders[i].workers);
		SAME(loaders[i].batches);
		SAME(loaders[i].seconds);
	}
	for (size_t i = 0; i < a->nr_seen; i++) {
		SAME_TEXT(seen[i].phase);
		SAME_TEXT(seen[i].source);
		SAME_TEXT(seen[i].name);
		SAME_TEXT(seen[i].unit);
		SAME(seen[i].value);
	}
	for (size_t i = 0; i < a->nr_confessions; i++)
		SAME_TEXT(confessions[i]);
	return NULL;
}

static const char *
job_differs(const struct result *a, const struct result *b)
{
	SAME(job.batch_size);
	SAME(job.workers);
	SAME(job.prefetch);
	SAME(job.ranks);
	SAME(job.samples);
	SAME(job.cores);
	SAME(job.bytes_per_sample);
	SAME(job.resident);
	SAME(job.fetch_s);
	SAME(job.prep_s);
	SAME(job.prep_cpu_s);
	SAME(job.handover_s);
	SAME(job.is_pipelined);
	SAME(job.is_iterable);
	return NULL;
}

const char *
full_result_differ(const struct result *a, const struct result *b)
{
	const char *lists = lists_differ(a, b);

	SAME_TEXT(name);
	SAME_TEXT(command);
	SAME_TEXT(sentence);
	SAME(started_s);
	SAME(seconds);
	SAME(startup_s);
	SAME(measured_s);
	SAME(starts);
	SAME(mode);
	SAME(has_verdict);
	SAME(bottleneck);
	for (unsigned i = 0; i < RATES; i++)
		DIFFER(same_figure(&a->rate[i], &b->rate[i]), rate_names[i]);
	for (unsigned i = 0; i < SHARES; i++)
		DIFFER(same_figure(&a->share[i], &b->share[i]), share_names[i]);
	DIFFER(same_figure(&a->handover_ms_per_batch,
	    &b->handover_ms_per_batch), "handover_ms_per_batch");
	DIFFER(same_figure(&a->cpu_ms_per_sample, &b->cpu_ms_per_sample),
	    "cpu_ms_per_sample");
	if (lists == NULL)
		lists = names_differ(a, b);
	return lists != NULL ? lists : job_differs(a, b);
}
