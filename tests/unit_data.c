/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_data.c: tests of cache/data.c, data_open.c and data_settings.c: a data
 * set is opened, at a hub of tests/harness/fakehub.c and without one.
 */

#include <config.h>

#include "cache/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/messages.h"
#include "tests/harness/fakehub.h"
#include "tests/harness/unit.h"

static struct fake_files files;
static struct fake hub;
static struct link *link_;	/* link(2) has the name */

static int
make_files(void **state)
{
	leak_before(state);
	fake_files_new(&files);
	return 0;
}

static int
remove_files(void **state)
{
	fake_files_free(&files);
	return leak_after(state);
}

#define DATA_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_files, remove_files)

static struct ds_data *
open_data(const char *budget)
{
	struct ds_data *d = NULL;
	struct ds_err err = { .text = "" };

	if (data_open_on(&d, link_, files.path, budget, &err) < 0)
		fail_msg("%s", err.text);
	return d;
}

static void
stop_hub(void)
{
	link_free(&link_);
	fake_stop(&hub);
	assert_int_equal(hub.nr_bad, 0);
}

static void
check_all(struct ds_data *d)
{
	struct ds_item item;
	struct ds_err err;

	for (uint64_t i = 0; i < FAKE_FILES; i++) {
		assert_int_equal(ds_get(d, i, &item, &err), 0);
		assert_true(fake_bytes_right(i, item.bytes, item.len));
		ds_put(d, &item);
		assert_null(item.bytes);
	}
}

static void
check_names(const struct ds_data *d)
{
	struct ds_info info;
	char name[32];

	assert_int_equal(ds_data_count(d), FAKE_FILES);
	for (uint64_t i = 0; i < FAKE_FILES; i++) {
		assert_int_equal(ds_data_info(d, i, &info), 0);
		(void)snprintf(name, sizeof name, "item%03u", (unsigned)i);
		assert_string_equal(info.name, name);
		assert_int_equal(info.size, fake_size(i));
		assert_int_equal(ds_data_find(d, name), (int64_t)i);
	}
	assert_int_equal(ds_data_info(d, FAKE_FILES, &info), -ENOENT);
	assert_int_equal(ds_data_find(d, "item"), -ENOENT);
	assert_int_equal(ds_data_find(d, "item0055"), -ENOENT);
	assert_int_equal(ds_data_find(d, "zebra"), -ENOENT);
	assert_int_equal(ds_data_find(d, ""), -ENOENT);
}

/*--- without a hub -------------------------------------------------------*/

