/* SPDX-License-Identifier: Apache-2.0
 *
 * told.h: what the processes of a job have told, put together by hand, for units
 * that make figures of it.  Times are in milliseconds.
 */

#ifndef TESTS_HARNESS_TOLD_H
#define TESTS_HARNESS_TOLD_H

#include <math.h>

#include "analyzer/facts.h"
#include "probe/schedule.h"
#include "tests/harness/unit.h"

#define MS	UINT64_C(1000000)

static struct result result;
static struct facts facts;

static inline void
told_init(void)
{
	result_init(&result);
	facts_init(&facts, &result);
}

static inline void
told_fini(void)
{
	facts_fini(&facts);
	result_fini(&result);
}

static inline void
tell_words(size_t process, enum journal_kind kind, uint32_t loader,
    const char *text, const uint64_t words[7])
{
	struct journal_record r = { .kind = (uint16_t)kind, .loader = loader };

	for (int i = 0; i < 7; i++)
		r.word[i] = words[i];
	facts_add(&facts, process, &r, text);
}

#define TELL(process, kind, loader, ...) \
	tell_words(process, kind, loader, "", (const uint64_t[7]){ __VA_ARGS__ })

/* A process whose loader 1 trains, with batches of 10. */
static inline void
tell_rank(size_t process, uint64_t workers, uint64_t rank, uint64_t ranks)
{
	TELL(process, JOURNAL_HELLO, 0, ROLE_MAIN, 100 + process, 1, rank, ranks,
	    0);
	TELL(process, JOURNAL_LOADER, 1, 10, workers, 2, 0, 0, 0);
	TELL(process, JOURNAL_TRAINS, 1, 0);
}

static inline void
tell_step(size_t process, uint64_t block, uint64_t number, uint64_t asked_ms,
    uint64_t given_ms)
{
	TELL(process, JOURNAL_STEP, 1, block, number, asked_ms * MS,
	    given_ms * MS, 10);
}

static inline void
tell_begin(size_t process, uint64_t block, enum block_kind kind, uint64_t ms)
{
	TELL(process, JOURNAL_BLOCK, 1, block, kind, ms * MS);
}

static inline void
tell_end(size_t process, uint64_t block, enum block_kind kind, uint64_t ms)
{
	TELL(process, JOURNAL_BLOCK_END, 1, block, kind, ms * MS, 0, 0);
}

/* A whole block of nr batches from a time on, one asked for `gap` after the last
 * was given, and given after `wait`. */
static inline void
tell_block(size_t process, uint64_t block, enum block_kind kind, uint64_t from_ms,
    unsigned nr, uint64_t gap_ms, uint64_t wait_ms)
{
	uint64_t at = from_ms;

	tell_begin(process, block, kind, at);
	for (unsigned i = 0; i < nr; i++) {
		tell_step(process, block, i, at, at + wait_ms);
		at += wait_ms + gap_ms;
	}
	tell_end(process, block, kind, at);
}

static inline void
assert_near(double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
		fail_msg("%.12g is not %.12g", got, wanted);
}

#endif
