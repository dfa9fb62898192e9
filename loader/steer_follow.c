/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_follow.c: from one block of the schedule to the next.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include "loader/steer.h"

#include <errno.h>

#include "base/clock.h"
#include "base/must.h"
#include "loader/loader.h"

#define SLICE_MS	25u	/* of a wait; then interrupts are looked at */

/*--- which batches a block has -------------------------------------------*/

uint64_t
steer_left(const struct ds_loader *l)
{
	const struct plan *p = &l->plan;
	uint64_t turns = p->turns - l->given.turn;

	return turns / p->batch + (turns % p->batch != 0 && !p->drop_last);
}

static bool
is_fresh(const struct steer *s)
{
	return s->block.kind == BLOCK_ACTUAL;
}

static bool
is_replay(enum block_kind kind)
{
	return kind == BLOCK_REPLAY || kind == BLOCK_REPLAY_BUSY;
}

static bool
is_delivered(enum block_kind kind)
{
	return kind == BLOCK_ACTUAL || kind == BLOCK_CACHED ||
	    kind == BLOCK_COLD || is_replay(kind);
}

bool
steer_fills(const struct ds_loader *l)
{
	return l->steer != NULL && (l->steer->mode == STEER_FOLLOWS ||
	    l->steer->mode == STEER_CONTINUES);
}

static void
next_run(struct ds_loader *l, struct plan_run *run)
{
	struct steer *s = l->steer;

	if (is_fresh(s))
		must(plan_step(&l->plan, &l->opened, run) == PLAN_RUN);
	else
		*run = s->set.runs[s->opened % s->set.nr];
}

int
steer_open_ahead(struct ds_loader *l, uint64_t nr, struct ds_err *err)
{
	struct steer *s = l->steer;
	uint64_t most = s->block.batches;

	if (is_delivered(s->block.kind) && s->given + s->left < most)
		most = s->given + s->left;
	while (l->pipeline.nr_batches < nr && s->opened < most) {
		struct plan_place before = l->opened;
		struct plan_run run;
		struct batch *b;
		int rc;

		next_run(l, &run);
		rc = loader_new_batch(l, &run, &b, err);
		if (rc < 0) {
			l->opened = before;
			return rc;
		}
		pipeline_add(&l->pipeline, b);
		s->opened++;
	}
	return 0;
}

/*--- beginning and ending ------------------------------------------------*/

/* So many of the set's files are the block's. */
static uint64_t
files_of(const struct steer *s)
{
	if (is_fresh(s) || s->block.kind == BLOCK_REPLAY)
		return 0;
	return steer_items(s, s->block.kind == BLOCK_REPLAY_BUSY ? 0 :
	    s->block.batches);
}

static void
begin_block(struct ds_loader *l)
{
	struct steer *s = l->steer;

	if (files_of(s) > 0)
		steer_tell_pages(l, false, files_of(s));
	else if (is_fresh(s))
		steer_look_fresh(l);
	s->opened = s->given = 0;
	s->is_in = true;
	steer_begin_totals(l);
	steer_tell(s, JOURNAL_BLOCK, (const uint64_t[7]){ s->id,
	    s->block.kind, s->begin_ns }, NULL);
	if (s->block.kind == BLOCK_REPLAY_BUSY)
		steer_begin_busy(l);
}

static void
end_block(struct ds_loader *l, uint64_t end_ns)
{
	struct steer *s = l->steer;

	must(l->pipeline.nr_batches == 0);
	s->is_in = false;
	if (s->id == JOURNAL_NO_BLOCK)
		return;
	steer_tell_totals(l, end_ns, s->block.kind == BLOCK_REPLAY_BUSY ?
	    steer_count_busy(s) : s->samples);
	steer_end_busy(l);
	if (files_of(s) > 0)
		steer_tell_pages(l, true, files_of(s));
	else if (is_fresh(s))
		steer_restore_fresh(l);
	steer_tell(s, JOURNAL_BLOCK_END, (const uint64_t[7]){ s->id,
	    s->block.kind, end_ns, s->given, s->samples }, NULL);
}

/*--- one of each kind ----------------------------------------------------*/

static _Noreturn void
fail(struct steer *s, const char *why)
{
	steer_note(s, "block %llu: %s", (unsigned long long)s->id, why);
	steer_leave(s, LEFT_FAILED);
}

static void
do_set(struct ds_loader *l)
{
	struct steer *s = l->steer;
	struct ds_err why;

	if (steer_choose(l, s->block.batches, &why) < 0)
		fail(s, why.text);
	s->block.batches = s->set.nr;
	begin_block(l);
	if (steer_fill_ring(l, &why) < 0)
		fail(s, why.text);
	end_block(l, clock_now_ns());
}

