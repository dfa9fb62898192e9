/* SPDX-License-Identifier: Apache-2.0
 *
 * guard.h: whether a thread is in the program or in us.  Runs in jobs, in the
 * preload object, in any of their threads and signal handlers.
 *
 *  1. Inside, every wrapper is the plain function: what we open and stat
 *     ourselves, and what a signal handler does meanwhile.
 *  2. Nobody who is inside is cancelled: he may hold a lock or a descriptor.
 *  3. errno after is errno before.
 *  4. Off, the program has nothing but plain functions: unless DESTALL=1 was
 *     in the environment at the start, or the program itself turned it on
 *     (start.h), and always where the program has more rights than its caller
 *     (AT_SECURE), and where it is destall itself.
 */

#ifndef PRELOAD_GUARD_H
#define PRELOAD_GUARD_H

#include <stdbool.h>

struct guard {
	int	error;
	int	cancel_state;
};

void guard_start(const char *program);
	/* On or off, by the environment and by the program's name (argv[0]). */

/* Written at the start, before there is a second thread, or before the first
 * call of one that was loaded late. */
extern bool guard_is_on;

/* Of the initial-exec model: reading it never allocates. */
extern _Thread_local bool guard_is_inside
    __attribute__((tls_model("initial-exec")));

/* May this call concern us at all? */
static inline bool
guard_is_open(void)
{
	return guard_is_on && !guard_is_inside;
}

bool guard_enter(struct guard *g);
	/* false: off, or inside already; then there is nothing to leave. */

bool guard_enter_off(struct guard *g);
	/* The same where it is off, too: for what the program itself has asked
	 * for (trace.h). */

void guard_leave(const struct guard *g);

#endif
