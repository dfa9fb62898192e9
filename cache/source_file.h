/* SPDX-License-Identifier: Apache-2.0
 *
 * source_file.h: files beneath the root of a source.  Runs in clients.
 */

#ifndef CACHE_SOURCE_FILE_H
#define CACHE_SOURCE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cache/source.h"

int beneath_open(int root, const char *name, int flags);
	/* A descriptor (close-on-exec), or -errno: -EXDEV for a link that
	 * leads out.  Without openat2(2), as beneath_open_plain(). */

int beneath_open_plain(int root, const char *name, int flags);
	/* The same, but follows no link at all: -ELOOP.  Takes no name that
	 * listing_name_fault() refuses. */

void source_key(struct listing_item *key, const struct stat *st);
	/* Of a whole file. */

bool source_is_listed(const struct stat *st, const struct listing_item *key);
	/* Is it the file that was listed, and unchanged?  Inodes are used again,
	 * and programs set the times of what they write to those of another
	 * file: only the time of the last change of all tells. */

int source_file_open(const struct source *s, const char *file,
    struct stat *st, struct ds_err *err);
	/* A regular file for reading, and what it is. */

int source_file_read(struct source *s, const char *name,
    const struct listing_item *key, void *bytes, struct ds_err *err);
	/* struct source_ops.read, for files and for members of shards. */

int source_fail(const struct source *s, const char *name, int rc,
    const char *why, struct ds_err *err);
	/* "PATH/NAME: why", or the errno's text where why is NULL. */

#endif