static void
do_raw(struct ds_loader *l)
{
	struct steer *s = l->steer;
	struct steer_read r;

	begin_block(l);
	steer_read(l, files_of(s), &r);
	s->samples = r.files;
	steer_tell(s, JOURNAL_READ, (const uint64_t[7]){ s->id, r.begin_ns,
	    r.end_ns, r.files, r.bytes, r.files, r.readers }, NULL);
	end_block(l, clock_now_ns());
}

static void
do_alone(struct ds_loader *l)
{
	struct steer *s = l->steer;
	struct ds_err why;

	if (s->block.batches == 0)
		s->block.batches = s->set.nr;
	begin_block(l);
	if (steer_alone(l, &why) < 0)
		fail(s, why.text);
	end_block(l, clock_now_ns());
}

/* Residency, and whether it can be done at all. */
static void
prepare(struct ds_loader *l)
{
	struct steer *s = l->steer;
	enum block_kind kind = s->block.kind;

	if (is_fresh(s))
		return;
	if (s->set.nr == 0)
		fail(s, "there is no set of samples yet");
	if (is_replay(kind)) {
		if (s->ring.nr == 0)
			fail(s, "none of the set's batches could be made");
		steer_restore_ring(l);
	}
	if (kind != BLOCK_REPLAY)
		steer_arrange(l, kind != BLOCK_COLD && kind != BLOCK_RAW_COLD,
		    files_of(s));
	if (kind == BLOCK_COLD && s->block.batches > s->set.nr)
		steer_note(s, "block %llu: its batches are more than the "
		    "set's: some are read twice", (unsigned long long)s->id);
}

/* By law 2 of steer.h. */
static void
check_room(struct steer *s)
{
	if (is_delivered(s->block.kind) && s->block.batches > s->left &&
	    (s->session.flags & SCHEDULE_PASS_EPOCHS) == 0)
		steer_leave(s, LEFT_EPOCH);
}

static void
end_all(struct ds_loader *l)
{
	struct steer *s = l->steer;

	if ((s->session.flags & SCHEDULE_CONTINUE) == 0)
		steer_leave(s, LEFT_END);
	s->mode = STEER_CONTINUES;
	s->id = JOURNAL_NO_BLOCK;
	s->block = (struct session_block){ .kind = BLOCK_ACTUAL,
	    .batches = UINT32_MAX };
	s->opened = s->given = 0;
	s->is_in = true;
}

static void
do_block(struct ds_loader *l)
{
	struct steer *s = l->steer;

	check_room(s);
	switch (s->block.kind) {
	case BLOCK_SET:
		do_set(l);
		break;
	case BLOCK_RAW_COLD:
	case BLOCK_RAW_CACHED:
		prepare(l);
		do_raw(l);
		break;
	case BLOCK_ALONE:
		prepare(l);
		do_alone(l);
		break;
	case BLOCK_END:
		end_all(l);
		break;
	default:
		prepare(l);
		begin_block(l);
		break;
	}
}

/*--- waiting for it ------------------------------------------------------*/

static bool
is_interrupted(struct ds_loader *l)
{
	/* relaxed: it speaks for nothing else */
	return atomic_exchange_explicit(&l->is_interrupted, false,
	    memory_order_relaxed);
}

static int
find_block(struct ds_loader *l, struct ds_err *err)
{
	struct steer *s = l->steer;
	enum session_news news;

	do {
		if (is_interrupted(l))
			return err_fail(err, -EINTR, "interrupted while it "
			    "waited for its profiler");
		news = session_wait(&s->session, s->next,
		    clock_now_ns() + SLICE_MS * NS_PER_MS, &s->block);
	} while (news == SESSION_NOTHING);
	s->id = s->next;
	if (news == SESSION_LEAVE)
		steer_leave(s, LEFT_ASKED);
	if (news == SESSION_GONE)
		steer_leave(s, LEFT_ALONE);
	if (news == SESSION_BAD)
		fail(s, "it makes no sense");
	s->next++;
	return 0;
}

void
steer_check(struct steer *s)
{
	struct session_block b;

	if (s->session.is_broken)
		steer_leave(s, LEFT_FAILED);
	switch (session_look(&s->session, s->next, &b)) {
	case SESSION_LEAVE:
		steer_leave(s, LEFT_ASKED);
	case SESSION_GONE:
		steer_leave(s, LEFT_ALONE);
	default:
		break;
	}
}

static void
begin_following(struct steer *s)
{
	steer_tell(s, JOURNAL_TRAINS, (const uint64_t[7]){ clock_now_ns() },
	    NULL);
	s->trains = true;
}

int
steer_follow(struct ds_loader *l, uint64_t *asked_ns, struct ds_err *err)
{
	struct steer *s = l->steer;
	int rc;

	steer_check(s);
	while (s->is_in ? s->given >= s->block.batches : true) {
		if (s->is_in)
			end_block(l, *asked_ns);
		if (!s->trains)
			begin_following(s);
		rc = find_block(l, err);
		if (rc < 0)
			return rc;
		do_block(l);
		steer_check(s);
		*asked_ns = clock_now_ns();
	}
	return 0;
}
