/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_compare.h: the same place in several ledgers.
 * Runs in the command only.
 *
 * For each position of an epoch a digest of its sample and crc32c, as the
 * first file that has it says: 8 bytes.
 */

#ifndef LOADER_LEDGER_COMPARE_H
#define LOADER_LEDGER_COMPARE_H

#include "base/err.h"
#include "loader/ledger_line.h"
#include "loader/sparse.h"

int ledger_compare(struct sparse *digests, const struct ledger_line *l,
    uint64_t sample);
	/* sample is the digest of its name.  1: as in the others, or new; 0:
	 * another; -ENOMEM. */

void ledger_compare_tell(char text[DS_ERR_TEXT], const struct ledger_line *l,
    char **paths, size_t nr);
	/* In what it differs from the first of these files that has the place,
	 * which is searched for. */

/* So much of a sample's name is told: for "%.*s". */
#define LEDGER_SHOWN_MAX 120u
#define LEDGER_SHOWN(l) \
	((int)((l)->sample_len < LEDGER_SHOWN_MAX ? \
	    (l)->sample_len : LEDGER_SHOWN_MAX)), (l)->sample

#endif
