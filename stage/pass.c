/* SPDX-License-Identifier: Apache-2.0
 *
 * pass.c: a pass: attaching to it, beginning, ending and leaving it.
 * Runs in clients; making and taking go on in other threads.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"
#include "stage/stage.h"
#include "stage/talk.h"

/*--- attaching -----------------------------------------------------------*/

/* Ours to write: so it has no seal against that, but its size must hold. */
static int
map_seat(struct ds_pass *p, int fd, struct ds_err *err)
{
	int seals = fcntl(fd, F_GET_SEALS), rc;
	struct stat st;
	void *base;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &st) != 0 ||
	    st.st_size < (off_t)sizeof *p->seat)
		return err_fail(err, -EBADMSG, "%s: not one of this build",
		    seat_kind.name);
	rc = memfd_map_writer(fd, (size_t)st.st_size, &base, err);
	if (rc < 0)
		return rc;
	rc = segment_check(&seat_kind, base, (size_t)st.st_size, err);
	if (rc < 0) {
		munmap(base, (size_t)st.st_size);
		return rc;
	}
	p->seat = base;
	p->seat_len = (size_t)st.st_size;
	pass_stop_waiting(p);
	return 0;
}

static int
attach_board(struct ds_pass *p, int *fd, uint64_t units, struct ds_err *err)
{
	int rc = segment_attach(&p->board_seg, &board_kind, *fd, err);

	if (rc < 0)
		return rc;
	/* The mapping is enough: no number that the job might take over. */
	*fd = -1;
	io_close(&p->board_seg.fd);
	p->board = p->board_seg.base;
	if (p->board_seg.len < sizeof *p->board || p->board->units != units)
		return err_fail(err, -EBADMSG, "%s: not that of the pass",
		    board_kind.name);
	return 0;
}

static int
attach(struct ds_pass *p, struct talk_attached *a, struct ds_err *err)
{
	int rc;

	p->id = a->pass;
	p->place = a->place;
	rc = crash_point("stage.attached");
	if (rc < 0)
		return err_fail(err, rc, "cannot attach to a pass");
	rc = attach_board(p, &a->board, a->units, err);
	if (rc == 0)
		rc = desk_set_floor(p->stage->desk, &a->floor, err);
	if (rc == 0)
		rc = map_seat(p, a->seat, err);
	return rc;
}

static void
fill_info(const struct ds_pass *p, const struct talk_attached *a,
    struct ds_pass_info *info)
{
	*info = (struct ds_pass_info){
		.seed = a->seed,
		.epoch = a->epoch,
		.units = a->units,
		.unit = a->unit,
		.jobs = atomic_load_explicit(&p->board->nr_jobs,
		    memory_order_relaxed),	/* as in ds_pass_jobs() */
	};
}

static int
open_pass(struct ds_pass *p, uint64_t epoch, uint64_t at,
    struct ds_pass_info *info, struct ds_err *err)
{
	struct ds_stage *s = p->stage;
	struct talk_attached a;
	int rc;

	rc = talk_attach(s->desk->link, &s->options, epoch, at, &a, err);
	if (rc < 0)
		return rc;
	rc = attach(p, &a, err);
	talk_close_fds(&a);
	if (rc < 0)
		talk_leave(s->desk->link, p->id);
	else if (info != NULL)
		fill_info(p, &a, info);
	return rc;
}

