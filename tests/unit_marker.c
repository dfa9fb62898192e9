/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_marker.c: tests of analyzer/marker.c.
 */

#include <config.h>

#include "analyzer/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/clock.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

static struct marker m;
static struct ds_err err;
static char folder[FOLDER_PATH], path[FOLDER_PATH + 8];

static int
open_folder(void **state)
{
	(void)state;
	if (folder_make(folder, "unit_marker") != 0)
		return -1;
	(void)snprintf(path, sizeof path, "%s/log", folder);
	return 0;
}

static int
close_folder(void **state)
{
	(void)state;
	return folder_remove(folder);
}

/*--- choices -------------------------------------------------------------*/

static void
choices_are_parsed(void **state)
{
	static const char *const bad[] = { "", "stdou", "stdout:", "file", "file:",
	    "stderr", "stdoutx", "FILE:x" };
	struct marker_choice c;

	(void)state;
	assert_int_equal(marker_parse("stdout", &c, &err), 0);
	assert_int_equal(c.kind, MARKER_LINES);
	assert_string_equal(c.text, "");
	assert_int_equal(marker_parse("stdout::x", &c, &err), 0);
	assert_string_equal(c.text, ":x");
	assert_int_equal(marker_parse("file:a:b", &c, &err), 0);
	assert_int_equal(c.kind, MARKER_FILE);
	assert_string_equal(c.text, "a:b");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(marker_parse(bad[i], &c, &err), -EINVAL);
}

static void
without_a_marker_nothing_is_done(void **state)
{
	static const struct marker_choice none;

	(void)state;
	assert_int_equal(marker_open(&m, &none, &err), 0);
	assert_int_equal(m.to, -1);
	marker_look(&m);
	assert_int_equal(m.nr, 0);
	assert_false(marker_rate(&m, 1).is_known);
	marker_close(&m);
}

/*--- standard output -----------------------------------------------------*/

static int passed = -1, before = -1;

