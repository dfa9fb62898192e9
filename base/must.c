/* SPDX-License-Identifier: Apache-2.0
 *
 * must.c: what a failed assertion does.  Runs in every process.
 *
 * One line by write(2), because the heap or stdio may be what is broken, then
 * abort, so that a core or a debugger shows the place.
 */

#include <config.h>

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void (*teller)(void *arg, const char *text);
static void *teller_arg;

void
must_tell(void (*tell)(void *arg, const char *text), void *arg)
{
	teller = tell;
	teller_arg = arg;
}

static void
tell_teller(const char *text)
{
	void (*tell)(void *, const char *) = teller;

	teller = NULL;		/* should that fail, too */
	if (tell != NULL)
		tell(teller_arg, text);
}

_Noreturn void
must_fail(const char *file, int line, const char *what)
{
	char text[256];
	int n;

	n = snprintf(text, sizeof text,
	    "destall: this is a bug in destall: %s:%d: %s does not hold\n",
	    file, line, what);
	if (n > 0) {
		size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
		ssize_t ignored;

		text[len - 1] = '\n';	/* also of a line that was cut */
		ignored = write(STDERR_FILENO, text, len);
		(void)ignored;
		text[len - 1] = '\0';
		tell_teller(text);
	}
	abort();
}
