/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_loader.c: tests of loader/loader*.c: what a job is given, from where it
 * goes on, and what becomes of bad files.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/data.h"
#include "prep/prep.h"
#include "tests/harness/heap.h"
#include "tests/harness/oneloader.h"

#define NR	23u		/* pictures */

static int
start(void **state)
{
	return oneloader_start(state, NR);
}

#define LOADER_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start, oneloader_stop)

/* Anew, after files were changed. */
static void
open_loader(const char *options)
{
	oneloader_list();
	oneloader_open(options);
}

/*--- what is given -------------------------------------------------------*/

static void
each_sample_is_what_prep_makes(void **state)
{
	struct ds_prep *prep;
	struct ds_item item;
	struct ds_batch *b;
	char *sample;
	int64_t bytes;

	(void)state;
	open_loader("batch=10 seed=5 threads=1");
	assert_int_equal(ds_prep_new(&prep, &err), 0);
	assert_int_equal(ds_prep_set(prep, "size", "32", &err), 0);
	bytes = ds_prep_bytes(prep, &err);
	sample = malloc((size_t)bytes);
	while (ds_loader_next(loader, &b, &err) == 1) {
		assert_int_equal(b->sample_bytes, bytes);
		assert_int_equal((uintptr_t)b->samples % 4096, 0);
		for (uint32_t i = 0; i < b->count; i++) {
			struct ds_place place = { 5, 0, b->positions[i] };

			assert_int_equal(ds_get(data, b->items[i], &item, &err),
			    0);
			assert_int_equal(prep_make(prep, item.bytes, item.len,
			    &place, true, sample, &err), PREP_WHOLE);
			assert_memory_equal(sample, (char *)b->samples +
			    i * b->sample_bytes, b->sample_bytes);
			ds_put(data, &item);
		}
		ds_loader_release(loader, &b);
	}
	free(sample);
	ds_prep_free(&prep);
}

static void
an_epoch_has_each_once(void **state)
{
	bool seen[2][NR] = { { false } };
	struct loaded l;
	bool differ = false;

	(void)state;
	loaded_all(&l, data, "batch=4 threads=2");
	for (unsigned e = 0; e < 2; e++) {
		for (unsigned i = 0; i < NR; i++) {
			assert_int_equal(l.at[e][i].times, 1);
			assert_int_equal(l.at[e][i].label,
			    l.at[e][i].item / 8);
			assert_false(seen[e][l.at[e][i].item]);
			seen[e][l.at[e][i].item] = true;
		}
		assert_int_equal(l.at[e][NR].times, 0);
	}
	for (unsigned i = 0; i < NR; i++)
		differ |= l.at[0][i].item != l.at[1][i].item;
	assert_true(differ);
	assert_int_equal(l.at[2][0].times, 0);
}

static void
batches_and_ends_come_in_order(void **state)
{
	struct ds_batch *b;

	(void)state;
	open_loader("batch=10 order=listed threads=2");
	assert_int_equal(ds_loader_samples(loader, &err), NR);
	for (unsigned e = 0; e < 2; e++) {
		for (unsigned k = 0; k < 3; k++) {
			assert_int_equal(ds_loader_next(loader, &b, &err), 1);
			assert_int_equal(b->epoch, e);
			assert_int_equal(b->number, k);
			assert_int_equal(b->count, k < 2 ? 10 : 3);
			assert_int_equal(b->items[0], 10 * k);
			ds_loader_release(loader, &b);
		}
		assert_int_equal(ds_loader_next(loader, &b, &err), 0);
	}
	assert_int_equal(ds_loader_next(loader, &b, &err), -ENOENT);
	assert_int_equal(ds_loader_next(loader, &b, &err), -ENOENT);
	assert_string_equal(ds_loader_class(loader, 2), "class2");
	assert_null(ds_loader_class(loader, 3));
}

