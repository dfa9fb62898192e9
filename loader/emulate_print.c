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

static void
print_speed(const struct emulate_epoch *at)
{
	char time[TEXT_FIGURE], rate[TEXT_FIGURE];

	printf(" samples in %s: %s samples/s, stall %.0f %%\n",
	    text_duration(time, at->elapsed_ns),
	    text_count(rate, (uint64_t)(emulate_rate(at) + 0.5)),
	    100 * emulate_stall(at));
}

void
emulate_print_epoch(const struct emulate *e, const struct emulate_epoch *at)
{
	char samples[TEXT_FIGURE], of[TEXT_FIGURE];

	printf("epoch %" PRIu64 ": %s", at->epoch,
	    text_count(samples, at->samples));
	if (at->samples + at->skipped < e->result.samples)
		printf(" of %s", text_count(of, e->result.samples));
	print_speed(at);
	/* Who follows it in a file sees it now. */
	(void)fflush(stdout);
}

static void
print_use(const struct emulate *e, const struct ds_loader_counts *c)
{
	const struct emulate_result *r = &e->result;
	char cpu[TEXT_FIGURE], each[TEXT_FIGURE], peak[TEXT_FIGURE];
	uint64_t samples = r->all.samples > 0 ? r->all.samples : 1;

	printf("processor: %s, %s a sample, %u thread%s; memory: %s at most\n",
	    text_duration(cpu, r->cpu_ns),
	    text_duration(each, r->cpu_ns / samples),
	    c->threads, c->threads == 1 ? "" : "s",
	    text_size(peak, r->peak_bytes));
}

static void
print_reads(const struct emulate *e)
{
	char hits[TEXT_FIGURE], reads[TEXT_FIGURE], bytes[TEXT_FIGURE];
	struct ds_counts c;

	ds_data_counts(e->data, &c);
	if (e->hub != NULL)
		printf("cache: %s hits; ", text_count(hits, c.hits));
	printf("storage: %s reads, %s\n", text_count(reads, c.storage_reads),
	    text_size(bytes, c.storage_bytes));
}

/*--- bad samples ---------------------------------------------------------*/

/* A file is bad in every epoch anew. */
static bool
was_shown(const struct emulate *e, uint64_t i, uint64_t item)
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
	struct ds_bad bad;
	unsigned shown = 0;

	if (c->skipped + c->substituted + c->cut_short == 0)
		return;
	printf("bad samples: %" PRIu64 " skipped, %" PRIu64 " substituted, %"
	    PRIu64 " cut short\n", c->skipped, c->substituted, c->cut_short);
	for (uint64_t i = 0; shown < BAD_SHOWN &&
	    ds_loader_bad(e->loader, i, &bad) == 0; i++) {
		if (was_shown(e, i, bad.item))
			continue;
		print_bad(e, &bad);
		shown++;
	}
}

void
emulate_print(const struct emulate *e)
{
	const struct emulate_result *r = &e->result;
	char samples[TEXT_FIGURE];
	struct ds_loader_counts c;

	if (r->nr_epochs == 0) {
		if (r->signal == 0)
			puts("nothing is left to do: all epochs are over");
		return;
	}
	ds_loader_counts(e->loader, &c);
	if (r->nr_epochs > 1) {
		printf("all: %s", text_count(samples, r->all.samples));
		print_speed(&r->all);
	}
	print_use(e, &c);
	print_reads(e);
	print_bads(e, &c);
}
