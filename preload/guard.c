/* SPDX-License-Identifier: Apache-2.0
 *
 * guard.c: the way into the preload object and out of it.  Runs in jobs.
 */

#include <config.h>

#include "preload/guard.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

bool guard_is_on;
_Thread_local bool guard_is_inside
    __attribute__((tls_model("initial-exec")));

bool
guard_enter(struct guard *g)
{
	return guard_is_on && guard_enter_off(g);
}

bool
guard_enter_off(struct guard *g)
{
	if (guard_is_inside)
		return false;
	g->error = errno;
	guard_is_inside = true;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel_state);
	return true;
}

/* Out before a cancellation may strike: its handlers are the program's. */
void
guard_leave(const struct guard *g)
{
	guard_is_inside = false;
	(void)pthread_setcancelstate(g->cancel_state, NULL);
	errno = g->error;
}

/* Our own program asks the hub by itself, or is the hub: one that waited for
 * its own answer would stand still for as long as any patience lasts.  (In the
 * build tree libtool puts "lt-" before its name.) */
static bool
is_destall(const char *program)
{
	const char *name = program != NULL ? strrchr(program, '/') : NULL;

	name = name != NULL ? name + 1 : program;
	return name != NULL && (strcmp(name, "destall") == 0 ||
	    strcmp(name, "lt-destall") == 0);
}

void
guard_start(const char *program)
{
	const char *text = getenv("DESTALL");

	guard_is_on = text != NULL && strcmp(text, "1") == 0 &&
	    getauxval(AT_SECURE) == 0 && !is_destall(program);
}