/* Every batch of two epochs at once; the job writes to them, too. */
static void
batches_can_be_kept(void **state)
{
	struct ds_loader_counts c;
	struct ds_batch *b[12] = { NULL };
	struct loaded want, got = { 0 };
	unsigned nr = 0;
	int rc;

	(void)state;
	loaded_all(&want, data, "batch=4");
	open_loader("batch=4 threads=2 prefetch=3");
	while (nr < 12 && (rc = ds_loader_next(loader, &b[nr], &err)) >= 0)
		nr += rc == 1;
	assert_int_equal(nr, 12);
	for (unsigned i = 0; i < nr; i++)
		loaded_add(&got, b[i]);
	assert_memory_equal(&want, &got, sizeof got);
	ds_loader_counts(loader, &c);
	assert_int_equal(c.memory_bytes, 12 * 4 * b[0]->sample_bytes);
	for (unsigned i = 0; i < nr; i += 2) {
		memset(b[i]->samples, 1, b[i]->sample_bytes * b[i]->count);
		ds_loader_release(loader, &b[i]);
	}
	/* The others go with the loader. */
}

static void
memory_is_reused(void **state)
{
	struct ds_loader_counts c;
	struct loaded l = { 0 };

	(void)state;
	open_loader("batch=2 threads=1 prefetch=2 epochs=4");
	assert_int_equal(loaded_run(&l, loader, UINT32_MAX), 48);
	ds_loader_counts(loader, &c);
	assert_in_range(c.memory_bytes, 1, 3 * 2 * 32 * 32 * 3 * 4);
	assert_int_equal(c.batches, 48);
	assert_int_equal(c.samples, 4 * NR);
	assert_int_equal(c.epochs, 4);
	assert_int_equal(c.threads, 1);
	assert_int_equal(c.readers, 4);
	assert_true(c.prep_ns > 0 && c.fetch_ns > 0 && c.encoded_bytes > 0);
}

static void
ranks_have_all_together(void **state)
{
	struct loaded want, got = { 0 };

	(void)state;
	loaded_all(&want, data, "batch=4");
	for (unsigned rank = 0; rank < 3; rank++) {
		char options[64];

		(void)snprintf(options, sizeof options, "batch=3 ranks=3 "
		    "rank=%u", rank);
		open_loader(options);
		assert_int_equal(ds_loader_samples(loader, &err), 8);
		loaded_run(&got, loader, UINT32_MAX);
	}
	for (unsigned e = 0; e < 2; e++) {
		assert_memory_equal(want.at[e], got.at[e],
		    NR * sizeof want.at[e][0]);
		/* The beginning once more, but another draw. */
		assert_int_equal(got.at[e][NR].times, 1);
		assert_int_equal(got.at[e][NR].item, want.at[e][0].item);
	}
}

static void
the_last_can_be_dropped(void **state)
{
	struct loaded l;

	(void)state;
	loaded_all(&l, data, "batch=10 drop-last=yes");
	for (unsigned i = 0; i < NR; i++)
		assert_int_equal(l.at[1][i].times, i < 20);
}

