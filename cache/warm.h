/* SPDX-License-Identifier: Apache-2.0
 *
 * warm.h: fills the cache with a data set, for `destall cache warm`.
 * Runs in the command only, in its main thread and some that it starts.
 */

#ifndef CACHE_WARM_H
#define CACHE_WARM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/source.h"

#define WARM_THREADS_MAX	256u	/* fetches of one process at once */

struct warm_request {
	const char	*uri;
	const char	*share;		/* "35%", or NULL: as much as fits */
	unsigned	threads;
};

struct warm_outcome {
	uint64_t	items;		/* of the data set */
	uint64_t	bytes;
	uint64_t	cached_items;	/* now, by whomever */
	uint64_t	cached_bytes;
	uint64_t	cap_bytes;	/* the share that holds; 0: none */
	uint64_t	empty_items;	/* there is nothing to cache */
	uint64_t	largest_bytes;	/* item */
	struct source_notes left_out;	/* of the listing */
	uint64_t	read_items;	/* by us */
	uint64_t	read_bytes;
	uint64_t	failed_items;
	struct ds_err	first;		/* why, of the first that failed */
	bool		closed;		/* to admission: no more fits */
	bool		hub_gone;
	int		signal;		/* that ended it early, or 0 */
	uint64_t	elapsed_ns;
};

int warm_run(const struct warm_request *ask, struct warm_outcome *out,
    struct ds_err *err);
	/* -errno: nothing was begun. */

#endif
