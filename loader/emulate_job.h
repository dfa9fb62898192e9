/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_job.h: the emulated training loop, in a thread of its own.
 * Runs in the command only.
 *
 *  1. The position that is saved is where the next batch begins that the job
 *     has not used: behind the last one that it used to the end, also when the
 *     next one could not be made.  A job that got nothing leaves the file
 *     alone: what refuses it must not cost it an older position.
 *  2. What is under the lock belongs to both threads, the rest to the job's
 *     own until it was joined.
 */

#ifndef LOADER_EMULATE_JOB_H
#define LOADER_EMULATE_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/stop.h"
#include "destall.h"
#include "loader/emulate.h"

#define EMULATE_UNKNOWN	UINT64_MAX

struct kept_batch {
	struct ds_batch	*batch;
	uint64_t	sum;		/* of its bytes */
};

struct emulate_job {
	const struct emulate_options *options;
	struct ds_loader	*loader;
	uint64_t		samples;	/* in an epoch */
	pthread_t		thread;

	struct emulate_epoch	now;
	uint64_t		start_ns, start_cpu_ns;	/* of it */
	bool			is_begun;	/* it has had a batch */
	char			at[DS_POSITION_TEXT];
	uint64_t		touch_ns;	/* of this thread's processor */
	struct kept_batch	*kept;
	size_t			nr_kept;
	struct ds_err		err;
	int			rc;
	bool			is_sample;	/* the last failure is that of
						 * a file */
	bool			is_given;	/* it got a batch */
	bool			is_done;	/* there is nothing left to do */
	struct ds_err		unsaved;	/* why the last position was
						 * not, besides err; or "" */

	/* relaxed: a figure that speaks for nothing else */
	_Atomic uint64_t	done;		/* samples, of all epochs, or
						 * EMULATE_UNKNOWN */

	pthread_mutex_t		lock;
	pthread_cond_t		asked;
	bool			stop;
	int			signals;	/* stop.fd, only to be looked at */
	struct emulate_epoch	*epochs;
	size_t			nr_epochs;
	bool			is_over;
	int			news;		/* eventfd: of the two above */
};

int emulate_job_start(struct emulate_job *j, const struct emulate *e,
    const struct stop *stop, struct ds_err *err);
bool emulate_job_look(struct emulate_job *j, struct stop *stop);
	/* Did a signal come since?  Then the job ends after the batch that it
	 * has; it looks itself, too, so that no other one begins. */
int emulate_job_join(struct emulate_job *j, struct ds_err *err);
	/* Waits for its end. */
void emulate_job_fini(struct emulate_job *j);

/* The file of the position. */
int emulate_save_check(const char *path, struct ds_err *err);
	/* Can it be written, and may it?  -EEXIST: it is another file. */
int emulate_save(const char *path, const char *position, struct ds_err *err);

/* The emulated accelerator. */
uint64_t emulate_touch(void *bytes, size_t len, enum emulate_touch how);
	/* As a device copy would, and as jobs that write in place do.  The sum
	 * of the bytes that are there afterwards, by words. */

#endif
