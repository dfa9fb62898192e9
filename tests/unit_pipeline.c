/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_pipeline.c: tests of loader/pipeline.c: who does what next.  One thread
 * plays all of them.
 */

#include <config.h>

#include "loader/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define MIB	(UINT64_C(1) << 20)
#define NR	4u

static char folder[FOLDER_PATH];
static struct ds_data *data;
static struct pipeline p;
static struct batch *batches[2];

/* Four sparse files of 30 MiB: their sizes are all that counts. */
static int
start(void **state)
{
	char path[FOLDER_PATH + 16];
	struct ds_err err;
	FILE *f;

	leak_before(state);
	alarm(60);		/* rather than wait for ever */
	if (folder_make(folder, "pipeline") != 0)
		return -1;
	for (unsigned i = 0; i < NR; i++) {
		(void)snprintf(path, sizeof path, "%s/%u", folder, i);
		f = fopen(path, "we");
		if (f == NULL || ftruncate(fileno(f), 30 << 20) != 0)
			return -1;
		fclose(f);
	}
	if (ds_data_open(&data, NULL, folder, NULL, &err) < 0)
		return -1;
	pipeline_init(&p, data);
	for (unsigned k = 0; k < 2; k++)
		batches[k] = batch_new(NR, 16);
	return 0;
}

static int
stop(void **state)
{
	pipeline_drop(&p);
	pipeline_fini(&p);
	for (unsigned k = 0; k < 2; k++)
		batch_free(batches[k]);
	ds_data_close(&data);
	folder_remove(folder);
	return leak_after(state);
}

#define PIPELINE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start, stop)

static void
add(unsigned k, const enum cell_state *states)
{
	struct batch *b = batches[k];

	b->nr = NR;
	for (uint32_t i = 0; i < NR; i++) {
		b->items[i] = i;
		b->cells[i].state = states[i];
	}
	pipeline_add(&p, b);
}

static const enum cell_state all_wanted[NR] = {
	CELL_WANTED, CELL_WANTED, CELL_WANTED, CELL_WANTED
};
static const enum cell_state mixed[NR] = {
	CELL_WANTED, CELL_CACHED, CELL_WANTED, CELL_CACHED
};

static void
expect_make(unsigned k, uint32_t i)
{
	struct task t;

	assert_true(pipeline_next_make(&p, &t));
	assert_ptr_equal(t.batch, batches[k]);
	assert_int_equal(t.i, i);
}

static void
expect_fetch(unsigned k, uint32_t i)
{
	struct task t;

	assert_true(pipeline_next_fetch(&p, &t));
	assert_ptr_equal(t.batch, batches[k]);
	assert_int_equal(t.i, i);
}

static void
fetched(unsigned k, uint32_t i, uint64_t ns)
{
	struct ds_item item = { "", 0, NULL };

	pipeline_fetched(&p, &(struct task){ batches[k], i, CELL_WANTED },
	    &item, &(struct done){ .fetch_ns = ns });
}

static void
made(unsigned k, uint32_t i, enum cell_state was, uint64_t fetch_ns)
{
	pipeline_done(&p, &(struct task){ batches[k], i, was },
	    &(struct done){ .fetch_ns = fetch_ns, .make_ns = 600000 });
}

/* Leased ones come after the job's, the lowest first, and leave when all of
 * them is made. */
static void
leased_ones_come_last(void **state)
{
	struct share_lease *lease = (struct share_lease *)&p;
	struct task t = { .batch = NULL };
	struct batch *b = batch_new_bare(1, 16), *done;

	(void)state;
	b->lease = batches[1]->lease = lease;	/* any but none */
	b->nr = 1;
	b->given.number = 7;
	batches[1]->given.number = 6;
	batches[1]->nr = 1;
	pipeline_add_leased(&p, b);
	pipeline_add_leased(&p, batches[1]);
	add(0, mixed);
	assert_int_equal(p.nr_batches, 1);
	for (uint32_t i = 0; i < NR; i++)
		expect_make(0, i);
	expect_make(1, 0);
	assert_true(pipeline_next_make(&p, &t));
	assert_ptr_equal(t.batch, b);
	done = pipeline_done(&p, &t, &(struct done){ .make_ns = 5 });
	assert_ptr_equal(done, b);
	assert_int_equal(b->made_ns, 5);
	assert_ptr_equal(pipeline_drop_leased(&p), batches[1]);
	assert_null(pipeline_drop_leased(&p));
	batch_free(b);
}

/* Nothing is handed over. */
static void
without_readers_makers_go_in_order(void **state)
{
	(void)state;
	add(0, mixed);
	add(1, all_wanted);
	for (uint32_t i = 0; i < 2 * NR; i++)
		expect_make(i / NR, i % NR);
}

static void
makers_leave_slow_reading_to_readers(void **state)
{
	(void)state;
	p.nr_readers = 1;
	add(0, mixed);
	add(1, mixed);
	expect_make(0, 1);
	expect_fetch(0, 0);
	fetched(0, 0, 10000000);
	expect_make(0, 0);
	made(0, 0, CELL_FETCHED, 0);
	expect_make(0, 3);
	expect_make(1, 1);
	expect_fetch(0, 2);
	expect_make(1, 3);
	/* Nothing else is left, so it reads. */
	expect_make(1, 0);
	expect_fetch(1, 2);
}

