/* SPDX-License-Identifier: Apache-2.0
 *
 * resident.h: how much of a file is in memory.  Runs in every process, guests
 * included: it allocates nothing.
 *
 *  1. What is told is what the kernel knows.  To who neither owns a file nor may
 *     write to it mincore(2) says that all is there: that is not told.
 */

#ifndef PROBE_RESIDENT_H
#define PROBE_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct resident {
	uint64_t	pages;		/* of the whole file */
	uint64_t	in_memory;	/* of them */
	bool		is_told;	/* else in_memory is 0 */
};

void resident_look(int fd, const struct stat *st, struct resident *r);
	/* Of a regular file that is open, and what fstat(2) says of it.  errno
	 * is kept. */

uint64_t resident_pages(uint64_t bytes);
	/* That so many bytes have. */

#endif
