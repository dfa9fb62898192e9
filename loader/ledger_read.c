/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_read.c: a ledger, read line by line.  Runs in the command only.
 */

#include <config.h>

#include "loader/ledger_read.h"

#include <errno.h>
#include <fcntl.h>

#include "base/hash.h"
#include "base/io.h"

static int
fail_line(struct ledger_read *r, const char *why, struct ds_err *err)
{
	r->number = r->lines.number;
	return err_fail(err, -EBADMSG, "%s: line %llu: %s", r->path,
	    (unsigned long long)r->number, why);
}

int
ledger_read_next(struct ledger_read *r, struct ds_err *err)
{
	const char *fault;
	char *text = NULL;
	size_t len = 0;
	int rc = lines_next(&r->lines, &text, &len);

	r->has_line = false;
	if (rc == -E2BIG)
		return fail_line(r, "too long to be of a ledger", err);
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "%s", r->path);
	}
	if (rc == 0)
		return 0;
	if (r->lines.torn) {
		r->torn = true;
		return 0;
	}
	fault = ledger_line_parse(&r->line, text, len);
	if (fault != NULL)
		return fail_line(r, fault, err);
	r->number = r->lines.number;
	r->has_line = true;
	return 0;
}

int
ledger_read_open(struct ledger_read *r, const char *path, struct ds_err *err)
{
	int rc;

	*r = (struct ledger_read){ .path = path, .fd = -1 };
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (r->fd < 0)
		return err_errno(err, "%s", path);
	if (lines_init(&r->lines, r->fd, LEDGER_LINE_MAX) < 0)
		rc = err_fail(err, -ENOMEM, "%s: no memory", path);
	else
		rc = ledger_read_next(r, err);
	if (rc < 0)
		ledger_read_close(r);
	return rc;
}

void
ledger_read_close(struct ledger_read *r)
{
	lines_fini(&r->lines);
	io_close(&r->fd);
	r->has_line = false;
}

/*--- digests -------------------------------------------------------------*/

static unsigned
hex_value(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* FNV-1a over the bytes, then mixed as MurmurHash3 ends, so that digests may
 * be summed up.  A number of an item is told from a name that looks so. */
uint64_t
ledger_read_digest(const struct ledger_line *l)
{
	uint64_t h = HASH_BEGIN + (l->sample[0] == '#');

	for (size_t i = 0; i < l->sample_len; i++) {
		unsigned c = (unsigned char)l->sample[i];

		if (c == '%') {
			c = hex_value(l->sample[i + 1]) << 4 |
			    hex_value(l->sample[i + 2]);
			i += 2;
		}
		h = hash_byte(h, (unsigned char)c);
	}
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}
