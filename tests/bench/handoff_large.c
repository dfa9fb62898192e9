/* SPDX-License-Identifier: Apache-2.0
 *
 * handoff_large.c: large units for one job: taken from the stage, and copied,
 * which is what other ways of handing over do.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/bench/handoff_loop.h"

#define WINDOW		"4"
#define WARM_UP		12u	/* units: every slot has been used */

/* Of each unit: having it, using it, giving it back. */
static struct hist get, use, put, all;

static volatile uint64_t sink;

/* Every byte is looked at, or every page written to. */
static void
use_bytes(const char *how, void *bytes, size_t len)
{
	uint64_t *words = bytes, sum = 0;

	if (strcmp(how, "read") == 0)
		for (size_t i = 0; i < len / 8; i++)
			sum += words[i];
	if (strcmp(how, "write") == 0)
		for (size_t i = 0; i < len / 8; i += 512)
			words[i]++;
	sink = sum;
}

static void
start_all(void)
{
	hist_init(&get);
	hist_init(&use);
	hist_init(&put);
	hist_init(&all);
}

/* The mean of the whole, which has what is rare in it, too; medians of the
 * steps. */
static void
print_all(void)
{
	printf("{\"ms_per_batch\": %.4f, \"get_us\": %.1f, \"use_us\": %.1f, "
	    "\"put_us\": %.1f}\n",
	    (double)all.sum / (double)all.count / 1e6, us(&get, 0.5),
	    us(&use, 0.5), us(&put, 0.5));
}

static void
note(uint64_t i, const uint64_t at[4])
{
	if (i < WARM_UP)
		return;
	hist_add(&get, at[1] - at[0]);
	hist_add(&use, at[2] - at[1]);
	hist_add(&put, at[3] - at[2]);
	hist_add(&all, at[3] - at[0]);
}

/*--- the stage -----------------------------------------------------------*/

/* The slot was filled when it was used first; to fill it is not our matter. */
static void
make_unit(struct seat_at *s, size_t bytes)
{
	struct ds_lease l;
	struct ds_err err;

	if (ds_pass_lease(s->pass, SOON_MS, &l, &err) != 1)
		give_up("lease", err.text);
	if (l.unit < WARM_UP)
		memset(l.bytes, (int)l.unit + 1, bytes);
	if (ds_pass_publish(s->pass, &l, bytes, l.unit, 1, &err) < 0)
		give_up("publish", err.text);
}

/* When it is there: that it comes is the hub's time. */
static uint64_t
take_unit(struct seat_at *s, uint64_t unit, struct ds_taken *t)
{
	struct ds_err err;
	uint64_t start;
	int rc;

	do {
		start = clock_now_ns();
		rc = ds_pass_take(s->pass, unit, 0, t, &err);
	} while (rc == DS_TAKE_WAIT);
	if (rc != DS_TAKEN)
		give_up("take", rc < 0 ? err.text : "in vain");
	return start;
}

void
take_large(const char *how, uint64_t count, size_t bytes)
{
	struct seat_at s = { 0 };
	struct ds_taken t;
	uint64_t at[4];

	start_all();
	count += WARM_UP;
	sit_down(&s, count, bytes, "1", WINDOW);
	for (uint64_t i = 0; i < count; i++) {
		make_unit(&s, bytes);
		at[0] = take_unit(&s, i, &t);
		at[1] = clock_now_ns();
		use_bytes(how, t.bytes, t.len);
		at[2] = clock_now_ns();
		ds_stage_release(s.stage, &t);
		at[3] = clock_now_ns();
		note(i, at);
	}
	get_up(&s);
	print_all();
}

/*--- copies --------------------------------------------------------------*/

/* From one of several, so that no cache holds it, to memory that is there. */
void
copy_large(const char *how, uint64_t count, size_t bytes)
{
	char *from[4], *to = malloc(bytes);
	uint64_t at[4];

	start_all();
	for (unsigned i = 0; i < 4; i++) {
		from[i] = malloc(bytes);
		if (from[i] == NULL || to == NULL)
			give_up("memory", "not enough");
		memset(from[i], (int)i + 1, bytes);
	}
	count += WARM_UP;
	for (uint64_t i = 0; i < count; i++) {
		at[0] = clock_now_ns();
		memcpy(to, from[i % 4], bytes);
		at[1] = clock_now_ns();
		use_bytes(how, to, bytes);
		at[2] = at[3] = clock_now_ns();
		note(i, at);
	}
	for (unsigned i = 0; i < 4; i++)
		free(from[i]);
	free(to);
	print_all();
}
