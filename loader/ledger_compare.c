/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_compare.c: the same place in several ledgers.
 * Runs in the command only.
 */

#include <config.h>

#include "loader/ledger_compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "loader/ledger_read.h"

#define VALUE_TEXT	16u

/* 0 stands for none. */
static uint64_t
digest_of(const struct ledger_line *l, uint64_t sample)
{
	uint64_t value = (uint64_t)l->crc << 1 | l->skipped;
	uint64_t h = (sample ^ value) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 29;
	return h != 0 ? h : 1;
}

int
ledger_compare(struct sparse *digests, const struct ledger_line *l,
    uint64_t sample)
{
	uint64_t *at = sparse_at(digests, l->position);
	uint64_t digest = digest_of(l, sample);

	if (at == NULL)
		return -ENOMEM;
	if (*at == 0)
		*at = digest;
	return *at == digest;
}

/* The line of a file that has the place; pipes cannot be read twice. */
static bool
find_place(struct ledger_read *r, const char *path, const struct ledger_line *l)
{
	struct stat st;
	int rc;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	rc = ledger_read_open(r, path, NULL);
	if (rc < 0)
		return false;
	while (rc == 0 && r->has_line && (r->line.epoch != l->epoch ||
	    r->line.position != l->position))
		rc = ledger_read_next(r, NULL);
	if (rc == 0 && r->has_line)
		return true;
	ledger_read_close(r);
	return false;
}

static const char *
value_of(char text[VALUE_TEXT], const struct ledger_line *l)
{
	(void)snprintf(text, VALUE_TEXT, l->skipped ? "skipped" :
	    "%08" PRIx32, l->crc);
	return text;
}

void
ledger_compare_tell(char text[DS_ERR_TEXT], const struct ledger_line *l,
    char **paths, size_t nr)
{
	char mine[VALUE_TEXT], theirs[VALUE_TEXT];
	struct ledger_read r;
	size_t i = 0;

	while (i < nr && !find_place(&r, paths[i], l))
		i++;
	if (i == nr) {
		(void)snprintf(text, DS_ERR_TEXT, "epoch %" PRIu64
		    ", position %" PRIu64 " is not what another file has "
		    "there", l->epoch, l->position);
		return;
	}
	(void)snprintf(text, DS_ERR_TEXT, "epoch %" PRIu64 ", position %"
	    PRIu64 " is %.*s %s, but %.*s %s in line %" PRIu64 " of %s",
	    l->epoch, l->position, LEDGER_SHOWN(l), value_of(mine, l),
	    LEDGER_SHOWN(&r.line), value_of(theirs, &r.line), r.number,
	    paths[i]);
	ledger_read_close(&r);
}
