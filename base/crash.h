/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.h: named places at which a test can hurt the program.
 * Runs in every process of a build configured with --enable-crash-points; in
 * any other build a point is nothing at all.
 *
 * A point stands between two steps that must not be torn apart:
 *
 *     rc = crash_point("gen.written");
 *
 * and the environment chooses what happens there:
 *
 *     DS_DIE_AT=NAME[:NTH][:ACTION]      NTH counts from 1, the default
 *
 *     kill       SIGKILL to this process, the default
 *     exit       _exit(70), no handlers
 *     stop       SIGSTOP; a SIGCONT goes on
 *     sleep=MS   sleep, an hour at most, then go on
 *     ENOSPC...  the point returns -errno, and the caller fails as if the step
 *                had; any name that errno(3) has
 *
 * The environment is read at the first point that is met; a plan that makes no
 * sense aborts there, because a test that hurts nothing would pass.  A forked
 * child goes on counting from its parent's count.
 *
 * Tests find all points by reading the source for crash_point("..."); a lint
 * test asks that each is named by one.
 */

#ifndef BASE_CRASH_H
#define BASE_CRASH_H

#if WITH_CRASH_POINTS
int crash_point(const char *name);
	/* 0, or the -errno that the test asked for. */
#else
static inline int
crash_point(const char *name)
{
	(void)name;
	return 0;
}
#endif

#endif
