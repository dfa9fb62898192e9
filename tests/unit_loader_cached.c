/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_loader_cached.c: tests of the loader over the cache, at a hub of
 * tests/harness/fakehub.c: samples are the same ones wherever bytes come from.
 */

#include <config.h>

#include <errno.h>
#include <unistd.h>

#include "cache/data.h"
#include "cache/messages.h"
#include "tests/harness/fakehub.h"
#include "tests/harness/loaded.h"

#define NR	23u		/* pictures; the hub has room for FAKE_FILES */

static struct pictures files;
static struct fake hub;
static struct link *link_;
static struct ds_data *data, *plain;
static struct ds_err err;

static int
start(void **state)
{
	leak_before(state);
	alarm(100);
	if (pictures_make(&files, NR) != 0 ||
	    ds_data_open(&plain, NULL, files.path, NULL, &err) < 0)
		return -1;
	fake_start(&hub, &link_);
	hub.any_bytes = true;
	return data_open_on(&data, link_, files.path, NULL, &err);
}

static int
stop(void **state)
{
	ds_data_close(&plain);
	ds_data_close(&data);
	link_free(&link_);
	fake_stop(&hub);
	pictures_remove(&files);
	return leak_after(state) != 0 || hub.nr_bad > 0 ? -1 : 0;
}

#define CACHED_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* The hub has heard all that was told before: what was read is cached. */
static void
open_again(void)
{
	ds_data_close(&data);
	assert_int_equal(data_open_on(&data, link_, files.path, NULL, &err), 0);
}

static void
fill(void)
{
	struct loaded l;

	loaded_all(&l, data, "epochs=1");
	open_again();
}

static void
check_run(const char *options, uint64_t hits)
{
	struct loaded want, got;
	struct ds_counts before, after;

	loaded_all(&want, plain, "batch=4");
	ds_data_counts(data, &before);
	loaded_all(&got, data, options);
	ds_data_counts(data, &after);
	assert_memory_equal(&want, &got, sizeof got);
	assert_int_equal(after.hits - before.hits, hits);
	assert_int_equal(after.failures, before.failures);
}

static void
all_from_the_cache(void **state)
{
	(void)state;
	fill();
	assert_int_equal(hub.nr_publishes, NR);
	check_run("batch=4 threads=1 readers=0", 2 * NR);
	check_run("batch=5 threads=2 readers=2", 2 * NR);
	check_run("batch=23 threads=2 prefetch=0", 2 * NR);
	assert_int_equal(hub.nr_leases, NR);
}

/* Makers have some at once, readers fetch the others meanwhile. */
static void
some_from_the_cache(void **state)
{
	(void)state;
	fill();
	hub.grant = FAKE_CLOSED;
	for (uint64_t i = 0; i < NR; i += 2)
		fake_forget(&hub, i);
	check_run("batch=4 threads=1 readers=0", 2 * (NR / 2));
	check_run("batch=5 threads=2 readers=2", 2 * (NR / 2));
}

/* They were ready when a batch was opened, and are not when they are needed;
 * the hub ends, too. */
static void
what_is_gone_from_the_cache_is_read(void **state)
{
	struct loaded want, got = { 0 };
	struct ds_loader *l;

	(void)state;
	fill();
	loaded_all(&want, plain, "batch=4");
	assert_int_equal(ds_loader_open(&l, data, &err), 0);
	loaded_set(l, "batch=4 threads=2 readers=2 prefetch=4");
	assert_int_equal(loaded_run(&got, l, 3), 3);
	hub.hang_up_at = MSG_LEASE;
	for (uint64_t i = 0; i < NR; i++)
		fake_forget(&hub, i);
	loaded_run(&got, l, UINT32_MAX);
	assert_memory_equal(&want, &got, sizeof got);
	ds_loader_close(&l);
}

/* It would be had for nothing, but is not made. */
static void
a_cached_file_past_max_bytes_is_bad(void **state)
{
	struct ds_counts before, after;
	struct ds_batch *b;
	struct ds_loader *l;

	(void)state;
	fill();
	ds_data_counts(data, &before);
	assert_int_equal(ds_loader_open(&l, data, &err), 0);
	loaded_set(l, "batch=23 epochs=1 on-bad=skip max-bytes=100");
	assert_int_equal(ds_loader_next(l, &b, &err), 1);
	assert_int_equal(b->count, 0);
	assert_int_equal(b->skipped, NR);
	ds_loader_close(&l);
	ds_data_counts(data, &after);
	assert_int_equal(after.hits, before.hits);
}

UNIT_MAIN(
    CACHED_UNIT(all_from_the_cache),
    CACHED_UNIT(some_from_the_cache),
    CACHED_UNIT(what_is_gone_from_the_cache_is_read),
    CACHED_UNIT(a_cached_file_past_max_bytes_is_bad))
