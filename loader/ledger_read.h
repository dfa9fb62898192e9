/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_read.h: a ledger, read line by line.  Runs in the command only.
 *
 * Any bytes may be in it: each line is parsed, or refused with its number.
 * What stands behind the last newline is no line, because the job was killed
 * while it wrote: it is left out.
 */

#ifndef LOADER_LEDGER_READ_H
#define LOADER_LEDGER_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "loader/ledger_line.h"
#include "loader/lines.h"

struct ledger_read {
	const char	*path;		/* the caller's */
	int		fd;
	struct lines	lines;
	bool		has_line;	/* false: the end */
	struct ledger_line line;	/* valid until the next is read */
	uint64_t	number;		/* its number, or that of the last */
	bool		torn;		/* something was left out at the end */
};

int ledger_read_open(struct ledger_read *r, const char *path,
    struct ds_err *err);
	/* And the first line. */
int ledger_read_next(struct ledger_read *r, struct ds_err *err);
	/* 0; -EBADMSG: a line that is none; else why it could not be read. */
void ledger_read_close(struct ledger_read *r);

uint64_t ledger_read_digest(const struct ledger_line *l);
	/* Of the sample's name, however it is escaped: two names have the same
	 * by one chance in 2^64. */

#endif
