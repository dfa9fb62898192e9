/* SPDX-License-Identifier: Apache-2.0
 *
 * residency.c: where the files of a block were.  Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/residency.h"

#include <unistd.h>

/* The words of records: probe/journal.h. */
enum { BESIDE_FILES, BESIDE_PAGES, BESIDE_RESIDENT, BESIDE_UNTOLD };
enum { STORAGE_BLOCK, STORAGE_BYTES, STORAGE_BEGIN, STORAGE_END };

/*--- looked at -----------------------------------------------------------*/

static void
take_beside(struct measured *m, const struct facts *f)
{
	double all = 0, in = 0;
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_BESIDE ||
		    p->word[BESIDE_PAGES] <= p->word[BESIDE_UNTOLD])
			continue;
		m->beside_files += (double)p->word[BESIDE_FILES];
		all += (double)(p->word[BESIDE_PAGES] - p->word[BESIDE_UNTOLD]);
		in += (double)p->word[BESIDE_RESIDENT];
	}
	m->beside = all > 0 ? in / all : 0;
}

void
residency_take(struct measured *m, const struct facts *f)
{
	double all[2] = { 0 }, in[2] = { 0 };
	const struct fact *p;
	size_t when;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_PAGES || p->word[PAGES_BLOCK] != m->number)
			continue;
		when = p->word[PAGES_WHEN] != 0;
		m->has_files |= p->word[PAGES_ALL] > 0;
		m->pages += when == 0 ? (double)p->word[PAGES_ALL] : 0;
		all[when] += (double)p->word[PAGES_ALL] -
		    (double)p->word[PAGES_UNTOLD];
		in[when] += (double)p->word[PAGES_RESIDENT];
	}
	if (m->resident < 0 && all[0] > 0)
		m->resident = in[0] / all[0];
	if (all[1] > 0)
		m->resident_after = in[1] / all[1];
	if (m->kind == BLOCK_ACTUAL)
		take_beside(m, f);
}

/*--- read nonetheless ----------------------------------------------------*/

static const struct fact *
find_next_told(const struct facts *f, const struct fact *before)
{
	for (const struct fact *p = before + 1; p < f->list + f->nr; p++) {
		if (p->kind == JOURNAL_STORAGE && p->process == before->process)
			return p;
	}
	return NULL;
}

/* Who delivers batches tells what was read in a block, a worker all that was read
 * for it until a block begins.  Negative: not known. */
static double
bytes_read(const struct facts *f, const struct fact *p)
{
	const struct fact *next;

	if (p->word[STORAGE_END] != 0)
		return (double)p->word[STORAGE_BYTES];
	next = find_next_told(f, p);
	if (next == NULL || next->word[STORAGE_BYTES] < p->word[STORAGE_BYTES])
		return -1;
	return (double)(next->word[STORAGE_BYTES] - p->word[STORAGE_BYTES]);
}

void
residency_take_reads(struct measured *m, const struct facts *f)
{
	double sum = 0, bytes;
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++) {
		const struct fact *p = &f->list[i];

		if (p->kind != JOURNAL_STORAGE ||
		    p->word[STORAGE_BLOCK] != m->number)
			continue;
		bytes = bytes_read(f, p);
		if (bytes < 0)
			return;
		sum += bytes;
		nr++;
	}
	if (nr > 0 && m->pages > 0)
		m->from_storage = sum /
		    (m->pages * (double)sysconf(_SC_PAGESIZE));
}

/*--- judged --------------------------------------------------------------*/

bool
residency_is_cold(const struct measured *m)
{
	return m->kind == BLOCK_COLD || m->kind == BLOCK_RAW_COLD;
}

bool
residency_is_warm(const struct measured *m)
{
	return m->kind == BLOCK_CACHED || m->kind == BLOCK_RAW_CACHED ||
	    m->kind == BLOCK_ALONE;
}

/* Some of what should be in memory is not. */
static bool
is_short(double resident)
{
	return resident >= 0 && resident < 1 - LEFT_MOST;
}

bool
residency_is_misplaced(const struct measured *m)
{
	if (!m->has_files)
		return false;
	return (residency_is_cold(m) && m->resident > STAYED_MOST) ||
	    (residency_is_warm(m) && (is_short(m->resident) ||
	    is_short(m->resident_after) || m->from_storage > LEFT_MOST));
}
