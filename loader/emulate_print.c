/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_print.c: what an emulated job has measured, for people.
 * Runs in the command only.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "destall.h"
#include "loader/emulate.h"

#define BAD_SHOWN	5u
#define NAME_SIZE	1024
#define TEXT_SIZE	(2 * DS_ERR_TEXT)

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* The unit goes with the number before it. */
static void
print_speed(const struct emulate_epoch *at, uint64_t number)
{
	char time[TEXT_FIGURE], rate[TEXT_FIGURE];
	double per_s = emulate_rate(at);

	if (per_s < 9.95)
		(void)snprintf(rate, sizeof rate, "%.1f", per_s);
	else
		(void)text_count(rate, (uint64_t)(per_s + 0.5));
	printf(" sample%s in %s: %s samples/s, stall %.0f %%\n",
	    plural(number), text_duration(time, at->elapsed_ns), rate,
	    100 * emulate_stall(at));
}

void
emulate_print_epoch(const struct emulate *e, const struct emulate_epoch *at)
{
	char samples[TEXT_FIGURE], of[TEXT_FIGURE];
	uint64_t number = at->samples;

	printf("epoch %" PRIu64 ": %s", at->epoch,
	    text_count(samples, at->samples));
	if (at->samples + at->skipped < e->result.samples) {
		number = e->result.samples;
		printf(" of %s", text_count(of, number));
	}
	print_speed(at, number);
	/* Who follows it in a file sees it now. */
	(void)fflush(stdout);
}

static void
print_use(const struct emulate *e, const struct ds_loader_counts *c)
{
	const struct emulate_result *r = &e->result;
	char cpu[TEXT_FIGURE], each[TEXT_FIGURE], peak[TEXT_FIGURE];

	printf("processor: %s, ", text_duration(cpu, r->cpu_ns));
	if (r->all.samples > 0)
		printf("%s a sample, ",
		    text_duration(each, r->cpu_ns / r->all.samples));
	printf("%u thread%s; memory: %s at most\n", c->threads,
	    plural(c->threads), text_size(peak, r->peak_bytes));
}

static void
print_reads(const struct emulate *e)
{
	char hits[TEXT_FIGURE], reads[TEXT_FIGURE], bytes[TEXT_FIGURE];
	struct ds_counts c;

	ds_data_counts(e->data, &c);
	if (e->hub != NULL)
		printf("cache: %s hit%s; ", text_count(hits, c.hits),
		    plural(c.hits));
	printf("storage: %s read%s, %s\n",
	    text_count(reads, c.storage_reads), plural(c.storage_reads),
	    text_size(bytes, c.storage_bytes));
}

/* Together they are the samples that the job was given. */
static void
print_stage(const struct emulate *e, const struct ds_loader_counts *c)
{
	char others[TEXT_FIGURE], all[TEXT_FIGURE], alone[TEXT_FIGURE];
	char time[TEXT_FIGURE];

	if (e->hub == NULL || c->staged_units + c->own_units == 0)
		return;
	printf("stage: %s sample%s made by other jobs, %s here for all, %s "
	    "here for this job alone", text_count(others, c->others_samples),
	    plural(c->others_samples), text_count(all, c->staged_samples),
	    text_count(alone, emulate_alone(c)));
	if (c->blocked_ns > 0)
		printf("; waited %s for others",
		    text_duration(time, c->blocked_ns));
	if (c->audited_units > 0)
		printf("; %" PRIu64 " unit%s compared, %" PRIu64 " different",
		    c->audited_units, plural(c->audited_units),
		    c->different_units);
	if (c->detached > 0)
		printf("; too slow for the others %" PRIu64 " time%s",
		    c->detached, plural(c->detached));
	puts("");
}

/*--- bad samples ---------------------------------------------------------*/

/* A file is bad in every epoch anew. */
static bool
was_met(const struct emulate *e, uint64_t i, uint64_t item)
{
	struct ds_bad before;

	for (uint64_t k = 0; k < i; k++) {
		if (ds_loader_bad(e->loader, k, &before) == 0 &&
		    before.item == item)
			return true;
	}
	return false;
}

static void
print_bad(const struct emulate *e, const struct ds_bad *bad)
{
	char name[NAME_SIZE], why[TEXT_SIZE];
	struct ds_info info;

	if (ds_data_info(e->data, bad->item, &info) < 0)
		return;
	text_clean(name, sizeof name, info.name);
	text_clean(why, sizeof why, emulate_reason(bad->why, info.name));
	printf("  %s: %s\n", name, why);
}

static void
print_bads(const struct emulate *e, const struct ds_loader_counts *c)
{
	uint64_t i, files = 0;
	struct ds_bad bad;

	if (c->skipped + c->substituted + c->cut_short == 0)
		return;
	printf("bad samples: %" PRIu64 " skipped, %" PRIu64 " substituted, %"
	    PRIu64 " cut short\n", c->skipped, c->substituted, c->cut_short);
	for (i = 0; ds_loader_bad(e->loader, i, &bad) == 0; i++) {
		if (!was_met(e, i, bad.item) && files++ < BAD_SHOWN)
			print_bad(e, &bad);
	}
	/* The loader remembers the first hundred only. */
	if (files > BAD_SHOWN)
		printf("  and %s%" PRIu64 " more\n",
		    i < c->skipped + c->substituted ? "at least " : "",
		    files - BAD_SHOWN);
}

void
emulate_print(const struct emulate *e)
{
	const struct emulate_result *r = &e->result;
	char samples[TEXT_FIGURE];
	struct ds_loader_counts c;

	if (r->nr_epochs == 0) {
		if (r->is_done)
			puts("nothing is left to do: all epochs are over");
		return;
	}
	ds_loader_counts(e->loader, &c);
	if (r->nr_epochs > 1) {
		printf("all: %s", text_count(samples, r->all.samples));
		print_speed(&r->all, r->all.samples);
	}
	print_use(e, &c);
	print_reads(e);
	print_stage(e, &c);
	print_bads(e, &c);
}
