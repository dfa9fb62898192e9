/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_job.h: one of the demo's training jobs.  Runs in the command, a part of
 * it in the child that becomes the job.
 *
 * It prints an empty line when it could begin, begins at the end of its standard
 * input, and then prints what it measured.
 */

#ifndef TOOL_DEMO_JOB_H
#define TOOL_DEMO_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define DEMO_JOB_OUTPUT	16384u

struct demo_job_command {
	bool		shared;		/* with DESTALL=1 */
	const char	*data;
	const char	*python;	/* NULL: `destall emulate` */
	const char	*script;
	int		in;		/* its standard input */
	int		errors;		/* what it says goes there */
	const sigset_t	*mask;		/* of signals */
};

struct demo_job {
	pid_t	child;		/* leads its process group; 0: none */
	int	out;		/* reads what it prints; -1: it has ended */
	size_t	len;
	char	text[DEMO_JOB_OUTPUT + 1];	/* terminated */
};

int demo_job_start(struct demo_job *j, const struct demo_job_command *c,
    struct ds_err *err);
	/* On failure too there must be a demo_job_end(). */

int demo_job_read(struct demo_job *j, struct ds_err *err);
	/* What there is.  At its end out is closed. */

int demo_job_end(struct demo_job *j, bool now);
	/* Waits for it; now: all its processes are killed.  The status as
	 * wait(2) has it. */

#endif
