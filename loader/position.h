/* SPDX-License-Identifier: Apache-2.0
 *
 * position.h: where a loader is, as a line of text to keep with a checkpoint.
 * Runs in clients.
 *
 *     destall-position 1 89abcdef01234567 epoch=3 samples=1280
 *     destall-position 1 89abcdef01234567 epoch=3 samples=1280 from=640 tail=16
 *
 * The number of the format; a hash of the stream: names and sizes of the
 * pictures in their order, seed, order, ranks and drop-last; the epoch; and
 * how many samples of it are behind, of each rank; and, if it was joined late,
 * how (plan.h).  The rank is not in it: what one rank saved serves all, unless
 * it was joined late.
 */

#ifndef LOADER_POSITION_H
#define LOADER_POSITION_H

#include "base/err.h"
#include "loader/plan.h"

struct position {
	uint64_t		stream;
	struct plan_place	place;
};

uint64_t position_stream(const struct plan *p, const struct ds_data *data,
    const uint64_t *items);
	/* The hash. */

void position_print(const struct position *pos, char text[DS_POSITION_TEXT]);

int position_parse(struct position *pos, const char *text, struct ds_err *err);
	/* A newline may follow.  -EBADMSG. */

#endif
