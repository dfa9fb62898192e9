/* SPDX-License-Identifier: Apache-2.0
 *
 * job.h: which job this process belongs to.  Runs in clients, in any of their
 * threads, and in the command.
 *
 * A job is one launch: nobody waits for a member of its own (stage/waits.h).
 *
 *  1. DESTALL_JOB names it, which `destall run` and launchers set: 16
 *     hexadecimal digits.
 *  2. Without it, the first process that asks draws one.  Children that it
 *     forks afterwards belong to the same job; another program does not.
 *  3. A process that is several jobs at a time, each in a thread, names them:
 *     equal names are one job, within one of the two above.
 *  4. A name of 16 hexadecimal digits is the job itself, in every process: for
 *     launchers whose workers are no children of the first.
 */

#ifndef HUB_JOB_H
#define HUB_JOB_H

#include <stdint.h>

uint64_t job_token(const char *name);
	/* Never 0; name may be NULL. */

uint64_t job_draw(void);
	/* A number that nobody else has; not 0, and no secret. */

#endif
