/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_stop.h: the signals that ask `destall gen` to stop.
 * Runs in the command only, in its main thread.
 *
 * While it is open, signals that ask a program to end (SIGINT, SIGTERM,
 * SIGHUP) wait in a descriptor, in all threads that are started then.  After
 * the first, the next one ends the program as usual.
 */

#ifndef TOOL_GEN_STOP_H
#define TOOL_GEN_STOP_H

#include <signal.h>

#include "base/err.h"

struct gen_stop {
	int		fd;		/* readable when one came */
	int		signal;		/* the first that came, or 0 */
	sigset_t	before;		/* the mask to go back to */
	struct sigaction too_large;	/* what SIGXFSZ did */
};

int gen_stop_open(struct gen_stop *s, struct ds_err *err);
	/* On failure too there must be a gen_stop_close(). */
int gen_stop_close(struct gen_stop *s);
	/* The signal that came, also if nobody has looked yet, or 0. */

int gen_stop_look(struct gen_stop *s);
	/* The signal, if one came since the last look, or 0.  Never waits. */

void gen_stop_die(int signal);
	/* As that signal would have ended us. */

#endif