/* So that what could not be read is tried again. */
static void
the_data_set_is_told_of_epochs(void **state)
{
	struct ds_batch *b;
	uint64_t began_ns;

	(void)state;
	open_loader("batch=12 prefetch=0");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	began_ns = data->epoch_ns;
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(data->epoch_ns, began_ns);
	assert_int_equal(ds_loader_next(loader, &b, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_true(data->epoch_ns > began_ns);
}

/*--- going on ------------------------------------------------------------*/

/* Stops after nr batches, and goes on with others' size. */
static void
check_resume(const struct loaded *want, unsigned nr, const char *first,
    const char *then)
{
	char text[DS_POSITION_TEXT], again[DS_POSITION_TEXT];
	struct loaded got = { 0 };

	open_loader(first);
	loaded_run(&got, loader, nr);
	assert_int_equal(ds_loader_save(loader, text, &err), 0);
	open_loader(then);
	assert_int_equal(ds_loader_restore(loader, text, &err), 0);
	assert_int_equal(ds_loader_save(loader, again, &err), 0);
	assert_string_equal(text, again);
	loaded_run(&got, loader, UINT32_MAX);
	assert_memory_equal(want, &got, sizeof got);
}

static void
the_rest_is_the_same_from_anywhere(void **state)
{
	struct loaded want;

	(void)state;
	loaded_all(&want, data, "batch=4 seed=9");
	for (unsigned nr = 0; nr <= 12; nr++)
		check_resume(&want, nr, "batch=4 seed=9 threads=1",
		    "batch=4 seed=9 threads=2");
	check_resume(&want, 3, "batch=5 seed=9", "batch=7 seed=9");
	check_resume(&want, 4, "batch=7 seed=9", "batch=1 seed=9");
	check_resume(&want, 2, "batch=23 seed=9", "batch=50 seed=9");
}

/* At the end of an epoch, before and after it was told. */
static void
an_end_is_told_once(void **state)
{
	char before[DS_POSITION_TEXT], after[DS_POSITION_TEXT];
	struct ds_batch *b;

	(void)state;
	open_loader("batch=23");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(ds_loader_save(loader, before, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 0);
	assert_int_equal(ds_loader_save(loader, after, &err), 0);
	assert_non_null(strstr(before, "epoch=0 samples=23"));
	assert_non_null(strstr(after, "epoch=1 samples=0"));
	open_loader("batch=23");
	assert_int_equal(ds_loader_restore(loader, before, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->epoch, 1);
	open_loader("batch=23");
	assert_int_equal(ds_loader_restore(loader, after, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->epoch, 1);
	assert_int_equal(ds_loader_restore(loader, after, &err), -EBUSY);
}

/* Of 23 the turns 8 to 19, 0 to 7, 20 to 22, from any place in it, also with
 * another batch size. */
static void
an_epoch_joined_late_is_gone_on_with(void **state)
{
	char text[DS_POSITION_TEXT], more[64], again[DS_POSITION_TEXT];
	struct ds_batch *b;

	(void)state;
	for (unsigned done = 0; done <= NR; done++) {
		unsigned at = done;

		open_loader(done % 2 ? "batch=5" : "batch=8");
		assert_int_equal(ds_loader_save(loader, text, &err), 0);
		(void)snprintf(more, sizeof more, "samples=%u from=8 tail=3",
		    done);
		strcpy(strstr(text, "samples="), more);
		assert_int_equal(ds_loader_restore(loader, text, &err), 0);
		assert_int_equal(ds_loader_save(loader, again, &err), 0);
		assert_string_equal(again, text);
		while (ds_loader_next(loader, &b, &err) == 1) {
			for (uint32_t i = 0; i < b->count; i++, at++)
				assert_int_equal(b->positions[i], at >= 20 ?
				    at : at < 12 ? at + 8 : at - 12);
			ds_loader_release(loader, &b);
		}
		assert_int_equal(at, NR);
		assert_int_equal(ds_loader_save(loader, again, &err), 0);
		assert_non_null(strstr(again, "epoch=1 samples=0"));
		assert_null(strstr(again, "from"));
	}
}

static void
expect_stale(const char *options, const char *text)
{
	open_loader(options);
	assert_int_equal(ds_loader_restore(loader, text, &err), -ESTALE);
	assert_non_null(strstr(err.text, "other data"));
}

static void
another_stream_is_refused(void **state)
{
	char text[DS_POSITION_TEXT];
	struct ds_batch *b;

	(void)state;
	open_loader("batch=4");
	assert_int_equal(ds_loader_save(loader, text, &err), 0);
	expect_stale("seed=1", text);
	expect_stale("order=listed", text);
	expect_stale("ranks=2", text);
	expect_stale("drop-last=yes batch=4", text);
	/* Set afterwards, it is seen, too. */
	open_loader("batch=4");
	assert_int_equal(ds_loader_restore(loader, text, &err), 0);
	loaded_set(loader, "seed=1");
	assert_int_equal(ds_loader_next(loader, &b, &err), -ESTALE);
	/* Any rank may use it. */
	open_loader("ranks=2 rank=0");
	assert_int_equal(ds_loader_save(loader, text, &err), 0);
	open_loader("ranks=2 rank=1");
	assert_int_equal(ds_loader_restore(loader, text, &err), 0);
	/* Other data. */
	assert_int_equal(pictures_cut(&files, 7), 0);
	expect_stale("ranks=2", text);
}

static void
no_position_is_refused(void **state)
{
	static const char *const wrong[] = {
		"", "x", "destall-position 2 0123456789abcdef epoch=0 samples=0",
		"destall-position 1 0123456789abcdef epoch=0 samples=0 ",
		"destall-position 1 0123456789abcdef epoch=0 samples=00",
		"destall-position 1 123456789abcdef epoch=0 samples=0",
		"destall-position 1 0123456789abcdef epoch=-1 samples=0",
		"destall-position 1 0123456789abcdef epoch=9 samples=99999999999999999999",
		"destall-position  1 0123456789abcdef epoch=0 samples=0",
		"destall-position 1 0123456789abcdef epoch=0 samples=0 from=1",
		"destall-position 1 0123456789abcdef epoch=0 samples=0 from=0 "
		"tail=0",
		"destall-position 1 0123456789abcdef epoch=0 samples=0 from=1 "
		"tail=1 ",
	};
	char text[DS_POSITION_TEXT], *at;

	(void)state;
	open_loader("batch=4");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(ds_loader_restore(loader, wrong[i], &err),
		    -EBADMSG);
	assert_int_equal(ds_loader_save(loader, text, &err), 0);
	at = strstr(text, "samples=");
	strcpy(at, "samples=24");
	assert_int_equal(ds_loader_restore(loader, text, &err), -EBADMSG);
	strcpy(at, "samples=2 from=21 tail=3");
	assert_int_equal(ds_loader_restore(loader, text, &err), -EBADMSG);
	strcpy(at, "samples=23\n");
	assert_int_equal(ds_loader_restore(loader, text, &err), 0);
}

/*--- bad files -----------------------------------------------------------*/

/* Files 3 and 9 are cut, 5 is no picture, in three batches of 8. */
static void
spoil(void)
{
	char name[64];

	assert_int_equal(pictures_cut(&files, 3), 0);
	assert_int_equal(pictures_cut(&files, 9), 0);
	pictures_name(&files, 5, name);
	assert_int_equal(pictures_put(&files, name, "hello", 5), 0);
}

static void
a_bad_file_fails_its_batch(void **state)
{
	struct ds_batch *b;

	(void)state;
	spoil();
	open_loader("batch=8 order=listed threads=2 epochs=1");
	assert_true(ds_loader_next(loader, &b, &err) < 0);
	assert_non_null(strstr(err.text, "class0/0003.jpg: "));
	assert_true(ds_loader_next(loader, &b, &err) < 0);
	assert_non_null(strstr(err.text, "class1/0001.jpg: "));
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->number, 2);
	assert_int_equal(b->items[0], 16);
	assert_int_equal(ds_loader_next(loader, &b, &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), -ENOENT);
}

static void
check_bad_list(void)
{
	static const uint64_t items[] = { 3, 5, 9 };
	struct ds_bad bad;

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ds_loader_bad(loader, i, &bad), 0);
		assert_int_equal(bad.item, items[i]);
		assert_int_equal(bad.position, items[i]);
		assert_int_equal(bad.epoch, 0);
		assert_true(bad.code < 0);
		assert_non_null(strstr(bad.why, ".jpg: "));
	}
	assert_int_equal(ds_loader_bad(loader, 3, &bad), -ENOENT);
}

static void
bad_files_can_be_skipped(void **state)
{
	struct loaded want, got = { 0 };
	struct ds_loader_counts c;
	struct ds_batch *b;

	(void)state;
	loaded_all(&want, data, "order=listed epochs=1");
	spoil();
	open_loader("batch=8 order=listed on-bad=skip threads=2 epochs=1");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->count, 6);
	assert_int_equal(b->skipped, 2);
	loaded_add(&got, b);
	ds_loader_release(loader, &b);
	assert_int_equal(loaded_run(&got, loader, UINT32_MAX), 2);
	want.at[0][3] = want.at[0][5] = want.at[0][9] =
	    (struct loaded_sample){ 0 };
	assert_memory_equal(&want, &got, sizeof got);
	check_bad_list();
	ds_loader_counts(loader, &c);
	assert_int_equal(c.skipped, 3);
	assert_int_equal(c.samples, NR - 3);
}

static void
bad_files_can_be_substituted(void **state)
{
	static const char zeros[32 * 32 * 3 * 4];
	struct ds_loader_counts c;
	struct ds_batch *b;

	(void)state;
	spoil();
	open_loader("batch=23 order=listed on-bad=substitute epochs=1");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->count, 23);
	assert_int_equal(b->skipped, 0);
	for (unsigned i = 0; i < NR; i++) {
		bool bad = i == 3 || i == 5 || i == 9;

		assert_int_equal(b->states[i], bad ? DS_SAMPLE_SUBSTITUTE :
		    DS_SAMPLE_OK);
		assert_int_equal(memcmp((char *)b->samples +
		    i * b->sample_bytes, zeros, sizeof zeros) == 0, bad);
		assert_int_equal(b->items[i], i);
	}
	check_bad_list();
	ds_loader_counts(loader, &c);
	assert_int_equal(c.substituted, 3);
}

