/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_share_own.c: tests of loader/share_own.c: a job that is alone keeps its
 * units, and waits for nobody.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "loader/loader.h"
#include "tests/harness/sharers.h"

static void
one_job_is_as_alone(void **state)
{
	char text[DS_ERR_TEXT];

	(void)state;
	sharer_open(&jobs[0], "batch=8");
	assert_int_equal(ds_loader_shared(jobs[0].loader, text, sizeof text),
	    -EAGAIN);
	sharer_train(&jobs[0], UINT32_MAX);
	sharer_check(&jobs[0]);
	assert_int_equal(jobs[0].counts.own_units, 16);
	assert_int_equal(jobs[0].counts.staged_units, 0);
	assert_int_equal(jobs[0].counts.published_units, 0);
	assert_int_equal(jobs[0].counts.others_units, 0);
	/* Four ahead, some of the next epoch, and the one that the job has. */
	assert_true(jobs[0].counts.memory_bytes <= 10 * 8 * 32 * 32 * 3 * 4);
	assert_int_equal(jobs[0].counts.audited_units, 0);
	assert_string_equal(sharer_how(&jobs[0]),
	    "ready to share: no other job of its stream yet");
}

/* It leased a unit of a pass that the job is alone at, and is gone: the job has
 * as many ahead as it wants, but not that one. */
static void
a_maker_that_is_gone_is_not_waited_for(void **state)
{
	struct ds_loader_counts c;
	struct ds_lease lease;
	struct ds_err err;
	struct party p;

	(void)state;
	sharer_attend_beside(&p, &jobs[0], 0);
	assert_int_equal(ds_pass_lease(p.pass, 5000, &lease, &err), 1);
	sharer_open(&jobs[1], "batch=8");
	sharer_launch(&jobs[1]);
	do {
		usleep(1000);
		ds_loader_counts(jobs[1].loader, &c);
	} while (c.waits_ns < 50 * UINT64_C(1000000));
	party_leave(&p);
	sharer_join(&jobs[1]);
	sharer_check(&jobs[1]);
}

static unsigned
count_kept(struct sharer *j)
{
	struct share *s = &j->loader->share;
	unsigned nr;

	pthread_mutex_lock(&s->lock);
	nr = s->is_paused ? s->nr_kept : 0;
	pthread_mutex_unlock(&s->lock);
	return nr;
}

/* A job that joined late has units of the next epoch, and is busy with what it
 * missed of its own: another that is there already is given them. */
static void
what_is_kept_of_the_next_epoch_can_be_had(void **state)
{
	char text[DS_POSITION_TEXT];
	struct ds_err err;

	(void)state;
	sharer_open(&jobs[0], "batch=1");
	sharer_train(&jobs[0], PICTURES);
	while (jobs[0].loader->given.epoch == 0)
		sharer_train(&jobs[0], 1);
	assert_int_equal(ds_loader_save(jobs[0].loader, text, &err), 0);
	sharer_close(&jobs[0]);
	sharer_open(&jobs[1], "batch=1");
	sharer_train(&jobs[1], 40);
	sharer_open(&jobs[2], "batch=1");
	sharer_train(&jobs[2], 4);
	sharer_close(&jobs[1]);
	for (unsigned i = 0; i < 40 && count_kept(&jobs[2]) == 0; i++) {
		sharer_train(&jobs[2], 1);
		usleep(10000);		/* for its makers, to get ahead */
	}
	sharer_open(&jobs[3], "batch=1");
	assert_int_equal(ds_loader_restore(jobs[3].loader, text, &err), 0);
	sharer_train(&jobs[3], 10);
	sharer_train(&jobs[2], UINT32_MAX);
	sharer_check(&jobs[2]);
}

static unsigned
count_ahead(struct sharer *j)
{
	struct share *s = &j->loader->share;
	unsigned nr;

	pthread_mutex_lock(&s->lock);
	nr = s->nr_kept;
	pthread_mutex_unlock(&s->lock);
	return nr;
}

static void
what_is_kept_outlives_the_hub(void **state)
{
	struct ds_loader_counts c;

	(void)state;
	sharer_open(&jobs[0], "batch=4 prefetch=8");
	sharer_train(&jobs[0], 2);
	while (count_ahead(&jobs[0]) < 8)
		usleep(1000);
	stagehub_kill();
	sharer_train(&jobs[0], 8);
	ds_loader_counts(jobs[0].loader, &c);
	assert_int_equal(c.own_units, 10);
	sharer_train(&jobs[0], UINT32_MAX);
	sharer_check(&jobs[0]);
}

SHARE_MAIN(
	SHARE_UNIT(one_job_is_as_alone),
	SHARE_UNIT(a_maker_that_is_gone_is_not_waited_for),
	SHARE_UNIT(what_is_kept_of_the_next_epoch_can_be_had),
	SHARE_UNIT(what_is_kept_outlives_the_hub))
