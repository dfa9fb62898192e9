/* SPDX-License-Identifier: Apache-2.0
 *
 * measure.h: from what the processes of a job have told to one value for each
 * block.  Runs in the command only; no I/O.
 *
 * What counts in a block, of the batches 0 .. n - 1 that it delivered:
 *
 *   replayed   the time between giving a batch and being asked for the next: the
 *              job's own, whatever replaying costs; with a device that works on
 *              meanwhile, the whole of the block
 *   made       from the W-th batch given, with W workers, which deliver in
 *              bunches of W, to the last one before which they had all of the
 *              work that they may have: the pipeline is as full at both ends
 *              (threads of a native loader: to the last one); without workers
 *              from the beginning to the last one's end
 *   made alone the same, by who makes them (_steer.py, steer_alone.c)
 *   read       from the first to the last
 *
 * Of what is made, alone or not, by workers that are processes and decide (they have
 * always something to do, and the job waits), what they made (work.h) counts instead:
 * from the same batch on until one of them has begun the last.
 *
 *  1. A gap in which another loader was iterated, or that is far longer than the
 *     others, is no step: it is cut out of what is replayed, and counted; a block
 *     of made batches with such a gap is disturbed, for workers go on meanwhile.
 *  2. Ranks work side by side: their rates add up.
 */

#ifndef ANALYZER_MEASURE_H
#define ANALYZER_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/facts.h"
#include "analyzer/steps.h"
#include "probe/schedule.h"

struct measured {
	enum block_kind kind;
	uint32_t	number;		/* of the block */
	uint32_t	start;		/* of the job, from 0 */
	uint32_t	workers;	/* BLOCK_ALONE: of each rank; reading: how
					 * many, all together */
	uint32_t	ranks;		/* that count */
	bool		is_disturbed;
	bool		is_counted;	/* counters were attached to the job */
	double		stolen;		/* by the host, of the processor time that was
					 * wanted */
	uint64_t	begin_ns, end_ns;
	double		samples;	/* that count, of all ranks */
	double		s_per_sample;	/* of the whole job */
	double		worker_s;	/* of a worker, for a sample */
	double		cpu_s;		/* of a processor, for a sample, of those who
					 * make them; 0: not known */
	double		all_cpu_s;	/* the same, of the whole job */
	double		job_cpu_s;	/* the same, of main processes (the native
					 * loader: of the job's thread); of what is
					 * replayed, between batches only */
	double		handover_s;	/* for a batch; negative: not known */
	double		ready_s;	/* in which that was timed, behind the block, from
					 * the first such batch to the last */
	uint64_t	ready_ns;	/* the end of it; 0: it was not */
	double		bytes;		/* read */
	bool		has_files;	/* that were looked at */
	double		pages;		/* of them */
	double		resident;	/* of these, before; of fresh batches where
					 * workers decide, those of the samples that
					 * count; negative: not known */
	double		resident_after;
	double		from_storage;	/* the same, read from there; negative */
	double		beside_files;	/* others of the data set that were looked at, */
	double		beside;		/* and what of them was in memory */
};

struct measured_list {
	struct measured	*list;
	size_t		nr;
	struct cut	cut;
};

void measured_fini(struct measured_list *l);

void measure_blocks(struct measured_list *l, const struct facts *f,
    uint32_t start);
	/* Adds those of one start of the job that have ended. */

struct plain {			/* before anything was steered */
	double		s_per_sample;	/* from the second batch of the training
					 * loader on, or what its workers need,
					 * if that is more; 0: not known */
	double		samples;
	double		step_s;		/* between batches, in the median */
	double		first_s;	/* of steps far longer than that, beyond it */
	uint64_t	nr_first;
};

void measure_plain(struct plain *out, const struct facts *f);

#endif
