/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_span.h: an epoch of a ledger: which positions and samples are there.
 * Runs in the command only.
 *
 * Memory, for each sample: a bit for its position and 11 to 32 bytes for its
 * name.
 */

#ifndef LOADER_LEDGER_SPAN_H
#define LOADER_LEDGER_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/ledger_line.h"
#include "loader/sparse.h"

#define SPAN_POSITION_MAX	(SPARSE_MAX - 1)

struct span {
	uint64_t	epoch;
	uint64_t	nr;		/* positions, each once; 0: none yet */
	uint64_t	begin;		/* the one that was delivered first */
	uint64_t	min, max;
	uint64_t	sum;		/* of the digests of its samples */
	bool		is_rest;	/* by span_end() */
};

/* What is known of the span that is read now, and of no other. */
struct span_seen {
	struct sparse	positions;	/* bits */
	struct word_set	samples;
};

void span_begin(struct span *s, struct span_seen *seen,
    const struct ledger_line *first);
	/* With no line yet: the first is added as the others are. */

enum span_outcome { SPAN_ADDED, SPAN_POSITION_TWICE, SPAN_SAMPLE_TWICE };

int span_add(struct span *s, struct span_seen *seen,
    const struct ledger_line *l, uint64_t digest, bool repeats);
	/* An enum span_outcome; -EFBIG: past SPAN_POSITION_MAX; -ENOMEM. */

void span_end(struct span *s, const struct span_seen *seen);
	/* All of it was read: can it be the rest of an epoch whose beginning
	 * was delivered elsewhere?  Then it lacks nothing from its lowest
	 * position to its highest, or one run that ends where it begins: what
	 * a job had that joined late. */

uint64_t span_missing(const struct span_seen *seen, uint64_t from);
	/* The first position from there on that is not there. */

void span_fini(struct span_seen *seen);

static inline bool
span_is_whole(const struct span *s)
{
	return s->nr > 0 && s->nr == s->max + 1;
}

#endif
