/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.c: a stream: opening it, setting it up, giving back what was taken of
 * it, closing it.  Runs in clients, in any of their threads.
 */

#include <config.h>

#include "stage/stage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/must.h"
#include "stage/desks.h"

/*--- opening -------------------------------------------------------------*/

int
ds_stage_open(struct ds_stage **out, struct ds_hub *hub, struct ds_err *err)
{
	struct ds_stage *s = calloc(1, sizeof *s);
	int rc;

	if (s == NULL)
		return err_fail(err, -ENOMEM, "no memory for a stage");
	s->magic = STAGE_MAGIC;
	rc = stage_options_init(&s->options, err);
	if (rc == 0)
		rc = desks_watch(err);
	if (rc == 0)
		rc = desk_get(&s->desk, hub, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

int
ds_stage_set(struct ds_stage *stage, const char *name, const char *value,
    struct ds_err *err)
{
	must_be(stage, STAGE_MAGIC);
	if (name == NULL || value == NULL)
		return err_fail(err, -EINVAL, "an option has a name and a "
		    "value");
	/* relaxed: who opens a pass in another thread at the same time has
	 * been warned by destall.h */
	if (atomic_load_explicit(&stage->is_used, memory_order_relaxed))
		return err_fail(err, -EBUSY, "%.64s: too late, there was a "
		    "pass already", name);
	return stage_options_set(&stage->options, name, value, err);
}

/*--- giving back ---------------------------------------------------------*/

static void
unlist_closed(struct ds_stage *s, struct ds_pass *p)
{
	struct ds_pass **at = &s->closed;

	while (*at != p)
		at = &(*at)->next_closed;
	*at = p->next_closed;
}

/* Of a pass that was closed before, the last hold is also its end.  One that is
 * not closed settles by itself: whoever takes and ends is one thread, and knows
 * in which order it tells. */
static void
give_back(struct ds_stage *s, struct hold *h)
{
	struct pass_news n = { 0 };
	struct ds_pass *p;

	desk_lock(s->desk);
	p = h->pass;
	if (p != NULL)
		pass_news_init(&n, p);
	pass_drop(h, &n);
	if (p != NULL && p->is_closed)
		pass_settle(p, &n);
	if (p != NULL && pass_is_done(p))
		unlist_closed(s, p);
	else
		p = NULL;
	desk_unlock(s->desk);
	pass_tell(&n);
	if (p != NULL)
		pass_free(p);
}

void
ds_stage_release(struct ds_stage *stage, struct ds_taken *taken)
{
	must_be(stage, STAGE_MAGIC);
	if (taken->priv != NULL && desk_is_mine(stage->desk)) {
		give_back(stage, taken->priv);
		desk_sweep(stage->desk);
	}
	*taken = (struct ds_taken){ 0 };
}

void
stage_give_idle(struct ds_stage *s)
{
	must_be(s, STAGE_MAGIC);
	if (desk_is_mine(s->desk))
		desk_give_idle(s->desk);
}

/*--- closing -------------------------------------------------------------*/

/* What a fork has made private goes from the passes to those kept. */
static void
give_back_all(struct ds_stage *s)
{
	while (s->closed != NULL)
		give_back(s, s->closed->holds.first);
	while (s->kept.first != NULL)
		give_back(s, s->kept.first);
}

static void
forget_all(struct ds_stage *s)
{
	struct ds_pass *p;

	pass_forget_holds(&s->kept);
	while ((p = s->closed) != NULL) {
		s->closed = p->next_closed;
		pass_forget_holds(&p->holds);
		pass_free(p);
	}
}

void
ds_stage_close(struct ds_stage **stage)
{
	struct ds_stage *s = *stage;

	if (s == NULL)
		return;
	must_be(s, STAGE_MAGIC);
	*stage = NULL;
	if (desk_is_mine(s->desk))
		give_back_all(s);
	else
		forget_all(s);
	desk_put(&s->desk);
	s->magic = 0;
	free(s);
}
