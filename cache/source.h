/* SPDX-License-Identifier: Apache-2.0
 *
 * source.h: where items come from.  Runs in clients.
 *
 * A back end is one file and one line in the table of source.c; the URI
 * chooses: "tar:PATH" a shard or a folder of shards, anything else a folder.
 *
 *  1. Sources are read, never mapped: a file cut short under a mapping would
 *     kill the job.
 *  2. What is read is what was listed, or an error: size, device, inode and
 *     times are compared on the open descriptor before and after.
 *  3. Only regular files are opened, without following links out of the root,
 *     and without waiting for a FIFO's writer.
 *
 * A link is followed if it leads, by relative steps beneath the root, to a
 * regular file; its item has the key of that file.  A file larger than
 * SOURCE_ITEM_MAX is left out of the listing and counted.  One that may not be
 * read is listed: the reader is told why.
 */

#ifndef CACHE_SOURCE_H
#define CACHE_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "cache/listing.h"

struct source;

struct source_notes {		/* what a listing left out, for people */
	uint64_t hidden;	/* names that begin with a dot: not data, but
				 * notes of programs such as our own gen */
	uint64_t links;		/* out of the root, to folders, to nowhere */
	uint64_t others;	/* FIFOs, devices, sockets */
	uint64_t unreadable;	/* folders, by permission; files in them */
	uint64_t too_long;	/* names over LISTING_NAME_MAX */
	uint64_t too_large;	/* files over SOURCE_ITEM_MAX */
	uint64_t members;	/* of shards: links, folders, devices */
};

struct source_ops {
	const char *scheme;	/* "tar", or NULL for a plain path */
	int	(*open)(struct source *s, struct ds_err *err);
	int	(*stamp)(struct source *s, uint64_t *stamp, struct ds_err *err);
	int	(*list)(struct source *s, struct listing_maker *m,
		    struct ds_err *err);
	int	(*read)(struct source *s, const char *name,
		    const struct listing_item *key, void *bytes,
		    struct ds_err *err);
};

struct source {
	unsigned		magic;
	const struct source_ops	*ops;
	char			*uri;	/* canonical: absolute, no . or .. */
	const char		*path;	/* in uri */
	int			root;	/* descriptor of the folder */
	dev_t			root_dev;	/* to know it again */
	ino_t			root_ino;
	char			*shard;	/* the only one, in root; or NULL */
	struct source_notes	notes;
};

#define SOURCE_MAX_DEPTH	64u
#define SOURCE_ITEM_MAX	LISTING_SIZE_MAX

extern const struct source_ops source_dir, source_tar;

int source_open(struct source **out, const char *uri, struct ds_err *err);
void source_close(struct source **sp);

const char *source_uri(const struct source *s);

int source_stamp(struct source *s, uint64_t *stamp, struct ds_err *err);
	/* 0 where the state is known by listing only. */

int source_list(struct source *s, struct ds_err *err);
	/* A sealed listing, as a descriptor. */

int source_read(struct source *s, const char *name,
    const struct listing_item *key, void *bytes, struct ds_err *err);
	/* key->size bytes.  -ESTALE: the file is no longer the one that was
	 * listed.  Any thread. */

#endif
