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

/* The columns that data sets and processes share. */
static void
put_use(const uint64_t count[CACHE_COUNTS], const char *state)
{
	uint64_t gets = count[COUNT_HITS] + count[COUNT_MISSES];
	char hits[PERCENT], reads[TEXT_FIGURE];

	printf(" %7s %9s  %-6s  ",
	    text_percent(hits, count[COUNT_HITS], gets),
	    text_count(reads, count[COUNT_STORAGE_READS]), state);
}

static void
print_set(const struct term *t, const struct survey_set *s)
{
	const uint64_t *w = s->word;
	uint64_t count[CACHE_COUNTS] = {
		[COUNT_HITS] = w[CACHE_STAT_HITS],
		[COUNT_MISSES] = w[CACHE_STAT_MISSES],
		[COUNT_STORAGE_READS] = w[CACHE_STAT_STORAGE_READS],
	};
	char items[TEXT_FIGURE], cached[TEXT_FIGURE], share[PERCENT];
	char root[NAME_SIZE];

	text_clean(root, sizeof root, s->root);
	printf("%9s %7s %8s",
	    text_count(items, w[CACHE_STAT_ITEMS]),
	    text_percent(share, w[CACHE_STAT_CACHED_BYTES],
	    w[CACHE_STAT_BYTES]),
	    text_size(cached, w[CACHE_STAT_CACHED_BYTES]));
	put_use(count, s->in_use ? "in use" : "idle");
	printf("%s%s%s\n", term_on(t, TERM_BOLD), root, term_off(t));
}

/*--- processes -----------------------------------------------------------*/

static void
print_job(const uint64_t count[CACHE_COUNTS], const char *state,
    const char *name)
{
	char clean[256];

	text_clean(clean, sizeof clean, name);
	printf("%26s", "");
	put_use(count, state);
	printf("  %s\n", clean);
}

/* Those that live, then all others in one row. */
static void
print_jobs(const struct survey *s, uint32_t set)
{
	uint64_t sum[CACHE_COUNTS] = { 0 }, ended = 0;
	char name[64], count[TEXT_FIGURE];

	for (size_t i = 0; i < s->nr_jobs; i++) {
		const struct survey_job *j = &s->jobs[i];

		if (j->set != set)
			continue;
		if (j->live) {
			print_job(j->count, "runs", j->name);
			continue;
		}
		ended++;
		for (unsigned n = 0; n < CACHE_COUNTS; n++)
			sum[n] += j->count[n];
	}
	(void)snprintf(name, sizeof name, "%s process%s",
	    text_count(count, ended), ended == 1 ? "" : "es");
	if (ended > 0)
		print_job(sum, "ended", name);
}

/*--- the whole -----------------------------------------------------------*/

static void
note(const struct term *t, uint64_t n, const char *text)
{
	char count[TEXT_FIGURE];

	if (n > 0)
		printf("%56s%s%s item%s %s%s\n", "", term_on(t, TERM_WARN),
		    text_count(count, n), n == 1 ? "" : "s", text,
		    term_off(t));
}

/* What a program opened and the cache has no part in: one line, or none. */
static void
print_passed(const struct term *t, const uint64_t *word)
{
	static const struct {
		enum cache_stat	word;
		const char	*text;
	} kinds[] = {
		{ CACHE_STAT_PASSED_CONTAINERS, "random-access containers "
		    "(HDF5, LMDB, SQLite, Parquet, tar)" },
		{ CACHE_STAT_PASSED_LARGE, "large files" },
		{ CACHE_STAT_PASSED_CHANGED, "changed files" },
	};
	char count[TEXT_FIGURE];
	bool any = false;

	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		uint64_t n = word[kinds[i].word];

		if (n == 0)
			continue;
		if (any)
			printf(", ");
		else
			printf("%10s%sleft to the kernel: ", "",
			    term_on(t, TERM_DIM));
		printf("%s%s of %s", text_count(count, n), any ? "" :
		    n == 1 ? " open" : " opens", kinds[i].text);
		any = true;
	}
	if (any)
		printf("%s\n", term_off(t));
}

static void
print_sets(const struct term *t, const struct survey *s)
{
	printf("\n%s%9s %16s %7s %9s  %-6s  %s%s\n", term_on(t, TERM_DIM),
	    "items", "cached", "hits", "reads", "state", "data set, process",
	    term_off(t));
	for (size_t i = 0; i < s->nr_sets; i++) {
		print_set(t, &s->sets[i]);
		print_jobs(s, s->sets[i].set);
		note(t, s->sets[i].word[CACHE_STAT_FAILED_ITEMS],
		    "could not be read");
		note(t, s->sets[i].word[CACHE_STAT_CORRUPT],
		    "found damaged, and dropped");
		print_passed(t, s->sets[i].word);
	}
}

void
survey_print(const struct survey *s)
{
	struct term t;

	term_init(&t, stdout);
	print_hub(&t, &s->hub);
	if (s->nr_sets > 0)
		print_sets(&t, s);
	else
		puts("Nothing is cached. A job that runs with the cache fills "
		    "it, or: destall cache warm DIR");
}
