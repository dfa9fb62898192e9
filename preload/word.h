/* SPDX-License-Identifier: Apache-2.0
 *
 * word.h: the one line that the preload object says.  Runs in the preload
 * object; the command that starts jobs only forgets.
 *
 * The process is somebody else's, and descriptor 2 may be anything by now: a
 * socket or a file of data of a program that closed its standard streams.
 *
 *  1. Once per job: the first of its processes that can be heard says it
 *     (hub/said.h); where that cannot be told, once per process and all that
 *     it forks.
 *  2. Only to what descriptor 2 was when the program began, or to a terminal,
 *     or to a file that is appended to; never to what is open for reading only.
 *  3. Nothing happens to the program: errno, signals (SIGPIPE, SIGTTOU,
 *     SIGXFSZ) and descriptors are as before; it is never made to wait; no
 *     memory and no lock is taken.  So it may be called in a forked child, and
 *     from a signal handler as far as vsnprintf() may.  Cancellation is the
 *     caller's to turn off (guard.h).
 */

#ifndef PRELOAD_WORD_H
#define PRELOAD_WORD_H

#include <stdint.h>

#include "hub/said.h"

void word_begin(void);
	/* Notes what descriptor 2 is.  Runs as the object is loaded; for tests
	 * again after they changed it. */

void word_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
	/* "destall: ...\n" by one write, made fit for a terminal, cut at 1000
	 * bytes or so; if it is the first of the job, and DESTALL_LOG is not
	 * "quiet".  A second call costs a system call at most. */

uint64_t word_job(void);
	/* The number of this job, never 0: $DESTALL_JOB if it is 16 digits, or
	 * else made from the process group and the time its leader began; from
	 * the group alone once the leader is gone. */

/* When a job is over; links with libguest alone. */
static inline void
word_forget(uint64_t job)
{
	said_forget(job);
}

#endif
