/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c: how much workers made from some time on.  Runs in the command only; no
 * I/O.
 */

#include <config.h>

#include "analyzer/work.h"

#include <stdbool.h>

#include "base/clock.h"

static bool
is_of(const struct fact *p, uint64_t block)
{
	return p->kind == JOURNAL_MADE && p->word[MADE_BLOCK] == block &&
	    p->word[MADE_WORKER] != JOURNAL_ALL_WORKERS &&
	    p->word[MADE_END] > p->word[MADE_BEGIN];
}

static uint64_t
last_begun(const struct facts *f, uint64_t block)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < f->nr; i++) {
		if (is_of(&f->list[i], block) &&
		    f->list[i].word[MADE_BEGIN] > last_ns)
			last_ns = f->list[i].word[MADE_BEGIN];
	}
	return last_ns;
}

static void
add(struct work *w, const struct fact *p, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t begin = p->word[MADE_BEGIN], end = p->word[MADE_END];
	uint64_t from = begin > from_ns ? begin : from_ns;
	uint64_t to = end < to_ns ? end : to_ns;

	if (to <= from)
		return;
	w->samples += (double)p->word[MADE_SAMPLES] * (double)(to - from) /
	    (double)(end - begin);
	w->busy_s += (double)(to - from) / (double)NS_PER_S;
}

void
work_find(struct work *w, const struct facts *f, uint64_t block,
    uint64_t from_ns)
{
	*w = (struct work){ .last_ns = last_begun(f, block) };
	for (size_t i = 0; i < f->nr; i++) {
		if (is_of(&f->list[i], block))
			add(w, &f->list[i], from_ns, w->last_ns);
	}
}
