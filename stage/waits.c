/* SPDX-License-Identifier: Apache-2.0
 *
 * waits.c: which job waits for which: cycles are found.  Runs in the hub only.
 *
 * Depth first, over edges instead of jobs, so that the marks need no table of
 * jobs: an edge is followed by those that begin where it ends.  The mark of an
 * edge on the way is the one before it; those that follow it are tried in the
 * order of their numbers, so the way back knows where it was.  nr * nr looks at
 * most.
 */

#include <config.h>

#include "stage/waits.h"

#include <stdbool.h>

#define UNSEEN	UINT32_MAX		/* else: the edge before it, */
#define FIRST	(UINT32_MAX - 1)	/* or none, */
#define DONE	(UINT32_MAX - 2)	/* or no cycle was found behind it */

static bool
is_on_way(uint32_t mark)
{
	return mark != UNSEEN && mark != DONE;
}

/* The next that follows edge i and is not DONE, from j on; nr: none. */
static uint32_t
find_next(const struct wait_edge *edges, uint32_t nr, const uint32_t *mark,
    uint32_t i, uint32_t j)
{
	while (j < nr && (edges[j].from != edges[i].to || mark[j] == DONE))
		j++;
	return j;
}

/* Goes all ways that begin with edge i. */
static int64_t
search_from(const struct wait_edge *edges, uint32_t nr, uint32_t *mark,
    uint32_t i)
{
	uint32_t j = 0, before;

	mark[i] = FIRST;
	while (i != FIRST) {
		j = find_next(edges, nr, mark, i, j);
		if (j == nr) {
			before = mark[i];
			mark[i] = DONE;
			j = i + 1;
			i = before;
		} else if (is_on_way(mark[j])) {
			return j;
		} else {
			mark[j] = i;
			i = j;
			j = 0;
		}
	}
	return -1;
}

int64_t
waits_cycle(const struct wait_edge *edges, uint32_t nr, uint32_t *mark)
{
	int64_t found = -1;

	for (uint32_t i = 0; i < nr; i++)
		mark[i] = UNSEEN;
	for (uint32_t i = 0; i < nr && found < 0; i++)
		if (mark[i] == UNSEEN)
			found = search_from(edges, nr, mark, i);
	return found;
}
