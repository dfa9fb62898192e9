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

struct ledger;

struct ledger_skip {
	uint64_t	item, position;
};

int ledger_open(struct ledger **out, const char *path, bool append,
    uint64_t ranks, struct ds_err *err);
	/* A file that is new or empty; with append also one that has lines.
	 * Of an order that several ranks share, each rank's share is a stream
	 * of its own: the positions written are those in it.
	 * What is no file (a pipe, /dev/null) is written to.  -EEXIST: it has
	 * lines, without append; -EBUSY: another job writes it. */

/* Where a job goes on, and what it was given last. */
struct ledger_place {
	uint64_t	epoch, position;
	bool		has_last;	/* it is known */
	uint64_t	last_epoch, last_position;
	const char	*last_name;	/* of its item */
	uint64_t	last_item;
};

int ledger_resume(struct ledger *l, const struct ledger_place *at,
    struct ds_err *err);
	/* Of one opened to append: cuts off the lines of that place in the
	 * stream and behind, and a torn one; nothing is there then, or ends
	 * with what was given last.  -EBADMSG: it is no ledger, or that of
	 * another job: nothing is cut then. */

int ledger_batch(struct ledger *l, const struct ds_batch *batch,
    const struct ds_data *data, const struct ledger_skip *skips,
    size_t nr_skips, struct ds_err *err);
	/* Before the job has the batch, which it may write to.  skips ascend,
	 * as positions do.  Once it failed, it fails for ever. */

int ledger_failed(const struct ledger *l, struct ds_err *err);
	/* 0, or what ledger_batch() will say whatever it is given. */

int ledger_close(struct ledger **lp, struct ds_err *err);
	/* The ledger is gone, also when it fails. */

#endif
