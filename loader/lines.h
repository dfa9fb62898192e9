/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h: a text file that somebody wrote, line by line, with their numbers.
 * Runs in clients, which read lists of labels and ledgers, and in the command.
 *
 * A line ends with a newline; what stands behind the last one is torn: a line
 * that was perhaps not written to its end.  Bytes may be any.
 */

#ifndef LOADER_LINES_H
#define LOADER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	int		fd;		/* the caller's */
	char		*buf;
	size_t		max;		/* bytes of a line */
	size_t		begin, end;	/* what is read and not yet given */
	uint64_t	number;		/* of the line given last, from 1 */
	uint64_t	offset;		/* where it begins in what was read */
	uint64_t	next_offset;	/* and the one behind it */
	bool		torn;		/* it had no newline */
	bool		at_end;		/* nothing more to read */
};

int lines_init(struct lines *l, int fd, size_t max);
	/* -ENOMEM. */
void lines_fini(struct lines *l);

int lines_next(struct lines *l, char **text, size_t *len);
	/* 1: a line, without its newline and terminated, valid until the next
	 * call; 0: the end; -E2BIG: it is longer than max; -errno: it could
	 * not be read. */

#endif
