/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h: a process of a job that is profiled: what it is to do (schedule.h),
 * and what it tells (journal.h).  Runs in jobs, one thread at a time.
 *
 *  1. A schedule that is not sound, or a journal that cannot be made, is no
 *     profile: the job works as ever.
 *  2. Nothing is written to, read from or closed by a number that is not proved
 *     to be ours still: a program may close what it does not know.
 *  3. A journal that could not be written once is not written again: its last
 *     record may be torn, and what came behind it could not be read.
 *  4. In a forked child it tells nothing, and there is nothing to follow.
 *
 * The command holds a record lock for writing (F_OFD_SETLK, or F_SETLK) on the
 * schedule, by a descriptor that no child of it has.  (A mapping holds it as well
 * as a descriptor does.)
 */

#ifndef PROBE_SESSION_H
#define PROBE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "probe/journal.h"
#include "probe/schedule.h"

struct session_file {			/* that is open; see rule 2 */
	int	fd;
	dev_t	dev;
	ino_t	ino;
};

struct session {
	pid_t	pid;
	struct session_file schedule, journal;
	const struct schedule *map;
	uint32_t flags;			/* of the schedule, at the start */
	bool	is_broken;		/* nothing can be told any more */
};

struct session_block {			/* a copy that was checked */
	enum block_kind	kind;
	uint32_t	batches, workers;
};

int session_open(struct session *s, struct ds_err *err);
	/* 1; 0: this job is not profiled; or, by rule 1, -errno and why. */
void session_close(struct session *s);
	/* In a forked child, too. */

bool session_tell(struct session *s, const struct journal_record *r,
    const char *text);
	/* text: NULL, or cut to JOURNAL_TEXT_MAX.  False: by rules 3 and 4. */

enum session_news {
	SESSION_NOTHING,
	SESSION_BLOCK,		/* is there */
	SESSION_LEAVE,		/* schedule.leave */
	SESSION_GONE,		/* nobody holds the lock, or it cannot be told */
	SESSION_BAD,		/* the block makes no sense */
};

enum session_news session_look(const struct session *s, uint64_t i,
    struct session_block *b);
	/* At block i; b is filled for SESSION_BLOCK only. */
enum session_news session_wait(const struct session *s, uint64_t i,
    uint64_t deadline_ns, struct session_block *b);
	/* The same, until there is news or the time has come. */

bool session_leaves(const struct session *s);
	/* schedule.leave alone: for who goes on without the command. */
bool session_may_go(const struct session *s);
	/* The command has seen to those who started this process. */

#endif
