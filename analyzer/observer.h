/* SPDX-License-Identifier: Apache-2.0
 *
 * observer.h: what an observer is, and what observers share.
 * Runs in the command only.
 *
 * A new one is a file obs_NAME.c with one struct observer, and a line in the
 * table of observe.c.
 *
 *  1. What files say is not believed: what cannot be read as what it should be
 *     is not known (NAN).
 */

#ifndef ANALYZER_OBSERVER_H
#define ANALYZER_OBSERVER_H

#include "analyzer/observe.h"

#define OBSERVERS	8u
#define METRICS_MAX	10u
#define OBSERVE_WORKERS	128u		/* with figures of their own */
#define OBSERVE_THREADS	64u		/* of a process */
#define AT_CHANGES	UINT64_MAX	/* a look at each change of phase will do */

/* Whose figure it is; from WHO_WORKER on: worker 0, 1, ... */
enum who { WHO_MAIN, WHO_WORKERS, WHO_WORKER,
    WHOS = WHO_WORKER + OBSERVE_WORKERS };

enum metric_kind {
	METRIC_COUNT,			/* only grows */
	METRIC_LEVEL,			/* now */
	METRIC_RATIO,			/* times count `of` per count `by` */
};

struct metric {
	const char	*name;		/* NULL at the end */
	const char	*unit;
	enum metric_kind kind;
	unsigned	of, by;
	double		times;
};

/* What is looked at: the job as a whole, a process, or a thread of one. */
struct subject {
	int	dir;			/* of the process, in /proc; or -1 */
	pid_t	pid;
	pid_t	tid;			/* of a thread, else 0 */
	bool	is_gone;		/* looked at for the last time */
	bool	is_listed;		/* a thread: was there just now */
	void	*state[OBSERVERS];	/* of observers with a drop() */
	double	last[OBSERVERS][METRICS_MAX];	/* NAN: never seen */
};

enum observer_scope { SCOPE_JOB, SCOPE_PROCESS, SCOPE_THREAD };

/* What open() and read() return beside 0 and -errno. */
#define OBSERVER_LATER	1		/* open: nothing to see yet */
#define OBSERVER_GONE	1		/* read: these were the last values */

struct observer {
	const char	*name;		/* the source of its figures */
	const char	*what;		/* for people */
	enum observer_scope scope;
	bool		per_worker;	/* each has figures of its own */
	uint64_t	pause_ns;	/* at least, between looks, but for changes
					 * of phase */
	const struct metric *metrics;

	int	(*open)(struct watch *w, struct ds_err *err);	/* or NULL */
	int	(*read)(struct watch *w, struct subject *s, double *value,
		    struct ds_err *err);
		/* value[] is all NAN before; what is filled counts, even if
		 * the rest failed. */
	void	(*drop)(struct watch *w, struct subject *s);	/* or NULL */
	void	(*close)(struct watch *w);			/* or NULL */
};

enum watch_state { WATCH_CLOSED, WATCH_OPEN, WATCH_MISSING, WATCH_ENDED };

/* An observer at work. */
struct watch {
	const struct observer *is;
	struct observe	*o;
	unsigned	index;
	enum watch_state state;
	void		*own;		/* of open() and close() */
	char		label[32];	/* before the names of figures, or "" */
	uint64_t	read_ns;	/* 0: never */
	bool		has_seen;
	char		note[128];	/* what it can never see here, or "" */
	struct observe_gap gap;
};

extern const struct observer obs_proc, obs_sched, obs_io, obs_cgroup, obs_psi,
    obs_block, obs_hub, obs_pfm;

int obs_perf_open(struct perf_event_attr *attr, pid_t tid, int group);
	/* The system's (obs_pfm.c). */

/*--- a process (observe_watched.c) ---------------------------------------*/

struct watched {			/* a process */
	struct subject	is;
	bool		is_worker;
	unsigned	worker;
	bool		was_seen;
	ino_t		ino;		/* of its folder */
	struct subject	**threads;
	size_t		nr_threads;
};

struct watched *watched_new(struct observe *o, pid_t pid, struct ds_err *err);
	/* NULL if it cannot be held; -ENOENT in err: it is gone already. */
void watched_drop(struct observe *o, struct watched *p, unsigned observer);
	/* What that one has of it. */
void watched_free(struct observe *o, struct watched *p);
void watched_list_threads(struct observe *o, struct watched *p);
	/* New ones are there, those that are gone are marked. */
void watched_sweep(struct observe *o, struct watched *p);
	/* Threads that are gone. */
bool watched_lacks(const struct observe *o, const struct watched *p, pid_t tid);
	/* This thread, or with 0 the process itself, is gone. */
void subject_init(struct subject *s, double last);

/*--- a look (observe_glance.c) --------------------------------------------*/

/* What an observer saw at once: what counts grew by, and levels; NAN where it
 * saw nothing. */
struct glance {
	size_t	nr_who;
	double	value[WHOS][METRICS_MAX];
};

void glance_take(struct glance *g, struct watch *w);

/*--- a phase (observe_sums.c) --------------------------------------------*/

struct cell {				/* a figure in a phase */
	double	sum;			/* of a level: times time */
	double	max;
	double	ns;			/* that it is of */
};

struct sums {				/* a phase */
	char		*name;
	double		ns;
	struct cell	*cells[OBSERVERS];	/* [who][metric], as far as... */
	size_t		nr_who[OBSERVERS];	/* ... somebody was seen */
};

size_t sums_find(struct observe *o, const char *name);
void sums_add(struct sums *p, const struct watch *w, const struct glance *l,
    double ns, double part);
	/* A part of a look over this time. */
void sums_put(const struct sums *p, const struct observe *o,
    struct result *r);
void sums_fini(struct sums *p);

/*--- shared (observer.c) -------------------------------------------------*/

void gap_add(struct observe_gap *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

ssize_t observe_read(const struct observe *o, const char *path, char *text,
    size_t size, struct ds_err *err);
	/* A file below the root, as io_read_text() has it. */
ssize_t subject_read(const struct subject *s, const char *name, char *text,
    size_t size, struct ds_err *err);
	/* A file of its folder in /proc. */

double number_at(const char *text);
	/* The digits that the text begins with, or NAN. */
double number_of(const char *text, const char *key);
	/* Behind the key, with which a line begins, or NAN. */
double number_nth(const char *text, unsigned n);
	/* Of words between blanks, from 0 on, or NAN. */

#endif
