/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger.h: what a job was given, written down sample by sample, to prove that
 * it got each once.  Runs in clients, in one thread.
 *
 *  1. A line is a sample that was delivered, or skipped (ledger_line.h), in
 *     the order of delivery; nothing else is in the file.
 *  2. When ledger_batch() has returned, its lines are with the kernel: a job
 *     that is killed loses none.  At most the last line of a file is torn, and
 *     only by a kill within that call or by a full disk.
 *  3. A job that goes on from a saved position goes on in its ledger: a torn
 *     line and what was delivered behind that position are cut off, because
 *     they are delivered again.  So the file tells one history.
 *  4. One job at a time has it: it is locked.
 */

#ifndef LOADER_LEDGER_H
#define LOADER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "destall.h"
#include "loader/ledger_line.h"
#include "loader/plan.h"

struct ledger;

struct ledger_skip {
	uint64_t	item, position;
	uint32_t	before;		/* so many of the batch, not skipped */
};

int ledger_open(struct ledger **out, const char *path, bool append,
    uint64_t ranks, struct ds_err *err);
	/* A file that is new or empty; with append also one that has lines.
	 * Of an order that several ranks share, each rank's share is a stream
	 * of its own: the positions written are those in it.
	 * What is no file (a pipe, /dev/null) is written to.  -EEXIST: it has
	 * lines, without append; -EBUSY: another job writes it. */

/* Where a job goes on in its ledger. */
struct ledger_end {
	int64_t		at;		/* the byte */
	bool		has_last;	/* there are lines before it; the last: */
	uint64_t	epoch, position;
	char		sample[LEDGER_LINE_MAX];	/* as written */
};

int ledger_find(struct ledger *l, const struct plan *p,
    const struct plan_place *at, struct ledger_end *end, struct ds_err *err);
	/* Of one opened to append: where the lines of that place in the stream
	 * begin, or a torn one, which are delivered again.  -EBADMSG: lines
	 * that are none, or stand in another order. */
bool ledger_ends_with(const struct ledger_end *end, const char *name,
    uint64_t item);
	/* Is the last sample before it that item? */
int ledger_cut(struct ledger *l, const struct ledger_end *end,
    struct ds_err *err);

int ledger_batch(struct ledger *l, const struct ds_batch *batch,
    const struct ds_data *data, const struct ledger_skip *skips,
    size_t nr_skips, struct ds_err *err);
	/* Before the job has the batch, which it may write to.  skips are in
	 * the order of delivery.  Once it failed, it fails for ever. */

int ledger_put(struct ledger *l, const struct ledger_line *line,
    const char *name, uint64_t item, struct ds_err *err);
	/* One sample, as ledger_line_put() has it; with the kernel after
	 * ledger_flush(), which tells how long the file is then. */
int ledger_flush(struct ledger *l, int64_t *size, struct ds_err *err);

int ledger_failed(const struct ledger *l, struct ds_err *err);
	/* 0, or what ledger_batch() will say whatever it is given. */

int ledger_close(struct ledger **lp, struct ds_err *err);
	/* The ledger is gone, also when it fails. */

#endif
