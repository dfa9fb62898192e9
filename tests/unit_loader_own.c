/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_loader_own.c: tests of loader/loader*.c: what fails while no picture is
 * to blame costs no sample, and what need not be read or found room for is not.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/oneloader.h"

#define NR	23u		/* pictures */
#define SAMPLE	(32u * 32 * 3 * 4)

static struct rlimit usual;

static int
start(void **state)
{
	return getrlimit(RLIMIT_NOFILE, &usual) != 0 ? -1 :
	    oneloader_start(state, NR);
}

static int
stop(void **state)
{
	(void)setrlimit(RLIMIT_NOFILE, &usual);
	return oneloader_stop(state);
}

#define OWN_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* Not one more.  None at all: a limit by the descriptors that are open now would
 * leave room for those that threads, which read ahead, are about to close. */
static void
allow_no_files(void)
{
	struct rlimit none = usual;

	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void
allow_files(void)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

/* Three times, the place and what was counted stay. */
static void
expect_failure(int rc, const char *text)
{
	char before[DS_POSITION_TEXT], after[DS_POSITION_TEXT];
	struct ds_loader_counts was, is;
	struct ds_batch *b;

	assert_int_equal(ds_loader_save(loader, before, &err), 0);
	ds_loader_counts(loader, &was);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ds_loader_next(loader, &b, &err), rc);
		assert_int_equal(err.code, rc);
		assert_non_null(strstr(err.text, text));
	}
	assert_int_equal(ds_loader_save(loader, after, &err), 0);
	assert_string_equal(before, after);
	ds_loader_counts(loader, &is);
	assert_int_equal(is.epochs, was.epochs);
	assert_int_equal(is.batches, was.batches);
	assert_int_equal(is.samples, was.samples);
	assert_int_equal(is.skipped, was.skipped);
	assert_int_equal(is.substituted, was.substituted);
}

/*--- tried again ---------------------------------------------------------*/

/* To the end; batches that were made ahead, while nothing could be opened, say
 * so once more each. */
static void
run_on(struct loaded *out, uint64_t ahead)
{
	struct ds_batch *b;
	uint64_t failed = 0;
	int rc;

	while ((rc = ds_loader_next(loader, &b, &err)) != -ENOENT) {
		assert_true(rc >= 0 || rc == -EMFILE);
		failed += rc < 0;
		if (rc != 1)
			continue;
		loaded_add(out, b);
		ds_loader_release(loader, &b);
	}
	assert_in_range(failed, 0, ahead + 1);
}

/* From the first batch on, and once more after some. */
static void
check_tried_again(const struct loaded *want, const char *options,
    uint64_t ahead)
{
	struct loaded got = { 0 };
	struct ds_bad bad;
	struct ds_batch *b;
	unsigned nr = 0;

	oneloader_open(options);
	assert_true(ds_loader_samples(loader, &err) > 0);
	allow_no_files();
	expect_failure(-EMFILE, "Too many open files");
	allow_files();
	while (nr < 2) {
		if (ds_loader_next(loader, &b, &err) != 1)
			continue;
		loaded_add(&got, b);
		ds_loader_release(loader, &b);
		nr++;
	}
	allow_no_files();
	while (ds_loader_next(loader, &b, &err) == 1) {	/* was made ahead */
		loaded_add(&got, b);
		ds_loader_release(loader, &b);
	}
	expect_failure(-EMFILE, "Too many open files");
	allow_files();
	run_on(&got, ahead);
	assert_memory_equal(want, &got, sizeof got);
	assert_int_equal(ds_loader_bad(loader, 0, &bad), -ENOENT);
}

static void
what_fails_of_ours_is_tried_again(void **state)
{
	struct loaded want;

	(void)state;
	loaded_all(&want, data, "batch=4");
	check_tried_again(&want, "batch=4 threads=1 readers=0 prefetch=2", 2);
	check_tried_again(&want, "batch=4 threads=2 readers=2 prefetch=2", 2);
	check_tried_again(&want, "batch=4 threads=2 prefetch=0", 0);
	check_tried_again(&want, "batch=4 on-bad=skip prefetch=1", 1);
	check_tried_again(&want, "batch=4 on-bad=substitute prefetch=4", 4);
}

