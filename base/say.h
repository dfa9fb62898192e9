/* SPDX-License-Identifier: Apache-2.0
 *
 * say.h: our own lines on standard error, each beginning with "destall: ".
 * Runs in the command only.
 */

#ifndef BASE_SAY_H
#define BASE_SAY_H

#include "base/err.h"

int say_failure(const struct ds_err *err, int status);
	/* One line; returns status, for `return say_failure(...)` in main. */

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
	/* A note.  Text from elsewhere is made fit for a terminal. */

_Noreturn void say_no_memory(void);
	/* One line and exit status 1: all that a command can do without
	 * memory.  Never in the library, which returns -ENOMEM. */

#endif
