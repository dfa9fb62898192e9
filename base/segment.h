/* SPDX-License-Identifier: Apache-2.0
 *
 * segment.h: shared memory that says what it is.
 * Created and written by the hub; attached, read-only, by clients.
 *
 * A segment begins with a head that names its kind, the layout of the
 * structures in it, its size and the hub's generation.  A process built with
 * other structures refuses it with a sentence, instead of reading garbage.
 *
 * What readers may rely on
 *  1. The head is written before the descriptor is given away and never again.
 *  2. The size is sealed: no address within it ever faults.
 *  3. Nobody but the creator can write: sealed before it is given away.
 * What they may not: the bytes after the head are input, to be checked.
 */

#ifndef BASE_SEGMENT_H
#define BASE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct segment_head {
	uint32_t magic;		/* of the kind */
	uint32_t layout;	/* of the structures that follow */
	uint32_t byte_order;	/* SEGMENT_BYTE_ORDER as its maker wrote it */
	uint32_t head_size;	/* sizeof(struct segment_head) */
	uint64_t size;		/* of the whole segment, head included */
	uint64_t generation;	/* of the hub that made it */
};

#define SEGMENT_BYTE_ORDER	0x01020304u

/* One constant of this type per kind of segment, beside its structures. */
struct segment_kind {
	const char *name;	/* for messages, and /proc/PID/maps */
	uint32_t magic;
	uint32_t layout;	/* changes whenever the structures do */
};

struct segment {
	int	fd;
	size_t	len;
	void	*base;		/* const for those who attached */
};

int segment_create(struct segment *seg, const struct segment_kind *kind,
    size_t len, uint64_t generation, struct ds_err *err);
	/* Zeroed, mapped writable here and nowhere else, then sealed. */

int segment_attach(struct segment *seg, const struct segment_kind *kind,
    int fd, struct ds_err *err);
	/* Checks seals and head, maps read-only.  The descriptor is taken over
	 * on success, and still the caller's on failure. */

void segment_detach(struct segment *seg);
	/* Unmaps and closes; for creators and attachers.  A second time, or
	 * on a struct of zeros, it does nothing.  Not in a forked child of the
	 * creator: it has no mapping (memfd.h), only the descriptor. */

int segment_check(const struct segment_kind *kind, const void *bytes,
    size_t len, struct ds_err *err);
	/* Do these bytes begin with the right head? */

#endif
