/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_live.c: a loader that is only watched: sums of about a second, so that
 * neither the job nor the disk notices.  Runs in clients, in the job's thread.
 */

#include <config.h>

#include "base/clock.h"
#include "loader/loader.h"
#include "loader/steer.h"

#define EVERY_NS	NS_PER_S
#define READY_NS	100000u	/* a call this short has found a batch */

/* What threads have done since the last time. */
static void
tell_made(struct ds_loader *l, uint64_t end_ns)
{
	struct steer *s = l->steer;
	const struct steer_totals was = s->before;
	uint64_t samples = s->live.samples, prep_ns, fetch_ns;

	steer_begin_totals(l);
	prep_ns = s->before.prep_ns - was.prep_ns;
	fetch_ns = s->before.fetch_ns - was.fetch_ns;
	steer_tell(s, JOURNAL_LIVE_MADE, (const uint64_t[7]){ 1, end_ns,
	    s->live.batches, samples, prep_ns + fetch_ns, prep_ns, 0 }, NULL);
}

void
steer_tell_watched(struct ds_loader *l, uint64_t end_ns)
{
	struct steer *s = l->steer;
	const struct steer_live *v = &s->live;

	if (v->batches == 0)
		return;
	steer_tell(s, JOURNAL_LIVE, (const uint64_t[7]){ v->begin_ns, end_ns,
	    v->batches, v->samples, v->waited_ns, v->found_ns, v->found },
	    NULL);
	tell_made(l, end_ns);
	s->live = (struct steer_live){ 0 };
}

static void
add(struct steer_live *v, uint64_t asked_ns, uint64_t given_ns,
    uint64_t samples)
{
	uint64_t call_ns = given_ns - asked_ns;

	if (v->batches == 0)
		v->begin_ns = asked_ns;
	v->batches++;
	v->samples += samples;
	if (call_ns < READY_NS) {
		v->found++;
		v->found_ns += call_ns;
	} else {
		v->waited_ns += call_ns;
	}
}

static void
note_training(struct steer *s)
{
	s->given++;
	if (s->trains || s->given < STEER_PLAIN)
		return;
	s->trains = true;
	steer_tell(s, JOURNAL_TRAINS, (const uint64_t[7]){ clock_now_ns() },
	    NULL);
}

int
steer_watch(struct ds_loader *l, struct ds_batch **out, struct ds_err *err)
{
	uint64_t asked_ns = clock_now_ns();
	struct steer *s = l->steer;
	int rc;

	if (s->live.batches > 0 && asked_ns - s->live.begin_ns > EVERY_NS)
		steer_tell_watched(l, asked_ns);
	rc = loader_give(l, out, err);
	if (rc == 0)
		steer_tell_watched(l, clock_now_ns());
	if (rc != 1)
		return rc;
	add(&s->live, asked_ns, clock_now_ns(), (*out)->count);
	note_training(s);
	return 1;
}
