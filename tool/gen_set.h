/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_set.h: the folder of a data set that `destall gen` makes.
 * Runs in the command only; gen_set_put and the parts, in any thread.
 *
 *  1. A file with the name of an image or a shard is complete: it is written
 *     under another name, in the root, and renamed.
 *  2. The root holds the record, which names the plan and is the lock; class
 *     folders or shards; and, while somebody works or after he was killed,
 *     parts.  No part outlives the opening of the set by the next.
 *  3. No link that lies in the folder is followed.
 */

#ifndef TOOL_GEN_SET_H
#define TOOL_GEN_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "tool/gen_plan.h"

struct gen_set {
	const char	*path;		/* the caller's, for messages */
	const struct gen_plan *plan;
	int		root;
	int		record;		/* open and locked */
};

int gen_set_open(struct gen_set *s, const char *path,
    const struct gen_plan *plan, struct ds_err *err);
	/* Makes the folder if it is not there.  Refuses one that is in use, of
	 * another plan, or with something else in it. */

void gen_set_close(struct gen_set *s);

int gen_set_scan(const struct gen_set *s, uint64_t count, uint8_t *found,
    struct hist *sizes, struct ds_err *err);
	/* Sets found[i] to 1 for each image that is there, as a file, and adds
	 * its size. */

int gen_set_put(const struct gen_set *s, unsigned worker, uint64_t index,
    const void *bytes, size_t len, struct ds_err *err);
	/* An image, complete or not at all. */

/* The steps of it, which shards need too.  -errno each, without a text. */
int gen_set_open_part(const struct gen_set *s, unsigned worker);
int gen_set_close_part(int *fd);
void gen_set_drop_part(const struct gen_set *s, unsigned worker);

#define GEN_PART	32
void gen_set_part_name(char name[GEN_PART], unsigned worker);

#endif
