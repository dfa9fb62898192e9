/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.c: the hub's event loop.  Runs in the hub only.
 *
 *  1. The kernel keeps the address of a watch.  One that is removed while a
 *     batch of events is handled may still stand in that batch, so it is freed
 *     after it.
 *  2. The timer is looked at after every batch: whatever clients send, it is
 *     late by one batch at most.
 */

#include <config.h>

#include "hub/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"

#define LOOP_MAGIC	0x4c4f4f50u	/* "LOOP" */
#define WATCH_MAGIC	0x57544348u	/* "WTCH" */
#define BATCH		32

struct loop_watch {
	unsigned	magic;
	int		fd;
	loop_ready_f	*ready;		/* NULL once it is removed */
	void		*arg;
	struct loop	*loop;
	struct loop_watch *prev, *next;
};

struct loop {
	unsigned	magic;
	int		epoll;
	bool		in_batch;
	bool		is_stopped;
	struct loop_watch *watches;
	struct loop_watch *removed;	/* in this batch, to be freed */
	loop_timer_f	*timer;
	void		*timer_arg;
	uint64_t	period_ns;
	uint64_t	due_ns;
	struct loop_turns turns;
};

/* When the turn began, by both clocks. */
struct instant {
	uint64_t cpu_ns;
	uint64_t wall_ns;
};

int
loop_new(struct loop **out, struct ds_err *err)
{
	struct loop *l = calloc(1, sizeof *l);
	int rc;

	if (l == NULL)
		return err_fail(err, -ENOMEM, "hub: no memory");
	l->magic = LOOP_MAGIC;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0) {
		rc = err_errno(err, "hub: cannot make an epoll descriptor");
		free(l);
		return rc;
	}
	*out = l;
	return 0;
}

static void
free_removed(struct loop *l)
{
	struct loop_watch *w;

	while ((w = l->removed) != NULL) {
		l->removed = w->next;
		w->magic = 0;
		free(w);
	}
}

void
loop_free(struct loop **lp)
{
	struct loop *l = *lp;
	struct loop_watch *w;

	*lp = NULL;
	must_be(l, LOOP_MAGIC);
	must(!l->in_batch);
	while ((w = l->watches) != NULL)
		loop_unwatch(&w);
	io_close(&l->epoll);
	l->magic = 0;
	free(l);
}

/*--- watches -------------------------------------------------------------*/

static int
control(struct loop_watch *w, int op, uint32_t events, struct ds_err *err)
{
	struct epoll_event e = { .events = events, .data = { .ptr = w } };

	if (epoll_ctl(w->loop->epoll, op, w->fd, &e) != 0)
		return err_errno(err, "hub: cannot watch a descriptor");
	return 0;
}

int
loop_watch(struct loop *l, struct loop_watch **out, int fd, uint32_t events,
    loop_ready_f *ready, void *arg, struct ds_err *err)
{
	struct loop_watch *w;
	int rc;

	must_be(l, LOOP_MAGIC);
	w = calloc(1, sizeof *w);
	if (w == NULL)
		return err_fail(err, -ENOMEM, "hub: no memory");
	*w = (struct loop_watch){ .magic = WATCH_MAGIC, .fd = fd,
		.ready = ready, .arg = arg, .loop = l, .next = l->watches };
	rc = control(w, EPOLL_CTL_ADD, events, err);
	if (rc < 0) {
		free(w);
		return rc;
	}
	if (l->watches != NULL)
		l->watches->prev = w;
	l->watches = w;
	*out = w;
	return 0;
}

int
loop_rewatch(struct loop_watch *w, uint32_t events, struct ds_err *err)
{
	must_be(w, WATCH_MAGIC);
	return control(w, EPOLL_CTL_MOD, events, err);
}

static void
unlink_watch(struct loop_watch *w)
{
	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		w->loop->watches = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
}

void
loop_unwatch(struct loop_watch **wp)
{
	struct loop_watch *w = *wp;
	struct loop *l;

	*wp = NULL;
	must_be(w, WATCH_MAGIC);
	must(w->ready != NULL);
	l = w->loop;
	must(control(w, EPOLL_CTL_DEL, 0, NULL) == 0);
	unlink_watch(w);
	w->ready = NULL;
	w->next = l->removed;
	l->removed = w;
	if (!l->in_batch)
		free_removed(l);
}

/*--- turns ---------------------------------------------------------------*/

static struct instant
read_clocks(void)
{
	return (struct instant){
		.cpu_ns = clock_thread_ns(), .wall_ns = clock_now_ns(),
	};
}

/* A turn has ended: what it took; the next one begins. */
static void
end_turn(struct loop *l, struct instant *began)
{
	struct instant now = read_clocks();
	uint64_t cpu_ns = now.cpu_ns - began->cpu_ns;
	uint64_t wall_ns = now.wall_ns - began->wall_ns;

	l->turns.turns++;
	l->turns.over += cpu_ns > LOOP_TURN_NS;
	if (cpu_ns > l->turns.longest_cpu_ns)
		l->turns.longest_cpu_ns = cpu_ns;
	if (wall_ns > l->turns.longest_wall_ns)
		l->turns.longest_wall_ns = wall_ns;
	*began = now;
}

void
loop_every(struct loop *l, uint64_t period_ns, loop_timer_f *timer, void *arg)
{
	must_be(l, LOOP_MAGIC);
	must(period_ns > 0);
	l->timer = timer;
	l->timer_arg = arg;
	l->period_ns = period_ns;
	l->due_ns = clock_now_ns() + period_ns;
}

static void
take_timer(struct loop *l, struct instant *began)
{
	if (l->is_stopped || l->timer == NULL || began->wall_ns < l->due_ns)
		return;
	l->due_ns += l->period_ns;
	if (l->due_ns <= began->wall_ns)	/* slept through */
		l->due_ns = began->wall_ns + l->period_ns;
	l->timer(l->timer_arg);
	end_turn(l, began);
}

static void
take_batch(struct loop *l, const struct epoll_event *events, int nr)
{
	struct instant began = read_clocks();

	l->in_batch = true;
	for (int i = 0; i < nr && !l->is_stopped; i++) {
		struct loop_watch *w = events[i].data.ptr;

		must_be(w, WATCH_MAGIC);
		if (w->ready == NULL)
			continue;
		w->ready(w->arg, events[i].events);
		end_turn(l, &began);
	}
	take_timer(l, &began);
	l->in_batch = false;
	free_removed(l);
}

int
loop_run(struct loop *l, struct ds_err *err)
{
	struct epoll_event events[BATCH];
	int nr;

	must_be(l, LOOP_MAGIC);
	must(!l->in_batch);
	while (!l->is_stopped) {
		nr = epoll_wait(l->epoll, events, BATCH,
		    l->timer == NULL ? -1 : clock_left_ms(l->due_ns));
		if (nr < 0 && errno != EINTR)
			return err_errno(err, "hub: cannot wait for events");
		take_batch(l, events, nr < 0 ? 0 : nr);
	}
	l->is_stopped = false;
	return 0;
}

void
loop_stop(struct loop *l)
{
	must_be(l, LOOP_MAGIC);
	l->is_stopped = true;
}

const struct loop_turns *
loop_turns(const struct loop *l)
{
	must_be(l, LOOP_MAGIC);
	return &l->turns;
}
