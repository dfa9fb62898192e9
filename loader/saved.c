/* SPDX-License-Identifier: Apache-2.0
 *
 * saved.c: what the cache spared a job.  Runs in the command only.
 */

#include <config.h>

#include "loader/saved.h"

#include <stdio.h>

#include "base/text.h"

#define LEFT_TEXT	96u

/* The counts are what the processes of the job wrote: of any size. */
static uint64_t
sum(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void
add(struct saved *out, const struct survey_job *j)
{
	const uint64_t *c = j->count;

	out->hits = sum(out->hits, c[COUNT_HITS]);
	out->opens = sum(out->opens, sum(c[COUNT_HITS], c[COUNT_MISSES]));
	out->left = sum(out->left, sum(c[COUNT_CONTAINERS],
	    sum(c[COUNT_LARGE], c[COUNT_CHANGED])));
	out->storage_bytes = sum(out->storage_bytes, c[COUNT_STORAGE_BYTES]);
	out->plain_bytes = sum(out->plain_bytes,
	    sum(c[COUNT_STORAGE_BYTES], c[COUNT_HIT_BYTES]));
}

void
saved_sum(struct saved *out, const struct survey *s, uint64_t job)
{
	*out = (struct saved){ 0 };
	for (size_t i = 0; i < s->nr_jobs; i++) {
		if (s->jobs[i].job == job)
			add(out, &s->jobs[i]);
	}
}

/* What `destall cache stat` tells apart. */
static const char *
text_left(char out[LEFT_TEXT], uint64_t left)
{
	char opens[TEXT_FIGURE];

	out[0] = '\0';
	if (left > 0)
		(void)snprintf(out, LEFT_TEXT, "; %s of containers, large or "
		    "changed files left to the kernel",
		    text_count(opens, left));
	return out;
}

const char *
saved_text(char out[SAVED_TEXT], const struct saved *s)
{
	char hits[TEXT_FIGURE], opens[TEXT_FIGURE], left[LEFT_TEXT];
	char read[TEXT_FIGURE], plain[TEXT_FIGURE];

	if (s->opens == 0 && s->left == 0)
		return "no file of the data set was opened through destall";
	(void)snprintf(out, SAVED_TEXT, "%s of %s opens from the cache%s; "
	    "%s read from storage%s%s",
	    text_count(hits, s->hits), text_count(opens, s->opens),
	    text_left(left, s->left), text_size(read, s->storage_bytes),
	    s->hits > 0 ? " instead of " : "",
	    s->hits > 0 ? text_size(plain, s->plain_bytes) : "");
	return out;
}
