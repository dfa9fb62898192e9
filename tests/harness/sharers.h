/* SPDX-License-Identifier: Apache-2.0
 *
 * sharers.h: loaders as jobs at a real hub, each in a thread of its own, or
 * taking turns in one: the set-up and the tear-down of unit tests of
 * loader/share*.c.
 */

#ifndef HARNESS_SHARERS_H
#define HARNESS_SHARERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/harness/loaded.h"
#include "tests/harness/stagehub.h"

#define PICTURES 61u
#define JOBS	4u

struct sharer {
	struct ds_data	*data;
	struct ds_loader *loader;
	struct loaded	got;
	struct ds_loader_counts counts;
	struct ds_batch	*kept[128];
	uint32_t	sums[128];
	unsigned	nr_kept;
	bool		keeps, writes;	/* batches that it is given */
	pthread_t	thread;
};

extern struct pictures files;
extern struct loaded plain;		/* what a job that shares nothing got */
extern struct sharer jobs[JOBS];	/* for the test; closed after it */

int sharers_start(void **state);	/* with a hub */
int sharers_stop(void **state);

#define SHARE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, sharers_start, sharers_stop)
#define SHARE_MAIN(...) \
	UNIT_MAIN_WITH(stagehub_open, stagehub_close, __VA_ARGS__)

void sharer_open(struct sharer *j, const char *options);
	/* Each is a job of its own, unless the options say otherwise. */
void sharer_close(struct sharer *j);	/* notes what it counted */

int sharer_try(struct sharer *j, unsigned nr, struct ds_err *err);
	/* So many batches, or all there are; 0, or why not. */
void sharer_train(struct sharer *j, unsigned nr);	/* it must work */
void sharer_launch(struct sharer *j);	/* all of them, in a thread */
void sharer_join(struct sharer *j);	/* it must have worked */
void sharers_run(unsigned nr);		/* the first of jobs, at once */

uint32_t sharer_sum(const struct ds_batch *b);
void sharer_check(struct sharer *j);
	/* It had all epochs, sample by sample, and what it kept is unchanged;
	 * that is released, and what it counted is noted. */
const char *sharer_how(struct sharer *j);
	/* It shares, in words; until the next call. */

void sharer_attend_beside(struct party *p, struct sharer *j, uint64_t epoch);
	/* A party at the stream of j, a loader that shares nothing itself. */

#endif
