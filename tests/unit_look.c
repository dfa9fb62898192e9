/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_look.c: tests of stage/look_view.c: what the hub tells of passes and
 * places, as streams and jobs.
 */

#include <config.h>

#include "stage/look.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

static void *
take_memory(size_t nr, size_t size)
{
	void *p = calloc(nr, size);

	assert_non_null(p);
	return p;
}

static char *
copy(const char *text)
{
	char *p = strdup(text);

	assert_non_null(p);
	return p;
}

static void
put_pass(struct look *k, const char *group, const char *key, uint64_t seed,
    uint64_t epoch, uint64_t members)
{
	struct look_pass *p = &k->passes[k->nr_passes++];

	p->pass = (uint32_t)k->nr_passes;
	p->group = copy(group);
	p->key = copy(key);
	p->epoch = epoch;
	for (unsigned i = 0; i < STAGE_PASS_WORDS; i++)
		p->word[i] = 100 * k->nr_passes + i;
	p->word[STAGE_PASS_SEED] = seed;
	p->word[STAGE_PASS_MEMBERS] = members;
}

static void
put_place(struct look *k, size_t pass, uint64_t pid, uint64_t job,
    enum place_state state, uint64_t made)
{
	struct look_place *m = &k->places[k->nr_places++];

	m->pass = pass;
	m->name = copy("1 (job)");
	m->pid = pid;
	m->job = job;
	m->word[STAGE_MEMBER_STATE] = state;
	m->word[STAGE_MEMBER_MADE] = made;
}

static void
begin(struct look *k)
{
	*k = (struct look){
		.passes = take_memory(8, sizeof *k->passes),
		.places = take_memory(8, sizeof *k->places),
	};
}

static void
nothing_is_nothing(void **state)
{
	struct look k = { 0 };

	(void)state;
	look_view(&k);
	assert_int_equal(k.nr_streams, 0);
	assert_int_equal(k.nr_jobs, 0);
	look_fini(&k);
}

/* Group, key and seed, each of them, make another stream; the epoch does not. */
static void
streams_are_group_key_and_seed(void **state)
{
	static const size_t stream[] = { 0, 1, 2, 3, 0, 1 };
	struct look k;

	(void)state;
	begin(&k);
	put_pass(&k, "", "key", 1, 0, 1);
	put_pass(&k, "", "key", 2, 0, 1);
	put_pass(&k, "", "yek", 1, 0, 1);
	put_pass(&k, "g", "key", 1, 0, 1);
	put_pass(&k, "", "key", 1, 1, 3);
	put_pass(&k, "", "key", 2, 7, 0);
	look_view(&k);
	assert_int_equal(k.nr_streams, 4);
	for (size_t i = 0; i < k.nr_passes; i++)
		assert_int_equal(k.passes[i].stream, stream[i]);
	for (size_t i = 0; i < k.nr_streams; i++) {
		assert_int_equal(strlen(k.streams[i].id), LOOK_ID - 1);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(k.streams[i].id,
			    k.streams[j].id);
	}
	look_fini(&k);
}

/* Counts are those of all its passes; epoch and window of the one that most
 * members are in. */
static void
a_stream_is_all_its_passes(void **state)
{
	struct look k;

	(void)state;
	begin(&k);
	put_pass(&k, "", "key", 1, 4, 1);
	put_pass(&k, "", "key", 1, 5, 3);
	put_pass(&k, "", "key", 1, 6, 2);
	look_view(&k);
	assert_int_equal(k.nr_streams, 1);
	assert_int_equal(k.streams[0].passes, 3);
	assert_int_equal(k.streams[0].pass, 1);
	assert_int_equal(k.streams[0].window, 200 + STAGE_PASS_WINDOW);
	assert_int_equal(k.streams[0].made, 600 + 3 * STAGE_PASS_MADE);
	assert_int_equal(k.streams[0].delivered,
	    600 + 3 * STAGE_PASS_DELIVERED);
	assert_int_equal(k.streams[0].bytes, 600 + 3 * STAGE_PASS_BYTES);
	look_fini(&k);
}

static void
check_job(const struct look *k, size_t i, uint64_t pid,
    enum place_state state, uint64_t made)
{
	assert_int_equal(k->jobs[i].at->pid, pid);
	assert_int_equal(k->jobs[i].state, state);
	assert_int_equal(k->jobs[i].made, made);
}

/* A job whose member is one process and whose makers are others; one that has
 * begun its next epoch as a maker; one that is between epochs with two makers;
 * and the same job on another stream. */
static void
a_job_is_its_member(void **state)
{
	struct look k;

	(void)state;
	begin(&k);
	put_pass(&k, "", "key", 1, 0, 2);
	put_pass(&k, "", "key", 1, 1, 0);
	put_pass(&k, "", "yek", 1, 0, 1);
	put_place(&k, 0, 11, 1, PLACE_MAKER, 5);
	put_place(&k, 0, 12, 1, PLACE_LIVE, 0);
	put_place(&k, 0, 21, 2, PLACE_DETACHED, 7);
	put_place(&k, 1, 11, 1, PLACE_MAKER, 3);
	put_place(&k, 1, 31, 3, PLACE_MAKER, 1);
	put_place(&k, 1, 32, 3, PLACE_MAKER, 2);
	put_place(&k, 2, 11, 1, PLACE_MAKER, 9);
	look_view(&k);
	assert_int_equal(k.nr_jobs, 4);
	check_job(&k, 0, 12, PLACE_LIVE, 8);
	check_job(&k, 1, 21, PLACE_DETACHED, 7);
	check_job(&k, 2, 31, PLACE_MAKER, 3);
	check_job(&k, 3, 11, PLACE_MAKER, 9);
	assert_int_equal(k.streams[0].jobs, 3);
	assert_int_equal(k.streams[1].jobs, 1);
	assert_ptr_equal(k.jobs[3].stream, &k.streams[1]);
	assert_ptr_equal(k.jobs[2].pass, &k.passes[1]);
	look_fini(&k);
}

/* Two ranks of a job are two members, and one job. */
static void
members_of_one_job_have_a_row_each(void **state)
{
	struct look k;

	(void)state;
	begin(&k);
	put_pass(&k, "", "key", 1, 0, 2);
	put_place(&k, 0, 11, 1, PLACE_LIVE, 1);
	put_place(&k, 0, 12, 1, PLACE_LIVE, 2);
	look_view(&k);
	assert_int_equal(k.nr_jobs, 2);
	check_job(&k, 0, 11, PLACE_LIVE, 3);
	check_job(&k, 1, 12, PLACE_LIVE, 3);
	assert_int_equal(k.streams[0].jobs, 1);
	look_fini(&k);
}

UNIT_MAIN(UNIT(nothing_is_nothing), UNIT(streams_are_group_key_and_seed),
    UNIT(a_stream_is_all_its_passes), UNIT(a_job_is_its_member),
    UNIT(members_of_one_job_have_a_row_each))
