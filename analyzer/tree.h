/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h: the processes that a job is made of.  Runs in the command only.
 *
 * We are the one to whom orphans of the job fall (PR_SET_CHILD_SUBREAPER), so all
 * that descends from us is the job's.
 */

#ifndef ANALYZER_TREE_H
#define ANALYZER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void tree_adopt(void);
	/* From now on orphans fall to us. */

void tree_freeze_above(const pid_t *mains, size_t nr);
	/* Stops those who started these processes: shells and launchers, which
	 * would go on when they end. */

void tree_end_above(void);
	/* Ends those, when the processes are gone; others, such as a tee that has
	 * their last lines to write, have a second to end by themselves. */

void tree_end(void);
	/* Ends all that descends from us, at once, and waits for it. */

bool tree_is_alive(pid_t pid);
	/* A process that is neither gone nor a zombie. */

#endif
