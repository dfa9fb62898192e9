/* SPDX-License-Identifier: Apache-2.0
 *
 * stagejob.h: a job of the stage for drills and benchmarks, shared by the files
 * stagejob*.c.
 *
 * A unit is one sample: 8 bytes that say when it was published, which differ
 * from maker to maker, and a payload that is a function of epoch and unit.
 */

#ifndef HARNESS_STAGEJOB_H
#define HARNESS_STAGEJOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hist.h"
#include "destall.h"

#define STAMP	8u		/* bytes */
#define WORKERS_MAX	64u
#define OVER	UINT64_MAX	/* an epoch: there are no more */

struct options {
	const char	*stream, *ledger;
	uint64_t	units, bytes, epochs, job_ms, make_us, workers, at;
	uint64_t	peek, fork, orphan_ms;
	bool		keep, write;
	unsigned	order;		/* ORDER_* */
};

enum { ORDER_RANDOM, ORDER_LISTED };

extern struct options options;

struct counts {
	uint64_t delivered, staged, own, alone, detached, lost_hub, wrong;
};

/* stagejob.c */
void die(const char *what, const struct ds_err *err);

/* stagejob_make.c: what makes units, in processes or a thread */
bool make_open(struct ds_hub **hub, struct ds_stage **stage,
    struct ds_err *err);
	/* A connection, and the stream on it. */
void make_fill(char *bytes, uint64_t epoch, uint64_t unit);
bool make_is_right(const char *bytes, size_t len, uint64_t epoch,
    uint64_t unit);
void make_nap(uint64_t us);

void make_start_workers(void);
void make_tell_epoch(uint64_t epoch);
void make_wait_workers(void);

void make_start_thread(struct ds_pass *pass, uint64_t epoch);
void make_stop_thread(void);
uint64_t make_nr(void);		/* units made by it, or by the workers */

/* stagejob_keep.c: what the job does with what it was given */
void keep_start(void);
void keep(struct ds_stage *stage, struct ds_taken *t, uint64_t epoch);
	/* Writes to it, keeps it or releases it, as the options say. */
void keep_fork(const struct ds_taken *t, uint64_t epoch);
	/* A child that looks at it for a while. */
uint64_t keep_end(struct ds_stage *stage);
	/* Releases all; how much of it was not as it should be. */

#endif
