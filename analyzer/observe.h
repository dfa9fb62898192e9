/* SPDX-License-Identifier: Apache-2.0
 *
 * observe.h: what the machine does while a job is profiled, phase by phase:
 * processors, memory, files, devices, caches, counters.
 * Runs in the command only, in one thread.
 *
 *     observe_process() ... observe_phase(), observe_sample() ... observe_put()
 *
 *  1. An observer can be missing, or lose its sight: that is one confession, and
 *     changes nothing else.  A figure that was not seen is not put.
 *  2. Counts are differences between samples.  The first sample of a process is
 *     its zero: what it did before is in no phase.  What it did after the last
 *     one, at most OBSERVE_SAMPLE_NS before it died if observe_sample() is called
 *     as often, is lost.
 *  3. A sample over the change of a phase is divided in proportion to time.
 *  4. A process is held by its folder in /proc, not by its number, which another
 *     may have one day.
 *
 * Figures are named main.NAME (all processes that are no workers), workers.NAME
 * and, of some observers, worker.N.NAME (the workers with this number, of all
 * ranks); those of the whole job, NAME.  A level is the mean over time, NAME.max
 * the largest of the samples.
 */

#ifndef ANALYZER_OBSERVE_H
#define ANALYZER_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/err.h"
#include "reports/result.h"

#define OBSERVE_SAMPLE_NS	(200 * NS_PER_MS)

struct watched;
struct sums;
struct watch;
struct subject;
struct glance;
struct perf_event_attr;

typedef int observe_perf_f(struct perf_event_attr *attr, pid_t tid, int group);
	/* A descriptor, or -errno. */

/* What the cache and the stage have counted, all data sets and streams together:
 * asked by who may know the hub. */
enum hub_count {
	HUB_HITS, HUB_MISSES, HUB_STORAGE_READS, HUB_STORAGE_BYTES,
	HUB_MADE, HUB_DELIVERED, HUB_ALONE, HUB_COUNTS
};

struct observe_hub {
	int	(*open)(void **hub, struct ds_err *err);
		/* -ENOENT: there is none now. */
	int	(*read)(void *hub, uint64_t count[HUB_COUNTS],
		    struct ds_err *err);
	void	(*close)(void *hub);
};

extern const struct observe_hub observe_hub;	/* tool/observe_hub.c */

struct observe_gap {			/* what was not seen */
	uint64_t times;
	char	why[DS_ERR_TEXT];	/* the first time */
};

struct observe {
	char		*root;
	observe_perf_f	*perf_open;	/* the system's, or NULL: nothing is counted;
					 * tests have their own */
	const struct observe_hub *hub;	/* the same */

	char		*data;		/* observe_data() */
	dev_t		data_dev;
	pid_t		job;		/* the first process, or 0 */

	struct watch	*watches;	/* one for each observer */
	struct glance	*glance;	/* what one of them saw just now */
	struct subject	*whole;		/* the job as a whole */
	struct watched	**processes;
	size_t		nr_processes;
	struct sums	*phases;
	size_t		nr_phases;
	size_t		phase;		/* the one we are in, or SIZE_MAX */
	uint64_t	sampled_ns;	/* 0: never */
	bool		is_urgent;	/* there is a new process */
	struct observe_gap gap;		/* of all observers */
};

void observe_init(struct observe *o, const char *root);
	/* root is "/" in earnest, a made-up /proc and /sys in tests. */
void observe_fini(struct observe *o);

void observe_data(struct observe *o, const char *path);
	/* Where the job's data are; the last one counts, until the device was
	 * found. */

void observe_process(struct observe *o, pid_t pid, bool is_worker,
    unsigned worker);
	/* One more; that it is gone is noticed.  One that is known already only
	 * changes its role. */

bool observe_end_counting(struct observe *o);
	/* No counters from now on: the kernel changes them at each change between
	 * the job's threads, which costs it time.  What was counted stays.  False:
	 * there were none. */
void observe_phase(struct observe *o, const char *phase, uint64_t at_ns);
	/* Began at this time, which is not later than now; NULL: none.  A phase
	 * may come again: its figures are of all times together. */

void observe_sample(struct observe *o);
	/* To be called often; does nothing until OBSERVE_SAMPLE_NS are over. */

void observe_put(struct observe *o, struct result *r);
	/* What was seen until now; a confession for each observer that is
	 * missing or had gaps. */

#endif
