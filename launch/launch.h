/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.h: starts a command, waits for it, and ends as it ended.
 * Runs in the command only, which has one thread then.
 *
 *  1. The command finds what it would find without us: our process group and
 *     terminal, descriptors, folder, limits, mask and dispositions of signals.
 *  2. It is sent what was sent to us by kill(2); what the terminal sends goes
 *     to the whole group, and is not sent again.
 *  3. When it stops, we stop, where a shell sees one job in us, and nowhere
 *     else (launch/follow.h); when we are continued, so is it.
 *  4. While it runs, we hold neither its standard input nor its output: whoever
 *     is at the other end sees them closed when the command closes them; but for
 *     who starts it again.
 */

#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define LAUNCH_TICK_MS	10

struct launch {
	struct sigaction pipe;		/* what SIGPIPE and SIGCHLD did */
	struct sigaction child;
	sigset_t	mask;
	bool		has_mask;

	/* For who watches the command meanwhile; all of it may be 0. */
	void		(*tick)(void *arg);	/* every LAUNCH_TICK_MS */
	bool		(*on_signal)(void *arg, int signal_number);
			/* True: it is not passed on. */
	void		*arg;
	bool		keeps_streams;	/* it will be started again */
	int		*output;	/* its standard output, where not NULL */
	bool		is_ending;	/* when it stops, we do not */
	pid_t		pid;		/* of the command */
};

void launch_prepare(struct launch *l);
	/* From now on a standard error that nobody reads does not end us. */

struct launch_end {
	int	exec_errno;	/* not 0: why it could not be executed */
	int	status;		/* else how it ended, as wait(2) tells it */
};

int launch_run(struct launch *l, char *const argv[], char *const envp[],
    struct launch_end *end, struct ds_err *err);
	/* Once the command has ended, or 0 with exec_errno; argv[0] is looked
	 * for as a shell does.  -errno: there could be no process for it.
	 * Signals stay blocked: one that comes for a command that has just
	 * ended, or comes twice, does not change how we end. */

int launch_leave(const struct launch_end *end);
	/* The exit status to leave with; does not return where a signal ended
	 * the command. */

#endif
