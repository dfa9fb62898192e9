/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_span.c: an epoch of a ledger.  Runs in the command only.
 */

#include <config.h>

#include "loader/ledger_span.h"

#include <errno.h>

void
span_begin(struct span *s, struct span_seen *seen,
    const struct ledger_line *first)
{
	sparse_clear(&seen->positions);
	word_set_clear(&seen->samples);
	*s = (struct span){
		.epoch = first->epoch, .begin = first->position,
		.min = UINT64_MAX,
	};
}

static int
add_position(struct span_seen *seen, uint64_t position)
{
	uint64_t *word, bit = UINT64_C(1) << position % 64;

	if (position > SPAN_POSITION_MAX)
		return -EFBIG;
	word = sparse_at(&seen->positions, position / 64);
	if (word == NULL)
		return -ENOMEM;
	if ((*word & bit) != 0)
		return SPAN_POSITION_TWICE;
	*word |= bit;
	return SPAN_ADDED;
}

static int
add_sample(struct span_seen *seen, uint64_t digest)
{
	int rc = word_set_add(&seen->samples, digest);

	if (rc < 0)
		return rc;
	return rc == 1 ? SPAN_ADDED : SPAN_SAMPLE_TWICE;
}

int
span_add(struct span *s, struct span_seen *seen, const struct ledger_line *l,
    uint64_t digest, bool repeats)
{
	int rc = add_position(seen, l->position);

	if (rc == SPAN_ADDED && !repeats)
		rc = add_sample(seen, digest);
	if (rc != SPAN_ADDED)
		return rc;
	s->nr++;
	s->sum += digest;
	s->min = l->position < s->min ? l->position : s->min;
	s->max = l->position > s->max ? l->position : s->max;
	return SPAN_ADDED;
}

/* So many are missing as from the first that is to where it begins, and none
 * behind that: it is these. */
void
span_end(struct span *s, const struct span_seen *seen)
{
	uint64_t hole = span_missing(seen, 0);

	s->is_rest = s->nr == s->max - s->min + 1 ||
	    (hole < s->begin && s->nr + (s->begin - hole) == s->max + 1 &&
	    span_missing(seen, s->begin) > s->max);
}

uint64_t
span_missing(const struct span_seen *seen, uint64_t from)
{
	uint64_t i = from, word;

	for (;;) {
		word = sparse_get(&seen->positions, i / 64);
		if (i % 64 == 0 && word == UINT64_MAX)
			i += 64;
		else if ((word >> i % 64 & 1) != 0)
			i++;
		else
			return i;
	}
}

void
span_fini(struct span_seen *seen)
{
	sparse_fini(&seen->positions);
	word_set_fini(&seen->samples);
}
