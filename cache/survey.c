/* SPDX-License-Identifier: Apache-2.0
 *
 * survey.c: asks the hub for all that it tells of the cache.
 * Runs in the command only.
 */

#include <config.h>

#include "cache/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hub/control.h"
#include "hub/inquiry.h"

/*--- asking --------------------------------------------------------------*/

static void
read_set(struct inquiry *q, struct survey_set *s)
{
	uint32_t flags;

	s->set = wire_get_u32(&q->r);
	s->root = inquiry_text(q);
	flags = wire_get_u32(&q->r);
	s->in_use = (flags & CACHE_SET_IN_USE) != 0;
	s->closed = (flags & CACHE_SET_CLOSED) != 0;
	for (unsigned i = 0; i < CACHE_STAT_WORDS; i++)
		s->word[i] = wire_get_u64(&q->r);
}

static int
ask_sets(struct survey *s, struct link *l, struct ds_err *err)
{
	struct inquiry q = { .question = MSG_STAT, .answer = MSG_STATED };
	struct survey_set *set;
	uint32_t after = 0;
	int rc;

	for (;;) {
		rc = inquiry_ask(&q, l, &after, 1, err);
		if (rc <= 0)
			return rc;
		s->sets = inquiry_grow(s->sets, s->nr_sets, sizeof *s->sets);
		set = &s->sets[s->nr_sets++];
		read_set(&q, set);
		rc = inquiry_check(&q, set->set, after, err);
		if (rc < 0)
			return rc;
		after = set->set;
	}
}

static uint32_t
read_job(struct inquiry *q, struct survey_job *j)
{
	uint32_t number = wire_get_u32(&q->r);

	j->client = wire_get_u32(&q->r);
	j->name = inquiry_text(q);
	j->job = wire_get_u64(&q->r);
	j->live = wire_get_u32(&q->r) != 0;
	j->set = wire_get_u32(&q->r);
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		j->count[i] = wire_get_u64(&q->r);
	return number;
}

static int
ask_jobs(struct survey *s, struct link *l, struct ds_err *err)
{
	struct inquiry q = { .question = MSG_STAT_JOB, .answer = MSG_JOB };
	uint32_t after = 0, number;
	int rc;

	for (;;) {
		rc = inquiry_ask(&q, l, &after, 1, err);
		if (rc <= 0)
			return rc;
		s->jobs = inquiry_grow(s->jobs, s->nr_jobs, sizeof *s->jobs);
		number = read_job(&q, &s->jobs[s->nr_jobs++]);
		rc = inquiry_check(&q, number, after, err);
		if (rc < 0)
			return rc;
		after = number;
	}
}

/* relaxed: figures for people (hub/control.h) */
static uint64_t
load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void
read_control(struct survey_hub *h, const struct link *l)
{
	const struct control *c = link_control(l);
	uint64_t now_ns = clock_now_ns(), clients = load(&c->nr_clients);

	*h = (struct survey_hub){
		.pid = c->pid,
		.generation = link_generation(l),
		.up_ns = now_ns > c->started_ns ? now_ns - c->started_ns : 0,
		.clients = clients > 0 ? clients - 1 : 0,
		.connects = load(&c->nr_connects),
		.deaths = load(&c->nr_deaths),
		.refused = load(&c->nr_refused),
		.expelled = load(&c->nr_expelled),
		.turns = load(&c->turns),
		.turns_over_1ms = load(&c->turns_over_1ms),
		.longest_turn_cpu_ns = load(&c->longest_turn_cpu_ns),
		.longest_turn_wall_ns = load(&c->longest_turn_wall_ns),
		.budget_bytes = load(&c->budget_bytes),
		.used_bytes = load(&c->used_bytes),
	};
}

/*--- the whole -----------------------------------------------------------*/

int
survey_take(struct survey *s, struct link *l, struct ds_err *err)
{
	int rc;

	*s = (struct survey){ 0 };
	rc = ask_sets(s, l, err);
	if (rc == 0)
		rc = ask_jobs(s, l, err);
	if (rc == 0)
		read_control(&s->hub, l);
	return rc;
}

void
survey_fini(struct survey *s)
{
	for (size_t i = 0; i < s->nr_sets; i++)
		free(s->sets[i].root);
	for (size_t i = 0; i < s->nr_jobs; i++)
		free(s->jobs[i].name);
	free(s->sets);
	free(s->jobs);
	*s = (struct survey){ 0 };
}

const struct survey_set *
survey_find(const struct survey *s, uint32_t set)
{
	for (size_t i = 0; i < s->nr_sets; i++) {
		if (s->sets[i].set == set)
			return &s->sets[i];
	}
	return NULL;
}
