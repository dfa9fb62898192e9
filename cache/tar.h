/* SPDX-License-Identifier: Apache-2.0
 *
 * tar.h: the members of a tar archive, from their headers alone.
 * Runs in clients.
 *
 * Reads ustar, pax (path and size), GNU long names and base-256 numbers, and
 * the headers of before.  Nothing is ever extracted: a member is a name and a
 * place.
 *
 *  1. Only regular files are members.  Links, folders, devices and volume
 *     labels are passed over and counted.
 *  2. A member lies within the archive; members ascend and do not overlap.
 *  3. A name is one that listing_name_fault() lets pass, or too long for it.
 *  4. What is not sound is refused as a whole, with the byte where it is: bad
 *     checksums and numbers, a size that is no multiple of 512, sparse and
 *     continued members, unknown types, an archive that is cut short.
 *  5. The end is a block of zeros, then zeros only.  An archive without that
 *     mark is refused as one cut short, since nothing tells the two apart.
 */

#ifndef CACHE_TAR_H
#define CACHE_TAR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tar;

struct tar_member {
	const char	*name;		/* valid until the next call */
	size_t		name_len;	/* may be over LISTING_NAME_MAX */
	uint64_t	offset;		/* of its bytes */
	uint64_t	size;
};

typedef ssize_t tar_read(void *arg, uint64_t at, void *bytes, size_t len);
	/* As pread: how many bytes, 0 at the end, or -errno. */

int tar_open(struct tar **out, tar_read *read, void *arg, uint64_t size,
    struct ds_err *err);
	/* An archive of so many bytes. */
void tar_close(struct tar **tp);

int tar_next(struct tar *t, struct tar_member *m, struct ds_err *err);
	/* 1, or 0 at the end.  -EBADMSG: "byte N: what is wrong"; or what
	 * reading gave. */

uint64_t tar_skipped(const struct tar *t);
	/* Members passed over so far. */

#endif
