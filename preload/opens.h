/* SPDX-License-Identifier: Apache-2.0
 *
 * opens.h: files that a program opens which is profiled and tells nothing by
 * itself, told in a journal of its process (probe/journal.h).  Runs in any program
 * that the object is preloaded in, in any of its threads.
 *
 *  1. It is on where the schedule of the session says so (SCHEDULE_OPENS), which is
 *     looked at with the first file that is opened.
 *  2. A process tells of OPENS_MOST files at the most.
 */

#ifndef PRELOAD_OPENS_H
#define PRELOAD_OPENS_H

#include <stdbool.h>
#include <sys/stat.h>

#define OPENS_MOST	200000u

extern bool opens_may_be_on;	/* set before main() */

void opens_start(void);
	/* Before main(). */

void opens_tell(int fd, const struct stat *st, const char *path);
	/* By who is inside (guard.h). */

#endif
