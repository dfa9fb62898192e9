/* SPDX-License-Identifier: Apache-2.0
 *
 * err.c: how a failure travels up.  Runs in every process.
 *
 *  1. err->text is always terminated, and never longer than its array.
 *  2. A sentence that is too long loses the middle, not its end: the name of
 *     a file may be cut, the reason and the advice may not.
 */

#include <config.h>

#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

#define HINT_MAX	(DS_ERR_TEXT / 2)	/* a longer one is cut */
#define GAP		"..."
#define LONG_TEXT	(8 * DS_ERR_TEXT)	/* a path and words around it */

/* Where to cut a text of at least len bytes: not within a character. */
static size_t
cut_before(const char *text, size_t len)
{
	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* Copies a text that may be too long, its middle left out then. */
static void
shorten(char out[DS_ERR_TEXT], const char *text, size_t len)
{
	size_t tail = DS_ERR_TEXT * 2 / 3, head;

	if (len < DS_ERR_TEXT) {
		memcpy(out, text, len + 1);
		return;
	}
	head = cut_before(text, DS_ERR_TEXT - 1 - tail - strlen(GAP));
	while (tail > 0 && ((unsigned char)text[len - tail] & 0xc0) == 0x80)
		tail--;
	/* What an earlier cut left must not look like a longer gap. */
	while (head > 0 && text[head - 1] == '.')
		head--;
	while (tail > 0 && text[len - tail] == '.')
		tail--;
	(void)snprintf(out, DS_ERR_TEXT, "%.*s" GAP "%s", (int)head, text,
	    text + len - tail);
}

static void __attribute__((format(printf, 3, 0)))
begin(struct ds_err *err, int rc, const char *fmt, va_list ap)
{
	char text[LONG_TEXT];

	err->code = rc;
	if (vsnprintf(text, sizeof text, fmt, ap) < 0)
		text[0] = '\0';
	shorten(err->text, text, strlen(text));
}

static void
append(struct ds_err *err, const char *hint)
{
	char text[2 * DS_ERR_TEXT];

	(void)snprintf(text, sizeof text, "%s: %s", err->text, hint);
	shorten(err->text, text, strlen(text));
}

int
err_fail(struct ds_err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	must(rc < 0);
	if (err == NULL)
		return rc;
	va_start(ap, fmt);
	begin(err, rc, fmt, ap);
	va_end(ap);
	return rc;
}

int
err_errno(struct ds_err *err, const char *fmt, ...)
{
	int saved = errno;
	const char *why;
	va_list ap;

	must(saved > 0);
	if (err == NULL)
		return -saved;
	va_start(ap, fmt);
	begin(err, -saved, fmt, ap);
	va_end(ap);
	/* Not strerror(): it may use memory that other threads use too. */
	why = strerrordesc_np(saved);
	append(err, why != NULL ? why : "unknown error");
	return -saved;
}

int
err_hint(struct ds_err *err, int rc, const char *fmt, ...)
{
	char hint[HINT_MAX];
	va_list ap;

	must(rc < 0);
	if (err == NULL)
		return rc;
	va_start(ap, fmt);
	if (vsnprintf(hint, sizeof hint, fmt, ap) >= 0)
		append(err, hint);
	va_end(ap);
	return rc;
}
