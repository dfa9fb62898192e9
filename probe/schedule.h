/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule.h: what a job that is profiled is to do next: blocks of batches, each
 * delivered in one manner.  A file that the command writes and every process of
 * the job reads; loader/python/destall/_schedule.py reads it, too.
 *
 * Runs in the command, which alone writes it; jobs map it read-only.  The folder of
 * the session is $DESTALL_PROFILE: this file, and a journal for each process.
 *
 *  1. Blocks are only added.  Block i is there once its `id` is i + 1, which is
 *     stored last (release; readers load it first, acquire).
 *  2. All ranks of a job follow the same blocks, from the batch on at which they
 *     have all recognised their training loader: so they change at equal steps.
 *  3. A process that finds the command gone (it holds a lock on this file as long
 *     as it lives) leaves at once: its run was for measuring only.
 */

#ifndef PROBE_SCHEDULE_H
#define PROBE_SCHEDULE_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_ENV	"DESTALL_PROFILE"
#define SCHEDULE_FILE	"schedule"
#define SCHEDULE_MAGIC	UINT64_C(0x3145424f52505344)	/* "DSPROBE1" */
#define SCHEDULE_LAYOUT	1u
#define SCHEDULE_BLOCKS	4096u

/* How the session is run. */
#define SCHEDULE_LIVE		1u	/* nothing is steered */
#define SCHEDULE_PASS_EPOCHS	2u	/* the end of an epoch is passed */
#define SCHEDULE_CONTINUE	4u	/* END leads back to ordinary batches */
#define SCHEDULE_OPENS		8u	/* files that are opened are told */

enum schedule_leave {
	LEAVE_NOT,
	LEAVE_ASKED,		/* at the next batch, at once */
	LEAVE_MAY,		/* who has said that it leaves may go */
};

/* What a block delivers. */
enum block_kind {
	BLOCK_NONE,
	BLOCK_SET,		/* chooses so many batches as the set of samples */
	BLOCK_ACTUAL,		/* the loader as it is: fresh batches */
	BLOCK_REPLAY,		/* batches of before; workers have nothing to do */
	BLOCK_REPLAY_BUSY,	/* the same while workers make the set's batches */
	BLOCK_CACHED,		/* the set's batches, its files in memory */
	BLOCK_COLD,		/* the set's batches, its files out of it */
	BLOCK_RAW_COLD,		/* reading alone, files out of memory: nothing is
				 * delivered, nor by those below */
	BLOCK_RAW_CACHED,
	BLOCK_ALONE,		/* the loader alone, files in memory, with `workers` */
	BLOCK_END,		/* leave */
	BLOCK_KINDS
};

struct block {
	_Atomic uint32_t id;		/* i + 1 */
	uint32_t	kind;
	uint32_t	batches;	/* of the set, or delivered */
	uint32_t	workers;	/* BLOCK_ALONE; 0: the loader's own */
};

struct schedule {
	uint64_t	magic;
	uint32_t	layout;
	uint32_t	flags;
	_Atomic uint32_t leave;		/* enum schedule_leave */
	uint32_t	pid;		/* of the command */
	uint64_t	reserved[5];
	struct block	block[SCHEDULE_BLOCKS];
};

static_assert(sizeof(struct block) == 16, "read by Python");
static_assert(offsetof(struct schedule, block) == 64, "read by Python");

#endif