/* It is known to be bad before files run short; then its batch is tried again,
 * and it is counted and named once. */
static void
a_bad_one_beside_ours_is_counted_once(void **state)
{
	char large[512], name[64];
	struct loaded want, got = { 0 };
	struct ds_loader_counts c;
	struct ds_bad bad;

	(void)state;
	loaded_all(&want, data, "order=listed epochs=1");
	want.at[0][5] = (struct loaded_sample){ 0 };
	pictures_name(&files, 5, name);
	(void)snprintf(large, sizeof large, "%s/%s", files.path, name);
	assert_int_equal(truncate(large, 1 << 20), 0);
	oneloader_list();
	oneloader_open("batch=8 order=listed epochs=1 on-bad=skip max-bytes=64K "
	    "prefetch=2");
	assert_true(ds_loader_samples(loader, &err) > 0);
	allow_no_files();
	expect_failure(-EMFILE, "Too many open files");
	allow_files();
	run_on(&got, 2);
	assert_memory_equal(&want, &got, sizeof got);
	ds_loader_counts(loader, &c);
	assert_int_equal(c.skipped, 1);
	assert_int_equal(ds_loader_bad(loader, 0, &bad), 0);
	assert_int_equal(bad.position, 5);
	assert_int_equal(bad.code, -EFBIG);
	assert_int_equal(ds_loader_bad(loader, 1, &bad), -ENOENT);
}

/*--- a ledger that fails -------------------------------------------------*/

/* However often it is asked: more calls than there are batches. */
static void
a_full_disk_ends_it_where_it_is(void **state)
{
	(void)state;
	oneloader_open("batch=4 ledger=/dev/full");
	for (unsigned i = 0; i < 10; i++)
		expect_failure(-ENOSPC, "ledger /dev/full: No space left");
}

/* No signal, whose end would be the job's. */
static void
a_reader_that_is_gone_ends_it_where_it_is(void **state)
{
	char path[512], options[600];
	struct loaded l = { 0 };
	int fd;

	(void)state;
	(void)snprintf(path, sizeof path, "%s/ledger", files.path);
	(void)snprintf(options, sizeof options, "batch=4 ledger=%s", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	oneloader_open(options);
	assert_int_equal(loaded_run(&l, loader, 2), 2);
	close(fd);
	expect_failure(-EPIPE, "Broken pipe");
	expect_failure(-EPIPE, "Broken pipe");
}

/* What a job writes down behind a batch that failed is its own still; another
 * job's ledger is left alone. */
static void
it_goes_on_in_its_own_ledger_only(void **state)
{
	char path[512], options[600], position[DS_POSITION_TEXT], name[64];
	struct ds_batch *b = NULL;
	int fd;

	(void)state;
	pictures_name(&files, 5, name);
	assert_int_equal(pictures_put(&files, name, "", 0), 0);
	oneloader_list();
	(void)snprintf(path, sizeof path, "%s/ledger", files.path);
	(void)snprintf(options, sizeof options,
	    "batch=4 order=listed ledger=%s", path);
	oneloader_open(options);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	ds_loader_release(loader, &b);
	assert_true(ds_loader_next(loader, &b, &err) < 0);
	assert_int_equal(ds_loader_save(loader, position, &err), 0);
	oneloader_open(options);
	assert_int_equal(ds_loader_restore(loader, position, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->positions[0], 8);
	ds_loader_close(&loader);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "0 0 0 other.jpg 00000000\n", 25), 25);
	close(fd);
	oneloader_open(options);
	assert_int_equal(ds_loader_restore(loader, position, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "other.jpg, is another job's"));
}

/*--- what is not needed --------------------------------------------------*/

static uint64_t
bytes_read(void)
{
	struct ds_counts c;

	ds_data_counts(data, &c);
	return c.storage_bytes;
}

