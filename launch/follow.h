/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.h: when the command stops, do we?  Runs in the command only.
 *
 * We must stop where a shell with job control waits for us: it sees nothing of
 * the command.  We must not where nobody would have us go on: who stops the
 * command alone has the command alone go on.
 *
 *  1. We follow a stop if the same was sent to us, by the terminal or by
 *     somebody who knows of us; or if our group has the terminal, so that a
 *     shell waits for it.
 *  2. We stop by a signal that the kernel does not heed where there is no shell
 *     to continue us (an orphaned process group); never by SIGSTOP.
 *  3. A SIGCONT that is sent to us reaches a command that is stopped, whether
 *     we stopped or not, and once if the whole group was sent it.
 */

#ifndef LAUNCH_FOLLOW_H
#define LAUNCH_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

struct follow {
	pid_t	pid;		/* the command, a child of ours */
	int	stop;		/* what stopped it last, or 0 */
	bool	was_sent;	/* a stop to us, and no SIGCONT since */
};

void follow_stop(struct follow *f, int signal_number);
	/* The command stopped.  Returns when we go on. */

bool follow_signal(struct follow *f, int signal_number);
	/* We were sent this, which is blocked.  True: it is seen to, and is not
	 * to be passed on. */

#endif
