/* SPDX-License-Identifier: Apache-2.0
 *
 * survey_print.c: `destall cache stat` for people.  Runs in the command only.
 *
 * What has a name of any length stands last in its row, so that figures stay
 * in their columns and names are never cut.
 */

#include <config.h>

#include "cache/survey.h"

#include <stdio.h>

#include "base/term.h"
#include "base/text.h"

#define NAME_SIZE	(4 * CACHE_URI_MAX + 1)
#define PERCENT		16

/* "35.0 %"; "-" of nothing. */
static const char *
text_percent(char out[PERCENT], uint64_t part, uint64_t whole)
{
	if (whole == 0)
		return "-";
	(void)snprintf(out, PERCENT, "%.1f %%",
	    100 * (double)part / (double)whole);
	return out;
}

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/*--- the head ------------------------------------------------------------*/

static void
print_hub(const struct term *t, const struct survey_hub *h)
{
	char used[TEXT_FIGURE], budget[TEXT_FIGURE], share[PERCENT];
	char up[TEXT_FIGURE], clients[TEXT_FIGURE];

	printf("%sCache:%s %s of %s used (%s); hub %llu, up %s, %s process%s\n",
	    term_on(t, TERM_BOLD), term_off(t),
	    text_size(used, h->used_bytes),
	    text_size(budget, h->budget_bytes),
	    text_percent(share, h->used_bytes, h->budget_bytes),
	    (unsigned long long)h->pid, text_duration(up, h->up_ns),
	    text_count(clients, h->clients), h->clients == 1 ? "" : "es");
}

/*--- data sets -----------------------------------------------------------*/

static const char *
state_of(const struct survey_set *s)
{
	return s->in_use ? "in use" : "idle";
}

static void
print_set(const struct term *t, const struct survey_set *s)
{
	const uint64_t *w = s->word;
	char items[TEXT_FIGURE], cached[TEXT_FIGURE], reads[TEXT_FIGURE];
	char share[PERCENT], hits[PERCENT], root[NAME_SIZE];

	text_clean(root, sizeof root, s->root);
	printf("%11s %7s %8s %7s %13s  %-6s  %s%s%s\n",
	    text_count(items, w[CACHE_STAT_ITEMS]),
	    text_percent(share, w[CACHE_STAT_CACHED_BYTES],
	    w[CACHE_STAT_BYTES]),
	    text_size(cached, w[CACHE_STAT_CACHED_BYTES]),
	    text_percent(hits, w[CACHE_STAT_HITS],
	    w[CACHE_STAT_HITS] + w[CACHE_STAT_MISSES]),
	    text_count(reads, w[CACHE_STAT_STORAGE_READS]), state_of(s),
	    term_on(t, TERM_BOLD), root, term_off(t));
}

static void
note(const struct term *t, uint64_t n, const char *text)
{
	char count[TEXT_FIGURE];

	if (n > 0)
		printf("%39s%s%s item%s %s%s\n", "", term_on(t, TERM_WARN),
		    text_count(count, n), plural(n), text, term_off(t));
}

static void
print_sets(const struct term *t, const struct survey *s)
{
	printf("\n%s%11s %16s %7s %13s  %-6s  %s%s\n", term_on(t, TERM_DIM),
	    "items", "cached", "hits", "storage reads", "state", "data set",
	    term_off(t));
	for (size_t i = 0; i < s->nr_sets; i++) {
		print_set(t, &s->sets[i]);
		note(t, s->sets[i].word[CACHE_STAT_FAILED_ITEMS],
		    "could not be read");
		note(t, s->sets[i].word[CACHE_STAT_CORRUPT],
		    "found damaged, and dropped");
	}
}

/*--- jobs ----------------------------------------------------------------*/

static void
print_job(const struct survey *s, const struct survey_job *j)
{
	const struct survey_set *set = survey_find(s, j->set);
	uint64_t hits = j->count[COUNT_HITS];
	char gets[TEXT_FIGURE], share[PERCENT], reads[TEXT_FIGURE];
	char bytes[TEXT_FIGURE], name[256], root[NAME_SIZE];

	text_clean(name, sizeof name, j->name);
	text_clean(root, sizeof root, set != NULL ? set->root : "(dropped)");
	printf("%11s %7s %13s %8s  %-6s  %-20s  %s\n",
	    text_count(gets, hits + j->count[COUNT_MISSES]),
	    text_percent(share, hits, hits + j->count[COUNT_MISSES]),
	    text_count(reads, j->count[COUNT_STORAGE_READS]),
	    text_size(bytes, j->count[COUNT_STORAGE_BYTES]),
	    j->live ? "runs" : "ended", name, root);
}

static void
print_jobs(const struct term *t, const struct survey *s)
{
	printf("\n%s%11s %7s %22s  %-6s  %-20s  %s%s\n", term_on(t, TERM_DIM),
	    "gets", "hits", "storage reads", "state", "process", "data set",
	    term_off(t));
	for (size_t i = 0; i < s->nr_jobs; i++)
		print_job(s, &s->jobs[i]);
}

void
survey_print(const struct survey *s)
{
	struct term t;

	term_init(&t, stdout);
	print_hub(&t, &s->hub);
	if (s->nr_sets == 0)
		puts("Nothing is cached. A job that runs with the cache fills "
		    "it, or: destall cache warm DIR");
	else
		print_sets(&t, s);
	if (s->nr_jobs > 0)
		print_jobs(&t, s);
}