static void
cut_files_can_be_accepted(void **state)
{
	struct ds_loader_counts c;
	struct ds_batch *b;

	(void)state;
	assert_int_equal(pictures_cut(&files, 3), 0);
	open_loader("batch=23 order=listed truncated=yes epochs=1 crop=none");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->states[3], DS_SAMPLE_CUT_SHORT);
	assert_int_equal(b->states[4], DS_SAMPLE_OK);
	ds_loader_counts(loader, &c);
	assert_int_equal(c.cut_short, 1);
}

/* -ENOENT would be the end of all epochs. */
static void
a_file_may_go_after_it_was_listed(void **state)
{
	char name[64], path[512];
	struct ds_batch *b;
	struct ds_bad bad;

	(void)state;
	open_loader("batch=23 order=listed readers=0 threads=1");
	pictures_name(&files, 2, name);
	(void)snprintf(path, sizeof path, "%s/%s", files.path, name);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), -ESTALE);
	assert_int_equal(err.code, -ESTALE);
	assert_non_null(strstr(err.text, name));
	ds_loader_close(&loader);
	assert_int_equal(ds_loader_open(&loader, data, &err), 0);
	loaded_set(loader, "batch=23 order=listed on-bad=skip threads=2");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->count, 22);
	assert_int_equal(ds_loader_bad(loader, 0, &bad), 0);
	assert_int_equal(bad.code, -ENOENT);
	assert_int_equal(bad.item, 2);
}

