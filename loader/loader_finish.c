/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_finish.c: the last that is done to a batch before the job has it: what
 * failed, what is written down, what is counted.
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include <errno.h>
#include <string.h>

#include "base/must.h"
#include "loader/loader.h"

/*--- what failed ---------------------------------------------------------*/

/* The first sample that the policy does not cover. */
const struct cell *
loader_failure(const struct ds_loader *l, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		const struct cell *s = &b->cells[i];

		if (s->rc < 0 && (!s->is_bad ||
		    l->options.on_bad == ON_BAD_FAIL))
			return s;
	}
	return NULL;
}

/* -ENOENT would say that there are no more epochs. */
int
loader_fail_sample(const struct cell *s, struct ds_err *err)
{
	int rc = s->rc == -ENOENT ? -ESTALE : s->rc;

	return err_fail(err, rc, "%s", s->why != NULL ? s->why :
	    strerrordesc_np(-s->rc));
}

/* Those that failed: the job can ask about them. */
static void
remember_bad(struct ds_loader *l, struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		struct cell *s = &b->cells[i];

		if (s->rc >= 0)
			continue;
		bad_add(&l->bad, &(struct ds_bad){ .item = b->items[i],
		    .epoch = b->given.epoch, .position = b->positions[i],
		    .code = s->rc }, s->why);
		s->why = NULL;
	}
}

/*--- what is written and counted -----------------------------------------*/

static void
count_batch(struct ds_loader *l, const struct batch *b)
{
	struct ds_loader_counts *c = &l->pipeline.counts;

	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	c->batches++;
	c->samples += b->given.count;
	c->skipped += b->given.skipped;
	for (uint32_t i = 0; i < b->given.count; i++) {
		c->substituted += b->states[i] == DS_SAMPLE_SUBSTITUTE;
		c->cut_short += b->states[i] == DS_SAMPLE_CUT_SHORT;
	}
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
}

/* The numbers of those that are left out are overwritten by finishing. */
static int
finish_and_write(struct ds_loader *l, struct batch *b, bool substitutes,
    struct ds_err *err)
{
	struct ledger_skip *skips = l->skips;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < b->nr && !substitutes; i++) {
		if (b->cells[i].rc >= 0)
			continue;
		skips[nr] = (struct ledger_skip){ b->items[i], b->positions[i],
		    i - nr };
		nr++;
	}
	batch_finish(b, substitutes);
	return ledger_batch(l->ledger, &b->given, l->data, skips, nr, err);
}

int
loader_finish(struct ds_loader *l, struct batch *b, struct ds_err *err)
{
	bool substitutes = l->options.on_bad == ON_BAD_SUBSTITUTE;
	int rc = 0;

	remember_bad(l, b);
	if (l->ledger != NULL)
		rc = finish_and_write(l, b, substitutes, err);
	else
		batch_finish(b, substitutes);
	if (rc == 0)
		count_batch(l, b);
	return rc;
}

int
loader_finish_view(struct ds_loader *l, struct batch *b, struct ds_err *err)
{
	int rc = 0;

	batch_give(b, b->nr);
	if (l->ledger != NULL)
		rc = ledger_batch(l->ledger, &b->given, l->data, NULL, 0, err);
	if (rc == 0)
		count_batch(l, b);
	return rc;
}
