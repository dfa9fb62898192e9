/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_get.c: tests of cache/item.c, fill.c, keep.c, view.c and ask.c: what a
 * get does with each state of an item, and with a hub that fails it, at a hub
 * of tests/harness/fakehub.c.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/data.h"
#include "cache/messages.h"
#include "tests/harness/fakehub.h"
#include "tests/harness/unit.h"

#define BIG	3u		/* 110,000 bytes */
#define EMPTY	1u		/* of no bytes */

static struct fake_files files;
static struct fake hub;
static struct link *link_;
static struct ds_data *data;

static int
start(void **state)
{
	struct ds_err err;

	leak_before(state);
	fake_files_new(&files);
	fake_start(&hub, &link_);
	return data_open_on(&data, link_, files.path, NULL, &err);
}

static int
stop(void **state)
{
	ds_data_close(&data);
	link_free(&link_);
	fake_stop(&hub);
	fake_files_free(&files);
	keep_set_limit(0);
	if (hub.nr_bad > 0)
		print_message("%u frames were wrong\n", (unsigned)hub.nr_bad);
	return leak_after(state) != 0 || hub.nr_bad > 0 ? -1 : 0;
}

#define GET_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

static void
check_get(uint64_t i)
{
	struct ds_item item;
	struct ds_err err = { .text = "" };

	if (ds_get(data, i, &item, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(fake_bytes_right(i, item.bytes, item.len));
	ds_put(data, &item);
}

static void
check_counts(uint64_t hits, uint64_t misses, uint64_t reads,
    uint64_t failures)
{
	struct ds_counts c;

	ds_data_counts(data, &c);
	assert_int_equal(c.hits, hits);
	assert_int_equal(c.misses, misses);
	assert_int_equal(c.storage_reads, reads);
	assert_int_equal(c.failures, failures);
}

/* What was told has no answer: a call after it has been taken comes last. */
static void
settle(void)
{
	struct wire_frame f;
	struct wire_writer w;
	enum fake_grant was = (enum fake_grant)hub.grant;

	hub.grant = FAKE_CLOSED;
	wire_write(&w, &f, MSG_LEASE, 0);
	wire_put_u32(&w, FAKE_SET);
	wire_put_u64(&w, 0);
	wire_put_u64(&w, 0);
	assert_int_equal(link_call(link_, &f, LINK_ANY, NULL), 0);
	hub.grant = was;
	hub.nr_leases--;
}

static enum item_state
state_of(uint64_t i)
{
	return item_state(data->index.index->items[i].word);
}

/*--- hits ----------------------------------------------------------------*/

static void
a_hit_is_a_mapping_that_stays(void **state)
{
	struct ds_item a, b;
	struct ds_err err;
	uint64_t frames = hub.nr_frames;

	(void)state;
	fake_publish(&hub, BIG);
	assert_int_equal(ds_get(data, BIG, &a, &err), 0);
	assert_null(a.priv);
	assert_int_equal(ds_get(data, BIG, &b, &err), 0);
	assert_ptr_equal(a.bytes, b.bytes);
	ds_put(data, &a);
	assert_true(fake_bytes_right(BIG, b.bytes, b.len));
	ds_put(data, &b);
	check_get(BIG);
	check_counts(3, 0, 0, 0);
	assert_int_equal(hub.nr_frames, frames);
}

static void
an_empty_item_needs_nothing(void **state)
{
	uint64_t frames = hub.nr_frames;

	(void)state;
	check_get(EMPTY);
	check_counts(1, 0, 0, 0);
	assert_int_equal(hub.nr_frames, frames);
}

static void
past_the_limit_items_are_read(void **state)
{
	struct ds_item a, b;
	struct ds_err err;

	(void)state;
	fake_publish(&hub, 0);
	fake_publish(&hub, BIG);
	keep_set_limit(1);
	assert_int_equal(ds_get(data, 0, &a, &err), 0);
	assert_null(a.priv);
	assert_int_equal(ds_get(data, BIG, &b, &err), 0);
	assert_non_null(b.priv);
	assert_true(fake_bytes_right(BIG, b.bytes, b.len));
	ds_put(data, &a);
	ds_put(data, &b);
	check_get(BIG);
	check_get(0);
	check_counts(4, 0, 0, 0);
}

/* The mapping that is kept is of another generation: it stays for those who
 * have it, but is not given again. */
static void
what_is_published_anew_is_not_the_old(void **state)
{
	struct ds_item old, new;
	struct ds_err err;

	(void)state;
	fake_spoil(&hub, BIG);
	assert_int_equal(ds_get(data, BIG, &old, &err), 0);
	assert_false(fake_bytes_right(BIG, old.bytes, old.len));
	fake_publish(&hub, BIG);
	assert_int_equal(ds_get(data, BIG, &new, &err), 0);
	assert_ptr_not_equal(new.bytes, old.bytes);
	assert_true(fake_bytes_right(BIG, new.bytes, new.len));
	assert_false(fake_bytes_right(BIG, old.bytes, old.len));
	ds_put(data, &old);
	ds_put(data, &new);
	check_counts(2, 0, 0, 0);
}

/*--- misses --------------------------------------------------------------*/

static void
a_miss_is_published(void **state)
{
	struct ds_item item;
	struct ds_err err;

	(void)state;
	assert_int_equal(ds_get(data, BIG, &item, &err), 0);
	assert_true(fake_bytes_right(BIG, item.bytes, item.len));
	assert_non_null(item.priv);
	ds_put(data, &item);
	settle();
	assert_int_equal(hub.nr_publishes, 1);	/* bytes and crc are checked */
	assert_int_equal(state_of(BIG), ITEM_READY);
	check_counts(0, 1, 1, 0);
	check_get(BIG);
	check_counts(1, 1, 1, 0);
	assert_int_equal(hub.nr_leases, 1);
}

static void
what_is_not_admitted_is_read_alone(void **state)
{
	(void)state;
	hub.grant = FAKE_CLOSED;
	check_get(0);
	assert_int_equal(hub.nr_leases, 1);
	hub.grant = FAKE_REFUSE;
	check_get(0);
	assert_int_equal(hub.nr_leases, 2);
	hub.grant = FAKE_LOOK;		/* at what never comes */
	check_get(0);
	assert_int_equal(hub.nr_leases, 10);
	hub.index->closed = 1;
	check_get(0);
	assert_int_equal(hub.nr_leases, 10);
	check_counts(0, 4, 4, 0);
}

/* A store's file that is not what the index says. */
static void
what_is_not_in_the_store_is_missing(void **state)
{
	char name[STORE_NAME_MAX];
	struct ds_err err;

	(void)state;
	fake_publish(&hub, BIG);
	hub.index->items[BIG].file = 12345;
	check_get(BIG);
	check_counts(0, 1, 1, 0);
	fake_publish(&hub, 0);
	hub.index->items[BIG].file = hub.index->items[0].file;
	check_get(BIG);
	check_counts(0, 2, 2, 0);
	index_file_name(name, hub.index->items[0].file);
	assert_int_equal(store_remove(hub.store, name, &err), 0);
	check_get(0);
	check_counts(0, 3, 3, 0);
	hub.index->items[0].word = item_word(9, 1, 1);
	check_get(0);
	check_counts(0, 4, 4, 0);
	assert_int_equal(hub.nr_leases, 0);
}

static int
view(uint64_t i, int flags)
{
	return view_open(&data->view, &hub.index->items[i], flags);
}

/* What has the right name and size, and is another file. */
static void
another_file_is_not_given_out(void **state)
{
	struct index_item *it = &hub.index->items[BIG];
	uint64_t file, ino;
	int fd;

	(void)state;
	fake_publish(&hub, BIG);
	file = it->file;
	ino = it->copy_ino;
	fake_publish(&hub, BIG);
	assert_int_not_equal(it->copy_ino, ino);
	fd = view(BIG, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), 0);	/* the flags are ours */
	close(fd);
	fd = view(BIG, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	it->file = file;
	assert_int_equal(view(BIG, O_RDONLY), -ENOENT);
	check_get(BIG);
	check_counts(0, 1, 1, 0);
	it->copy_ino = ino;
	check_get(BIG);
	check_counts(1, 1, 1, 0);
}

/* Nor one of another device, by way of a link that nobody put there. */
static void
another_device_is_not_given_out(void **state)
{
	struct index_item *it = &hub.index->items[BIG];
	int fd = memfd_create("elsewhere", MFD_CLOEXEC);
	char to[64], name[STORE_NAME_MAX];
	struct stat st;

	(void)state;
	fake_publish(&hub, BIG);
	assert_int_equal(ftruncate(fd, (off_t)it->key.size), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_not_equal(st.st_dev, data->view.dev);
	(void)snprintf(to, sizeof to, "/proc/self/fd/%d", fd);
	it->file = 12345;
	it->copy_ino = st.st_ino;
	index_file_name(name, 12345);
	assert_int_equal(symlinkat(to, data->view.fd, name), 0);
	assert_int_equal(view(BIG, O_RDONLY), -ENOENT);
	check_get(BIG);
	check_counts(0, 1, 1, 0);
	assert_int_equal(unlinkat(data->view.fd, name, 0), 0);
	close(fd);
}

static void
failures_are_remembered_for_an_epoch(void **state)
{
	struct ds_item item;
	struct ds_err err;
	char path[256];

	(void)state;
	fake_file_name(&files, BIG, path);
	assert_int_equal(truncate(path, 110001), 0);
	assert_int_equal(ds_get(data, BIG, &item, &err), -ESTALE);
	settle();
	assert_int_equal(hub.nr_give_ups, 1);
	assert_int_equal(hub.last_error, ESTALE);
	assert_int_equal(state_of(BIG), ITEM_FAILED);
	assert_int_equal(ds_get(data, BIG, &item, &err), -ESTALE);
	assert_int_equal(err.code, -ESTALE);
	assert_string_equal(err.text, "item003: could not be read before, and "
	    "is not tried again in this epoch: Stale file handle");
	assert_int_equal(hub.nr_leases, 1);
	/* Whatever the hub remembers. */
	fake_fail(&hub, BIG, 70000, UINT64_MAX);
	assert_int_equal(ds_get(data, BIG, &item, NULL), -EIO);
	check_counts(0, 0, 0, 3);

	fake_fail(&hub, 0, EIO, clock_now_ns());
	assert_int_equal(ds_get(data, 0, &item, &err), -EIO);
	ds_data_epoch(data);
	check_get(0);
	assert_int_equal(hub.nr_leases, 2);
	assert_int_equal(hub.last_since_ns, data->epoch_ns);
	check_counts(0, 1, 1, 4);
}

/* So that this process, the hub in it included, can open nr files more. */
static void
allow_files(unsigned nr, struct rlimit *was)
{
	struct rlimit limit;
	int fds[8];

	assert_in_range(nr, 1, 8);
	for (unsigned i = 0; i < nr; i++)
		fds[i] = dup(0);
	getrlimit(RLIMIT_NOFILE, was);
	limit = *was;
	limit.rlim_cur = (rlim_t)fds[nr - 1] + 1;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned i = 0; i < nr; i++)
		close(fds[i]);
}

/* What hinders this process, and would not another, is not remembered: here
 * the lease takes all the files that it may open, two of them at the hub. */
static void
own_faults_are_not_the_items(void **state)
{
	struct rlimit was;
	struct ds_item item;
	struct ds_err err;

	(void)state;
	hub.hold_writers = true;
	settle();		/* it has closed what it was sent */
	allow_files(3, &was);
	assert_int_equal(ds_get(data, BIG, &item, &err), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &was);
	settle();
	assert_int_equal(hub.nr_give_ups, 1);
	assert_int_equal(hub.last_error, 0);
	assert_int_equal(state_of(BIG), ITEM_EMPTY);
	hub.hold_writers = false;
	check_get(BIG);
	check_counts(0, 1, 1, 1);
}

/*--- waiting -------------------------------------------------------------*/

static void *
publish_big(void *arg)
{
	(void)arg;
	/* The getter asks before it waits. */
	while (hub.nr_leases == 0)
		;
	fake_publish(&hub, BIG);
	return NULL;
}

static void
who_waits_is_woken(void **state)
{
	pthread_t thread;

	(void)state;
	fake_set_word(&hub, BIG, ITEM_LEASED);
	hub.grant = FAKE_BUSY;
	assert_int_equal(pthread_create(&thread, NULL, publish_big, NULL), 0);
	check_get(BIG);
	pthread_join(thread, NULL);
	check_counts(1, 0, 0, 0);
}

static void
who_waits_asks_again(void **state)
{
	(void)state;
	hub.grant = FAKE_BUSY;
	hub.free_after = 3;	/* nobody wakes us */
	check_get(BIG);
	settle();
	assert_int_equal(hub.nr_leases, 3);
	assert_int_equal(hub.nr_publishes, 1);
	check_counts(0, 1, 1, 0);
}

static void
nobody_waits_for_ever(void **state)
{
	(void)state;
	fake_set_word(&hub, BIG, ITEM_LEASED);
	hub.grant = FAKE_BUSY;
	data->patience_ns = 50 * NS_PER_MS;
	check_get(BIG);
	assert_int_equal(hub.nr_leases, 1);
	check_counts(0, 1, 1, 0);
}

/*--- a hub that goes -----------------------------------------------------*/

static void
check_alone(void)
{
	uint64_t frames;

	for (uint64_t i = 0; i < FAKE_FILES; i++)
		check_get(i);
	frames = hub.nr_frames;
	for (uint64_t i = 0; i < FAKE_FILES; i++)
		check_get(i);
	assert_int_equal(hub.nr_frames, frames);
}

static void
it_hangs_up_at_a_lease(void **state)
{
	(void)state;
	fake_publish(&hub, BIG);
	hub.hang_up_at = MSG_LEASE;
	check_alone();
	check_counts(2 + 2 * FAKE_FILES / 6, 46 - 2 * FAKE_FILES / 6,
	    46 - 2 * FAKE_FILES / 6, 0);
}

static void
it_hangs_up_after_a_lease(void **state)
{
	(void)state;
	hub.die_after = MSG_LEASE;
	check_alone();
}

static void
it_hangs_up_at_a_publish(void **state)
{
	(void)state;
	hub.hang_up_at = MSG_PUBLISH;
	check_alone();
}

static void
it_hangs_up_after_a_publish(void **state)
{
	(void)state;
	hub.die_after = MSG_PUBLISH;
	check_alone();
}

/* It goes while we wait: seen at the next question, not at the deadline. */
static void
it_hangs_up_while_one_waits(void **state)
{
	(void)state;
	fake_set_word(&hub, BIG, ITEM_LEASED);
	hub.grant = FAKE_BUSY;
	hub.die_after = MSG_LEASE;
	data->patience_ns = UINT64_C(3600) * NS_PER_S;
	check_get(BIG);
	assert_int_equal(hub.nr_leases, 1);
	check_counts(0, 1, 1, 0);
}

/*--- audit ---------------------------------------------------------------*/

static void
audit_finds_what_was_changed(void **state)
{
	(void)state;
	data->set_up.audit = DATA_AUDIT_ALL;
	fake_publish(&hub, 0);
	check_get(0);
	fake_spoil(&hub, BIG);
	check_get(BIG);		/* reported, and read from storage */
	check_counts(1, 1, 1, 0);
	settle();
	assert_int_equal(hub.nr_reports, 1);
	assert_int_equal(state_of(BIG), ITEM_EMPTY);
	check_get(BIG);		/* fetched anew */
	settle();
	assert_int_equal(state_of(BIG), ITEM_READY);
	check_get(BIG);
	check_counts(2, 2, 2, 0);
	assert_int_equal(hub.nr_reports, 1);
}

static void
audit_looks_at_a_fraction(void **state)
{
	struct ds_item item;
	struct ds_err err;
	unsigned nr = 0;

	(void)state;
	fake_publish(&hub, 0);
	hub.index->items[0].crc32c++;
	hub.hang_up_at = MSG_REPORT;
	data->set_up.audit = DATA_AUDIT_ALL / 4;
	for (unsigned i = 0; i < 4000; i++) {
		assert_int_equal(ds_get(data, 0, &item, &err), 0);
		nr += item.priv != NULL;
		ds_put(data, &item);
	}
	/* Always the same ones: no chance in it. */
	assert_in_range(nr, 900, 1100);
}

UNIT_MAIN(
    GET_UNIT(a_hit_is_a_mapping_that_stays),
    GET_UNIT(an_empty_item_needs_nothing),
    GET_UNIT(past_the_limit_items_are_read),
    GET_UNIT(what_is_published_anew_is_not_the_old),
    GET_UNIT(a_miss_is_published),
    GET_UNIT(what_is_not_admitted_is_read_alone),
    GET_UNIT(what_is_not_in_the_store_is_missing),
    GET_UNIT(another_file_is_not_given_out),
    GET_UNIT(another_device_is_not_given_out),
    GET_UNIT(failures_are_remembered_for_an_epoch),
    GET_UNIT(own_faults_are_not_the_items),
    GET_UNIT(who_waits_is_woken),
    GET_UNIT(who_waits_asks_again),
    GET_UNIT(nobody_waits_for_ever),
    GET_UNIT(it_hangs_up_at_a_lease),
    GET_UNIT(it_hangs_up_after_a_lease),
    GET_UNIT(it_hangs_up_at_a_publish),
    GET_UNIT(it_hangs_up_after_a_publish),
    GET_UNIT(it_hangs_up_while_one_waits),
    GET_UNIT(audit_finds_what_was_changed),
    GET_UNIT(audit_looks_at_a_fraction))
