/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_lock.c: flock(), and those commands of fcntl() that mean the file and
 * not the descriptor.  Runs in jobs, in the preload object.
 *
 * A lock on a substitute would keep out nobody who has the file itself open.
 * So a descriptor that is locked becomes the file again, before the call; what
 * was duplicated from it stays as it is.
 */

#include <config.h>

#include "preload/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

#include "preload/guard.h"
#include "preload/origin.h"

static void
restore(int fd)
{
	struct guard g;

	if (guard_enter(&g)) {
		origin_restore(fd);
		guard_leave(&g);
	}
}

int
wrap_flock(int fd, int operation)
{
	real_flock *call = REAL(flock);

	if (call == NULL)
		return -1;
	restore(fd);
	return call(fd, operation);
}

static bool
means_file(int command, long arg)
{
	switch (command) {
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
	case F_SETLEASE:
		return true;
	case F_SETFL:
		return (arg & O_DIRECT) != 0;
	default:
		return false;
	}
}

/* As the C library does, it takes a third argument whatever there are. */
#define DEFINE_FCNTL(name) \
int \
wrap_##name(int fd, int command, ...) \
{ \
	real_##name *call = REAL(name); \
	va_list ap; \
	long arg; \
\
	va_start(ap, command); \
	arg = va_arg(ap, long); \
	va_end(ap); \
	if (call == NULL) \
		return -1; \
	if (means_file(command, arg)) \
		restore(fd); \
	return call(fd, command, arg); \
}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)
