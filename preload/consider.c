/* SPDX-License-Identifier: Apache-2.0
 *
 * consider.c: is this one ours?  Runs in jobs, in the preload object, after
 * every open; so what does not concern us must be known at once.
 */

#include <config.h>

#include "preload/consider.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/guard.h"
#include "preload/origin.h"
#include "preload/swap.h"
#include "preload/trace.h"

/*--- by its number -------------------------------------------------------*/

/* The descriptor that a path names, or -1. */
static int
number_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	char *end;
	long n;

	if (strcmp(path, "/dev/stdin") == 0)
		return STDIN_FILENO;
	for (unsigned i = 0; i < 2; i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(path, folders[i], len) != 0 ||
		    path[len] < '0' || path[len] > '9')
			continue;
		n = strtol(path + len, &end, 10);
		return *end == '\0' && n < INT_MAX ? (int)n : -1;
	}
	return -1;
}

bool
consider_again(const char *path, int flags)
{
	bool restored = false;
	struct guard g;
	int fd;

	if ((errno != EROFS && errno != EACCES) || !guard_is_open() ||
	    (flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY)
		return false;
	fd = number_of(path);
	if (fd >= 0 && guard_enter(&g)) {
		restored = origin_restore(fd);
		guard_leave(&g);
	}
	return restored;
}

/*--- one that was opened -------------------------------------------------*/

int
consider_fd(int fd, int dir, const char *path, int flags)
{
	struct guard g;
	int error;

	if (fd < 0)
		return fd;
	if (trace_is_on())
		trace_opened(fd, path, flags);
	if (!guard_is_open())
		return fd;
	error = errno;
	if (swap_wants(dir, path, flags) && guard_enter(&g)) {
		swap_opened(fd, dir, path, flags);
		guard_leave(&g);
	}
	errno = error;
	return fd;
}
