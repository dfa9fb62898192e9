/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_reader.h: the processes of the demo's reader.  Runs in the command, a
 * part of it in the child that becomes the reader.
 *
 * The reader is a shell that has xargs and cat read the files of each epoch in
 * its order: programs of the system, which know nothing of destall.  With
 * destall the same command line stands behind `destall run`.
 *
 * Three ways lead to it: its standard input, to which the command writes the
 * name of an order to begin an epoch (a socket: one that has ended ends nobody
 * else); its standard output, the bytes of the files; and descriptor 3, on which
 * it tells its process number, and an empty line at the end of each epoch.
 */

#ifndef TOOL_DEMO_READER_H
#define TOOL_DEMO_READER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "tool/demo_group.h"

struct demo_command {
	const char	*data;		/* the folder to read, and to be in */
	const char	*share;		/* of it to cache; NULL: no destall */
	const struct demo_group	*group;
	const sigset_t	*mask;		/* of signals */
};

struct demo_reader {
	pid_t	child;		/* leads its process group; 0: none */
	int	in;
	int	out;		/* does not block */
	int	told;
};

int demo_reader_start(struct demo_reader *d, const struct demo_command *r,
    struct ds_err *err);
	/* On failure too there must be a demo_reader_end(). */

int demo_reader_end(struct demo_reader *d, bool now);
	/* Its input ends, and so does it; now: all its processes are killed.
	 * The status as wait(2) has it. */

int demo_reader_fail(struct demo_reader *d, struct ds_err *err);
	/* It ended before its time: why? */

#endif
