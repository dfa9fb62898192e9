/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_api.c: ledgers of destall.h, for loaders that are written elsewhere.
 * Runs in clients.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "base/err.h"
#include "base/must.h"
#include "loader/ledger.h"

#define DS_LEDGER_MAGIC	0xd51ed9e1u

struct ds_ledger {
	unsigned	magic;
	struct ledger	*ledger;
};

int
ds_ledger_open(struct ds_ledger **out, const char *path, int64_t at,
    struct ds_err *err)
{
	struct ledger_end end = { .at = at };
	struct ds_ledger *l = calloc(1, sizeof *l);
	int rc;

	if (l == NULL)
		return err_fail(err, -ENOMEM, "ledger %s: no memory", path);
	l->magic = DS_LEDGER_MAGIC;
	rc = ledger_open(&l->ledger, path, at > 0, 1, err);
	if (rc == 0 && at > 0)
		rc = ledger_cut(l->ledger, &end, err);
	if (rc < 0) {
		ds_ledger_close(&l);
		return rc;
	}
	*out = l;
	return 0;
}

int
ds_ledger_put(struct ds_ledger *l, const struct ds_ledger_sample *sample,
    struct ds_err *err)
{
	struct ledger_line line = {
		.epoch = sample->epoch, .batch = sample->batch,
		.position = sample->position, .crc = sample->crc32c,
	};

	must_be(l, DS_LEDGER_MAGIC);
	return ledger_put(l->ledger, &line, sample->name, sample->item, err);
}

int
ds_ledger_flush(struct ds_ledger *l, int64_t *size, struct ds_err *err)
{
	must_be(l, DS_LEDGER_MAGIC);
	return ledger_flush(l->ledger, size, err);
}

void
ds_ledger_close(struct ds_ledger **lp)
{
	struct ds_ledger *l = *lp;

	if (l == NULL)
		return;
	must_be(l, DS_LEDGER_MAGIC);
	*lp = NULL;
	(void)ledger_close(&l->ledger, NULL);
	l->magic = 0;
	free(l);
}

uint32_t
ds_crc32c(uint32_t crc, const void *bytes, size_t len)
{
	return crc32c(crc, bytes, len);
}
