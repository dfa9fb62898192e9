/* SPDX-License-Identifier: Apache-2.0
 *
 * top_print.c: the table of `destall top`.  Runs in the command only.
 *
 * What has a name of any length stands last in its line, where a terminal
 * that is too narrow cuts it.
 */

#include <config.h>

#include "tool/top.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define NAME_SIZE	(4 * STAGE_GROUP_MAX + 1)
#define WAIT_SIZE	(TEXT_FIGURE + 24)
#define BATCH_SIZE	48

/*--- the head ------------------------------------------------------------*/

static void
print_stage(const struct top *t, const struct term *term)
{
	char bytes[TEXT_FIGURE], up[TEXT_FIGURE];
	uint64_t sum = 0;

	for (size_t i = 0; i < t->stage.nr_streams; i++)
		sum += t->stage.streams[i].bytes;
	fprintf(term->out, "%sStage:%s %zu stream%s, %zu job%s, %s; "
	    "hub %llu, up %s\n", term_on(term, TERM_BOLD), term_off(term),
	    t->stage.nr_streams, t->stage.nr_streams == 1 ? "" : "s",
	    t->stage.nr_jobs, t->stage.nr_jobs == 1 ? "" : "s",
	    text_size(bytes, sum), (unsigned long long)t->cache.hub.pid,
	    text_duration(up, t->cache.hub.up_ns));
}

static void
print_cache(const struct survey *s, const struct term *term)
{
	char used[TEXT_FIGURE], budget[TEXT_FIGURE];
	uint64_t hits = 0, gets = 0;

	for (size_t i = 0; i < s->nr_sets; i++) {
		hits += s->sets[i].word[CACHE_STAT_HITS];
		gets += s->sets[i].word[CACHE_STAT_HITS] +
		    s->sets[i].word[CACHE_STAT_MISSES];
	}
	fprintf(term->out, "%sCache:%s %s of %s used", term_on(term, TERM_BOLD),
	    term_off(term), text_size(used, s->hub.used_bytes),
	    text_size(budget, s->hub.budget_bytes));
	if (gets > 0)
		fprintf(term->out, ", hits %.1f %%",
		    100 * (double)hits / (double)gets);
	fputc('\n', term->out);
}

/*--- jobs ----------------------------------------------------------------*/

/* Of "1234 (python3)" what is in the brackets. */
static void
copy_name(char *out, size_t size, const char *name)
{
	const char *begin = strchr(name, '(');
	size_t len;

	len = text_clean(out, size, begin != NULL ? begin + 1 : name);
	if (begin != NULL && len > 0 && out[len - 1] == ')')
		out[len - 1] = '\0';
}

static void
copy_wait(char out[WAIT_SIZE], const struct look_job *j)
{
	const uint64_t *word = j->at->word;
	char time[TEXT_FIGURE];

	out[0] = '\0';
	if (word[STAGE_MEMBER_WAITS_PID] > 0)
		(void)snprintf(out, WAIT_SIZE, "%llu, %s",
		    (unsigned long long)word[STAGE_MEMBER_WAITS_PID],
		    text_duration(time, word[STAGE_MEMBER_WAITS_NS]));
}

static void
print_job(const struct look_job *j, const struct term *term)
{
	const uint64_t *word = j->at->word;
	char rate[TEXT_FIGURE], made[TEXT_FIGURE], name[NAME_SIZE];
	char wait[WAIT_SIZE], batch[BATCH_SIZE];
	bool detached = j->state == PLACE_DETACHED;

	copy_name(name, sizeof name, j->at->name);
	copy_wait(wait, j);
	(void)snprintf(batch, sizeof batch, "%llu/%llu",
	    (unsigned long long)word[STAGE_MEMBER_TAKEN],
	    (unsigned long long)j->pass->units);
	fprintf(term->out, "%7llu  %s%-8s%s %5llu %12s %9s %7s  %s%-14s%s  %s\n",
	    (unsigned long long)j->at->pid,
	    detached ? term_on(term, TERM_WARN) : "",
	    detached ? "detached" : j->state == PLACE_LIVE ? "live" : "between",
	    detached ? term_off(term) : "",
	    (unsigned long long)j->pass->epoch, batch,
	    text_count(rate, word[STAGE_MEMBER_SAMPLES_PER_KS] / 1000),
	    text_count(made, j->made),
	    wait[0] != '\0' ? term_on(term, TERM_WARN) : "", wait,
	    wait[0] != '\0' ? term_off(term) : "", name);
}

/*--- streams -------------------------------------------------------------*/

static void
print_stream(const struct look *k, const struct look_stream *s,
    const struct term *term)
{
	char made[TEXT_FIGURE], delivered[TEXT_FIGURE], bytes[TEXT_FIGURE];
	char group[NAME_SIZE], alone[TEXT_FIGURE];

	text_clean(group, sizeof group, k->passes[s->pass].group);
	fprintf(term->out, "%sstream %s%s: window of %llu, %s made, "
	    "%s delivered, %s", term_on(term, TERM_BOLD), s->id,
	    term_off(term), (unsigned long long)s->window,
	    text_count(made, s->made), text_count(delivered, s->delivered),
	    text_size(bytes, s->bytes));
	if (s->alone > 0)
		fprintf(term->out, ", %s not shared",
		    text_count(alone, s->alone));
	fprintf(term->out, "%s%s\n", group[0] != '\0' ? ", group " : "", group);
	for (size_t i = 0; i < k->nr_jobs; i++) {
		if (k->jobs[i].stream == s)
			print_job(&k->jobs[i], term);
	}
}

void
top_print(const struct top *t, const struct term *term)
{
	const struct look *k = &t->stage;

	print_stage(t, term);
	print_cache(&t->cache, term);
	if (k->nr_streams == 0) {
		fputs("No batches are shared now. Jobs that load the same "
		    "data with DESTALL=1 share them.\n", term->out);
		return;
	}
	fprintf(term->out, "\n%s%7s  %-8s %5s %12s %9s %7s  %-14s  %s%s\n",
	    term_on(term, TERM_DIM), "pid", "state", "epoch", "batch",
	    "samples/s", "made", "waits for", "process", term_off(term));
	for (size_t i = 0; i < k->nr_streams; i++)
		print_stream(k, &k->streams[i], term);
}
