/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c: what the preload object does when a program starts.  Runs in jobs,
 * before main(), in the only thread there is.
 */

#include <config.h>

#include "base/env.h"
#include "preload/attached.h"
#include "preload/filter.h"
#include "preload/guard.h"

__attribute__((constructor)) static void
start(int argc, char *argv[])
{
	guard_start(argc > 0 ? argv[0] : NULL);
	if (!guard_is_on)
		return;
	env_keep();
	filter_start(argc, argv);
	attached_start();
}
