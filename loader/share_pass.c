/* SPDX-License-Identifier: Apache-2.0
 *
 * share_pass.c: the stage and the passes of a loader, and how long they live.
 * Runs in clients, in the job's thread and the feeder.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/must.h"
#include "loader/loader.h"

#define SLOW_NS		NS_PER_S	/* to connect, or to learn of its end */
#define AGAIN_NS	(60 * NS_PER_S)

/*--- the stage -----------------------------------------------------------*/

static void
free_stage(struct share_stage *st)
{
	ds_stage_close(&st->stage);
	ds_disconnect(&st->hub);
	free(st);
}

void
share_stage_drop(struct share *s, struct share_stage *st)
{
	bool is_last;

	must(pthread_mutex_lock(&s->lock) == 0);
	is_last = --st->users == 0;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (is_last)
		free_stage(st);
}

static int
set_number(struct ds_stage *stage, const char *name, uint64_t value,
    struct ds_err *err)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	return ds_stage_set(stage, name, text, err);
}

/* Each lease is made by all threads, but two are out at a time.  Memory is
 * asked for when it is known how long a unit is: the first job decides that. */
static int
set_stream(const struct ds_loader *l, struct ds_stage *stage,
    struct ds_err *err)
{
	unsigned makers = l->pipeline.nr_makers;
	int rc = ds_stage_set(stage, "stream", l->share.key, err);

	if (rc == 0)
		rc = ds_stage_set(stage, "order", l->plan.order != NULL ?
		    "random" : "listed", err);
	if (rc == 0)
		rc = set_number(stage, "seed", l->plan.seed, err);
	if (rc == 0)
		rc = set_number(stage, "samples", l->plan.turns, err);
	if (rc == 0)
		rc = set_number(stage, "unit", l->shelf.room, err);
	if (rc == 0)
		rc = set_number(stage, "threads", (makers + 1) / 2, err);
	if (rc == 0)
		rc = set_number(stage, "makers", makers, err);
	if (rc == 0)
		rc = set_number(stage, "ahead", l->options.prefetch +
		    SHARE_AHEAD, err);
	return rc;
}

static int
open_stage(const struct ds_loader *l, struct share_stage **out,
    struct ds_err *err)
{
	const char *job = l->options.job[0] != '\0' ? l->options.job : NULL;
	struct share_stage *st = calloc(1, sizeof *st);
	int rc;

	if (st == NULL)
		return err_fail(err, -ENOMEM, "no memory for a stage");
	st->users = 1;
	rc = ds_connect_as(&st->hub, job, DS_NO_START, err);
	if (rc == 0)
		rc = ds_stage_open(&st->stage, st->hub, err);
	if (rc == 0)
		rc = set_stream(l, st->stage, err);
	if (rc < 0)
		free_stage(st);
	else
		*out = st;
	return rc;
}

void
share_lost(struct share *s, uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - since_ns > SLOW_NS)
		s->not_before_ns = now_ns + AGAIN_NS;
}

/* A hub that stands still costs seconds: not at each epoch. */
static int
try_stage(struct ds_loader *l, struct share_stage **out, struct ds_err *err)
{
	uint64_t since_ns = clock_now_ns();
	int rc;

	if (since_ns < l->share.not_before_ns)
		return err_fail(err, -ESTALE, "the hub did not answer: it is "
		    "tried once a minute");
	rc = open_stage(l, out, err);
	if (rc < 0)	/* one that is known to stand still is lost at once */
		share_lost(&l->share, rc == -ETIMEDOUT ? 0 : since_ns);
	return rc;
}

/* The one there is, kept for the caller; NULL: there is none. */
static struct share_stage *
keep_stage(struct share *s)
{
	struct share_stage *st;

	must(pthread_mutex_lock(&s->lock) == 0);
	st = s->stage;
	if (st != NULL)
		st->users++;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return st;
}

static int
find_stage(struct ds_loader *l, bool may_connect, struct share_stage **out,
    struct ds_err *err)
{
	struct share *s = &l->share;
	struct share_stage *st = keep_stage(s);
	int rc;

	if (st == NULL && !may_connect)
		return err_fail(err, -ESTALE, "the hub is gone");
	if (st == NULL) {
		rc = try_stage(l, &st, err);
		if (rc < 0)
			return rc;
		must(pthread_mutex_lock(&s->lock) == 0);
		st->users++;
		s->stage = st;
		must(pthread_mutex_unlock(&s->lock) == 0);
	}
	*out = st;
	return 0;
}

static void
forget_stage(struct share *s, struct share_stage *st)
{
	bool is_that;

	must(pthread_mutex_lock(&s->lock) == 0);
	is_that = s->stage == st;
	if (is_that)
		s->stage = NULL;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (is_that)
		share_stage_drop(s, st);
}

/*--- passes --------------------------------------------------------------*/

static void
free_pass(struct share *s, struct share_pass *sp)
{
	ds_pass_close(&sp->pass);
	plan_fini(&sp->plan);
	share_stage_drop(s, sp->stage);
	free(sp);
}

void
share_pass_drop(struct share *s, struct share_pass *sp)
{
	bool is_last;

	must(pthread_mutex_lock(&s->lock) == 0);
	is_last = --sp->users == 0;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (is_last)
		free_pass(s, sp);
}

/* What the hub says must be the job's own: it may be no hub of ours. */
static int
check_info(const struct ds_loader *l, const struct share_pass *sp,
    struct ds_err *err)
{
	const struct ds_pass_info *i = &sp->info;
	uint64_t turns = l->plan.turns;

	if (i->epoch == sp->epoch && i->seed == l->plan.seed && i->unit > 0 &&
	    i->units == (turns + i->unit - 1) / i->unit)
		return 0;
	return err_fail(err, -EBADMSG, "the hub has another stream");
}

static int
open_pass(struct ds_loader *l, struct share_stage *st, uint64_t epoch,
    uint64_t at, struct share_pass **out, struct ds_err *err)
{
	struct share_pass *sp = calloc(1, sizeof *sp);
	int rc;

	if (sp == NULL) {
		share_stage_drop(&l->share, st);
		return err_fail(err, -ENOMEM, "no memory for a pass");
	}
	sp->stage = st;
	sp->users = 1;
	sp->epoch = epoch;
	rc = plan_init(&sp->plan, &l->options, l->plan.nr, err);
	if (rc == 0)
		rc = ds_pass_open(&sp->pass, st->stage, epoch, at, &sp->info,
		    err);
	if (rc == 0)
		rc = check_info(l, sp, err);
	if (rc < 0)
		free_pass(&l->share, sp);
	else
		*out = sp;
	return rc;
}

/* A hub that is gone may have a successor. */
int
share_pass_open(struct ds_loader *l, uint64_t epoch, uint64_t at,
    bool may_connect, struct share_pass **out, struct ds_err *err)
{
	struct share_stage *st = NULL;
	int rc = 0;

	for (int tries = 0; tries < 2; tries++) {
		rc = find_stage(l, may_connect, &st, err);
		if (rc < 0)
			return rc;
		rc = open_pass(l, st, epoch, at, out, err);
		if (rc != -ESTALE)
			return rc;
		forget_stage(&l->share, st);
	}
	return rc;
}
