/* SPDX-License-Identifier: Apache-2.0
 *
 * chosen.h: from which blocks a figure is taken.  Runs in the command only; no I/O.
 *
 *  1. Those of its kind.  With all files in memory the job as it is and the job
 *     with its files in memory are one and the same: blocks of both tell of both.
 *  2. Those that are disturbed (measure.h), or whose files were not where they
 *     should have been, only if there are no others.
 *  3. Those in which counters were attached only if there are not two others.
 *  4. Not those from which the host took much more than from most others of them:
 *     it is by the host, not by what they gave, that blocks are left out.
 */

#ifndef ANALYZER_CHOSEN_H
#define ANALYZER_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/measure.h"

struct chosen {
	const struct measured **list;	/* of the list that was given */
	size_t		nr;
	bool		are_disturbed;	/* all that there are */
};

void chosen_init(struct chosen *c, const struct measured_list *l,
    enum block_kind kind, unsigned workers);
	/* workers: of BLOCK_ALONE. */
void chosen_init_handover(struct chosen *c, const struct measured_list *l);
	/* Those that tell how long it takes. */
void chosen_fini(struct chosen *c);

#endif
