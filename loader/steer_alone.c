/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_alone.c: the loader alone: batches of the set as fast as they can be made,
 * for nobody, by as many makers as the block says.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include "loader/steer.h"

#include <time.h>

#include "base/clock.h"
#include "base/must.h"
#include "loader/loader.h"

#define MAKERS_MOST	256u
#define AHEAD_LEAST	2u	/* batches: one is made while one ends */

/* Of a processor, that all threads of the process have used. */
static uint64_t
process_ns(void)
{
	struct timespec t;

	must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

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

/* Until they are all made, somebody wants it to end, or there is no memory for
 * one. */
static void
make_all(struct ds_loader *l)
{
	struct steer *s = l->steer;
	uint64_t ahead = l->options.prefetch;
	struct session_block b;
	struct batch *made;

	ahead = ahead > AHEAD_LEAST ? ahead : AHEAD_LEAST;
	while (s->given < s->block.batches) {
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
			return;
		made = pipeline_take(&l->pipeline);
		s->given++;
		s->samples += made->nr;
		shelf_put(&l->shelf, made);
	}
}

static void
time_all(struct ds_loader *l)
{
	struct steer *s = l->steer;
	uint64_t begin_ns = clock_now_ns(), cpu_ns = process_ns();

	make_all(l);
	cpu_ns = process_ns() - cpu_ns;
	steer_tell(s, JOURNAL_ALONE, (const uint64_t[7]){ s->id, begin_ns,
	    clock_now_ns(), s->samples, l->pipeline.nr_makers, cpu_ns,
	    s->given }, NULL);
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
