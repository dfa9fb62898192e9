/* SPDX-License-Identifier: Apache-2.0
 *
 * share_prove.c: is a unit what the job would have made itself?
 * Runs in clients, in the job's thread.
 */

#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"
#include "loader/loader.h"

/*--- made again ----------------------------------------------------------*/

/* The samples that the job's own order has in a unit; NULL: no memory. */
static struct batch *
number_unit(struct ds_loader *l, const struct share_unit *u, bool is_bare)
{
	size_t size = l->shelf.sample_bytes;
	struct batch *b = is_bare ? batch_new_bare(u->count, size) :
	    batch_new(u->count, size);
	struct plan_run run = {
		.at = { .epoch = l->given.epoch, .turn = u->turn },
		.number = u->taken.unit, .count = u->count,
	};

	if (b == NULL)
		return NULL;
	loader_turn_to(l, run.at.epoch);
	loader_number(l, &l->plan, b, &run);
	return b;
}

static bool
is_same(const struct batch *b, uint32_t i, const struct share_unit *u)
{
	size_t size = b->given.sample_bytes;
	const uint8_t *bytes = u->taken.bytes;

	return b->cells[i].rc == bytes[u->count * size + i] &&
	    memcmp(batch_sample(b, i), bytes + i * size, size) == 0;
}

static void
say_different(struct ds_loader *l, const struct share_unit *u,
    uint64_t epoch, uint64_t item)
{
	struct ds_info info = { .name = NULL };

	(void)ds_data_info(l->data, item, &info);
	share_say(&l->share, false, "unit %" PRIu64 " of epoch %" PRIu64
	    ", which %s made, is not what this job makes of %.200s",
	    u->taken.unit, epoch, u->taken.is_own ? "it" : "another job",
	    info.name != NULL ? info.name : "?");
}

/* A sample that fails here for want of memory proves nothing. */
static enum share_proof
compare(struct ds_loader *l, const struct batch *b, const struct share_unit *u)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		if (b->cells[i].rc < 0 && !b->cells[i].is_bad)
			return UNPROVED;
		if (b->cells[i].rc >= 0 && is_same(b, i, u))
			continue;
		say_different(l, u, b->given.epoch, b->items[i]);
		return DISPROVED;
	}
	return PROVED;
}

/* The job has nothing in the pipeline now: what is added is the next out. */
static enum share_proof
make_and_compare(struct ds_loader *l, const struct share_unit *u)
{
	struct batch *b = number_unit(l, u, false);
	enum share_proof proof;

	if (b == NULL)
		return UNPROVED;
	loader_want(l, b);
	pipeline_add(&l->pipeline, b);
	must(pipeline_take(&l->pipeline) == b);
	proof = compare(l, b, u);
	batch_free(b);
	return proof;
}

/*--- which ones ----------------------------------------------------------*/

/* A share of all units, chosen by each job for itself. */
static bool
is_audited(const struct share *s, uint64_t epoch, uint64_t unit)
{
	uint64_t h = hash_number(hash_number(hash_number(HASH_BEGIN, s->salt),
	    epoch), unit);

	return (double)(h >> 11) * 0x1p-53 < s->audit;
}

static bool
is_compared(const struct share *s, uint64_t maker)
{
	for (unsigned i = 0; i < SHARE_COMPARED && i < s->nr_compared; i++) {
		if (s->compared[i] == maker)
			return true;
	}
	return false;
}

static uint64_t
root_of(const struct share_unit *u)
{
	uint64_t root;

	memcpy(&root, u->states + u->count, sizeof root);
	return root;
}

/* From now on it makes units for the others, too.  What is changed here is
 * changed by the job alone. */
static void
become_proven(struct share *s, uint64_t root)
{
	must(pthread_mutex_lock(&s->lock) == 0);
	s->root = root;
	s->is_proven = s->now->feeds = true;
	pthread_cond_broadcast(&s->changed);
	must(pthread_mutex_unlock(&s->lock) == 0);
}

/* By rule 2.  One that has our root has compared itself with us, or with one
 * that has. */
static bool
is_trusted(struct share *s, const struct share_unit *u)
{
	if (u->taken.is_own)
		return true;
	if (root_of(u) != s->root)
		return is_compared(s, u->taken.maker);
	if (!s->is_proven)
		become_proven(s, s->root);
	return true;
}

static void
note_compared(struct share *s, const struct share_unit *u)
{
	s->compared[s->nr_compared++ % SHARE_COMPARED] = u->taken.maker;
	if (!s->is_proven)
		become_proven(s, root_of(u));
}

static enum share_proof
prove(struct ds_loader *l, const struct share_unit *u)
{
	struct share *s = &l->share;
	bool trusted = is_trusted(s, u);
	enum share_proof proof;

	if (trusted && !is_audited(s, l->given.epoch, u->taken.unit))
		return PROVED;
	proof = make_and_compare(l, u);
	must(pthread_mutex_lock(&s->lock) == 0);
	s->counts.audited += proof != UNPROVED;
	s->counts.different += proof == DISPROVED;
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (!trusted && proof == PROVED)
		note_compared(s, u);
	return proof;
}

/* Is it of the samples that the job's own order has there, and as long? */
static bool
is_ours(struct ds_loader *l, const struct share_unit *u,
    const struct batch *numbers)
{
	size_t size = l->shelf.sample_bytes;
	const uint8_t *states;

	if (u->taken.hash != share_hash(numbers) ||
	    u->taken.len != share_bytes(u->count, size))
		return false;
	states = (const uint8_t *)u->taken.bytes + u->count * size;
	for (uint32_t i = 0; i < u->count; i++) {
		if (states[i] > DS_SAMPLE_CUT_SHORT)
			return false;
	}
	return true;
}

enum share_proof
share_prove(struct ds_loader *l, const struct share_unit *u)
{
	struct batch *b = number_unit(l, u, true);
	bool ours;

	if (b == NULL)
		return UNPROVED;
	ours = is_ours(l, u, b);
	batch_free(b);
	if (ours)
		return prove(l, u);
	share_say(&l->share, false, "unit %" PRIu64 " of epoch %" PRIu64
	    " is not of the samples that this job has there", u->taken.unit,
	    l->given.epoch);
	return DISPROVED;
}