int
ds_pass_open(struct ds_pass **out, struct ds_stage *stage, uint64_t epoch,
    uint64_t at, struct ds_pass_info *info, struct ds_err *err)
{
	struct ds_pass *p;
	int rc;

	must_be(stage, STAGE_MAGIC);
	rc = desk_check(stage->desk, err);
	if (rc == 0)
		rc = stage_options_check(&stage->options, err);
	if (rc < 0)
		return rc;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return err_fail(err, -ENOMEM, "no memory for a pass");
	p->magic = ATTENDED_MAGIC;
	p->stage = stage;
	/* relaxed: as in ds_stage_set() */
	atomic_store_explicit(&stage->is_used, true, memory_order_relaxed);
	rc = open_pass(p, epoch, at, info, err);
	if (rc < 0) {
		pass_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

/* The seat is not inherited by fork: a child must not unmap its addresses. */
void
pass_free(struct ds_pass *p)
{
	must(p->holds.first == NULL);
	if (p->seat != NULL && desk_is_mine(p->stage->desk))
		munmap(p->seat, p->seat_len);
	segment_detach(&p->board_seg);
	p->magic = 0;
	free(p);
}

/*--- what all calls do ---------------------------------------------------*/

int
pass_check(const struct ds_pass *p, struct ds_err *err)
{
	must_be(p, ATTENDED_MAGIC);
	return desk_check(p->stage->desk, err);
}

int
ds_pass_is_alive(struct ds_pass *pass)
{
	must_be(pass, ATTENDED_MAGIC);
	return link_check(pass->stage->desk->link);
}

unsigned
ds_pass_jobs(struct ds_pass *pass)
{
	must_be(pass, ATTENDED_MAGIC);
	/* relaxed: may be a moment old */
	return atomic_load_explicit(&pass->board->nr_jobs,
	    memory_order_relaxed);
}

/* One that was detached is no member, though it may not know it yet: there is
 * somebody for whom it was too slow. */
int
ds_pass_is_alone(struct ds_pass *pass)
{
	uint32_t state, members;

	if (pass_check(pass, NULL) < 0)
		return 0;
	/* relaxed, both: may be a moment old */
	state = atomic_load_explicit(&pass->board->places[pass->place].state,
	    memory_order_relaxed);
	members = atomic_load_explicit(&pass->board->nr_members,
	    memory_order_relaxed);
	return state != PLACE_DETACHED && members <= (state == PLACE_LIVE);
}

int64_t
ds_pass_waits_for(struct ds_pass *pass)
{
	uint64_t pid = 0;

	if (pass_check(pass, NULL) < 0)
		return 0;
	(void)talk_waits_for(pass->stage->desk->link, pass->board->pass,
	    pass->place, &pid, NULL);
	return pid <= INT32_MAX ? (int64_t)pid : 0;
}

int
pass_sleep(struct ds_pass *p, const _Atomic uint32_t *word, uint32_t seen,
    uint64_t deadline_ns)
{
	uint64_t slice_ns = clock_now_ns() + STAGE_SLICE_NS;

	if (board_wait(word, seen,
	    deadline_ns < slice_ns ? deadline_ns : slice_ns) == 0)
		return 1;
	if (!desk_hears(p->stage->desk))
		return -ESTALE;
	desk_sweep(p->stage->desk);
	return 0;
}

void
pass_news_init(struct pass_news *n, const struct ds_pass *p)
{
	*n = (struct pass_news){ .link = p->stage->desk->link, .pass = p->id };
}

void
pass_tell(const struct pass_news *n)
{
	if (n->end)
		talk_end(n->link, n->pass);
	else if (n->news)
		talk_news(n->link, n->pass);
	if (n->leave)
		talk_leave(n->link, n->pass);
}

/*--- being a member ------------------------------------------------------*/

/* What is kept of before must be private first. */
static int
pay_end(struct ds_pass *p, struct ds_err *err)
{
	struct pass_news n;
	int rc = 0;

	pass_news_init(&n, p);
	desk_lock(p->stage->desk);
	if (p->is == OWES_END) {
		rc = pass_make_private(p, UINT64_MAX, &n, err);
		pass_settle(p, &n);
	}
	desk_unlock(p->stage->desk);
	pass_tell(&n);
	return rc;
}

static int
check_begin(const struct ds_pass *p, uint64_t at, uint64_t end,
    struct ds_err *err)
{
	int rc = pass_check(p, err);

	if (rc < 0)
		return rc;
	if (p->is == MEMBER)
		return err_fail(err, -EALREADY, "the pass was begun already");
	if (end > p->board->units || (at != DS_ANY && at >= end))
		return err_fail(err, -EINVAL, "a pass is begun at a unit that "
		    "it has, and not behind the end");
	return 0;
}

int
ds_pass_begin(struct ds_pass *pass, uint64_t at, uint64_t end,
    uint64_t *start, struct ds_err *err)
{
	struct desk *d = pass->stage->desk;
	uint64_t from = 0;
	int rc;

	rc = check_begin(pass, at, end, err);
	if (rc == 0)
		rc = pay_end(pass, err);
	if (rc < 0)
		return rc;
	rc = talk_begin(d->link, pass->id, at, end, &pass->stage->options,
	    &from, err);
	if (rc <= 0)
		return rc;
	(void)crash_point("stage.begun");
	desk_lock(d);
	pass->end = end;
	pass_start(pass, from);
	desk_unlock(d);
	if (start != NULL)
		*start = from;
	return 1;
}

static void
end_pass(struct ds_pass *p)
{
	if (p->is == MEMBER) {
		desk_lock(p->stage->desk);
		p->is = OWES_END;
		desk_unlock(p->stage->desk);
	}
	(void)pay_end(p, NULL);		/* if it fails, it is paid later */
}

void
ds_pass_end(struct ds_pass *pass)
{
	must_be(pass, ATTENDED_MAGIC);
	if (desk_is_mine(pass->stage->desk))
		end_pass(pass);
}

/*--- leaving -------------------------------------------------------------*/

static void
end_fills(struct ds_pass *p)
{
	struct desk *d = p->stage->desk;

	desk_lock(d);
	for (unsigned i = 0; i < p->nr_leases; i++)
		maps_fill(d->maps, p->leases[i].slot, false);
	desk_unlock(d);
}

static void
give_up_leases(struct ds_pass *p)
{
	end_fills(p);
	for (unsigned i = 0; i < p->nr_leases; i++)
		talk_give_up(p->stage->desk->link, p->id, p->leases[i].unit,
		    p->leases[i].generation, STAGE_LATER);
	p->nr_leases = 0;
}

/* True: it is gone, else the last release frees it. */
static bool
leave(struct ds_pass *p)
{
	struct ds_stage *s = p->stage;
	struct pass_news n;
	bool is_done;

	pass_news_init(&n, p);
	desk_lock(s->desk);
	p->is_closed = true;
	pass_settle(p, &n);
	is_done = pass_is_done(p);
	if (!is_done) {
		p->next_closed = s->closed;
		s->closed = p;
	}
	desk_unlock(s->desk);
	pass_tell(&n);
	return is_done;
}

void
ds_pass_close(struct ds_pass **pass)
{
	struct ds_pass *p = *pass;

	if (p == NULL)
		return;
	must_be(p, ATTENDED_MAGIC);
	*pass = NULL;
	if (!desk_is_mine(p->stage->desk)) {
		pass_forget_holds(&p->holds);
		pass_free(p);
		return;
	}
	end_pass(p);
	give_up_leases(p);
	if (leave(p)) {
		desk_sweep(p->stage->desk);
		pass_free(p);
	}
}
