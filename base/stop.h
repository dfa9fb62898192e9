/* SPDX-License-Identifier: Apache-2.0
 *
 * stop.h: the signals that ask a command to stop.
 * Runs in the command only, in its main thread.
 *
 * While it is open, signals that ask a program to end (SIGINT, SIGTERM,
 * SIGHUP) wait in a descriptor, in all threads that are started then.  After
 * the first, the next one ends the program as usual.
 */

#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <signal.h>

#include "base/err.h"

struct stop {
	int		fd;		/* readable when one came */
	int		signal;		/* the first that came, or 0 */
	sigset_t	before;		/* the mask to go back to */
	struct sigaction too_large;	/* what SIGXFSZ did */
};

int stop_open(struct stop *s, struct ds_err *err);
	/* On failure too there must be a stop_close(). */
int stop_close(struct stop *s);
	/* The signal that came, also if nobody has looked yet, or 0. */

int stop_look(struct stop *s);
	/* The signal, if one came since the last look, or 0.  Never waits. */

void stop_die(int signal);
	/* As that signal would have ended us. */

#endif