/* What is passed on goes into a file of memory. */
static void
start(const char *text)
{
	struct marker_choice c = { MARKER_LINES, text };

	passed = memfd_create("passed", MFD_CLOEXEC);
	before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(passed >= 0 && before >= 0);
	assert_int_equal(dup2(passed, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(marker_open(&m, &c, &err), 0);
}

static void
end(void)
{
	assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
	io_close(&before);
	io_close(&passed);
}

static void
say_bytes(const void *bytes, size_t len)
{
	assert_int_equal(io_write_all(m.to, bytes, len), 0);
	marker_look(&m);
}

static void
say_text(const char *text)
{
	say_bytes(text, strlen(text));
}

static void
lines_are_counted_and_passed_on(void **state)
{
	static const char text[] = "step 1\nother\nstep 2\n\nstep 3";
	char got[64] = "";
	size_t nr;

	(void)state;
	/* Torn at every place. */
	for (size_t i = 0; i < sizeof text; i++) {
		start("step");
		say_bytes(text, i);
		say_text(text + i);
		nr = m.nr;
		marker_close(&m);
		assert_int_equal(pread(passed, got, sizeof got, 0),
		    sizeof text - 1);
		end();
		assert_int_equal(nr, 2);
		assert_memory_equal(got, text, sizeof text - 1);
	}
	start("");
	say_text(text);
	nr = m.nr;
	marker_close(&m);
	end();
	assert_int_equal(nr, 4);
}

/* The rest is passed on when the program has ended, with its marks. */
static void
closing_takes_what_is_still_there(void **state)
{
	struct stat st;

	(void)state;
	start("x");
	assert_int_equal(io_write_all(m.to, "x\nx\n\0\n", 6), 0);
	marker_close(&m);
	assert_int_equal(fstat(passed, &st), 0);
	end();
	assert_int_equal(st.st_size, 6);
	assert_int_equal(m.to, -1);
	assert_null(m.steps);
}

static void
of_a_long_line_the_beginning_counts(void **state)
{
	static char line[40000];
	struct stat st;
	size_t nr;

	(void)state;
	start("mark");
	memset(line, 'l', sizeof line);
	memcpy(line + 1000, "mark", 4);		/* within what is kept */
	memcpy(line + 30000, "mark", 4);
	for (size_t at = 0; at < sizeof line; at += 1000)
		say_bytes(line + at, 1000);
	say_text("\n");
	memset(line + 1000, 'l', 4);
	say_bytes(line, sizeof line);		/* beyond it */
	say_text("\nmark\n");
	nr = m.nr;
	marker_close(&m);
	assert_int_equal(fstat(passed, &st), 0);
	end();
	assert_int_equal(nr, 2);
	assert_int_equal(st.st_size, 2 * sizeof line + 7);
}

/*--- files ---------------------------------------------------------------*/

static const struct marker none = { .from = -1, .to = -1 };

static void
write_file(const char *text, int how)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	io_close(&fd);
	marker_look(&m);
}

static void
start_file(void)
{
	struct marker_choice c = { MARKER_FILE, path };

	assert_int_equal(marker_open(&m, &c, &err), 0);
	assert_int_equal(m.to, -1);
	marker_look(&m);
	assert_int_equal(m.nr, 0);
}

static void
lines_that_are_added_count(void **state)
{
	(void)state;
	m = none;
	write_file("old\nold\n", O_TRUNC);
	start_file();
	write_file("1", O_APPEND);
	assert_int_equal(m.nr, 0);
	write_file("\n2\n3\n", O_APPEND);
	assert_int_equal(m.nr, 3);
	marker_close(&m);
}

static void
a_file_may_come_later(void **state)
{
	(void)state;
	(void)unlink(path);
	start_file();
	write_file("1\n", 0);
	assert_int_equal(m.nr, 1);
	marker_close(&m);
}

/* A program that begins its log anew, as most do. */
static void
a_file_that_shrinks_begins_anew(void **state)
{
	(void)state;
	m = none;
	write_file("a long line of the run before\nand another\npart", O_TRUNC);
	start_file();
	write_file("", O_TRUNC);
	write_file("1\n", O_APPEND);
	write_file("2\n", O_APPEND);
	assert_int_equal(m.nr, 2);
	write_file("3\n", O_TRUNC);
	assert_int_equal(m.nr, 3);
	marker_close(&m);
}

static void
what_is_no_file_never_grows(void **state)
{
	(void)state;
	(void)unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	start_file();
	marker_close(&m);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	start_file();
	marker_close(&m);
	assert_int_equal(rmdir(path), 0);
}

/*--- rates ---------------------------------------------------------------*/

static void
rates_leave_out_the_start(void **state)
{
	uint64_t steps[400];
	struct marker by_hand = { .steps = steps, .nr = 400 };
	struct figure f;

	(void)state;
	/* 20 slow ones in the first fifth, then one every 10 ms. */
	for (size_t i = 0; i < 400; i++)
		steps[i] = i < 20 ? 1 + i * 50000000 :
		    1000000000 + (i - 20) * 10000000;
	f = marker_rate(&by_hand, 32);
	assert_true(f.is_known);
	assert_true(f.value > 3199.9 && f.value < 3200.1);
	assert_true(f.low <= f.value && f.value <= f.high);
	by_hand.nr = 2;
	assert_false(marker_rate(&by_hand, 32).is_known);
	by_hand.nr = 3;
	assert_true(marker_rate(&by_hand, 32).is_known);
	/* All at once: that is no time. */
	for (size_t i = 0; i < 400; i++)
		steps[i] = 7;
	by_hand.nr = 400;
	assert_false(marker_rate(&by_hand, 32).is_known);
}

static void
steps_that_are_told_are_not_believed(void **state)
{
	uint64_t now_ns = clock_now_ns();
	struct marker own;

	(void)state;
	assert_int_equal(marker_open(&own, &(struct marker_choice){ 0 }, NULL), 0);
	assert_true(marker_step_samples(&own, 3) == 3);
	marker_note(&own, 0, 8);		/* before it was started */
	marker_note(&own, clock_now_ns(), 16);
	marker_note(&own, clock_now_ns(), UINT64_MAX);
	assert_int_equal(own.nr, 2);
	assert_true(own.steps[0] >= now_ns && own.steps[1] >= own.steps[0]);
	assert_true(marker_step_samples(&own, 3) == 12);
	marker_note(&own, 7, 12);			/* before the last */
	marker_note(&own, UINT64_MAX, 12);	/* not yet */
	assert_int_equal(own.nr, 4);
	assert_true(own.steps[2] >= now_ns && own.steps[3] >= own.steps[2]);
	assert_true(own.steps[3] <= clock_now_ns());
	marker_close(&own);

	/* The user has chosen another. */
	assert_int_equal(marker_open(&own, &(struct marker_choice){
	    .kind = MARKER_FILE, .text = "/nosuch" }, NULL), 0);
	marker_note(&own, now_ns, 8);
	assert_int_equal(own.nr, 0);
	marker_close(&own);
}

UNIT_MAIN_WITH(open_folder, close_folder,
	UNIT(steps_that_are_told_are_not_believed),
	UNIT(choices_are_parsed),
	UNIT(without_a_marker_nothing_is_done),
	UNIT(lines_are_counted_and_passed_on),
	UNIT(closing_takes_what_is_still_there),
	UNIT(of_a_long_line_the_beginning_counts),
	UNIT(lines_that_are_added_count),
	UNIT(a_file_may_come_later),
	UNIT(a_file_that_shrinks_begins_anew),
	UNIT(what_is_no_file_never_grows),
	UNIT(rates_leave_out_the_start))
