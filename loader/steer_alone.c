/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_alone.c: the loader alone: batches of the set as fast as they can be made,
 * for nobody, by as many makers as the block says; and behind it some that are
 * made already, for the time that handing one over takes.
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
#define READY_BATCHES	6u
#define LOOK_NS		(2 * NS_PER_MS)
#define LOOKS_MOST	1000u	/* for batches to be made */

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

/* It counts among those that were made, for nobody. */
static void
put_made(struct ds_loader *l, struct batch *b)
{
	l->steer->samples += b->nr;
	shelf_put(&l->shelf, b);
}

/* False: there is no memory for any. */
static bool
make_one(struct ds_loader *l, uint64_t ahead, uint64_t *samples)
{
	struct steer *s = l->steer;
	struct batch *made;

	steer_check(s);
	if (loader_open_ahead(l, ahead, AHEAD_ALL, NULL) < 0 &&
	    l->pipeline.nr_batches == 0)
		return false;
	made = pipeline_take(&l->pipeline);
	s->given++;
	*samples += made->nr;
	put_made(l, made);
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

/*--- what is there -------------------------------------------------------*/

/* As long as a short step, and until makers have nothing to do any more. */
static void
await_made(struct ds_loader *l)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	unsigned looks = 0;

	do
		(void)nanosleep(&look, NULL);
	while (++looks < LOOKS_MOST && !pipeline_is_made(&l->pipeline));
}

/* As the job would be given it; what fails is told when the job asks for it. */
static void
time_one_ready(struct ds_loader *l)
{
	struct plan_place here = l->given;
	struct steer *s = l->steer;
	struct ds_batch *b = NULL;
	uint64_t begin_ns;

	await_made(l);
	begin_ns = clock_now_ns();
	if (loader_give_own(l, &here, AHEAD_ALL, &b, NULL) != 1)
		return;
	steer_tell(s, JOURNAL_READY, (const uint64_t[7]){ s->id, begin_ns,
	    clock_now_ns(), 1 }, NULL);
	put_made(l, batch_of(b));
}

static void
time_ready(struct ds_loader *l)
{
	struct steer *s = l->steer;

	/* One more is opened when one is given, which is of handing it over. */
	s->block.batches += READY_BATCHES + (uint32_t)l->options.prefetch;
	(void)loader_open_ahead(l, l->options.prefetch, AHEAD_ALL, NULL);
	for (unsigned i = 0; i < READY_BATCHES; i++)
		time_one_ready(l);
	while (l->pipeline.nr_batches > 0)
		put_made(l, pipeline_take(&l->pipeline));
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
	if (rc == 0 && want == own && l->options.prefetch > 0)
		time_ready(l);
	if (rc == 0 && want != own)
		rc = set_makers(l, own, err);
	return rc;
}
