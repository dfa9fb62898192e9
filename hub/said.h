/* SPDX-License-Identifier: Apache-2.0
 *
 * said.h: which jobs have had their one line.  Runs in clients, and in the
 * command that starts them.
 *
 * A job is many processes, and the line is for all of them.  So the first makes
 * an empty file, said.JOB, in the folder of the hub; the others find it there.
 *
 *  1. The folder is used where it is there and ours alone; it is never made.
 *  2. said_mark() takes no memory and no lock.
 */

#ifndef HUB_SAID_H
#define HUB_SAID_H

#include <stdint.h>

int said_mark(uint64_t job);
	/* 1 for the first of a job, 0 for any other, -errno where it cannot be
	 * told: there is no such folder, or it takes no file. */

void said_forget(uint64_t job);
	/* The job is over.  Marks of a week ago, of jobs that nobody ended, go
	 * with it. */

#endif
