/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_ledger.c: tests of loader/ledger.c and ledger_line.c: what is written,
 * cut and read again.
 */

#include <config.h>

#include "loader/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/io.h"
#include "loader/ledger_line.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define SAMPLE	8u

static char folder[FOLDER_PATH];
static char path[FOLDER_PATH + 16];
static struct ds_data *data;
static struct ledger *ledger;
static struct ds_err err;

static const char *const names[] = {	/* in their order */
	"#7.jpg", "a b%c.jpg", "n\n\177e.jpg", "plain.jpg",
};
#define NR_NAMES	(sizeof names / sizeof names[0])

static void
write_text(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static int
make_folder(void **state)
{
	char file[2 * FOLDER_PATH];

	leak_before(state);
	assert_int_equal(folder_make(folder, "ledger"), 0);
	(void)snprintf(path, sizeof path, "%s/ledger", folder);
	(void)snprintf(file, sizeof file, "%s/set", folder);
	assert_int_equal(mkdir(file, 0700), 0);
	for (size_t i = 0; i < NR_NAMES; i++) {
		(void)snprintf(file, sizeof file, "%s/set/%s", folder,
		    names[i]);
		write_text(file, "x");
	}
	(void)snprintf(file, sizeof file, "%s/set", folder);
	assert_int_equal(ds_data_open(&data, NULL, file, NULL, &err), 0);
	return 0;
}

static int
remove_folder(void **state)
{
	(void)ledger_close(&ledger, NULL);
	ds_data_close(&data);
	assert_int_equal(folder_remove(folder), 0);
	return leak_after(state);
}

#define LEDGER_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static void
open_ledger(bool append)
{
	if (ledger_open(&ledger, path, append, 1, &err) < 0)
		fail_msg("%s", err.text);
}

/* A long epoch, of which ledgers here have the beginning. */
static const struct plan plan = { .turns = 1u << 20, .batch = 4 };

static int
resume(uint64_t epoch, uint64_t position)
{
	struct ledger_end end;
	struct plan_place at = { .epoch = epoch, .turn = position };
	int rc = ledger_find(ledger, &plan, &at, &end, &err);

	return rc < 0 ? rc : ledger_cut(ledger, &end, &err);
}

/* Positions from..from + 3 of items 0..3, sample i of bytes i. */
static int
put(uint64_t epoch, uint64_t number, uint64_t from)
{
	static const uint64_t items[NR_NAMES] = { 0, 1, 2, 3 };
	uint64_t positions[NR_NAMES];
	unsigned char bytes[NR_NAMES * SAMPLE];
	struct ds_batch b = {
		.samples = bytes, .sample_bytes = SAMPLE, .epoch = epoch,
		.number = number, .count = NR_NAMES, .items = items,
		.positions = positions,
	};

	for (unsigned i = 0; i < NR_NAMES; i++) {
		positions[i] = from + i;
		memset(bytes + i * SAMPLE, (int)i, SAMPLE);
	}
	return ledger_batch(ledger, &b, data, NULL, 0, &err);
}

static char *
read_all(void)
{
	static char text[1u << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = io_read_all(fd, text, sizeof text - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static unsigned
count_lines(void)
{
	unsigned nr = 0;

	for (const char *p = read_all(); *p != '\0'; p++)
		nr += *p == '\n';
	return nr;
}

static uint32_t
crc_of(unsigned char byte)
{
	unsigned char bytes[SAMPLE];

	memset(bytes, byte, sizeof bytes);
	return crc32c(0, bytes, sizeof bytes);
}

/*--- writing -------------------------------------------------------------*/

static void
a_line_is_epoch_batch_position_sample_crc(void **state)
{
	char want[512];

	(void)state;
	open_ledger(false);
	assert_int_equal(put(2, 17, 68), 0);
	(void)snprintf(want, sizeof want,
	    "2 17 68 %%237.jpg %08x\n"
	    "2 17 69 a%%20b%%25c.jpg %08x\n"
	    "2 17 70 n%%0A%%7Fe.jpg %08x\n"
	    "2 17 71 plain.jpg %08x\n",
	    crc_of(0), crc_of(1), crc_of(2), crc_of(3));
	assert_string_equal(read_all(), want);	/* before it is closed */
	assert_int_equal(ledger_close(&ledger, &err), 0);
	assert_null(ledger);
	assert_int_equal(ledger_close(&ledger, &err), 0);
}

static void
skipped_ones_stand_at_their_positions(void **state)
{
	static const uint64_t items[] = { 3, 99 }, positions[] = { 5, 7 };
	static const struct ledger_skip skips[] = {
		{ 0, 4, 0 }, { 1, 6, 1 }, { 2, 8, 2 },
	};
	unsigned char bytes[2 * SAMPLE] = { 0 };
	struct ds_batch b = {
		.samples = bytes, .sample_bytes = SAMPLE, .number = 1,
		.count = 2, .skipped = 3, .items = items,
		.positions = positions,
	};
	char want[512];

	(void)state;
	open_ledger(false);
	assert_int_equal(ledger_batch(ledger, &b, data, skips, 3, &err), 0);
	b.count = 0;
	b.number = 2;
	assert_int_equal(ledger_batch(ledger, &b, data, skips, 1, &err), 0);
	(void)snprintf(want, sizeof want,
	    "0 1 4 %%237.jpg skipped\n"
	    "0 1 5 plain.jpg %08x\n"
	    "0 1 6 a%%20b%%25c.jpg skipped\n"
	    "0 1 7 #99 %08x\n"
	    "0 1 8 n%%0A%%7Fe.jpg skipped\n"
	    "0 2 4 %%237.jpg skipped\n", crc_of(0), crc_of(0));
	assert_string_equal(read_all(), want);
}

/* Many buffers' worth in one batch. */
static void
a_large_batch_is_written_whole(void **state)
{
	enum { NR = 20000 };
	uint64_t *numbers = calloc(NR, sizeof *numbers);
	unsigned char byte = 0;
	struct ds_batch b = {
		.samples = &byte, .sample_bytes = 0, .count = NR,
		.items = numbers, .positions = numbers,
	};

	(void)state;
	open_ledger(false);
	assert_int_equal(ledger_batch(ledger, &b, data, NULL, 0, &err), 0);
	assert_int_equal(count_lines(), NR);
	free(numbers);
}

static void
a_ledger_that_has_lines_is_left_alone(void **state)
{
	struct ledger *none = NULL;

	(void)state;
	write_text(path, "");
	open_ledger(false);
	assert_int_equal(put(0, 0, 0), 0);
	assert_int_equal(ledger_open(&none, path, true, 1, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another job writes it"));
	assert_int_equal(ledger_close(&ledger, &err), 0);
	assert_int_equal(ledger_open(&none, path, false, 1, &err), -EEXIST);
	assert_non_null(strstr(err.text, "it has lines already"));
	assert_null(none);
	assert_int_equal(count_lines(), 4);
	assert_int_equal(ledger_open(&none, folder, false, 1, &err), -EISDIR);
	assert_int_equal(ledger_open(&none, "/no/such/ledger", false, 1, &err),
	    -ENOENT);
	assert_non_null(strstr(err.text, "ledger /no/such/ledger: No such"));
}

/* What failed is not there, so nothing that follows proves anything. */
static void
it_does_not_go_on_behind_a_gap(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	open_ledger(false);
	assert_int_equal(put(0, 0, 0), 0);
	assert_int_equal(ledger_failed(ledger, &err), 0);
	close(fd);
	assert_int_equal(put(0, 1, 4), -EPIPE);		/* and no signal */
	assert_int_equal(ledger_failed(ledger, &err), -EPIPE);
	assert_non_null(strstr(err.text, "Broken pipe: what the job is given "
	    "is not written down any more"));
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(put(0, 2, 8), -EPIPE);
	close(fd);
}

static void
a_full_disk_is_an_error_for_ever(void **state)
{
	(void)state;
	assert_int_equal(ledger_open(&ledger, "/dev/full", false, 1, &err), 0);
	assert_int_equal(put(0, 0, 0), -ENOSPC);
	assert_non_null(strstr(err.text, "ledger /dev/full: No space left"));
	assert_int_equal(put(0, 1, 4), -ENOSPC);
	assert_int_equal(ledger_close(&ledger, &err), 0);
}

/* As a program does that becomes a daemon: what has the number then is not
 * written to, and not closed. */
static void
a_number_that_was_closed_is_somebody_elses(void **state)
{
	char other[sizeof path + 8], link[64], name[sizeof path];
	struct stat st;
	ssize_t len;
	int fd, its;

	(void)state;
	open_ledger(false);
	assert_int_equal(put(0, 0, 0), 0);
	for (fd = 0; ; fd++) {
		(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		len = readlink(link, name, sizeof name - 1);
		if (len > 0 && (size_t)len == strlen(path) &&
		    memcmp(name, path, (size_t)len) == 0)
			break;
	}
	(void)snprintf(other, sizeof other, "%s.other", path);
	its = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(dup3(its, fd, O_CLOEXEC), fd);
	assert_int_equal(put(0, 1, 4), -EBADF);
	assert_int_equal(put(0, 2, 8), -EBADF);		/* for ever */
	assert_int_equal(ledger_close(&ledger, &err), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
	close(its);
}

static void
what_is_no_file_is_written_to(void **state)
{
	char bytes[16];
	int fd;

	(void)state;
	assert_int_equal(ledger_open(&ledger, "/dev/null", false, 1, &err), 0);
	assert_int_equal(put(0, 0, 0), 0);
	assert_int_equal(resume(0, 0), 0);
	assert_int_equal(ledger_close(&ledger, &err), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* nobody reads: an error, no waiting */
	assert_int_equal(ledger_open(&ledger, path, false, 1, &err), -ENXIO);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	open_ledger(false);
	assert_int_equal(put(0, 0, 0), 0);
	assert_int_equal(io_read_all(fd, bytes, 6), 6);
	assert_memory_equal(bytes, "0 0 0 ", 6);
	close(fd);
}

/*--- going on ------------------------------------------------------------*/

static void
what_it_ends_with_is_told(void **state)
{
	struct plan_place at = { .epoch = 0, .turn = 2 };
	struct ledger_end end;

	(void)state;
	write_text(path, "0 0 0 a 00000000\n0 0 1 b%20c 00000000\n0 1 2 d "
	    "00000000\n");
	open_ledger(true);
	assert_int_equal(ledger_find(ledger, &plan, &at, &end, &err), 0);
	assert_true(end.has_last);
	assert_int_equal(end.epoch, 0);
	assert_int_equal(end.position, 1);
	assert_true(ledger_ends_with(&end, "b c", 7));
	assert_false(ledger_ends_with(&end, "b", 7));
	assert_false(ledger_ends_with(&end, NULL, 7));
	assert_int_equal(count_lines(), 3);
	assert_int_equal(ledger_cut(ledger, &end, &err), 0);
	assert_int_equal(count_lines(), 2);
	at.turn = 0;
	assert_int_equal(ledger_find(ledger, &plan, &at, &end, &err), 0);
	assert_false(end.has_last);
}

static void
a_torn_line_is_cut_off(void **state)
{
	(void)state;
	write_text(path, "0 0 0 plain.jpg 00000000\n0 0 1 pla");
	open_ledger(true);
	assert_int_equal(resume(0, 1), 0);
	assert_string_equal(read_all(), "0 0 0 plain.jpg 00000000\n");
	assert_int_equal(put(0, 1, 1), 0);
	assert_int_equal(count_lines(), 5);
	assert_int_equal(ledger_close(&ledger, &err), 0);
	write_text(path, "0 0 0 pla");
	open_ledger(true);
	assert_int_equal(resume(9, 0), 0);
	assert_string_equal(read_all(), "");
}

static void
what_comes_again_is_cut_off(void **state)
{
	(void)state;
	open_ledger(true);
	for (uint64_t i = 0; i < 6; i++)
		assert_int_equal(put(i / 3, i % 3, 4 * (i % 3)), 0);
	assert_int_equal(resume(7, 0), 0);
	assert_int_equal(count_lines(), 24);
	assert_int_equal(resume(1, 6), 0);
	assert_int_equal(count_lines(), 18);
	assert_int_equal(put(1, 9, 6), 0);
	assert_int_equal(count_lines(), 22);
	assert_non_null(strstr(read_all(), "\n1 9 9 plain.jpg "));
	assert_int_equal(resume(1, 0), 0);
	assert_int_equal(count_lines(), 12);
	assert_int_equal(resume(0, 0), 0);
	assert_int_equal(count_lines(), 0);
	assert_int_equal(resume(0, 0), 0);
}

/* Twelve turns from 8 on, then 0 to 3, the tail of 4 last. */
static void
one_that_joined_late_goes_on_in_its_order(void **state)
{
	static const struct plan turned = { .turns = 20, .batch = 4 };
	struct plan_place at = { .turn = 10, .from = 8, .tail = 4 };
	struct ledger_end end;

	(void)state;
	open_ledger(true);
	assert_int_equal(put(0, 0, 8), 0);
	assert_int_equal(put(0, 1, 12), 0);
	assert_int_equal(put(0, 2, 0), 0);
	assert_int_equal(put(0, 3, 4), 0);
	assert_int_equal(put(0, 4, 16), 0);
	assert_int_equal(ledger_find(ledger, &turned, &at, &end, &err), 0);
	assert_int_equal(end.position, 1);
	assert_int_equal(ledger_cut(ledger, &end, &err), 0);
	assert_int_equal(count_lines(), 10);
	/* It is not what a plain job would have. */
	at.from = at.tail = 0;
	assert_int_equal(ledger_find(ledger, &turned, &at, &end, &err),
	    -EBADMSG);
}

static void
what_is_not_its_ledger_is_not_cut(void **state)
{
	(void)state;
	write_text(path, "0 0 0 a 00000000\n0 0 1 a 00000000\nhello\n");
	open_ledger(true);
	assert_int_equal(resume(0, 1), -EBADMSG);
	assert_non_null(strstr(err.text, "line 3: it does not begin"));
	assert_int_equal(count_lines(), 3);
	assert_int_equal(ledger_close(&ledger, &err), 0);
	write_text(path, "0 0 5 a 00000000\n0 0 0 a 00000000\n");
	open_ledger(true);
	assert_int_equal(resume(0, 1), -EBADMSG);
	assert_non_null(strstr(err.text, "line 2 is of a place before"));
	assert_int_equal(count_lines(), 2);
	assert_int_equal(ledger_close(&ledger, &err), 0);
	write_text(path, "0 0 0 a 00000000\nand a note of mine");
	open_ledger(true);
	assert_int_equal(resume(0, 0), -EBADMSG);
	assert_string_equal(read_all(),
	    "0 0 0 a 00000000\nand a note of mine");
	assert_int_equal(ledger_close(&ledger, &err), 0);
	write_text(path, "2 words");
	open_ledger(true);
	assert_int_equal(resume(0, 0), -EBADMSG);
	assert_string_equal(read_all(), "2 words");
}

static void
a_file_without_lines_is_no_ledger(void **state)
{
	char text[3 * LEDGER_LINE_MAX];

	(void)state;
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	write_text(path, text);
	open_ledger(true);
	assert_int_equal(resume(0, 0), -EBADMSG);
	assert_non_null(strstr(err.text, "line 1 is too long"));
	assert_int_equal(ledger_close(&ledger, &err), 0);
	assert_int_equal(strlen(read_all()), sizeof text - 1);
	text[0] = '\n';
	text[2 * LEDGER_LINE_MAX] = '\n';
	text[2 * LEDGER_LINE_MAX + 1] = '\0';
	write_text(path, text);
	open_ledger(true);
	assert_int_equal(resume(0, 0), -EBADMSG);
}

/*--- lines ---------------------------------------------------------------*/

static const char *
parse(const char *text)
{
	struct ledger_line l;

	return ledger_line_parse(&l, text, strlen(text));
}

static void
other_loaders_write_and_go_on(void **state)
{
	static const char line[] = "1 2 3 a%20b 00000009\n", none[] = "1 2 4 #7 00000009\n";
	struct ds_ledger_sample sample = { .epoch = 1, .batch = 2,
	    .position = 3, .name = "a b", .item = 7, .crc32c = 9 };
	struct ds_ledger *l = NULL, *other = NULL;
	char text[128] = "";
	int64_t size = 0;
	int fd;

	(void)state;
	assert_int_equal(ds_ledger_open(&l, path, 0, &err), 0);
	assert_int_equal(ds_ledger_put(l, &sample, &err), 0);
	assert_int_equal(ds_ledger_flush(l, &size, &err), 0);
	assert_int_equal(size, sizeof line - 1);
	sample.position = 4;
	sample.name = NULL;
	assert_int_equal(ds_ledger_put(l, &sample, &err), 0);
	assert_int_equal(ds_ledger_flush(l, &size, &err), 0);
	assert_int_equal(ds_ledger_open(&other, path, 1, &err), -EBUSY);
	ds_ledger_close(&l);
	assert_null(l);

	assert_int_equal(ds_ledger_open(&l, path, 0, &err), -EEXIST);
	assert_int_equal(ds_ledger_open(&l, path, sizeof line - 1, &err), 0);
	assert_int_equal(ds_ledger_put(l, &sample, &err), 0);
	assert_int_equal(ds_ledger_flush(l, &size, &err), 0);
	assert_int_equal(size, sizeof line - 1 + sizeof none - 1);
	ds_ledger_close(&l);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(io_read_all(fd, text, sizeof text - 1) == size);
	close(fd);
	assert_int_equal(strncmp(text, line, sizeof line - 1), 0);
	assert_string_equal(text + sizeof line - 1, none);
	assert_int_equal(ds_crc32c(0, line, 5), crc32c(0, line, 5));
}

static void
lines_are_read_as_they_are_written(void **state)
{
	struct ledger_line out, in = {
		.epoch = UINT64_MAX, .batch = 10, .position = 0,
		.crc = 0x0123abcd,
	};
	char text[LEDGER_LINE_MAX], name[4096];
	size_t len;

	(void)state;
	memset(name, '\1', sizeof name);
	name[4095] = '\0';
	len = ledger_line_put(text, &in, name, 5);
	assert_true(len < sizeof text);
	assert_null(ledger_line_parse(&out, text, len - 1));
	assert_int_equal(out.epoch, UINT64_MAX);
	assert_int_equal(out.batch, 10);
	assert_int_equal(out.position, 0);
	assert_int_equal(out.crc, 0x0123abcd);
	assert_false(out.skipped);
	assert_int_equal(out.sample_len, 3 * 4095);
	in.skipped = true;
	len = ledger_line_put(text, &in, NULL, 5);
	assert_memory_equal(text + len - 12, " #5 skipped\n", 12);
	assert_null(ledger_line_parse(&out, text, len - 1));
	assert_true(out.skipped);
	assert_int_equal(out.crc, 0);
	assert_null(parse("0 0 0 a 0123ABCD"));
}

static void
other_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"", " ", "0", "0 ", "a 0 0 a 00000000", "00 0 0 a 00000000",
		"-1 0 0 a 00000000", "+1 0 0 a 00000000", " 0 0 0 a 00000000",
		"18446744073709551616 0 0 a 00000000", "0\t0 0 a 00000000",
		"0 0 01 a 00000000", "0  0 0 a 00000000", "0 0 0  00000000",
		"0 0 0 a", "0 0 0 a ", "0 0 0 a 0000000", "0 0 0 a 000000000",
		"0 0 0 a 0000000g", "0 0 0 a skippe", "0 0 0 a skippedd",
		"0 0 0 a 00000000 ", "0 0 0 a 00000000\r", "0 0 0 a b 00000000",
		"0 0 0 a% 00000000", "0 0 0 a%4 00000000", "0 0 0 %zz 00000000",
		"0 0 0 a\tb 00000000", "0 0 0 a\x7f 00000000",
	};
	struct ledger_line l;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (parse(bad[i]) == NULL)
			fail_msg("'%s' was accepted", bad[i]);
	}
	assert_non_null(ledger_line_parse(&l, "0 0 0 a\0b 00000000", 18));
}

UNIT_MAIN(
	LEDGER_UNIT(a_line_is_epoch_batch_position_sample_crc),
	LEDGER_UNIT(skipped_ones_stand_at_their_positions),
	LEDGER_UNIT(a_large_batch_is_written_whole),
	LEDGER_UNIT(a_ledger_that_has_lines_is_left_alone),
	LEDGER_UNIT(a_full_disk_is_an_error_for_ever),
	LEDGER_UNIT(it_does_not_go_on_behind_a_gap),
	LEDGER_UNIT(a_number_that_was_closed_is_somebody_elses),
	LEDGER_UNIT(what_is_no_file_is_written_to),
	LEDGER_UNIT(what_it_ends_with_is_told),
	LEDGER_UNIT(a_torn_line_is_cut_off),
	LEDGER_UNIT(what_comes_again_is_cut_off),
	LEDGER_UNIT(one_that_joined_late_goes_on_in_its_order),
	LEDGER_UNIT(what_is_not_its_ledger_is_not_cut),
	LEDGER_UNIT(a_file_without_lines_is_no_ledger),
	LEDGER_UNIT(other_loaders_write_and_go_on),
	UNIT(lines_are_read_as_they_are_written),
	UNIT(other_lines_are_refused))
