/* SPDX-License-Identifier: Apache-2.0
 *
 * consider.c: is this one ours?  Runs in jobs, in the preload object, after
 * every open; so what does not concern us must be known at once.
 */

#include <config.h>

#include "preload/consider.h"

#include <errno.h>

#include "preload/guard.h"
#include "preload/swap.h"

int
consider_fd(int fd, int dir, const char *path, int flags)
{
	struct guard g;
	int error;

	if (fd < 0 || !guard_is_open())
		return fd;
	error = errno;
	if (swap_wants(dir, path, flags) && guard_enter(&g)) {
		swap_opened(fd, dir, path, flags);
		guard_leave(&g);
	}
	errno = error;
	return fd;
}
