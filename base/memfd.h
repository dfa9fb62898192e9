/* SPDX-License-Identifier: Apache-2.0
 *
 * memfd.h: memory that passes between processes, as a descriptor with seals.
 * Made by the hub, received by clients.
 *
 * A read-only descriptor of a memfd can be opened again for writing through
 * /proc: only seals hold.  They are set in this order, and the order matters:
 *
 *   1. memfd_new        memory allocated, size sealed (SHRINK, GROW)
 *   2. the one writer maps it (memfd_map_writer)
 *   3. memfd_seal_new_writers   no further writable mapping (FUTURE_WRITE)
 *   4. readers are given the descriptor
 *   5. memfd_seal_all   when the writer has unmapped: the kernel's proof that
 *                       nobody can write any more (WRITE, then SEAL)
 *
 * A writer that stays for the life of the memory (the hub, of its own tables)
 * ends with memfd_seal_to_writer instead of 3 and 5.
 */

#ifndef BASE_MEMFD_H
#define BASE_MEMFD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

int memfd_new(const char *name, size_t len, struct ds_err *err);
	/* A descriptor (close-on-exec), its pages allocated now, because a
	 * lack of memory must be an error here and not a SIGBUS later.
	 * name shows in /proc/PID/maps.  -errno: -ENOSPC, -ENOMEM, -EMFILE. */

int memfd_begin(const char *name, struct ds_err *err);
int memfd_grow(int fd, size_t from, size_t to, struct ds_err *err);
int memfd_seal_size(int fd, struct ds_err *err);
	/* The same in steps, for one that takes turns with others: empty, then
	 * with memory for these bytes too, then of this size for good. */

int memfd_map_writer(int fd, size_t len, void **base, struct ds_err *err);
	/* Shared and writable, not inherited by fork: a child that nobody
	 * knows of must not keep the memory writable.  In such a child the
	 * addresses are free for other uses: it must not unmap them. */

int memfd_map_reader(int fd, size_t len, void **base, struct ds_err *err);
	/* Shared and read-only.  Both kinds are left out of core dumps. */

int memfd_seal_new_writers(int fd, struct ds_err *err);

int memfd_seal_to_writer(int fd, struct ds_err *err);
	/* No further writer, and no further seal. */

int memfd_seal_all(int fd, struct ds_err *err);
	/* Immutable from now on.  -EBUSY while a writable mapping lives. */

int memfd_check(int fd, uint64_t *len, struct ds_err *err);
	/* For a descriptor that came from elsewhere: a memfd that can neither
	 * change its size nor be mapped writable by anyone new?  Its length in
	 * *len.  -EBADMSG if not. */

#endif
