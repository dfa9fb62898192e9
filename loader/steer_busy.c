/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_busy.c: makers that have something to do all the time, for nobody: the
 * set's batches, over and over.  Runs in clients; makers, too.
 *
 * They are leased batches to the pipeline (pipeline.h), which whoever makes the
 * last sample of one gives back: here it goes in again.
 */

#include <config.h>

#include "loader/steer.h"

#include "base/must.h"
#include "loader/loader.h"
#include "loader/share.h"

#define BUSY_LEAST	2u	/* while one ends, the others are made */

static struct share_lease busy_mark;

/* The next of the set; the plan has the order of its epoch for as long as the
 * block lasts. */
static void
fill(struct ds_loader *l, struct batch *b)
{
	struct steer *s = l->steer;
	uint64_t at;

	must(pthread_mutex_lock(&s->busy.lock) == 0);
	at = s->busy.at++;
	must(pthread_mutex_unlock(&s->busy.lock) == 0);
	batch_clear(b);
	loader_number(l, &l->plan, b, &s->set.runs[at % s->set.nr]);
	loader_want(l, b);
	b->lease = &busy_mark;
}

static void
drop(struct ds_loader *l, struct batch *b)
{
	struct steer_busy *busy = &l->steer->busy;

	b->lease = NULL;
	shelf_put(&l->shelf, b);
	must(pthread_mutex_lock(&busy->lock) == 0);
	busy->in_work--;
	must(pthread_cond_signal(&busy->changed) == 0);
	must(pthread_mutex_unlock(&busy->lock) == 0);
}

/* By a maker: all of it is made. */
static void
go_on(void *arg, struct batch *b)
{
	struct ds_loader *l = arg;
	struct steer_busy *busy = &l->steer->busy;
	bool stops;

	must(pthread_mutex_lock(&busy->lock) == 0);
	stops = busy->stops;
	busy->samples += b->nr;
	must(pthread_mutex_unlock(&busy->lock) == 0);
	if (stops) {
		drop(l, b);
		return;
	}
	fill(l, b);
	pipeline_add_leased(&l->pipeline, b);
}

void
steer_begin_busy(struct ds_loader *l)
{
	struct steer *s = l->steer;
	uint64_t nr = l->options.prefetch;

	l->pipeline.publish = go_on;
	l->pipeline.publish_arg = l;
	s->busy.stops = false;
	s->busy.at = s->busy.samples = 0;
	loader_turn_to(l, s->set.runs[0].at.epoch);
	for (nr = nr > BUSY_LEAST ? nr : BUSY_LEAST; nr > 0; nr--) {
		struct batch *b = shelf_take(&l->shelf);

		if (b == NULL) {
			steer_note(s, "too little memory: makers may not be "
			    "busy all the time");
			return;
		}
		must(pthread_mutex_lock(&s->busy.lock) == 0);
		s->busy.in_work++;
		must(pthread_mutex_unlock(&s->busy.lock) == 0);
		fill(l, b);
		pipeline_add_leased(&l->pipeline, b);
	}
}

uint64_t
steer_count_busy(struct steer *s)
{
	uint64_t nr;

	must(pthread_mutex_lock(&s->busy.lock) == 0);
	nr = s->busy.samples;
	must(pthread_mutex_unlock(&s->busy.lock) == 0);
	return nr;
}

void
steer_end_busy(struct ds_loader *l)
{
	struct steer_busy *busy = &l->steer->busy;

	must(pthread_mutex_lock(&busy->lock) == 0);
	busy->stops = true;
	while (busy->in_work > 0)
		must(pthread_cond_wait(&busy->changed, &busy->lock) == 0);
	must(pthread_mutex_unlock(&busy->lock) == 0);
}
