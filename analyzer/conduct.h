/* SPDX-License-Identifier: Apache-2.0
 *
 * conduct.h: one steered run of a job, or several where an epoch is too short:
 * blocks are planned, done, measured, until the figures are narrow enough or the
 * time is over.  A job that cannot be steered, or is not to be, is watched.
 * Runs in the command only.
 *
 *  1. When the job is to end, those who started its processes are stopped first,
 *     then its processes leave by themselves, then all that is left is killed: no
 *     line of a script behind the training is run.
 *  2. A job that ends by itself, by whatever way, has ended: what was measured
 *     counts, and its status is ours.
 */

#ifndef ANALYZER_CONDUCT_H
#define ANALYZER_CONDUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/facts.h"
#include "analyzer/measure.h"
#include "analyzer/observe.h"
#include "analyzer/planner.h"
#include "analyzer/stolen.h"
#include "analyzer/folder.h"
#include "analyzer/marker.h"
#include "base/err.h"
#include "base/progress.h"
#include "launch/launch.h"
#include "reports/result.h"

struct conduct_options {
	uint64_t	for_ns;
	double		confidence;
	bool		pass_epochs, continues, is_live;
	struct marker_choice marker;
	double		step_samples;	/* of a step that a marker tells */
	const char	*object, *hook;	/* that are put into the job */
};

struct conduct {
	const struct conduct_options *options;
	struct launch	*launch;
	struct result	*result;
	char		**environment;	/* that of the job without us */

	struct marker	marker;
	struct figure	rate;		/* by the marker, of the last start */
	uint64_t	steps;
	double		step_samples;	/* of each */

	struct folder	folder;	/* of this start */
	struct facts	facts;
	struct planner	planner;
	struct planner	*before;	/* as it was before each block */
	struct observe	observe;
	uint64_t	counted_ns;	/* until then counters were attached; 0: they
					 * are, 1: there are none */
	struct stolen	stolen;
	struct measured_list measured;	/* of all starts */
	struct planner_job job;
	uint64_t	bytes_per_set, samples_per_set;
	uint32_t	ended;		/* blocks of this start */

	uint64_t	launched_ns;	/* this start */
	uint64_t	trains_ns;	/* 0: not recognised yet */
	uint64_t	measured_ns;	/* of starts before */
	uint64_t	startup_ns;	/* of all starts, until they trained */
	uint64_t	arranged_ns;	/* in the last start, until the first block */
	uint64_t	leaving_ns;	/* since when it was asked to, or 0 */
	uint64_t	looked_ns;	/* at what it tells, and at the machine */
	bool		wants_opens;	/* files that are opened are to be told */
	bool		is_asked;	/* by the user: no more blocks */
	bool		is_last;	/* the user ends it: no more starts */
	int		died_by;	/* of signals, while no job was there to take
					 * it; or 0 */
	bool		is_complete;	/* nothing more to measure */
	bool		is_done;	/* the job goes on by itself */
	bool		has_told;	/* that it is steered */
	const char	*phase;		/* that it is in, or NULL */
	enum block_kind	run_is;		/* the phase of a run that is not steered */
	bool		has_freed;	/* its processes may leave */
	bool		has_ended;	/* we have ended it */
	uint32_t	starts;
	struct progress	progress;
};

int conduct_run(struct conduct *c, char *const argv[], struct launch_end *end,
    struct ds_err *err);
	/* Until all is measured.  end: how the job ended, if it did by itself
	 * (has_ended is false then). */

bool conduct_again(struct conduct *c, char *const argv[],
    struct launch_end *end);
	/* One more start.  false: there is none, which is confessed unless the
	 * user wants no more; what was measured before it stays. */

bool conduct_is_over(const struct conduct *c);
	/* The user wants no more of it. */

void conduct_fini(struct conduct *c);

/* conduct_show.c: for conduct.c. */
const char *conduct_phase(uint64_t kind);
	/* Of a block; NULL: none that is shown. */
void conduct_tell_begin(struct conduct *c);
void conduct_tell_on(const struct conduct *c);
void conduct_show(struct conduct *c, uint64_t measured_ns);

#endif
