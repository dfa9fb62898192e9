/* SPDX-License-Identifier: Apache-2.0
 *
 * explore.c: every order of events of a model, breadth first.
 *
 * Of a state that was seen only its hash is kept, the state before it and the
 * action between: a trace is found by going back, and told by doing it again.
 */

#include <config.h>

#include "tests/model/explore.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define NOWHERE	UINT32_MAX

struct seen {
	uint64_t hash[2];
	uint32_t before;
	uint16_t action;
	uint8_t	 blocked;
};

struct list {
	void	*at;
	size_t	nr, room, size;		/* of an element */
};

struct search {
	const struct model *m;
	struct explored *e;
	struct list	seen;		/* struct seen */
	struct list	hub_steps;	/* pairs of uint32_t: from, to */
	struct list	now, next;	/* states of this depth and the next */
	struct list	now_at, next_at;	/* which of seen they are */
	uint32_t	*table;		/* of seen, by hash; open addresses */
	size_t		table_size;	/* a power of two */
	uint32_t	broken_at;
	uint16_t	broken_by;
	bool		broken_step;	/* by that action, after broken_at */
};

static void *
append(struct list *l, const void *element)
{
	if (l->nr == l->room) {
		l->room = l->room > 0 ? 2 * l->room : 1024;
		l->at = realloc(l->at, l->room * l->size);
		must(l->at != NULL);
	}
	return memcpy((char *)l->at + l->nr++ * l->size, element, l->size);
}

static struct seen *
seen_at(const struct search *s, uint32_t i)
{
	return (struct seen *)s->seen.at + i;
}

static uint64_t
mix(uint64_t h, uint64_t word, uint64_t factor)
{
	h = (h ^ word) * factor;
	h ^= h >> 29;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 32;
}

static void
hash_state(const void *state, size_t size, uint64_t hash[2])
{
	hash[0] = 1;
	hash[1] = 2;
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word;

		memcpy(&word, (const char *)state + i, 8);
		hash[0] = mix(hash[0], word, UINT64_C(0x9e3779b97f4a7c15));
		hash[1] = mix(hash[1], word, UINT64_C(0xd6e8feb86659fd93));
	}
}

static void
grow_table(struct search *s)
{
	free(s->table);
	s->table_size = s->table_size > 0 ? 2 * s->table_size : 1 << 16;
	s->table = malloc(s->table_size * sizeof s->table[0]);
	must(s->table != NULL);
	memset(s->table, 0xff, s->table_size * sizeof s->table[0]);
	for (uint32_t i = 0; i < s->seen.nr; i++) {
		size_t at = seen_at(s, i)->hash[0] & (s->table_size - 1);

		while (s->table[at] != NOWHERE)
			at = (at + 1) & (s->table_size - 1);
		s->table[at] = i;
	}
}

/* Which of seen it is; added if it was none yet. */
static uint32_t
find_or_add(struct search *s, const void *state, uint32_t before,
    unsigned action)
{
	struct seen new = { .before = before, .action = (uint16_t)action };
	size_t at;

	if (s->seen.nr * 2 >= s->table_size)
		grow_table(s);
	hash_state(state, s->m->state_size, new.hash);
	at = new.hash[0] & (s->table_size - 1);
	for (; s->table[at] != NOWHERE; at = (at + 1) & (s->table_size - 1))
		if (memcmp(seen_at(s, s->table[at])->hash, new.hash,
		    sizeof new.hash) == 0)
			return s->table[at];
	s->table[at] = (uint32_t)s->seen.nr;
	new.blocked = (uint8_t)s->m->blocked(s->m->arg, state);
	append(&s->seen, &new);
	append(&s->next, state);
	append(&s->next_at, &s->table[at]);
	return s->table[at];
}

static bool
is_broken(struct search *s, const char *broken, uint32_t at)
{
	if (broken == NULL)
		return false;
	s->e->broken = broken;
	s->broken_at = at;
	return true;
}

/* All that can happen in one state.  False if something is wrong. */
static bool
expand(struct search *s, const void *state, uint32_t at)
{
	_Alignas(16) char copy[EXPLORE_STATE_MAX];
	const struct model *m = s->m;
	bool quiet = true;

	for (unsigned a = 0; a < m->nr_actions; a++) {
		struct step step = { .tell = false };
		bool is_hub = m->is_hub(m->arg, a);
		size_t before = s->seen.nr;
		uint32_t edge[2] = { at };

		memcpy(copy, state, m->state_size);
		if (!m->step(m->arg, copy, a, &step))
			continue;
		s->e->steps++;
		if (step.broken == NULL && m->check_step != NULL)
			step.broken = m->check_step(m->arg, state, copy);
		if (is_broken(s, step.broken, at)) {
			s->broken_step = true;
			s->broken_by = (uint16_t)a;
			return false;
		}
		edge[1] = find_or_add(s, copy, at, a);
		if (is_hub) {
			quiet = false;
			append(&s->hub_steps, edge);
		}
		if (s->seen.nr > before &&
		    is_broken(s, m->check(m->arg, copy), edge[1]))
			return false;
	}
	return !quiet || m->check_quiet == NULL ||
	    !is_broken(s, m->check_quiet(m->arg, state), at);
}

