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
 *  4. A class folder that was there and has gone is not made again.
 */

#ifndef TOOL_GEN_SET_H
#define TOOL_GEN_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tool/gen_plan.h"

struct gen_set {
	const char	*path;		/* the caller's, for messages */
	const struct gen_plan *plan;
	int		root;
	int		record;		/* open and locked */
	_Atomic bool	*is_known;	/* has class c been there? */
};

int gen_set_open(struct gen_set *s, const char *path,
    const struct gen_plan *plan, struct ds_err *err);
	/* Makes the folder if it is not there.  Refuses one that is in use, of
	 * another plan, or with something else in it. */

void gen_set_close(struct gen_set *s);

int gen_set_check(const struct gen_set *s, struct ds_err *err);
	/* At the end: is the path still our folder, and is each class that we
	 * saw or made in it?  -ESTALE if not. */

int gen_set_open_class(const struct gen_set *s, uint64_t class, int flags);
	/* A descriptor, or -errno without a text; flags are O_RDONLY or
	 * O_PATH. */
int gen_set_fail_open(const struct gen_set *s, const char *name, int error,
    struct ds_err *err);
	/* That a name in the root cannot be opened; says if it is a link. */

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
