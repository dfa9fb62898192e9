/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_check.h: do ledgers prove that every job was given every sample once?
 * Runs in the command only.
 *
 * Of each file:
 *
 *  1. Epochs follow each other, none left out.
 *  2. No position of an epoch is there twice, and all from 0 to the last are;
 *     in any order, because a job that joined late gets the rest of the epoch
 *     first.  Of the last epoch the end may be missing (rules.complete: it may
 *     not), but nothing in between: a cut epoch goes from 0 on, or from where
 *     the job joined to the end and then from 0 on, and a last unit that is
 *     short comes last.  rules.resumed: of the first epoch the beginning may be
 *     missing, or, of one that was joined late, what was delivered first.
 *  3. No sample is there twice in an epoch, and all whole epochs, of all
 *     files, have the same ones.  rules.repeats: they need not, because the
 *     order draws samples at random.
 *
 * Between files, which are of one stream:
 *
 *  4. The same epoch and position is the same sample with the same crc32c, or
 *     skipped in both.
 *
 * Files are read side by side, an epoch at a time.  Names are compared by
 * digests of 64 bits.
 */

#ifndef LOADER_LEDGER_CHECK_H
#define LOADER_LEDGER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ledger_rules {
	bool	complete, resumed, repeats;
};

struct ledger_file {
	const char	*path;		/* the caller's */
	uint64_t	first_epoch;
	uint64_t	epochs;
	uint64_t	samples, skipped; /* skipped ones are samples, too */
	bool		torn;		/* what its end left out was no line */
	bool		cut;		/* the last epoch is not whole */
};

struct ledger_findings {
	struct ledger_file *files;
	size_t		nr_files;
	uint64_t	epochs;		/* different ones */
	uint64_t	samples, skipped;
	uint64_t	per_epoch;	/* samples; 0: not known */
	const char	*bad_file;	/* where it is violated, or NULL */
	uint64_t	bad_line;
};

int ledger_check(struct ledger_findings *out, char **paths, size_t nr,
    const struct ledger_rules *rules, struct ds_err *err);
	/* 0: nothing is wrong; -EBADMSG: the first violation, in err and
	 * out->bad_*; else why a file could not be read.  What was found until
	 * then is in out in each case. */
void ledger_findings_fini(struct ledger_findings *f);

#endif
