/* SPDX-License-Identifier: Apache-2.0
 *
 * asleep.h: until a thread of this process sleeps, as the kernel has it: for
 * tests that let something go on only when another waits.  Runs in tests.
 */

#ifndef TESTS_HARNESS_ASLEEP_H
#define TESTS_HARNESS_ASLEEP_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static inline void
await_asleep(pid_t tid)
{
	char path[64], text[128];
	const char *end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	for (;;) {
		f = fopen(path, "re");
		if (f == NULL || fgets(text, sizeof text, f) == NULL)
			abort();
		fclose(f);
		end = strrchr(text, ')');
		if (end != NULL && strncmp(end, ") S", 3) == 0)
			return;
		sched_yield();
	}
}

#endif