static void
all_may_be_bad(void **state)
{
	struct ds_batch *b;
	struct ds_bad bad;
	char name[64];

	(void)state;
	for (unsigned i = 0; i < NR; i++) {
		pictures_name(&files, i, name);
		assert_int_equal(pictures_put(&files, name, "", 0), 0);
	}
	open_loader("batch=23 on-bad=skip epochs=6");
	for (unsigned e = 0; e < 6; e++) {
		assert_int_equal(ds_loader_next(loader, &b, &err), 1);
		assert_int_equal(b->count, 0);
		assert_int_equal(b->skipped, 23);
		ds_loader_release(loader, &b);
		assert_int_equal(ds_loader_next(loader, &b, &err), 0);
	}
	assert_int_equal(ds_loader_bad(loader, 99, &bad), 0);
	assert_int_equal(bad.epoch, 4);
	assert_int_equal(ds_loader_bad(loader, 100, &bad), -ENOENT);
}

/*--- setting up ----------------------------------------------------------*/

static void
only_pictures_count(void **state)
{
	(void)state;
	assert_int_equal(pictures_put(&files, "class0/notes.txt", "x", 1), 0);
	open_loader("");
	assert_int_equal(ds_loader_samples(loader, &err), NR);
}

static void
a_folder_without_pictures_is_refused(void **state)
{
	struct ds_batch *b;

	(void)state;
	assert_int_equal(folder_remove(files.path), 0);
	assert_int_equal(folder_make(files.path, "pictures"), 0);
	assert_int_equal(pictures_put(&files, "notes.txt", "x", 1), 0);
	open_loader("");
	assert_true(ds_loader_samples(loader, &err) < 0);
	assert_true(ds_loader_next(loader, &b, &err) < 0);
	assert_int_not_equal(err.code, -ENOENT);
	assert_non_null(strstr(err.text, "picture"));
}

