/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_line.h: a line of a ledger, which is one sample that a job was given:
 *
 *     epoch batch position sample crc32c
 *
 * Runs in clients, which write it, and in the command, which checks it.
 *
 * Numbers are decimal, from 0.  sample is the item's name in which "%", blanks,
 * control bytes and a "#" at its beginning are written %XX, or "#" and the
 * item's number where there is no name.  crc32c, of the sample's bytes, is
 * eight hexadecimal digits, or "skipped" for a bad sample that was left out.
 */

#ifndef LOADER_LEDGER_LINE_H
#define LOADER_LEDGER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEDGER_LINE_MAX	16384u	/* a name of 4095 bytes, all escaped */

struct ledger_line {
	uint64_t	epoch, batch, position;
	const char	*sample;	/* as written; in the text */
	size_t		sample_len;
	bool		skipped;
	uint32_t	crc;		/* 0 if skipped */
};

size_t ledger_line_put(char out[LEDGER_LINE_MAX], const struct ledger_line *l,
    const char *name, uint64_t item);
	/* With its newline; the length.  l->sample is not looked at: it is
	 * made of the name, or of the item's number if name is NULL or too
	 * long to be one. */

const char *ledger_line_parse(struct ledger_line *l, const char *text,
    size_t len);
	/* One without its newline; NULL, or why it is none. */

#endif