static void
check_not_read(const char *options, uint64_t most)
{
	uint64_t before = bytes_read();
	struct loaded l = { 0 };
	struct ds_bad bad;

	oneloader_open(options);
	loaded_run(&l, loader, UINT32_MAX);
	assert_true(bytes_read() > before);
	assert_true(bytes_read() - before < most);
	assert_int_equal(ds_loader_bad(loader, 0, &bad), 0);
	assert_int_equal(bad.code, -EFBIG);
	assert_non_null(strstr(bad.why, "class0/0005.jpg: it has 134217728 "
	    "bytes: more than max-bytes"));
	assert_int_equal(ds_loader_bad(loader, 1, &bad), -ENOENT);
}

/* A sparse file of 128 MiB, by makers and by readers. */
static void
files_past_max_bytes_are_not_read(void **state)
{
	char name[64], path[512];

	(void)state;
	pictures_name(&files, 5, name);
	(void)snprintf(path, sizeof path, "%s/%s", files.path, name);
	assert_int_equal(truncate(path, 1 << 27), 0);
	oneloader_list();
	check_not_read("epochs=1 on-bad=skip max-bytes=1M readers=0", 1 << 20);
	check_not_read("epochs=1 on-bad=skip max-bytes=1M readers=4 threads=1",
	    1 << 20);
	check_not_read("epochs=1 on-bad=substitute max-bytes=134217727",
	    1 << 20);
}

/* A batch that is larger than an epoch has room for an epoch. */
static void
room_is_that_of_an_epoch(void **state)
{
	struct ds_loader_counts c;
	struct loaded want, got = { 0 };

	(void)state;
	loaded_all(&want, data, "batch=4");
	oneloader_open("batch=1000000 prefetch=1");
	assert_int_equal(loaded_run(&got, loader, UINT32_MAX), 2);
	assert_memory_equal(&want, &got, sizeof got);
	ds_loader_counts(loader, &c);
	assert_in_range(c.memory_bytes, NR * SAMPLE, 3 * NR * SAMPLE);
	oneloader_open("batch=1000000 prefetch=1 ranks=4 on-bad=skip "
	    "ledger=/dev/null");
	assert_int_equal(loaded_run(&got, loader, UINT32_MAX), 2);
	ds_loader_counts(loader, &c);
	assert_in_range(c.memory_bytes, 6 * SAMPLE, 3 * 6 * SAMPLE);
}

/*--- whether a picture is sound ------------------------------------------*/

