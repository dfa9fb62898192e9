/* SPDX-License-Identifier: Apache-2.0
 *
 * journal.h: what a process of a job that is profiled tells: a file of records in
 * the folder of the session, one for each process, which nobody else writes.
 * loader/python/destall/_journal.py writes them, too.
 * Runs in jobs, which write, and in the command, which reads.
 *
 * A record is written when what it tells of has happened, by one write(2): what a
 * process has told is there however it ends.  The command reads it as hostile
 * input, up to the last whole record.
 *
 *  1. All records have JOURNAL_RECORD bytes; a text follows one in as many more as
 *     it needs, filled up with zeros.
 *  2. Times are CLOCK_MONOTONIC, in nanoseconds; `loader` counts the loaders of the
 *     process from 1.  `block` is the number of a block of the schedule, or
 *     JOURNAL_NO_BLOCK where nothing is steered.
 *  3. Workers tell under the number that their loader has in the main process.
 */

#ifndef PROBE_JOURNAL_H
#define PROBE_JOURNAL_H

#include <assert.h>
#include <stdint.h>

#define JOURNAL_RECORD		64u
#define JOURNAL_SUFFIX		".journal"	/* PID.journal; PID-N after exec */
#define JOURNAL_NO_BLOCK	UINT64_MAX
#define JOURNAL_TEXT_MAX	4096u
#define JOURNAL_ALL_WORKERS	UINT64_MAX	/* in MADE, of a loader whose
					 * workers are threads: all together */

/* Who tells, in HELLO. */
enum journal_role {
	ROLE_MAIN,		/* a process with loaders */
	ROLE_WORKER,
	ROLE_NATIVE,		/* the native loader */
	ROLE_PYTHON,		/* one that may have loaders later */
	ROLES
};

/* word[] by kind, in this order. */
enum journal_kind {
	JOURNAL_NONE,
	JOURNAL_HELLO,	/* role, pid, parent, rank, ranks, time; text: what runs */
	JOURNAL_LOADER,	/* batch size (0: none), workers, prefetch, batches of an
			 * epoch (0: not known), samples of an epoch (0), flags;
			 * text: what it loads */
	JOURNAL_TRAINS,	/* time: this loader is the one that trains */
	JOURNAL_STEP,	/* block, number in the block (or of the loader), asked,
			 * given, samples, of a processor until asked, until given */
	JOURNAL_MADE,	/* in a worker: block, worker, begin, end, samples, of a
			 * processor since the one before, kept from one; of
			 * JOURNAL_ALL_WORKERS: making and fetching, by the clock,
			 * of all threads */
	JOURNAL_READY,	/* a batch that was there already was taken, and let go,
			 * while workers had nothing to do: block, begin, end,
			 * batches that were received meanwhile */
	JOURNAL_BLOCK,	/* begins: block, kind, time, of a processor until then (0: not
			 * told) */
	JOURNAL_BLOCK_END, /* block, kind, time, batches, samples, 1 if a device works on
			 * while the job asks for the next batch */
	JOURNAL_SET,	/* batches, samples, files, bytes, samples whose files are
			 * not known; text: the folder that all files are in */
	JOURNAL_PAGES,	/* of a block's files: block, when (0 before, 1 after),
			 * pages (the machine's), of them in memory, not told */
	JOURNAL_READ,	/* reading alone: block, begin, end, files, bytes, samples,
			 * readers */
	JOURNAL_ALONE,	/* the loader alone: block, begin, end, samples, workers, of
			 * a processor in the main process, batches */
	JOURNAL_OTHER,	/* another loader was iterated: begin, end, batches, samples */
	JOURNAL_STORAGE, /* bytes that were read from storage for this process:
			 * block, bytes, begin, end; of the native loader also
			 * what the process has used of processors meanwhile; of
			 * a worker (end 0): all until the block began */
	JOURNAL_LIVE,	/* not steered: batches of about a second: begin, end,
			 * batches, samples, in calls that waited, in calls that
			 * found a batch, how many did */
	JOURNAL_LIVE_MADE, /* in a worker: worker, end, batches, samples, time, of a
			 * processor, kept from one */
	JOURNAL_OPEN,	/* a file was opened for reading: bytes, pages, of them in
			 * memory; text: its path */
	JOURNAL_NOTE,	/* text: a confession */
	JOURNAL_EPOCH,	/* time: the end of an epoch was reached; batches */
	JOURNAL_LEFT,	/* time, why: enum journal_left */
	JOURNAL_MARK,	/* a step that a program tells by ds_step(): time, samples */
	JOURNAL_BESIDE,	/* other files of the data set, which the job has not read
			 * yet: files, pages, of them in memory, not told; a file
			 * counts if all of it was told */
	JOURNAL_KINDS
};

enum journal_left {
	LEFT_END,		/* the schedule is done */
	LEFT_EPOCH,		/* the epoch has no room for the next block: start me
				 * again */
	LEFT_ASKED,		/* schedule.leave */
	LEFT_ALONE,		/* the command is gone */
	LEFT_FAILED,		/* the next block cannot be done: a note says why */
	LEFTS
};

/* Flags of JOURNAL_LOADER. */
#define LOADER_ITERABLE		1u
#define LOADER_PINNED		2u
#define LOADER_PERSISTENT	4u
#define LOADER_PIPELINED	8u	/* fetches while it prepares: the native one */

struct journal_record {
	uint16_t	kind;
	uint16_t	text;		/* bytes that follow, or 0 */
	uint32_t	loader;		/* 0: none */
	uint64_t	word[7];
};

static_assert(sizeof(struct journal_record) == JOURNAL_RECORD, "one size");

#endif
