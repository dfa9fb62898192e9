/* SPDX-License-Identifier: Apache-2.0
 *
 * look.c: asks the hub for all that it tells of the stage.
 * Runs in the command only.
 */

#include <config.h>

#include "stage/look.h"

#include <stdlib.h>

#include "hub/inquiry.h"

static void
read_pass(struct inquiry *q, struct look_pass *p)
{
	p->pass = wire_get_u32(&q->r);
	p->group = inquiry_text(q);
	p->key = inquiry_text(q);
	p->epoch = wire_get_u64(&q->r);
	p->units = wire_get_u64(&q->r);
	p->unit = wire_get_u32(&q->r);
	for (unsigned i = 0; i < STAGE_PASS_WORDS; i++)
		p->word[i] = wire_get_u64(&q->r);
}

static int
ask_passes(struct look *k, struct link *l, struct ds_err *err)
{
	struct inquiry q = { .question = MSG_STAGE_STAT,
	    .answer = MSG_PASS_IS };
	struct look_pass *p;
	uint32_t after = 0;
	int rc;

	for (;;) {
		rc = inquiry_ask(&q, l, &after, 1, err);
		if (rc <= 0)
			return rc;
		k->passes = inquiry_grow(k->passes, k->nr_passes, sizeof *p);
		p = &k->passes[k->nr_passes++];
		read_pass(&q, p);
		rc = inquiry_check(&q, p->pass, after, err);
		if (rc < 0)
			return rc;
		after = p->pass;
	}
}

static void
read_place(struct inquiry *q, struct look_place *m)
{
	m->place = wire_get_u32(&q->r);
	m->client = wire_get_u32(&q->r);
	m->name = inquiry_text(q);
	m->pid = wire_get_u64(&q->r);
	m->job = wire_get_u64(&q->r);
	for (unsigned i = 0; i < STAGE_MEMBER_WORDS; i++)
		m->word[i] = wire_get_u64(&q->r);
}

/* A pass that has ended meanwhile has nobody. */
static int
ask_places(struct look *k, size_t pass, struct link *l, struct ds_err *err)
{
	struct inquiry q = { .question = MSG_STAGE_JOB,
	    .answer = MSG_MEMBER_IS };
	uint32_t words[] = { k->passes[pass].pass, 0 };	/* pass, after */
	struct look_place *m;
	int rc;

	for (;;) {
		rc = inquiry_ask(&q, l, words, 2, err);
		if (rc <= 0)
			return rc;
		k->places = inquiry_grow(k->places, k->nr_places, sizeof *m);
		m = &k->places[k->nr_places++];
		m->pass = pass;
		read_place(&q, m);
		rc = inquiry_check(&q, m->place + 1, words[1], err);
		if (rc < 0)
			return rc;
		words[1] = m->place + 1;
	}
}

int
look_take(struct look *k, struct link *l, struct ds_err *err)
{
	int rc;

	*k = (struct look){ 0 };
	rc = ask_passes(k, l, err);
	for (size_t i = 0; rc == 0 && i < k->nr_passes; i++)
		rc = ask_places(k, i, l, err);
	if (rc == 0)
		look_view(k);
	return rc;
}

void
look_fini(struct look *k)
{
	for (size_t i = 0; i < k->nr_passes; i++) {
		free(k->passes[i].group);
		free(k->passes[i].key);
	}
	for (size_t i = 0; i < k->nr_places; i++)
		free(k->places[i].name);
	free(k->passes);
	free(k->places);
	free(k->streams);
	free(k->jobs);
	*k = (struct look){ 0 };
}
