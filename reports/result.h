/* SPDX-License-Identifier: Apache-2.0
 *
 * result.h: what a profile found out: what the store keeps and the reports show.
 * Runs in the command only.
 *
 *     analyzer -> struct result -> store -> struct result -> terminal, JSON, ...
 *
 *  1. A figure that could not be measured is not known; a confession says why.
 *  2. Texts are as they came, from command lines and jobs: who prints them makes
 *     them fit for where they go (base/text.h, base/json.h).
 *  3. Lists are the result's own, and grow by result_add_*().
 */

#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct figure {
	bool	is_known;
	double	value;
	double	low, high;		/* the 95 % interval */
};

enum rate {				/* samples a second */
	RATE_INGEST,			/* G: data for nothing */
	RATE_INGEST_BUSY,		/* the same, workers busy */
	RATE_PREP,			/* P: the loader alone, files in memory */
	RATE_STORAGE,			/* S: reading alone, files out of memory */
	RATE_CACHE,			/* C: reading alone, files in memory */
	RATE_LOADER_CACHED,		/* the job, files in memory */
	RATE_LOADER_COLD,		/* the job, files out of it */
	RATE_ACTUAL,			/* the job as it is */
	RATES
};

enum share {				/* of the time of a sample, as the job is */
	SHARE_COMPUTE, SHARE_PREP, SHARE_FETCH, SHARE_HANDOVER, SHARES
};

extern const char *const rate_names[RATES + 1];		/* as in JSON */
extern const char *const share_names[SHARES + 1];

enum result_mode { MODE_STEERED, MODE_LIVE, MODE_RUNS, MODES };
extern const char *const mode_names[MODES + 1];
	/* One steered run; one that was only watched; a run per phase. */

struct result_worker {			/* of the loader, as the job is */
	double	fetch_ms_per_sample, prep_ms_per_sample;
};

struct result_alone {			/* the loader alone, files in memory */
	unsigned	workers;
	struct figure	samples_per_s;
	double		cpu_ms_per_sample;
};

struct result_fix {
	char	*what;			/* "4 workers instead of 2" */
	double	gain;			/* 0.31: 31 % more samples a second */
	char	*command;		/* that applies it, or a line of code */
};

struct result_cut {			/* time that was left out */
	char	*what;			/* "validation (loader 2)" */
	double	seconds;
	uint64_t times;
};

struct result_loader {			/* every loader of the job */
	char	*name;
	bool	is_training;
	uint64_t batch_size, workers, batches;
	double	seconds;
};

struct result_seen {			/* what an observer saw in a phase */
	char	*phase;			/* "replay", "cached", ... */
	char	*source;		/* "proc", "pfm", ... */
	char	*name;			/* "cycles" */
	char	*unit;			/* "1", "bytes", "ns" */
	double	value;
};

/* What the job is, as far as models need it. */
struct result_job {
	uint64_t batch_size, workers, prefetch, ranks;
	uint64_t samples;		/* in an epoch; 0: not known */
	double	cores;			/* that it may use */
	double	bytes_per_sample;	/* that it reads; 0: not known */
	double	resident;		/* of the files, in memory as found: 0 to 1;
					 * negative: not known */
	double	fetch_s;		/* of a worker for a sample from storage,
					 * beyond what it takes from memory */
	double	prep_s, prep_cpu_s;	/* of a worker for a sample from memory, by
					 * the clock and of a processor */
	double	handover_s;		/* per sample, in the main process */
	bool	is_pipelined;		/* fetches while it prepares */
	bool	is_iterable;
	bool	has_no_files;		/* that are known */
};

struct result {
	char	*id;			/* of the store; NULL: not stored */
	char	*name, *command;	/* name: --name, or NULL */
	int64_t	started_s;		/* since 1970 */
	double	seconds;		/* that it took, all in all */
	double	startup_s, measured_s;	/* of them: until the job trained (of all
					 * starts); in blocks */
	uint64_t starts;		/* of the job */
	enum result_mode mode;

	bool	has_verdict;
	enum share bottleneck;
	char	*sentence;

	struct figure rate[RATES];
	struct figure share[SHARES];
	struct figure handover_ms_per_batch;
	struct figure cpu_ms_per_sample;	/* of making a sample, while the job runs */

	struct result_job job;

	struct result_worker *workers;	size_t nr_workers;
	struct result_alone *alone;	size_t nr_alone;
	struct result_fix *fixes;	size_t nr_fixes;
	struct result_cut *cuts;	size_t nr_cuts;
	struct result_loader *loaders;	size_t nr_loaders;
	struct result_seen *seen;	size_t nr_seen;
	char	**confessions;		size_t nr_confessions;
};

/* Memory that there is none of ends the command.  Texts are copied. */
void result_init(struct result *r);
void result_fini(struct result *r);
void result_set_text(char **field, const char *text);
void result_add_worker(struct result *r, double fetch_ms, double prep_ms);
void result_add_alone(struct result *r, unsigned workers,
    const struct figure *samples_per_s, double cpu_ms_per_sample);
void result_add_fix(struct result *r, const char *what, double gain,
    const char *command);
void result_add_cut(struct result *r, const char *what, double seconds,
    uint64_t times);
void result_add_loader(struct result *r, const struct result_loader *loader);
	/* Its name is copied. */
void result_add_seen(struct result *r, const char *phase, const char *source,
    const char *name, const char *unit, double value);
void result_confess(struct result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
	/* The same sentence is there once. */

#endif
