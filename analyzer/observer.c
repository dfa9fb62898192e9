/* SPDX-License-Identifier: Apache-2.0
 *
 * observer.c: what observers share: gaps, files, numbers in them.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define PATH_ROOM	4096u
#define DIGITS		20u		/* of the largest number of 64 bits */

void
gap_add(struct observe_gap *g, const char *fmt, ...)
{
	va_list ap;

	if (g->times++ > 0)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(g->why, sizeof g->why, fmt, ap);
	va_end(ap);
}

/*--- files ---------------------------------------------------------------*/

ssize_t
observe_read(const struct observe *o, const char *path, char *text, size_t size,
    struct ds_err *err)
{
	char full[PATH_ROOM];
	ssize_t n;

	if (snprintf(full, sizeof full, "%s%s", o->root, path) >=
	    (int)sizeof full)
		return err_fail(err, -ENAMETOOLONG, "%s: too long", path);
	n = io_read_text(AT_FDCWD, full, text, size);
	if (n < 0)
		return err_fail(err, (int)n, "%s: %s", path,
		    strerror((int)-n));
	return n;
}

ssize_t
subject_read(const struct subject *s, const char *name, char *text, size_t size,
    struct ds_err *err)
{
	char path[64];
	ssize_t n;

	if (s->tid != 0)
		(void)snprintf(path, sizeof path, "task/%d/%s", s->tid, name);
	else
		(void)snprintf(path, sizeof path, "%s", name);
	n = io_read_text(s->dir, path, text, size);
	if (n < 0)
		return err_fail(err, (int)n, "/proc/%d/%s: %s", s->pid, path,
		    strerror((int)-n));
	return n;
}

/*--- numbers -------------------------------------------------------------*/

double
number_at(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	double value = 0;

	if (digits == 0 || digits > DIGITS)
		return NAN;
	for (size_t i = 0; i < digits; i++)
		value = 10 * value + (text[i] - '0');
	return value;
}

double
number_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; text != NULL; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, key, len) == 0)
			return number_at(text + len);
	}
	return NAN;
}

double
number_nth(const char *text, unsigned n)
{
	text += strspn(text, " ");
	for (; n > 0; n--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return number_at(text);
}
