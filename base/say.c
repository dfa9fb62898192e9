/* SPDX-License-Identifier: Apache-2.0
 *
 * say.c: our own lines on standard error.  Runs in the command only.
 */

#include <config.h>

#include "base/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/command.h"
#include "base/text.h"

#define LINE_MAX_LEN	2048

void
say(const char *fmt, ...)
{
	char raw[LINE_MAX_LEN], line[LINE_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
		raw[0] = '\0';
	va_end(ap);
	text_clean(line, sizeof line, raw);
	fprintf(stderr, "destall: %s\n", line);
}

int
say_failure(const struct ds_err *err, int status)
{
	say("%s", err->text);
	return status;
}

_Noreturn void
say_no_memory(void)
{
	say("out of memory");
	exit(STATUS_FAILED);
}
