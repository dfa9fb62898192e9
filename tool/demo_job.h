/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_job.h: one of the demo's children: a training job, or a profile of one.
 * Runs in the command, a part of it in the child that becomes the job.
 *
 * A job prints an empty line when it could begin, begins at the end of its
 * standard input, and then prints what it measured.
 *
 *  1. What the user has set for jobs of his own is not for ours, nor is his store
 *     of runs; what ours leave behind is in the demo's folder, and goes with it.
 */

#ifndef TOOL_DEMO_JOB_H
#define TOOL_DEMO_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define DEMO_JOB_OUTPUT	16384u

#define DEMO_JOB_WORDS	24u

struct demo_job_command {
	const char	*words[DEMO_JOB_WORDS + 1];	/* ended by NULL; the first
				 * may be demo_job_self */
	bool		shared;		/* with DESTALL=1 */
	const char	*dir;		/* the demo's folder: it runs there */
	int		in;		/* its standard input */
	int		errors;		/* what it says goes there */
	const sigset_t	*mask;		/* of signals */
};

extern const char demo_job_self[];	/* "destall", whichever that is */

struct demo_job {
	pid_t	child;		/* leads its process group; 0: none */
	int	out;		/* reads what it prints; -1: it has ended */
	size_t	len;
	char	text[DEMO_JOB_OUTPUT + 1];	/* terminated */
};

void demo_job_add(struct demo_job_command *c, const char *const words[]);
	/* Behind those that are there; ended by NULL. */

int demo_job_start(struct demo_job *j, const struct demo_job_command *c,
    struct ds_err *err);
	/* On failure too there must be a demo_job_end(). */

int demo_job_read(struct demo_job *j, struct ds_err *err);
	/* What there is.  At its end out is closed. */

int demo_job_end(struct demo_job *j, bool now);
	/* Waits for it; now: all its processes are killed.  The status as
	 * wait(2) has it. */

int demo_job_explain(int errors, int status, struct ds_err *err);
	/* -ECHILD: a job that ended so, with the last line that was said. */

#endif
