/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_tar.h: a data set as shards, plain tar files (ustar) of a limited size.
 * Runs in the command only, in one thread at a time.
 *
 * Members stand in the order of their indices; a shard ends when the next
 * member would not fit.  Heads say nothing of when and by whom they were made,
 * so the same images give the same bytes.
 */

#ifndef TOOL_GEN_TAR_H
#define TOOL_GEN_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tool/gen_scan.h"
#include "tool/gen_set.h"

#define GEN_TAR_BLOCK	512u
#define GEN_TAR_MIN	((uint64_t)4096)	/* the smallest limit */

void gen_tar_head(uint8_t head[GEN_TAR_BLOCK], const char *name, uint64_t size);

uint64_t gen_tar_room(uint64_t size);
	/* What a member of this size takes, its head included. */

/* Where a set stands. */
struct gen_tar {
	const struct gen_set *set;
	unsigned	shard;		/* the one that is, or will be, written */
	int		fd;		/* of its part; -1: not begun */
	uint64_t	bytes;		/* in it, without the end */
	uint64_t	next;		/* the index of the next member */
	uint64_t	finished;	/* images in finished shards */
	/* The last finished shard. */
	uint64_t	last_first;	/* its first index */
	uint64_t	last_bytes;	/* of it, without the end */
};

int gen_tar_scan(struct gen_tar *t, const struct gen_set *set,
    struct gen_found *f, struct ds_err *err);
	/* Reads the shards that are there, up to the first that is missing or
	 * not as it should be, and adds their members.  1 if seen() ended it. */

void gen_tar_resume(struct gen_tar *t, uint64_t size);
	/* Given the size of the next member: if it still fits in the last
	 * shard, that one is made again. */

int gen_tar_append(struct gen_tar *t, const void *bytes, size_t len,
    struct ds_err *err);
int gen_tar_finish(struct gen_tar *t, struct ds_err *err);
	/* The end of the set: what was begun becomes the last shard. */
void gen_tar_abandon(struct gen_tar *t);
	/* What was begun is removed. */

#endif
