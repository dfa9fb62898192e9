/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_cwd.c: chdir() and fchdir().  Runs in jobs, in the preload object.
 */

#include <config.h>

#include "preload/wrap.h"

#include "preload/filter.h"
#include "preload/guard.h"

static int
tell_if_moved(int rc)
{
	struct guard g;

	if (rc == 0 && guard_enter(&g)) {
		filter_cwd_changed();
		guard_leave(&g);
	}
	return rc;
}

int
wrap_chdir(const char *path)
{
	real_chdir *call = REAL(chdir);

	return call != NULL ? tell_if_moved(call(path)) : -1;
}

int
wrap_fchdir(int fd)
{
	real_fchdir *call = REAL(fchdir);

	return call != NULL ? tell_if_moved(call(fd)) : -1;
}
