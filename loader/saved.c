/* SPDX-License-Identifier: Apache-2.0
 *
 * saved.c: what the cache spared a job.  Runs in the command only.
 */

#include <config.h>

#include "loader/saved.h"

#include <stdio.h>

#include "base/text.h"
#include "cache/keeper.h"

/* The counts are what the processes of the job wrote: of any size. */
static uint64_t
sum(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint64_t
mean_bytes(const struct survey *s, uint32_t set, uint64_t nr)
{
	const struct survey_set *d = survey_find(s, set);
	double bytes;

	if (d == NULL || d->word[CACHE_STAT_ITEMS] == 0)
		return 0;
	bytes = (double)d->word[CACHE_STAT_BYTES] /
	    (double)d->word[CACHE_STAT_ITEMS] * (double)nr;
	return bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX;
}

static void
add(struct saved *out, const struct survey *s, const struct survey_job *j)
{
	uint64_t hits = j->count[COUNT_HITS];
	uint64_t read = j->count[COUNT_STORAGE_BYTES];

	out->hits = sum(out->hits, hits);
	out->opens = sum(out->opens, sum(hits, j->count[COUNT_MISSES]));
	out->storage_bytes = sum(out->storage_bytes, read);
	out->plain_bytes = sum(out->plain_bytes,
	    sum(read, mean_bytes(s, j->set, hits)));
}

/* The hub keeps a number of those that ended: with as many, there may have
 * been more. */
void
saved_sum(struct saved *out, const struct survey *s, uint64_t job)
{
	size_t ended = 0;

	*out = (struct saved){ 0 };
	for (size_t i = 0; i < s->nr_jobs; i++) {
		ended += !s->jobs[i].live;
		if (s->jobs[i].job == job)
			add(out, s, &s->jobs[i]);
	}
	out->is_least = ended >= KEEPER_JOBS_KEPT;
}

const char *
saved_text(char out[SAVED_TEXT], const struct saved *s)
{
	char hits[TEXT_FIGURE], opens[TEXT_FIGURE];
	char read[TEXT_FIGURE], plain[TEXT_FIGURE];

	if (s->opens == 0)
		return "no file of the data set was opened through destall";
	(void)snprintf(out, SAVED_TEXT, "%s%s of %s opens from the cache; "
	    "%s read from storage%s%s", s->is_least ? "at least " : "",
	    text_count(hits, s->hits), text_count(opens, s->opens),
	    text_size(read, s->storage_bytes),
	    s->hits > 0 ? " instead of about " : "",
	    s->hits > 0 ? text_size(plain, s->plain_bytes) : "");
	return out;
}
