/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c: a wall clock that jumps: every reading of it is an hour ahead or an
 * hour behind, in turns.  The other clocks are as they are.
 * Runs inside the programs under test, preloaded.
 *
 *     DS_CLOCK_COUNT=FILE     at exit, how often it was read, is added there
 */

#include <config.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/shim/shim.h"

#define HOUR	3600

static atomic_ulong reads;

static time_t
jump(void)
{
	return atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed) % 2 ?
	    HOUR : -HOUR;
}

SHIM_EXPORT int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	SHIM_REAL(clock_gettime)
	int rc = real(clock, ts);

	if (rc == 0 && (clock == CLOCK_REALTIME ||
	    clock == CLOCK_REALTIME_COARSE))
		ts->tv_sec += jump();
	return rc;
}

SHIM_EXPORT int
gettimeofday(struct timeval *tv, void *zone)
{
	SHIM_REAL(gettimeofday)
	int rc = real(tv, zone);

	if (rc == 0)
		tv->tv_sec += jump();
	return rc;
}

SHIM_EXPORT time_t
time(time_t *out)
{
	SHIM_REAL(time)
	time_t now = real(NULL) + jump();

	if (out != NULL)
		*out = now;
	return now;
}

__attribute__((destructor)) static void
tear_down(void)
{
	const char *path = getenv("DS_CLOCK_COUNT");
	char text[32];
	int fd, len;

	if (path == NULL || *path == '\0')
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	len = snprintf(text, sizeof text, "%lu\n", atomic_load(&reads));
	if (fd < 0 || write(fd, text, (size_t)len) != len)
		shim_broken("DS_CLOCK_COUNT", path);
	close(fd);
}
