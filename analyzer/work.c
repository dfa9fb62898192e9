/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c: how much workers made from some time on.  Runs in the command only; no
 * I/O.
 */

#include <config.h>

#include "analyzer/work.h"

#include <stdbool.h>

#include "analyzer/residency.h"
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

/* A worker tells of the files of a batch just before it tells of the batch. */
static const struct fact *
pages_of(const struct facts *f, const struct fact *made)
{
	for (size_t i = (size_t)(made - f->list); i-- > 0;) {
		const struct fact *p = &f->list[i];

		if (p->process != made->process)
			continue;
		if (p->kind == JOURNAL_PAGES)
			return p->word[PAGES_BLOCK] == made->word[MADE_BLOCK] ?
			    p : NULL;
		if (p->kind == JOURNAL_MADE)
			break;
	}
	return NULL;
}

static void
add_pages(struct work *w, const struct fact *p, double part)
{
	if (p == NULL || p->word[PAGES_ALL] < p->word[PAGES_UNTOLD])
		return;
	w->pages += part *
	    (double)(p->word[PAGES_ALL] - p->word[PAGES_UNTOLD]);
	w->resident += part * (double)p->word[PAGES_RESIDENT];
}

static void
add(struct work *w, const struct facts *f, const struct fact *p,
    uint64_t from_ns)
{
	uint64_t begin = p->word[MADE_BEGIN], end = p->word[MADE_END];
	uint64_t from = begin > from_ns ? begin : from_ns;
	uint64_t to = end < w->last_ns ? end : w->last_ns;
	double part;

	if (to <= from)
		return;
	part = (double)(to - from) / (double)(end - begin);
	w->samples += part * (double)p->word[MADE_SAMPLES];
	w->busy_s += (double)(to - from) / (double)NS_PER_S;
	add_pages(w, pages_of(f, p), part);
}

void
work_find(struct work *w, const struct facts *f, uint64_t block,
    uint64_t from_ns)
{
	*w = (struct work){ .last_ns = last_begun(f, block) };
	for (size_t i = 0; i < f->nr; i++) {
		if (is_of(&f->list[i], block))
			add(w, f, &f->list[i], from_ns);
	}
}
