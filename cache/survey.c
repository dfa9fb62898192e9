/* SPDX-License-Identifier: Apache-2.0
 *
 * survey.c: asks the hub for all that it tells of the cache.
 * Runs in the command only.
 */

#include <config.h>

#include "cache/survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/say.h"
#include "base/wire.h"
#include "hub/control.h"

/*--- reading answers -----------------------------------------------------*/

static char *
copy_text(struct wire_reader *r)
{
	size_t len;
	const char *bytes = wire_get_bytes(r, &len);
	char *text = strndup(bytes != NULL ? bytes : "", len);

	if (text == NULL)
		say_no_memory();
	return text;
}

static void
read_set(struct wire_reader *r, struct survey_set *s)
{
	uint32_t flags;

	s->set = wire_get_u32(r);
	s->root = copy_text(r);
	flags = wire_get_u32(r);
	s->in_use = (flags & CACHE_SET_IN_USE) != 0;
	s->closed = (flags & CACHE_SET_CLOSED) != 0;
	for (unsigned i = 0; i < CACHE_STAT_WORDS; i++)
		s->word[i] = wire_get_u64(r);
}

static uint32_t
read_job(struct wire_reader *r, struct survey_job *j)
{
	uint32_t number = wire_get_u32(r);

	j->client = wire_get_u32(r);
	j->name = copy_text(r);
	j->job = wire_get_u64(r);
	j->live = wire_get_u32(r) != 0;
	j->set = wire_get_u32(r);
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		j->count[i] = wire_get_u64(r);
	return number;
}

/*--- asking --------------------------------------------------------------*/

/* 1 for an answer, in r; 0 when there are no more. */
static int
ask(struct link *l, uint16_t question, uint32_t after, uint16_t answer,
    struct wire_frame *f, struct wire_reader *r, struct ds_err *err)
{
	struct wire_writer w;
	int rc;

	wire_write(&w, f, question, 0);
	wire_put_u32(&w, after);
	must(wire_write_end(&w));
	rc = link_call(l, f, LINK_ANY, err);
	if (rc < 0)
		return rc;
	wire_close_fds(f);
	wire_read(r, f);
	if (f->head.type == answer)
		return 1;
	return f->head.type == MSG_DONE ? 0 : err_fail(err, -EBADMSG,
	    "the hub gave an answer that cannot be read");
}

/* Numbers only grow: a hub that says otherwise would be asked for ever. */
static int
check_answer(const struct wire_reader *r, uint32_t number, uint32_t after,
    struct ds_err *err)
{
	if (wire_read_end(r) && number > after)
		return 0;
	return err_fail(err, -EBADMSG,
	    "the hub gave an answer that cannot be read");
}

/* One more of nr, which are in an array of a power of two. */
static void *
grow(void *array, size_t nr, size_t size)
{
	void *p = array;

	if ((nr & (nr - 1)) == 0)
		p = reallocarray(array, nr > 0 ? 2 * nr : 1, size);
	if (p == NULL)
		say_no_memory();
	memset((char *)p + nr * size, 0, size);
	return p;
}

static int
ask_sets(struct survey *s, struct link *l, struct ds_err *err)
{
	struct wire_reader r;
	struct wire_frame f;
	struct survey_set *set;
	uint32_t after = 0;
	int rc;

	for (;;) {
		rc = ask(l, MSG_STAT, after, MSG_STATED, &f, &r, err);
		if (rc <= 0)
			return rc;
		s->sets = grow(s->sets, s->nr_sets, sizeof *s->sets);
		set = &s->sets[s->nr_sets++];
		read_set(&r, set);
		rc = check_answer(&r, set->set, after, err);
		if (rc < 0)
			return rc;
		after = set->set;
	}
}

static int
ask_jobs(struct survey *s, struct link *l, struct ds_err *err)
{
	struct wire_reader r;
	struct wire_frame f;
	uint32_t after = 0, number;
	int rc;

	for (;;) {
		rc = ask(l, MSG_STAT_JOB, after, MSG_JOB, &f, &r, err);
		if (rc <= 0)
			return rc;
		s->jobs = grow(s->jobs, s->nr_jobs, sizeof *s->jobs);
		number = read_job(&r, &s->jobs[s->nr_jobs++]);
		rc = check_answer(&r, number, after, err);
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