static void
swap(struct list *a, struct list *b)
{
	struct list c = *a;

	*a = *b;
	*b = c;
	b->nr = 0;
}

static bool
search_all(struct search *s, uint64_t limit)
{
	for (; s->next.nr > 0; s->e->depth++) {
		swap(&s->now, &s->next);
		swap(&s->now_at, &s->next_at);
		for (size_t i = 0; i < s->now.nr; i++)
			if (!expand(s, (char *)s->now.at + i * s->now.size,
			    ((uint32_t *)s->now_at.at)[i]))
				return false;
		if (s->seen.nr > limit)
			return true;
	}
	s->e->all = true;
	return true;
}

/*--- progress ------------------------------------------------------------*/

/* From where somebody is not blocked, back along the steps of the hub; who is
 * then still marked as blocked stays so.  Steps are few per state: passes over
 * all of them, last first, end soon. */
static void
find_stuck(struct search *s)
{
	const uint32_t (*edge)[2] = s->hub_steps.at;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = s->hub_steps.nr; i-- > 0;) {
			struct seen *from = seen_at(s, edge[i][0]);
			uint8_t still = from->blocked &
			    seen_at(s, edge[i][1])->blocked;

			changed |= still != from->blocked;
			from->blocked = still;
		}
	}
	for (uint32_t i = 0; i < s->seen.nr; i++)
		if (seen_at(s, i)->blocked != 0) {
			(void)is_broken(s, "progress: somebody waits, and no "
			    "step of the hub can wake it", i);
			return;
		}
}

/*--- traces --------------------------------------------------------------*/

void
step_tell(struct step *s, const char *fmt, va_list ap)
{
	size_t len = strlen(s->words);

	if (s->tell)
		(void)vsnprintf(s->words + len, sizeof s->words - len, fmt,
		    ap);
}

static void
tell_step(const struct search *s, void *state, unsigned action, unsigned nr,
    FILE *out)
{
	struct step step = { .tell = true };

	must(s->m->step(s->m->arg, state, action, &step));
	fprintf(out, "  %2u. %s\n", nr, step.words);
}

static void
tell_trace(const struct search *s, FILE *out)
{
	_Alignas(16) char state[EXPLORE_STATE_MAX];
	struct list back = { .size = sizeof(uint16_t) };
	unsigned nr = 0;

	for (uint32_t at = s->broken_at; at != 0; at = seen_at(s, at)->before)
		append(&back, &seen_at(s, at)->action);
	s->m->start(s->m->arg, state);
	while (back.nr > 0)
		tell_step(s, state, ((uint16_t *)back.at)[--back.nr], ++nr, out);
	if (s->broken_step)
		tell_step(s, state, s->broken_by, ++nr, out);
	fprintf(out, "  BROKEN: %s\n", s->e->broken);
	free(back.at);
}

void
explore(const struct model *m, uint64_t limit, FILE *traces,
    struct explored *e)
{
	_Alignas(16) char state[EXPLORE_STATE_MAX];
	struct search s = {
		.m = m, .e = e,
		.seen.size = sizeof(struct seen),
		.hub_steps.size = 2 * sizeof(uint32_t),
		.now.size = m->state_size, .next.size = m->state_size,
		.now_at.size = sizeof(uint32_t),
		.next_at.size = sizeof(uint32_t),
	};

	must(m->state_size <= sizeof state && m->state_size % 8 == 0);
	must(m->nr_actions <= UINT16_MAX && limit < NOWHERE / 2);
	*e = (struct explored){ .states = 0 };
	m->start(m->arg, state);
	find_or_add(&s, state, NOWHERE, 0);
	if (search_all(&s, limit) && e->all)
		find_stuck(&s);
	e->states = s.seen.nr;
	if (e->broken != NULL)
		tell_trace(&s, traces);
	free(s.seen.at);
	free(s.hub_steps.at);
	free(s.now.at);
	free(s.next.at);
	free(s.now_at.at);
	free(s.next_at.at);
	free(s.table);
}