static void
readers_work_while_storage_is_slow(void **state)
{
	struct task t;

	(void)state;
	p.nr_readers = 1;
	add(0, all_wanted);
	add(1, all_wanted);
	expect_make(0, 0);
	for (unsigned i = 0; i < 100; i++)	/* the means settle */
		p.fetch_mean_ns = p.fetch_mean_ns * 7 / 8;
	made(0, 0, CELL_WANTED, 1000);
	expect_make(0, 1);
	p.stops = true;		/* so that it does not wait */
	assert_false(pipeline_next_fetch(&p, &t));
	p.stops = false;
	made(0, 1, CELL_WANTED, 50000000);
	expect_fetch(0, 2);
}

/* 64 MiB: two files of 30, but never none. */
static void
reading_ahead_is_bounded(void **state)
{
	struct task t;

	(void)state;
	p.nr_readers = 1;
	add(0, all_wanted);
	expect_fetch(0, 0);
	expect_fetch(0, 1);
	assert_int_equal(p.ahead_bytes, 60 * MIB);
	p.stops = true;
	assert_false(pipeline_next_fetch(&p, &t));
	p.stops = false;
	fetched(0, 0, 10000000);
	expect_make(0, 0);
	made(0, 0, CELL_FETCHED, 0);
	assert_int_equal(p.ahead_bytes, 30 * MIB);
	expect_fetch(0, 2);
	made(0, 1, CELL_FETCHING, 1000);	/* it could not be read */
	assert_int_equal(p.ahead_bytes, 30 * MIB);
	made(0, 2, CELL_FETCHING, 1000);
	assert_int_equal(p.ahead_bytes, 0);
}

static void
a_batch_is_taken_when_it_is_done(void **state)
{
	(void)state;
	add(0, all_wanted);
	for (uint32_t i = 0; i < NR; i++) {
		expect_make(0, i);
		made(0, i, CELL_WANTED, 1000);
	}
	assert_ptr_equal(pipeline_take(&p), batches[0]);
	assert_int_equal(p.nr_batches, 0);
	assert_int_equal(p.nr_wanted, 0);
	assert_int_equal(p.counts.fetch_ns, NR * 1000);
	assert_int_equal(p.counts.prep_ns, NR * 600000);
}

static void
failed(unsigned k, uint32_t i, int rc, bool is_bad)
{
	pipeline_done(&p, &(struct task){ batches[k], i, CELL_WANTED },
	    &(struct done){ .rc = rc, .is_bad = is_bad, .why = strdup("why") });
}

/* Only what was our own fault is made again, before all that follows. */
static void
a_batch_can_be_put_back(void **state)
{
	struct cell *cells = batches[0]->cells;

	(void)state;
	add(0, mixed);
	for (uint32_t i = 0; i < NR; i++)
		expect_make(0, i);
	failed(0, 0, -EBADMSG, true);
	failed(0, 1, -ENOMEM, false);
	made(0, 2, CELL_WANTED, 1000);
	failed(0, 3, -EMFILE, false);
	assert_ptr_equal(pipeline_take(&p), batches[0]);
	add(1, all_wanted);
	pipeline_put_back(&p, batches[0]);
	assert_int_equal(p.nr_batches, 2);
	assert_int_equal(p.nr_wanted, 2 + NR);
	expect_make(0, 1);
	expect_make(0, 3);
	expect_make(1, 0);
	failed(0, 1, -ENOMEM, false);
	made(0, 3, CELL_WANTED, 1000);
	assert_ptr_equal(pipeline_take(&p), batches[0]);
	pipeline_put_back(&p, batches[0]);
	expect_make(0, 1);
	made(0, 1, CELL_WANTED, 1000);
	assert_ptr_equal(pipeline_take(&p), batches[0]);
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(cells[i].rc, i == 0 ? -EBADMSG : 0);
	assert_string_equal(cells[0].why, "why");
	assert_int_equal(p.nr_batches, 1);
	assert_int_equal(p.nr_wanted, NR - 1);
}

/* Readers see it as well, and it is the only one. */
static void
one_that_is_alone_can_be_put_back(void **state)
{
	(void)state;
	p.nr_readers = 1;
	add(0, all_wanted);
	for (uint32_t i = 0; i < NR; i++) {
		expect_make(0, i);
		failed(0, i, -EMFILE, false);
	}
	assert_ptr_equal(pipeline_take(&p), batches[0]);
	pipeline_put_back(&p, batches[0]);
	add(1, all_wanted);
	expect_fetch(0, 0);
	fetched(0, 0, 10000000);
	expect_make(0, 0);
	for (uint32_t i = 1; i < NR; i++)
		expect_make(0, i);
	expect_make(1, 0);
}

UNIT_MAIN(
    PIPELINE_UNIT(leased_ones_come_last),
    PIPELINE_UNIT(without_readers_makers_go_in_order),
    PIPELINE_UNIT(makers_leave_slow_reading_to_readers),
    PIPELINE_UNIT(readers_work_while_storage_is_slow),
    PIPELINE_UNIT(reading_ahead_is_bounded),
    PIPELINE_UNIT(a_batch_is_taken_when_it_is_done),
    PIPELINE_UNIT(a_batch_can_be_put_back),
    PIPELINE_UNIT(one_that_is_alone_can_be_put_back))
