/* SPDX-License-Identifier: Apache-2.0
 *
 * sniff.c: what a file is that no format reads, for people.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "prep/sniff.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct mark {
	size_t		at, len;
	const char	*bytes;
	const char	*name;		/* with its article */
	int		rc;
};

#define MARK(at, bytes, name, rc) \
	{ (at), sizeof(bytes) - 1, (bytes), (name), (rc) }

/* Only what is no format of picture.c in this build is looked up. */
static const struct mark marks[] = {
	MARK(0, "\x89PNG\r\n\x1a\n", "a PNG, which this build does not read",
	    -ENOTSUP),
	MARK(0, "GIF8", "a GIF, which is not read", -ENOTSUP),
	MARK(8, "WEBP", "a WebP, which is not read", -ENOTSUP),
	MARK(0, "II*\0", "a TIFF, which is not read", -ENOTSUP),
	MARK(0, "MM\0*", "a TIFF, which is not read", -ENOTSUP),
	MARK(0, "BM", "a BMP, which is not read", -ENOTSUP),
	MARK(4, "ftypavif", "an AVIF, which is not read", -ENOTSUP),
	MARK(4, "ftyphei", "a HEIC, which is not read", -ENOTSUP),
	MARK(4, "jP  \r\n\x87\n", "a JPEG 2000, which is not read", -ENOTSUP),
	MARK(4, "JXL \r\n\x87\n", "a JPEG XL, which is not read", -ENOTSUP),
	MARK(0, "\xff\x0a", "a JPEG XL, which is not read", -ENOTSUP),
	MARK(0, "8BPS", "a Photoshop file, which is not read", -ENOTSUP),
	MARK(0, "<!DOCTYPE", "a web page, not a picture", -EBADMSG),
	MARK(0, "<!doctype", "a web page, not a picture", -EBADMSG),
	MARK(0, "<html", "a web page, not a picture", -EBADMSG),
	MARK(0, "<HTML", "a web page, not a picture", -EBADMSG),
	MARK(0, "<?xml", "XML, not a picture", -EBADMSG),
	MARK(0, "\x1f\x8b", "packed by gzip, not a picture", -EBADMSG),
	MARK(0, "PK\x03\x04", "a zip archive, not a picture", -EBADMSG),
};

#define SHOWN	8u	/* of the bytes that nobody knows */

static void
show_bytes(char *text, size_t room, const uint8_t *bytes, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < len && i < SHOWN; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%02x",
		    i > 0 ? " " : "", bytes[i]);
	at += (size_t)snprintf(text + at, room - at, " \"");
	for (size_t i = 0; i < len && i < SHOWN; i++)
		text[at++] = bytes[i] >= ' ' && bytes[i] < 0x7f ?
		    (char)bytes[i] : '.';
	(void)snprintf(text + at, room - at, "\"");
}

int
sniff_refuse(const uint8_t *bytes, size_t len, struct ds_err *err)
{
	char text[4 * SHOWN + 8];

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const struct mark *m = &marks[i];

		if (len >= m->at + m->len &&
		    memcmp(bytes + m->at, m->bytes, m->len) == 0)
			return err_fail(err, m->rc, "it is %s", m->name);
	}
	show_bytes(text, sizeof text, bytes, len);
	return err_fail(err, -EBADMSG, "it is no picture that is read: it "
	    "begins with %s", text);
}
