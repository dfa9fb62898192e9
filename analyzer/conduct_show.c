/* SPDX-License-Identifier: Apache-2.0
 *
 * conduct_show.c: what is told while a job is steered.
 * Runs in the command only.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/conduct.h"
#include "analyzer/estimate.h"
#include "base/clock.h"
#include "base/say.h"
#include "base/text.h"

#define LINE	256u
#define PART	64u

const char *
conduct_phase(uint64_t kind)
{
	static const char *const names[BLOCK_KINDS] = {
		[BLOCK_SET] = "choosing samples",
		[BLOCK_ACTUAL] = "actual", [BLOCK_REPLAY] = "replay",
		[BLOCK_REPLAY_BUSY] = "replay, workers busy",
		[BLOCK_CACHED] = "cached", [BLOCK_COLD] = "cold",
		[BLOCK_RAW_COLD] = "reading, cold",
		[BLOCK_RAW_CACHED] = "reading, cached",
		[BLOCK_ALONE] = "loader alone",
	};

	return kind < BLOCK_KINDS ? names[kind] : NULL;
}

static bool
is_quiet(void)
{
	const char *level = getenv("DESTALL_LOG");

	return level != NULL && strcmp(level, "quiet") == 0;
}

/* Before the first block: once, however often the job is started. */
void
conduct_tell_begin(struct conduct *c)
{
	const struct fact_loader *l = facts_training(&c->facts);

	if (c->has_told || is_quiet())
		return;
	c->has_told = true;
	say("profile: loader %u (%s) is steered from here on: this run is for "
	    "measuring only%s; what the job saves by itself in the middle of an "
	    "epoch cannot be prevented, and --live is for runs to keep",
	    l->loader, l->name, c->options->continues ? "" :
	    ", and is ended when that is done");
}

/* The speed as it is, and without data, as far as they are known. */
static void
text_speed(char out[PART], const struct measured_list *l, enum block_kind kind,
    const char *what)
{
	double s = 0, nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		if (l->list[i].kind != kind)
			continue;
		s += l->list[i].s_per_sample;
		nr++;
	}
	out[0] = '\0';
	if (s > 0)
		(void)snprintf(out, PART, ", %.0f/s %s", nr / s, what);
}

void
conduct_show(struct conduct *c, uint64_t measured_ns)
{
	uint64_t left = c->options->for_ns > measured_ns ?
	    c->options->for_ns - measured_ns : 0;
	char line[LINE], actual[PART], ingest[PART], time[TEXT_FIGURE];
	char again[PART] = "";

	if (c->trains_ns == 0) {
		progress_say(&c->progress, "profile: the job starts");
		return;
	}
	text_speed(actual, &c->measured, BLOCK_ACTUAL, "as it is");
	text_speed(ingest, &c->measured, BLOCK_REPLAY, "if data cost nothing");
	if (c->starts > 0)
		(void)snprintf(again, sizeof again,
		    " (start %u, for epochs are short)", c->starts + 1);
	(void)snprintf(line, sizeof line, "profile: %s%s%s%s; at most %s left",
	    c->phase != NULL ? c->phase : "between blocks", again, actual,
	    ingest, text_duration(time, left / NS_PER_S * NS_PER_S));
	progress_say(&c->progress, line);
}

/* The job goes on by itself. */
void
conduct_tell_on(const struct conduct *c)
{
	uint64_t steered = 0;

	for (size_t i = 0; i < c->facts.nr; i++)
		steered += c->facts.list[i].kind == JOURNAL_STEP &&
		    c->facts.list[i].word[0] != JOURNAL_NO_BLOCK;
	if (!is_quiet())
		say("profile: all is measured, and the job goes on: its model has "
		    "been given %llu batches of this run that were steered; this "
		    "epoch begins anew, and ends where it would have ended",
		    (unsigned long long)steered);
}