static void
without_a_hub_storage_is_read(void **state)
{
	struct ds_data *d = NULL;
	struct ds_counts c;
	struct ds_item item;
	struct ds_err err;
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(ds_data_open(&d, NULL, files.path, NULL, &err), 0);
	check_names(d);
	check_all(d);
	for (uint64_t i = 0; i < FAKE_FILES; i++)
		bytes += fake_size(i);
	ds_data_counts(d, &c);
	assert_int_equal(c.cached, 0);
	assert_string_equal(ds_data_uncached(d), "no hub was given");
	assert_int_equal(c.storage_bytes, bytes);
	assert_int_equal(c.storage_reads, FAKE_FILES - FAKE_FILES / 6);
	assert_int_equal(c.misses, FAKE_FILES);	/* empty ones, too */
	assert_int_equal(c.hits, 0);
	assert_int_equal(c.failures, 0);
	assert_int_equal(ds_get(d, FAKE_FILES, &item, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no item 24: it has 24"));
	ds_data_epoch(d);
	ds_data_close(&d);
	assert_null(d);
	ds_data_close(&d);
}

static void
what_is_not_there_is_an_error(void **state)
{
	struct ds_data *d = NULL;
	struct ds_err err;

	(void)state;
	assert_int_equal(ds_data_open(&d, NULL, "/does/not/exist", NULL, &err),
	    -ENOENT);
	assert_non_null(strstr(err.text, "/does/not/exist"));
	assert_null(d);
	fake_start(&hub, &link_);
	assert_int_equal(data_open_on(&d, link_, "/does/not/exist", NULL,
	    NULL), -ENOENT);
	stop_hub();
	assert_int_equal(hub.nr_frames, 1);
}

static void
a_file_that_goes_or_changes_is_an_error(void **state)
{
	struct ds_data *d = open_data(NULL);
	struct ds_counts c;
	struct ds_item item;
	struct ds_err err;
	char path[256];

	(void)state;
	fake_file_name(&files, 3, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ds_get(d, 3, &item, &err), -ENOENT);
	assert_non_null(strstr(err.text, "item003"));
	fake_file_name(&files, 4, path);
	assert_int_equal(truncate(path, 5), 0);
	assert_int_equal(ds_get(d, 4, &item, &err), -ESTALE);
	ds_data_counts(d, &c);
	assert_int_equal(c.failures, 2);
	assert_int_equal(c.misses, 0);
	assert_int_equal(c.storage_reads, 0);
	ds_data_close(&d);
}

/*--- at a hub ------------------------------------------------------------*/

static void
a_hub_opens_it(void **state)
{
	struct ds_counts c;
	struct ds_data *d;

	(void)state;
	fake_start(&hub, &link_);
	d = open_data("35%");
	assert_non_null(d->index.index);
	assert_int_equal(hub.last_share, 350000);
	assert_int_equal(hub.nr_listings, 1);
	check_names(d);
	ds_data_counts(d, &c);
	assert_int_equal(c.cached, 1);
	assert_null(ds_data_uncached(d));
	check_all(d);
	ds_data_counts(d, &c);
	/* The hub sees what we count. */
	assert_int_equal(hub.page->count[COUNT_MISSES], c.misses);
	assert_int_equal(hub.page->count[COUNT_STORAGE_BYTES], c.storage_bytes);
	ds_data_close(&d);
	stop_hub();
	assert_int_equal(hub.nr_closes, 1);
}

static struct ds_data *
open_current(void)
{
	struct ds_data *d = NULL;
	struct ds_err err = { .text = "" };

	if (data_open_current(&d, link_, files.path, &err) < 0)
		fail_msg("%s", err.text);
	return d;
}

/* It is listed by the first, and never again: not even what is new. */
static void
a_hub_opens_it_as_it_was_listed(void **state)
{
	struct ds_data *d, *again;
	char path[256];

	(void)state;
	fake_start(&hub, &link_);
	d = open_current();
	assert_non_null(d->index.index);
	assert_int_equal(hub.nr_listings, 1);
	assert_int_equal(hub.last_stamp, 0);
	fake_file_name(&files, FAKE_FILES, path);
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	again = open_current();
	assert_int_equal(hub.nr_listings, 1);
	assert_int_equal(hub.last_stamp, CACHE_STAMP_ANY);
	check_names(again);
	check_all(again);
	ds_data_close(&again);
	ds_data_close(&d);
	d = open_data(NULL);		/* who wants it as it is, lists */
	assert_int_equal(hub.nr_listings, 2);
	assert_int_equal(hub.last_stamp, 0);
	ds_data_close(&d);
	assert_int_equal(unlink(path), 0);
	stop_hub();
	assert_int_equal(hub.nr_closes, 3);
}

static void
a_hub_opens_only_what_was_listed(void **state)
{
	struct ds_data *d, *again = NULL;
	struct ds_err err;

	(void)state;
	fake_start(&hub, &link_);
	assert_int_equal(data_open_listed(&again, link_, files.path, &err),
	    -EAGAIN);
	assert_null(again);
	assert_int_equal(hub.nr_listings, 0);
	d = open_data(NULL);
	assert_int_equal(data_open_listed(&again, link_, files.path, &err), 0);
	assert_int_equal(hub.nr_listings, 1);
	check_all(again);
	ds_data_close(&again);
	ds_data_close(&d);
	stop_hub();
	fake_start(&hub, &link_);
	hub.refuse_open = true;
	assert_true(data_open_listed(&again, link_, files.path, &err) < 0);
	assert_string_not_equal(err.text, "");
	stop_hub();
}

/* Whatever the hub does wrong while it is opened: it is not cached, and all
 * is there. */
static void
check_uncached_as(struct ds_data *d)
{
	struct ds_counts c;

	assert_null(d->index.index);
	ds_data_counts(d, &c);
	assert_int_equal(c.cached, 0);
	assert_string_not_equal(ds_data_uncached(d), "");
	check_names(d);
	check_all(d);
	ds_data_counts(d, &c);
	assert_int_equal(c.hits + c.misses, FAKE_FILES);
	ds_data_close(&d);
	stop_hub();
}

static void
check_uncached(void)
{
	check_uncached_as(open_data(NULL));
}

static void
a_hub_that_fails_costs_the_cache(void **state)
{
	(void)state;
	fake_start(&hub, &link_);
	hub.refuse_open = true;
	check_uncached();
	fake_start(&hub, &link_);
	hub.hang_up_at = MSG_LISTING;
	check_uncached();
	fake_start(&hub, &link_);
	hub.give_bad_view = true;
	check_uncached();
	assert_int_equal(hub.nr_closes, 1);
	fake_start(&hub, &link_);
	hub.give_bad_page = true;
	check_uncached();
	assert_int_equal(hub.nr_closes, 1);
	fake_start(&hub, &link_);
	hub.refuse_open = true;
	check_uncached_as(open_current());
	fake_start(&hub, &link_);
	hub.hang_up_at = MSG_OPEN;
	check_uncached_as(open_current());
}

static void
a_hub_that_is_gone_costs_the_cache(void **state)
{
	struct ds_counts c;
	struct ds_data *d;

	(void)state;
	fake_start(&hub, &link_);
	hub.die_after = MSG_LISTING;
	d = open_data(NULL);
	assert_non_null(d->index.index);
	check_all(d);
	ds_data_counts(d, &c);
	assert_int_equal(c.cached, 0);
	assert_string_equal(ds_data_uncached(d), "the hub is gone");
	assert_int_equal(c.hits + c.misses, FAKE_FILES);
	ds_data_close(&d);
	stop_hub();
}

/* A program may close what it does not know, and open its own there. */
static void
a_descriptor_that_was_taken_over_is_not_used(void **state)
{
	struct ds_data *d;
	int fd;

	(void)state;
	fake_start(&hub, &link_);
	d = open_data(NULL);
	fake_publish(&hub, 0);
	check_all(d);
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(dup3(fd, d->view.fd, O_CLOEXEC), d->view.fd);
	close(fd);
	fd = d->view.fd;
	fake_publish(&hub, 2);
	check_all(d);
	ds_data_close(&d);
	assert_int_equal(close(fd), 0);		/* it was left alone */
	stop_hub();
}

/* Everything closed, its own opened in place of all. */
static int
use_without_descriptors(struct ds_data *d)
{
	struct ds_item item;
	int fds[64];

	if (close_range(3, ~0u, 0) != 0)
		return 2;
	for (int i = 0; i < 64; i++)
		fds[i] = open("/", O_RDONLY | O_DIRECTORY);
	for (uint64_t i = 0; i < FAKE_FILES; i++) {
		if (ds_get(d, i, &item, NULL) < 0 ||
		    !fake_bytes_right(i, item.bytes, item.len))
			return 3;
		ds_put(d, &item);
	}
	ds_data_close(&d);
	link_free(&link_);
	for (int i = 0; i < 64; i++)
		if (fds[i] != i + 3 || fcntl(fds[i], F_GETFD) < 0)
			return 4;
	return 0;
}

/* In a process of its own, because the hub of this test is in this one. */
static void
all_descriptors_may_be_closed(void **state)
{
	struct ds_data *d;
	int status;
	pid_t pid;

	(void)state;
	fake_start(&hub, &link_);
	d = open_data(NULL);
	fake_publish(&hub, 0);
	check_all(d);
	pid = fork();
	if (pid == 0)
		_exit(use_without_descriptors(d));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ds_data_close(&d);
	stop_hub();
}

/*--- settings ------------------------------------------------------------*/

extern char **environ;

/* An environment of one variable; NULL brings the real one back.  What
 * setenv(3) allocates it never frees. */
static void
set_variable(const char *name, const char *value)
{
	static char variable[256];
	static char *one[] = { variable, NULL };
	static char **real;

	if (real == NULL)
		real = environ;
	environ = real;
	if (value == NULL)
		return;
	(void)snprintf(variable, sizeof variable, "%s=%s", name, value);
	environ = one;
}

static void
check_settings(const char *budget, int rc, uint32_t share, const char *text)
{
	struct data_settings s = { 0 };
	struct ds_err err = { .text = "" };

	assert_int_equal(data_settings_read(&s, budget, &err), rc);
	if (rc == 0)
		assert_int_equal(s.share, share);
	else if (strstr(err.text, text) == NULL)
		fail_msg("not \"%s\": %s", text, err.text);
}

static void
budgets_are_shares(void **state)
{
	(void)state;
	check_settings(NULL, 0, 0, "");
	check_settings("35%", 0, 350000, "");
	check_settings("100%", 0, 1000000, "");
	check_settings("0.00001%", 0, 1, "");
	check_settings("8G", -EINVAL, 0, "the hub's ceiling");
	check_settings("0%", -ERANGE, 0, "0%");
	check_settings("x%", -EINVAL, 0, "x%");
	check_settings("101%", -ERANGE, 0, "101%");
	check_settings("", -EINVAL, 0, "");
	set_variable("DESTALL_CACHE", "8G");
	check_settings(NULL, 0, 0, "");
	set_variable("DESTALL_CACHE", "25%");
	check_settings(NULL, 0, 250000, "");
	check_settings("50%", 0, 500000, "");
	set_variable("DESTALL_CACHE", "-3%");
	check_settings(NULL, -EINVAL, 0, "DESTALL_CACHE");
	set_variable("DESTALL_CACHE", NULL);
}

static void
check_audit(const char *text, int rc, double share)
{
	struct data_settings s = { 0 };
	struct ds_err err = { .text = "" };

	set_variable("DESTALL_AUDIT", text);
	assert_int_equal(data_settings_read(&s, NULL, &err), rc);
	if (rc == 0)
		assert_int_equal(s.audit, (uint32_t)(share * DATA_AUDIT_ALL));
	else
		assert_non_null(strstr(err.text, "DESTALL_AUDIT"));
	set_variable("DESTALL_AUDIT", NULL);
}

static void
audits_are_fractions(void **state)
{
	struct ds_data *d = NULL;
	struct ds_err err;

	(void)state;
	check_audit("0", 0, 0);
	check_audit("", 0, 0);
	check_audit("1", 0, 1);
	check_audit("1.0", 0, 1);
	check_audit("100%", 0, 1);
	check_audit("0.5", 0, 0.5);
	check_audit("25%", 0, 0.25);
	check_audit("1.01", -ERANGE, 0);
	check_audit("2", -ERANGE, 0);
	check_audit("101%", -ERANGE, 0);
	check_audit("1e-2", -EINVAL, 0);
	check_audit("-1", -EINVAL, 0);
	check_audit("nan", -EINVAL, 0);
	check_audit("0.0000000000000000000000000000000000000000000000000000000"
	    "0000000000000000000000000000000000000001", -EINVAL, 0);
	set_variable("DESTALL_AUDIT", "often");
	assert_int_equal(ds_data_open(&d, NULL, files.path, NULL, &err),
	    -EINVAL);
	assert_string_equal(err.text, "DESTALL_AUDIT: 'often' is not a "
	    "fraction: write 0.01 or 1%, at most 1 or 100%");
	set_variable("DESTALL_AUDIT", NULL);
}

UNIT_MAIN(
    DATA_UNIT(without_a_hub_storage_is_read),
    DATA_UNIT(what_is_not_there_is_an_error),
    DATA_UNIT(a_file_that_goes_or_changes_is_an_error),
    DATA_UNIT(a_hub_opens_it),
    DATA_UNIT(a_hub_opens_it_as_it_was_listed),
    DATA_UNIT(a_hub_opens_only_what_was_listed),
    DATA_UNIT(a_hub_that_fails_costs_the_cache),
    DATA_UNIT(a_hub_that_is_gone_costs_the_cache),
    DATA_UNIT(a_descriptor_that_was_taken_over_is_not_used),
    DATA_UNIT(all_descriptors_may_be_closed),
    DATA_UNIT(budgets_are_shares),
    DATA_UNIT(audits_are_fractions))
