/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c: what the preload object does when it is loaded.  Runs in jobs:
 * before main(), in the only thread there is; or when a program that was
 * started without the object loads it itself.
 *
 * Late, it interposes nothing: the program calls its open64() by name, for files
 * that it wants from the cache.  Preloaded without a root, it may be told of some
 * later.  The Python package does both (loader/python/destall/_cache.py).
 */

#include <config.h>

#include "preload/start.h"

#include <errno.h>
#include <sys/auxv.h>

#include "base/env.h"
#include "preload/attached.h"
#include "preload/filter.h"
#include "preload/guard.h"
#include "preload/opens.h"

static void
begin(void)
{
	env_keep();
	attached_start();
}

__attribute__((constructor)) static void
start(int argc, char *argv[])
{
	guard_start(argc > 0 ? argv[0] : NULL);
	opens_start();
	if (!guard_is_on)
		return;
	begin();
	filter_start(argc, argv);
}

int
ds_late_roots(const char *list)
{
	if (getauxval(AT_SECURE) != 0)
		return -EPERM;
	if (list != NULL) {
		if (!guard_is_on)
			begin();
		filter_add_late(list);
		guard_is_on = true;
	}
	return (int)filter_nr();
}