/* The second half of what is coded is zeros, the end is there. */
static void
spoil(uint64_t i)
{
	char name[64], path[512];
	static const char zeros[4096];
	struct stat st;
	int fd;

	pictures_name(&files, i, name);
	(void)snprintf(path, sizeof path, "%s/%s", files.path, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_in_range(st.st_size, 1000, sizeof zeros);
	assert_int_equal(pwrite(fd, zeros, 400, st.st_size - 402), 400);
	close(fd);
	oneloader_list();
}

static unsigned
count_given(const struct loaded *l, uint64_t item)
{
	unsigned nr = 0;

	for (unsigned e = 0; e < LOADED_EPOCHS; e++) {
		for (unsigned i = 0; i < NR; i++) {
			nr += l->at[e][i].times == 1 &&
			    l->at[e][i].item == item;
		}
	}
	return nr;
}

/* In no epoch, whatever its crop is; unless nobody looks. */
static void
one_that_is_damaged_is_never_given(void **state)
{
	struct loaded l;

	(void)state;
	spoil(5);
	loaded_all(&l, data, "epochs=4 on-bad=skip scale=0.08,0.1");
	assert_int_equal(count_given(&l, 4), 4);
	assert_int_equal(count_given(&l, 5), 0);
	loaded_all(&l, data, "epochs=4 on-bad=skip verify=yes scale=0.08,0.1");
	assert_int_equal(count_given(&l, 5), 0);
	loaded_all(&l, data, "epochs=4 on-bad=skip verify=no scale=0.08,0.1");
	assert_in_range(count_given(&l, 5), 1, 4);
}

/*--- what is told --------------------------------------------------------*/

/* Before there is a batch. */
static void
options_must_go_together(void **state)
{
	char text[DS_POSITION_TEXT];

	(void)state;
	oneloader_open("crop=center resize=16");
	assert_int_equal(ds_loader_set(loader, NULL, "8", &err), -EINVAL);
	assert_int_equal(ds_loader_set(loader, "batch", NULL, &err), -EINVAL);
	assert_int_equal(ds_loader_samples(loader, &err), -EINVAL);
	assert_non_null(strstr(err.text, "resize=16"));
	assert_int_equal(ds_loader_samples(loader, NULL), -EINVAL);
	assert_int_equal(ds_loader_save(loader, text, &err), -EINVAL);
	assert_null(ds_loader_class(loader, 0));
	loaded_set(loader, "resize=32");
	assert_int_equal(ds_loader_samples(loader, &err), NR);
	loaded_set(loader, "ranks=2 rank=2");
	assert_int_equal(ds_loader_samples(loader, &err), -EINVAL);
	loaded_set(loader, "rank=1 drop-last=yes batch=12");
	assert_int_equal(ds_loader_samples(loader, &err), -EINVAL);
	assert_non_null(strstr(err.text, "drop-last"));
	loaded_set(loader, "batch=11");
	assert_int_equal(ds_loader_samples(loader, &err), 11);
}

static void
batches_and_classes_are_told(void **state)
{
	struct ds_batch *b;

	(void)state;
	oneloader_open("size=20x10 type=bf16 layout=nhwc");
	assert_int_equal(ds_loader_classes(loader, &err), PICTURES_CLASSES);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->type, DS_TYPE_BF16);
	assert_int_equal(b->sample_bytes, 20 * 10 * 3 * 2);
	assert_int_equal(b->shape[0], 10);
	assert_int_equal(b->shape[1], 20);
	assert_int_equal(b->shape[2], 3);
	oneloader_open("size=20x10 type=uint8 labels=none");
	assert_int_equal(ds_loader_classes(loader, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->type, DS_TYPE_UINT8);
	assert_int_equal(b->sample_bytes, 20 * 10 * 3);
	assert_int_equal(b->shape[0], 3);
	assert_int_equal(b->shape[1], 10);
	assert_int_equal(b->shape[2], 20);
}

/* Whose absence would change what others are. */
static void
what_is_left_out_is_told(void **state)
{
	char path[512];

	(void)state;
	(void)snprintf(path, sizeof path, "%s/class9", files.path);
	assert_int_equal(symlink("/nowhere", path), 0);
	oneloader_list();
	oneloader_open("");
	assert_int_equal(ds_loader_samples(loader, &err), -ELOOP);
	assert_non_null(strstr(err.text, "partial=yes"));
	loaded_set(loader, "partial=yes");
	assert_int_equal(ds_loader_samples(loader, &err), NR);
}

/* Of what succeeds, nothing is said. */
static void
err_is_left_alone(void **state)
{
	struct ds_err nothing, untouched;
	char text[DS_POSITION_TEXT];
	struct ds_batch *b;

	(void)state;
	memset(&nothing, 7, sizeof nothing);
	untouched = nothing;
	ds_loader_close(&loader);
	assert_int_equal(ds_loader_open(&loader, data, &nothing), 0);
	assert_int_equal(ds_loader_set(loader, "batch", "8", &nothing), 0);
	assert_int_equal(ds_loader_set(loader, "size", "32", &nothing), 0);
	assert_true(ds_loader_samples(loader, &nothing) > 0);
	assert_int_equal(ds_loader_next(loader, &b, &nothing), 1);
	assert_int_equal(ds_loader_save(loader, text, &nothing), 0);
	assert_memory_equal(&nothing, &untouched, sizeof nothing);
}

UNIT_MAIN(
    OWN_UNIT(what_fails_of_ours_is_tried_again),
    OWN_UNIT(a_bad_one_beside_ours_is_counted_once),
    OWN_UNIT(a_full_disk_ends_it_where_it_is),
    OWN_UNIT(a_reader_that_is_gone_ends_it_where_it_is),
    OWN_UNIT(it_goes_on_in_its_own_ledger_only),
    OWN_UNIT(files_past_max_bytes_are_not_read),
    OWN_UNIT(room_is_that_of_an_epoch),
    OWN_UNIT(one_that_is_damaged_is_never_given),
    OWN_UNIT(options_must_go_together),
    OWN_UNIT(batches_and_classes_are_told),
    OWN_UNIT(what_is_left_out_is_told),
    OWN_UNIT(err_is_left_alone))
