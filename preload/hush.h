/* SPDX-License-Identifier: Apache-2.0
 *
 * hush.h: a signal that our own writing would raise in the program.  Runs in
 * any program that the object is preloaded in, in any of its threads.
 *
 * Where a program may write only files of some size (RLIMIT_FSIZE), a larger
 * write ends it by SIGXFSZ.  What we write for the cache is no affair of the
 * program's: for us it is an error like any other.
 *
 *  1. The program's own mask is as before, and so is a signal that waited
 *     before; one that came through us is gone.
 */

#ifndef PRELOAD_HUSH_H
#define PRELOAD_HUSH_H

#include <signal.h>
#include <stdbool.h>

struct hush {
	bool		is_on;
	bool		was_waiting;
	sigset_t	before;		/* the thread's mask */
};

void hush_begin(struct hush *h);
void hush_end(const struct hush *h);

#endif
