/* SPDX-License-Identifier: Apache-2.0
 *
 * residency.h: whether the files of a block were where they should be: in memory,
 * or out of it.  Runs in the command only; no I/O.
 *
 * Their pages are looked at before a block and behind it.  What leaves memory in
 * between is read again, and is there when one looks: it shows only in what workers
 * had to have read from storage.
 */

#ifndef ANALYZER_RESIDENCY_H
#define ANALYZER_RESIDENCY_H

#include <stdbool.h>

#include "analyzer/facts.h"
#include "analyzer/measure.h"

/* The words of JOURNAL_PAGES (probe/journal.h). */
enum { PAGES_BLOCK, PAGES_WHEN, PAGES_ALL, PAGES_RESIDENT, PAGES_UNTOLD };

#define STAYED_MOST	0.02	/* of the pages, in memory that should not be */
#define LEFT_MOST	0.005	/* the same, out of it: storage may be slow */

void residency_take(struct measured *m, const struct facts *f);

void residency_take_reads(struct measured *m, const struct facts *f);
	/* Not known before all of its workers have begun another block. */

bool residency_is_cold(const struct measured *m);
bool residency_is_warm(const struct measured *m);
	/* Its files are to be out of memory, or in it. */

bool residency_is_misplaced(const struct measured *m);
	/* They were not, as far as is known. */

#endif
