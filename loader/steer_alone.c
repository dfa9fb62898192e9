/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_alone.c: the loader alone: batches of the set as fast as they can be made,
 * for nobody, by as many makers as the block says.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include "loader/steer.h"

#include "base/clock.h"
#include "base/must.h"
#include "loader/loader.h"

#define MAKERS_MOST	256u
#define AHEAD_LEAST	2u	/* batches: one is made while one ends */

/* The pipeline is empty. */
static int
set_makers(struct ds_loader *l, unsigned makers, struct ds_err *err)
{
	struct pipeline *p = &l->pipeline;

	pipeline_stop(p);
	workers_end(&l->workers);
	must(pthread_mutex_lock(&p->lock) == 0);
	p->stops = false;
	must(pthread_mutex_unlock(&p->lock) == 0);
	return workers_start(&l->workers, p, l->prep, makers,
	    (unsigned)l->options.readers, err);
}

/* False: there is no memory for any. */
static bool
make_one(struct ds_loader *l, uint64_t ahead, uint64_t *samples)
{
	struct steer *s = l->steer;
	struct session_block b;
	struct batch *made;

	switch (session_look(&s->session, s->next, &b)) {
	case SESSION_LEAVE:
		steer_leave(s, LEFT_ASKED);
	case SESSION_GONE:
		steer_leave(s, LEFT_ALONE);
	default:
		break;
	}
	if (loader_open_ahead(l, ahead, AHEAD_ALL, NULL) < 0 &&
	    l->pipeline.nr_batches == 0)
		return false;
	made = pipeline_take(&l->pipeline);
	s->given++;
	s->samples += made->nr;
	*samples += made->nr;
	shelf_put(&l->shelf, made);
	return true;
}

/* From the first one on, so that filling the pipeline is not in it. */
static void
time_all(struct ds_loader *l)
{
	struct steer *s = l->steer;
	uint64_t ahead = l->options.prefetch, samples = 0, begin_ns, cpu_ns;

	ahead = ahead > AHEAD_LEAST ? ahead : AHEAD_LEAST;
	if (!make_one(l, ahead, &samples))
		return;
	begin_ns = clock_now_ns();
	cpu_ns = clock_thread_ns();
	samples = 0;
	while (s->given < s->block.batches)
		if (!make_one(l, ahead, &samples))
			break;
	if (samples > 0)
		steer_tell(s, JOURNAL_ALONE, (const uint64_t[7]){ s->id,
		    begin_ns, clock_now_ns(), samples, l->pipeline.nr_makers,
		    clock_thread_ns() - cpu_ns, s->given - 1 }, NULL);
}

int
steer_alone(struct ds_loader *l, struct ds_err *err)
{
	unsigned own = l->pipeline.nr_makers, want = l->steer->block.workers;
	int rc = 0;

	want = want == 0 ? own : want < MAKERS_MOST ? want : MAKERS_MOST;
	if (want != own)
		rc = set_makers(l, want, err);
	if (rc == 0)
		time_all(l);
	if (rc == 0 && want != own)
		rc = set_makers(l, own, err);
	return rc;
}
