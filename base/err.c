/* SPDX-License-Identifier: Apache-2.0
 *
 * err.c: how a failure travels up.  Runs in every process.
 */

#include <config.h>

#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

/* vsnprintf at the end of what is there; a text that is too long is cut. */
static void
append(struct ds_err *err, const char *fmt, va_list ap)
{
	size_t used = strnlen(err->text, sizeof err->text - 1);

	if (vsnprintf(err->text + used, sizeof err->text - used, fmt, ap) < 0)
		err->text[used] = '\0';
}

int
err_fail(struct ds_err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	must(rc < 0);
	if (err == NULL)
		return rc;
	err->code = rc;
	err->text[0] = '\0';
	va_start(ap, fmt);
	append(err, fmt, ap);
	va_end(ap);
	return rc;
}

int
err_errno(struct ds_err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	must(saved > 0);
	if (err == NULL)
		return -saved;
	err->code = -saved;
	err->text[0] = '\0';
	va_start(ap, fmt);
	append(err, fmt, ap);
	va_end(ap);
	return err_hint(err, -saved, "%s", strerrordesc_np(saved) != NULL ?
	    strerrordesc_np(saved) : "unknown error");
}

int
err_hint(struct ds_err *err, int rc, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	must(rc < 0);
	if (err == NULL)
		return rc;
	used = strnlen(err->text, sizeof err->text - 1);
	(void)snprintf(err->text + used, sizeof err->text - used, ": ");
	va_start(ap, fmt);
	append(err, fmt, ap);
	va_end(ap);
	return rc;
}
