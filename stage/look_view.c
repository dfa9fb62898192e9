/* SPDX-License-Identifier: Apache-2.0
 *
 * look_view.c: passes and places, as the hub tells them, to streams and jobs,
 * as people think of them.  Runs in the command only.
 */

#include <config.h>

#include "stage/look.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "hub/inquiry.h"

/*--- streams -------------------------------------------------------------*/

static bool
same_stream(const struct look_pass *a, const struct look_pass *b)
{
	return a->word[STAGE_PASS_SEED] == b->word[STAGE_PASS_SEED] &&
	    strcmp(a->group, b->group) == 0 && strcmp(a->key, b->key) == 0;
}

/* Of 48 bits, to be shown. */
static uint64_t
hash_stream(const struct look_pass *p)
{
	uint64_t h = hash_text(HASH_BEGIN, p->group);

	h = hash_number(hash_text(h, p->key), p->word[STAGE_PASS_SEED]);
	return (h ^ h >> 48) & ((UINT64_C(1) << 48) - 1);
}

static size_t
find_stream(const struct look *k, const struct look_pass *p)
{
	size_t i;

	for (i = 0; i < k->nr_streams; i++) {
		if (same_stream(&k->passes[k->streams[i].pass], p))
			break;
	}
	return i;
}

static size_t
add_stream(struct look *k, size_t pass)
{
	struct look_stream *s;

	k->streams = inquiry_grow(k->streams, k->nr_streams, sizeof *s);
	s = &k->streams[k->nr_streams];
	s->pass = pass;
	(void)snprintf(s->id, sizeof s->id, "%012" PRIx64,
	    hash_stream(&k->passes[pass]));
	return k->nr_streams++;
}

static void
add_pass(struct look *k, size_t pass)
{
	struct look_pass *p = &k->passes[pass];
	const uint64_t *word = p->word;
	struct look_stream *s;

	p->stream = find_stream(k, p);
	if (p->stream == k->nr_streams)
		p->stream = add_stream(k, pass);
	s = &k->streams[p->stream];
	if (word[STAGE_PASS_MEMBERS] >
	    k->passes[s->pass].word[STAGE_PASS_MEMBERS])
		s->pass = pass;
	s->window = k->passes[s->pass].word[STAGE_PASS_WINDOW];
	s->passes++;
	s->made += word[STAGE_PASS_MADE];
	s->delivered += word[STAGE_PASS_DELIVERED];
	s->alone += word[STAGE_PASS_ALONE];
	s->late += word[STAGE_PASS_LATE];
	s->revoked += word[STAGE_PASS_REVOKED];
	s->detached += word[STAGE_PASS_DETACHED];
	s->bytes += word[STAGE_PASS_BYTES];
}

/*--- jobs ----------------------------------------------------------------*/

static bool
is_member(const struct look_place *m)
{
	return m->word[STAGE_MEMBER_STATE] == PLACE_LIVE ||
	    m->word[STAGE_MEMBER_STATE] == PLACE_DETACHED;
}

static bool
same_job(const struct look *k, const struct look_place *a,
    const struct look_place *b)
{
	return a->job == b->job &&
	    k->passes[a->pass].stream == k->passes[b->pass].stream;
}

/* Every member has a row.  Of those who only make units, the first of a job
 * that has no member has one. */
static bool
has_row(const struct look *k, const struct look_place *m)
{
	if (is_member(m))
		return true;
	for (size_t i = 0; i < k->nr_places; i++) {
		const struct look_place *other = &k->places[i];

		if (other != m && same_job(k, m, other) &&
		    (is_member(other) || other < m))
			return false;
	}
	return true;
}

/* Has a place before this one a row of the same job? */
static bool
is_counted(const struct look *k, const struct look_place *m)
{
	for (size_t i = 0; i < k->nr_jobs; i++) {
		if (same_job(k, k->jobs[i].at, m))
			return true;
	}
	return false;
}

static uint64_t
sum_made(const struct look *k, const struct look_place *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < k->nr_places; i++) {
		if (same_job(k, &k->places[i], m))
			sum += k->places[i].word[STAGE_MEMBER_MADE];
	}
	return sum;
}

static void
add_job(struct look *k, const struct look_place *m)
{
	const struct look_pass *p = &k->passes[m->pass];
	struct look_stream *s = &k->streams[p->stream];

	s->jobs += !is_counted(k, m);
	k->jobs = inquiry_grow(k->jobs, k->nr_jobs, sizeof *k->jobs);
	k->jobs[k->nr_jobs++] = (struct look_job){
		.at = m,
		.pass = p,
		.stream = s,
		.state = is_member(m) ?
		    (enum place_state)m->word[STAGE_MEMBER_STATE] : PLACE_MAKER,
		.made = sum_made(k, m),
	};
}

void
look_view(struct look *k)
{
	for (size_t i = 0; i < k->nr_passes; i++)
		add_pass(k, i);
	for (size_t i = 0; i < k->nr_places; i++) {
		if (has_row(k, &k->places[i]))
			add_job(k, &k->places[i]);
	}
}
