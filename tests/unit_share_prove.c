/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_share_prove.c: tests of loader/share_prove.c: a job compares what others
 * made with what it makes itself, before it believes them and they it.
 */

#include <config.h>

#include <string.h>

#include "loader/loader.h"
#include "tests/harness/sharers.h"

/* A job that says it makes the same, and does not: its first unit is of the
 * right length and hash. */
static void
publish_other_bytes(struct party *p, struct ds_loader *l, uint64_t epoch,
    uint64_t root)
{
	struct plan_run run = { .at = { .epoch = epoch }, .count = 8 };
	size_t bytes = share_bytes(8, l->shelf.sample_bytes);
	struct ds_lease lease;
	struct batch *b;
	struct ds_err err;

	assert_int_equal(ds_pass_lease(p->pass, 5000, &lease, &err), 1);
	assert_int_equal(lease.unit, 0);
	assert_int_equal(ds_pass_room(p->pass, &lease, bytes, &err), 0);
	memset(lease.bytes, 0, bytes);
	memcpy((char *)lease.bytes + bytes - sizeof root, &root, sizeof root);
	b = batch_new_bare(8, 1);
	assert_true(plan_epoch(&l->plan, epoch));
	loader_number(l, &l->plan, b, &run);
	assert_int_equal(ds_pass_publish(p->pass, &lease, bytes, share_hash(b),
	    0, &err), 0);
	batch_free(b);
}

/* And what the newcomer would have made is given to nobody. */
static void
what_is_different_is_named(void **state)
{
	struct ds_err err;
	struct party p;

	(void)state;
	sharer_attend_beside(&p, &jobs[0], 0);
	publish_other_bytes(&p, jobs[0].loader, 0, 0);
	assert_int_equal(ds_pass_begin(p.pass, 0, 8, NULL, &err), 1);
	sharer_open(&jobs[1], "batch=8");
	sharer_train(&jobs[1], UINT32_MAX);
	sharer_check(&jobs[1]);
	assert_int_equal(jobs[1].counts.different_units, 1);
	assert_int_equal(jobs[1].counts.published_units, 0);
	assert_non_null(strstr(sharer_how(&jobs[1]),
	    "alone: unit 0 of epoch 0, "
	    "which another job made, is not what this job makes of class"));
	party_leave(&p);
}

/* Two jobs that are proven, with these options, and another that publishes
 * something else, under their root or under none. */
static void
find_the_liar(const char *options, bool knows_the_root)
{
	uint64_t root;
	struct party p;

	sharer_open(&jobs[0], options);
	sharer_open(&jobs[1], options);
	sharer_train(&jobs[0], 1);
	sharer_train(&jobs[1], 2);
	root = knows_the_root ? jobs[0].loader->share.root : 0;
	sharer_attend_beside(&p, &jobs[2], 1);
	publish_other_bytes(&p, jobs[2].loader, 1, root);
	sharers_run(2);
	for (unsigned i = 0; i < 2; i++) {
		sharer_check(&jobs[i]);
		assert_int_equal(jobs[i].counts.different_units, 1);
	}
	party_leave(&p);
}

/* Who is proven has not proved those of another root. */
static void
each_maker_of_another_root_is_compared(void **state)
{
	(void)state;
	find_the_liar("batch=8", false);
}

static void
who_lies_about_its_root_is_found_by_audits(void **state)
{
	(void)state;
	find_the_liar("batch=8 audit=1", true);
}

static void
one_proof_is_enough(void **state)
{
	(void)state;
	for (unsigned i = 0; i < JOBS; i++) {
		sharer_open(&jobs[i], "batch=4");
		sharer_train(&jobs[i], 1);
	}
	sharers_run(JOBS);
	for (unsigned i = 0; i < JOBS; i++) {
		sharer_check(&jobs[i]);
		/* All by the first, which is the root. */
		assert_int_equal(jobs[i].counts.audited_units, i > 0);
	}
}

/* Before its proof a job makes nothing for others: but it does not wait for
 * those who make nothing, either. */
static void
one_that_is_not_proven_goes_on(void **state)
{
	struct ds_err err;
	struct party p;

	(void)state;
	sharer_attend_beside(&p, &jobs[0], 0);
	assert_int_equal(ds_pass_begin(p.pass, 0, 8, NULL, &err), 1);
	sharer_open(&jobs[1], "batch=8");
	sharer_train(&jobs[1], UINT32_MAX);
	sharer_check(&jobs[1]);
	/* It makes two for itself, and then for all. */
	assert_in_range(jobs[1].counts.own_units, 2, 15);
	assert_int_equal(jobs[1].counts.own_units +
	    jobs[1].counts.staged_units, 16);
	party_leave(&p);
}

SHARE_MAIN(
	SHARE_UNIT(what_is_different_is_named),
	SHARE_UNIT(each_maker_of_another_root_is_compared),
	SHARE_UNIT(who_lies_about_its_root_is_found_by_audits),
	SHARE_UNIT(one_proof_is_enough),
	SHARE_UNIT(one_that_is_not_proven_goes_on))
