/* SPDX-License-Identifier: Apache-2.0
 *
 * log.h: the hub's log, a file beside its socket.  Runs in the hub only.
 *
 *  1. A line has a time, a level and one sentence; what others wrote in it
 *     is made fit for a terminal.
 *  2. The file and its predecessor are 1 MiB each at most.
 *  3. Of more than 100 lines in a second the rest is counted, not written.
 *  4. A log that cannot be written is not a reason to stop.
 */

#ifndef HUB_LOG_H
#define HUB_LOG_H

#include "base/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log;

int log_new(struct log **out, int dir, enum log_level most, struct ds_err *err);
	/* Lines go to standard error as well: the null device of a daemon. */
void log_free(struct log **lp);

void log_line(struct log *l, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

int log_parse_level(const char *text, enum log_level *level, struct ds_err *err);
	/* quiet, error, warn, info, debug: what DESTALL_LOG says.  quiet is
	 * error here; to commands and jobs it means: no notes. */

#endif