static void
options_are_set_by_name(void **state)
{
	const struct ds_option *o = ds_loader_options();
	struct ds_batch *b;
	unsigned nr = 0;

	(void)state;
	open_loader("");
	for (; o->name != NULL; o++, nr++) {
		assert_non_null(o->value);
		assert_non_null(o->help);
		assert_int_equal(ds_loader_set(loader, o->name, o->value,
		    &err), 0);
	}
	assert_true(nr > 20);
	assert_int_equal(ds_loader_set(loader, "bach", "2", &err), -ENOENT);
	assert_non_null(strstr(err.text, "'batch'"));
	assert_int_equal(ds_loader_set(loader, "crob", "2", &err), -ENOENT);
	assert_non_null(strstr(err.text, "'crop'"));
	assert_int_equal(ds_loader_set(loader, "batch", "0", &err), -ERANGE);
	assert_int_equal(ds_loader_set(loader, "crop", "no", &err), -EINVAL);
	assert_int_equal(ds_loader_set(loader, "labels", "/nowhere", &err), 0);
	assert_int_equal(ds_loader_next(loader, &b, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	loaded_set(loader, "labels=none rank=1");
	assert_int_equal(ds_loader_next(loader, &b, &err), -EINVAL);
	loaded_set(loader, "rank=0 crop=center resize=16");
	assert_int_equal(ds_loader_next(loader, &b, &err), -EINVAL);
	loaded_set(loader, "resize=32");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	assert_int_equal(b->labels[0], -1);
	assert_int_equal(ds_loader_set(loader, "batch", "4", &err), -EBUSY);
}

static void
the_ledger_has_what_was_given(void **state)
{
	char path[512], line[256], options[600];
	struct loaded l = { 0 };
	unsigned nr = 0, skipped = 0;
	FILE *f;

	(void)state;
	spoil();
	(void)snprintf(path, sizeof path, "%s/ledger", files.path);
	(void)snprintf(options, sizeof options, "batch=4 on-bad=skip "
	    "ledger=%s", path);
	open_loader(options);
	loaded_run(&l, loader, UINT32_MAX);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned epoch, batch, position;

		assert_int_equal(sscanf(line, "%u %u %u", &epoch, &batch,
		    &position), 3);
		assert_int_equal(epoch, nr / NR);
		assert_int_equal(position, nr % NR);
		assert_int_equal(batch, nr % NR / 4);
		skipped += strstr(line, " skipped") != NULL;
		nr++;
	}
	fclose(f);
	assert_int_equal(nr, 2 * NR);
	assert_int_equal(skipped, 6);
}

/*--- at its limits -------------------------------------------------------*/

static rlim_t
limit_memory(rlim_t most)
{
	struct rlimit r;
	rlim_t was;

	assert_int_equal(getrlimit(RLIMIT_AS, &r), 0);
	was = r.rlim_cur;
	r.rlim_cur = most;
	assert_int_equal(setrlimit(RLIMIT_AS, &r), 0);
	return was;
}

/* The job keeps batches of 49 MB until there is no memory: it is told, and
 * after it gave one back it goes on with the batch that it missed. */
static void
without_memory_it_can_go_on(void **state)
{
	struct ds_batch *b[64];
	unsigned nr = 0;
	rlim_t was;
	int rc = 1;

	(void)state;
	if (HEAP_IS_SANITIZED)
		return;
	open_loader("batch=1 size=2048 epochs=0 order=listed threads=1 "
	    "readers=0 prefetch=1");
	assert_int_equal(ds_loader_next(loader, &b[nr++], &err), 1);
	was = limit_memory(RLIM_INFINITY);
	(void)limit_memory((rlim_t)1 << 30);
	while (nr < 64 && rc >= 0) {
		rc = ds_loader_next(loader, &b[nr], &err);
		nr += rc == 1;
	}
	(void)limit_memory(was);
	assert_int_equal(rc, -ENOMEM);
	assert_non_null(strstr(err.text, "no memory for a batch"));
	ds_loader_release(loader, &b[0]);
	assert_int_equal(ds_loader_next(loader, &b[0], &err), 1);
	assert_int_equal(b[0]->positions[0], nr % NR);
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(b[i]->positions[0], i == 0 ? nr % NR : i % NR);
}

/* A child can close it, and nothing else. */
static void
a_child_has_no_use_of_it(void **state)
{
	struct ds_batch *b;
	int status;
	pid_t pid;

	(void)state;
	open_loader("batch=4 threads=2");
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
	pid = fork();
	if (pid == 0) {
		struct ds_batch *other;

		if (ds_loader_next(loader, &other, &err) != -ECHILD)
			_exit(1);
		ds_loader_release(loader, &b);
		ds_loader_close(&loader);
		_exit(b == NULL && loader == NULL ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ds_loader_release(loader, &b);
	assert_int_equal(ds_loader_next(loader, &b, &err), 1);
}

UNIT_MAIN(
    LOADER_UNIT(each_sample_is_what_prep_makes),
    LOADER_UNIT(an_epoch_has_each_once),
    LOADER_UNIT(batches_and_ends_come_in_order),
    LOADER_UNIT(batches_can_be_kept),
    LOADER_UNIT(memory_is_reused),
    LOADER_UNIT(ranks_have_all_together),
    LOADER_UNIT(the_last_can_be_dropped),
    LOADER_UNIT(the_data_set_is_told_of_epochs),
    LOADER_UNIT(the_rest_is_the_same_from_anywhere),
    LOADER_UNIT(an_end_is_told_once),
    LOADER_UNIT(an_epoch_joined_late_is_gone_on_with),
    LOADER_UNIT(another_stream_is_refused),
    LOADER_UNIT(no_position_is_refused),
    LOADER_UNIT(a_bad_file_fails_its_batch),
    LOADER_UNIT(bad_files_can_be_skipped),
    LOADER_UNIT(bad_files_can_be_substituted),
    LOADER_UNIT(cut_files_can_be_accepted),
    LOADER_UNIT(a_file_may_go_after_it_was_listed),
    LOADER_UNIT(all_may_be_bad),
    LOADER_UNIT(only_pictures_count),
    LOADER_UNIT(a_folder_without_pictures_is_refused),
    LOADER_UNIT(options_are_set_by_name),
    LOADER_UNIT(the_ledger_has_what_was_given),
    LOADER_UNIT(without_memory_it_can_go_on),
    LOADER_UNIT(a_child_has_no_use_of_it))
