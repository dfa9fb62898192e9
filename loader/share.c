/* SPDX-License-Identifier: Apache-2.0
 *
 * share.c: a loader's share in the stage: its beginning and its end, and what
 * it tells of itself.  Runs in clients.
 */

#include <config.h>

#include "loader/share.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "cache/data.h"
#include "hub/job.h"
#include "loader/loader.h"
#include "stage/stage.h"

/*--- what it tells -------------------------------------------------------*/

void
share_say(struct share *s, bool is_shared, const char *fmt, ...)
{
	va_list ap;
	int n;

	must(pthread_mutex_lock(&s->lock) == 0);
	s->is_known = true;
	s->is_shared = is_shared;
	n = snprintf(s->how, sizeof s->how, "%s", is_shared ? "" : "alone: ");
	va_start(ap, fmt);
	(void)vsnprintf(s->how + n, sizeof s->how - (size_t)n, fmt, ap);
	va_end(ap);
	must(pthread_mutex_unlock(&s->lock) == 0);
}

int
ds_loader_shared(struct ds_loader *loader, char *text, size_t size)
{
	struct share *s = &loader->share;
	int rc = loader_check_process(loader, NULL);

	if (rc < 0)
		return rc;
	must(pthread_mutex_lock(&s->lock) == 0);
	rc = s->is_known ? s->is_shared : -EAGAIN;
	if (s->is_known)
		(void)snprintf(text, size, "%s", s->how);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return rc;
}

void
share_add_counts(struct share *s, struct ds_loader_counts *counts)
{
	struct share_counts c;

	must(pthread_mutex_lock(&s->lock) == 0);
	c = s->counts;
	must(pthread_mutex_unlock(&s->lock) == 0);
	counts->staged_batches = c.batches;
	counts->staged_units = c.units;
	counts->others_units = c.foreign;
	counts->own_units = c.own;
	counts->published_units = c.published;
	counts->audited_units = c.audited;
	counts->different_units = c.different;
	counts->detached = c.detached;
	counts->stage_wait_ns = c.wait_ns;
	counts->others_samples = c.foreign_samples;
	counts->staged_samples = c.own_samples;
	counts->blocked_ns = c.blocked_ns;
	counts->waits_ns = c.waits_since_ns != 0 ?
	    clock_now_ns() - c.waits_since_ns : 0;
	counts->waits_pid = c.waits_pid;
}

/*--- beginning -----------------------------------------------------------*/

void
share_init(struct share *s)
{
	pthread_condattr_t attr;

	*s = (struct share){ .self = SHARE_NEVER, .tried = SHARE_NEVER,
	    .no_room_for = SHARE_NEVER, .failed_unit = SHARE_NEVER };
	shelf_init(&s->views);
	must(pthread_mutex_init(&s->lock, NULL) == 0);
	must(pthread_condattr_init(&attr) == 0);
	must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
	must(pthread_cond_init(&s->changed, &attr) == 0);
	must(pthread_condattr_destroy(&attr) == 0);
}

/* A guest, as the other threads are: signals go to the job's own. */
static int
start_feeder(struct ds_loader *l)
{
	sigset_t all, before;
	int e;

	sigfillset(&all);
	must(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	e = pthread_create(&l->share.feeder, NULL, share_feed, l);
	must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	if (e == 0)
		(void)pthread_setname_np(l->share.feeder, "destall share");
	return e;
}

void
share_start(struct ds_loader *l)
{
	struct share *s = &l->share;
	int e;

	if (!l->options.share) {
		share_say(s, false, "share=no");
		return;
	}
	share_key(l, s->key);
	s->salt = s->root = job_draw();
	s->audit = l->options.audit >= 0 ? l->options.audit :
	    (double)l->data->set_up.audit / DATA_AUDIT_ALL;
	shelf_set(&s->views, l->shelf.room, l->shelf.sample_bytes,
	    l->shelf.most, true);
	l->pipeline.publish = share_made;
	l->pipeline.publish_arg = l;
	s->is_paused = true;
	e = start_feeder(l);
	if (e != 0)
		share_say(s, false, "cannot start a thread: %s",
		    strerrordesc_np(e));
	s->is_on = e == 0;
}

/*--- ending --------------------------------------------------------------*/

void
share_stop(struct ds_loader *l)
{
	struct share *s = &l->share;

	if (!s->is_on)
		return;
	must(pthread_mutex_lock(&s->lock) == 0);
	s->stops = true;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
	must(pthread_join(s->feeder, NULL) == 0);
}

static void
drop_pass(struct ds_loader *l, struct share_pass **sp)
{
	if (*sp == NULL)
		return;
	share_drop_kept(l, *sp);
	share_pass_drop(&l->share, *sp);
	*sp = NULL;
}

static void
drop_passes(struct ds_loader *l)
{
	drop_pass(l, &l->share.now);
	drop_pass(l, &l->share.next);
}

static void
drop_stage(struct share *s)
{
	if (s->stage != NULL)
		share_stage_drop(s, s->stage);
	s->stage = NULL;
}

static void
wait_for_makers(struct share *s)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	while (s->in_work > 0)
		must(pthread_cond_wait(&s->changed, &s->lock) == 0);
	must(pthread_mutex_unlock(&s->lock) == 0);
}

/* What the job holds keeps its place in memory, and the connection. */
void
share_quit(struct ds_loader *l)
{
	struct share *s = &l->share;

	s->for_good = true;
	share_leave(l);
	share_stop(l);
	s->is_on = false;
	wait_for_makers(s);
	drop_passes(l);
	if (s->stage != NULL)
		stage_give_idle(s->stage->stage);
	drop_stage(s);
}

/* What is held is released before its stage is closed with its last user. */
static void
drop_all(struct ds_loader *l)
{
	struct share *s = &l->share;
	struct share_unit *u;
	struct batch *b;

	while ((b = pipeline_drop_leased(&l->pipeline)) != NULL)
		share_free_lease(l, b);
	drop_passes(l);
	while ((u = s->units) != NULL) {
		u->users = 1;
		share_unit_drop(s, u);
	}
	drop_stage(s);
}

void
share_fini(struct ds_loader *l)
{
	struct share *s = &l->share;

	drop_all(l);
	shelf_fini(&s->views);
	must(pthread_cond_destroy(&s->changed) == 0);
	must(pthread_mutex_destroy(&s->lock) == 0);
}

/* A lock that another thread held at the fork is held for ever: a new one. */
void
share_abandon(struct ds_loader *l)
{
	struct share *s = &l->share;

	must(pthread_mutex_init(&s->lock, NULL) == 0);
	s->is_abandoned = true;
	drop_all(l);
	shelf_abandon(&s->views);
}
