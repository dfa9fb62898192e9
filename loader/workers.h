/* SPDX-License-Identifier: Apache-2.0
 *
 * workers.h: the threads of a loader.  Runs in clients.
 *
 * Makers and readers of pipeline.h.  They are the job's guests: signals go to
 * the job's own threads.
 */

#ifndef LOADER_WORKERS_H
#define LOADER_WORKERS_H

#include "loader/pipeline.h"

struct workers;

int workers_start(struct workers **out, struct pipeline *p,
    const struct ds_prep *prep, unsigned makers, unsigned readers,
    struct ds_err *err);
	/* As many as the system gives, at least one maker: -EAGAIN.  The
	 * pipeline is told how many. */
void workers_end(struct workers **ww);
	/* After pipeline_stop(): waits for what they have in hand. */
void workers_abandon(struct workers **ww);
	/* In a forked child, which does not have them. */

#endif
