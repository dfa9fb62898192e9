/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_child.h: work that may hang or crash, done in child processes that
 * have a deadline.  Runs in the command only.
 *
 *  1. Every child is reaped or, if even SIGKILL does not end it (a driver that
 *     sleeps in the kernel), given up after another second.
 *  2. A child and all it started in its process group are gone with it.
 *  3. What a child wrote is input: it may be anything.
 */

#ifndef TOOL_DOCTOR_CHILD_H
#define TOOL_DOCTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tool/doctor.h"

#define CHILD_OUTPUT	4096u

enum child_end {
	CHILD_LIVING,
	CHILD_DONE,		/* code: its exit status */
	CHILD_CRASHED,		/* code: the signal */
	CHILD_LATE,		/* did not end in time, killed */
	CHILD_FLOODED,		/* wrote more than CHILD_OUTPUT, killed */
	CHILD_UNBORN,		/* could not begin; code: the errno */
};

struct child {
	pid_t		pid;		/* 0 once it is reaped */
	int		fd;		/* reads what it writes, or -1 */
	enum child_end	end;
	int		code;
	size_t		len;
	char		output[CHILD_OUTPUT + 1];	/* terminated */
};

typedef void child_f(int out, void *arg);
	/* Runs in the child: writes its answer to out and returns, or execs.
	 * Its standard streams are /dev/null. */

void child_start(struct child *c, child_f *body, void *arg);
	/* Failing to start is an end like others: CHILD_UNBORN.  Signals are
	 * held from here on: child_wait() must follow. */

void child_wait(struct child *children, unsigned nr, unsigned limit_ms);
	/* Until all have ended.  A signal that ends the command ends the
	 * children first. */

void child_ask(struct child *c, child_f *body, void *arg, unsigned limit_ms);
	/* child_start() and child_wait() of one. */

bool child_answered(const struct child *c, void *answer, size_t size);
	/* Did it end well, having written exactly one answer of this size? */

const struct doctor_verdict *child_blame(const struct child *c,
    const struct doctor_verdict *otherwise);
	/* doctor_blame() for a child that did not answer. */

void child_explain(const struct child *c, char *text, size_t size);
	/* "crashed: Segmentation fault" and the like, for a child that did not
	 * answer. */

#endif
