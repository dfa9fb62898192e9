/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_log.c: tests of hub/log.c.
 */

#include <config.h>

#include "hub/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "hub/rundir.h"
#include "tests/harness/unit.h"

static char path[256];
static int dir, kept_stderr, errors[2];
static uint64_t now_ns;

static uint64_t
tell_time(void *arg)
{
	(void)arg;
	return now_ns;
}

/* A folder for the log, and a pipe for standard error. */
static int
open_all(void **state)
{
	const char *tmp = getenv("TMPDIR");

	tzset();	/* allocates, the first time */
	leak_before(state);
	(void)snprintf(path, sizeof path, "%s/unit_log.XXXXXX",
	    tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(path) == NULL || pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0)
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kept_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	now_ns = NS_PER_S;
	clock_replace(tell_time, NULL);
	return dup2(errors[1], STDERR_FILENO) < 0 ? -1 : 0;
}

static int
close_all(void **state)
{
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	close(errors[0]);
	close(errors[1]);
	clock_replace(NULL, NULL);
	unlinkat(dir, RUNDIR_LOG, 0);
	unlinkat(dir, RUNDIR_LOG ".1", 0);
	close(dir);
	rmdir(path);
	return leak_after(state);
}

#define LOG_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, open_all, close_all)

static struct log *
new_log(enum log_level most)
{
	struct log *l = NULL;
	struct ds_err err;

	assert_int_equal(log_new(&l, dir, most, &err), 0);
	return l;
}

static char text[3 << 20];

static const char *
read_log(const char *name)
{
	assert_true(io_read_text(dir, name, text, sizeof text) >= 0);
	return text;
}

static unsigned
count_lines(const char *s)
{
	unsigned nr = *s != '\0';	/* io_read_text() cuts the last newline */

	for (; *s != '\0'; s++)
		nr += *s == '\n';
	return nr;
}

static void
lines_have_time_level_and_sentence(void **state)
{
	struct log *l = new_log(LOG_INFO);
	unsigned year, month, day, hour, minute, second;
	char level[16], rest[64];
	struct stat st;

	(void)state;
	log_line(l, LOG_INFO, "client %d came", 7);
	log_line(l, LOG_DEBUG, "not at this level");
	log_free(&l);
	assert_null(l);
	assert_int_equal(count_lines(read_log(RUNDIR_LOG)), 1);
	assert_int_equal(sscanf(text, "%4u-%2u-%2uT%2u:%2u:%2uZ %15s %63[^\n]",
	    &year, &month, &day, &hour, &minute, &second, level, rest), 8);
	assert_true(year >= 2024 && month <= 12 && second <= 60);
	assert_string_equal(level, "info:");
	assert_string_equal(rest, "client 7 came");
	assert_int_equal(fstatat(dir, RUNDIR_LOG, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void
standard_error_has_them_too(void **state)
{
	struct log *l = new_log(LOG_INFO);
	char line[256];
	ssize_t n;

	(void)state;
	log_line(l, LOG_WARN, "careful");
	log_free(&l);
	n = read(errors[0], line, sizeof line - 1);
	assert_true(n > 0);
	line[n] = '\0';
	assert_non_null(strstr(line, " warn: careful\n"));
}

/* Nobody reads standard error: the file has the line, and nothing waits. */
static void
a_full_standard_error_is_not_waited_for(void **state)
{
	struct log *l = new_log(LOG_INFO);
	char bulk[4096] = { 0 };

	(void)state;
	while (write(errors[1], bulk, sizeof bulk) > 0)
		continue;
	assert_int_equal(fcntl(errors[1], F_SETFL, 0), 0);	/* blocks now */
	log_line(l, LOG_INFO, "still here");
	log_free(&l);
	assert_non_null(strstr(read_log(RUNDIR_LOG), "still here"));
}

static void
names_of_strangers_are_made_fit(void **state)
{
	struct log *l = new_log(LOG_INFO);

	(void)state;
	log_line(l, LOG_INFO, "client %s", "\033[31m\n2024 error: forged");
	log_free(&l);
	assert_int_equal(count_lines(read_log(RUNDIR_LOG)), 1);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "\\x1b"));
}

static void
a_flood_is_counted(void **state)
{
	struct log *l = new_log(LOG_INFO);

	(void)state;
	for (int i = 0; i < 1000; i++)
		log_line(l, LOG_INFO, "flood %d", i);
	assert_int_equal(count_lines(read_log(RUNDIR_LOG)), 100);
	now_ns += NS_PER_S;
	log_line(l, LOG_INFO, "after it");
	assert_int_equal(count_lines(read_log(RUNDIR_LOG)), 102);
	assert_non_null(strstr(text, "900 lines were left out here"));
	for (int i = 0; i < 110; i++)
		log_line(l, LOG_INFO, "flood %d", i);
	log_free(&l);
	assert_non_null(strstr(read_log(RUNDIR_LOG), "11 lines were left out"));
}

static off_t
size_of(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, 0), 0);
	return st.st_size;
}

/* 4 MB of lines: two files of 1 MiB at most, the last line in the newer. */
static void
files_are_bounded(void **state)
{
	struct log *l = new_log(LOG_INFO);
	char bulk[2000];

	(void)state;
	memset(bulk, 'x', sizeof bulk);
	bulk[sizeof bulk - 1] = '\0';
	for (int i = 0; i < 4000; i++) {
		log_line(l, LOG_INFO, "%d %s", i, bulk);
		now_ns += NS_PER_S;
	}
	log_free(&l);
	assert_in_range(size_of(RUNDIR_LOG), 1000, 1 << 20);
	assert_in_range(size_of(RUNDIR_LOG ".1"), (1 << 20) - 2000, 1 << 20);
	assert_non_null(strstr(read_log(RUNDIR_LOG), "info: 3999 x"));
}

static void
a_log_goes_on_where_it_was(void **state)
{
	struct log *l = new_log(LOG_INFO);

	(void)state;
	log_line(l, LOG_INFO, "first");
	log_free(&l);
	l = new_log(LOG_INFO);
	log_line(l, LOG_INFO, "second");
	log_free(&l);
	assert_int_equal(count_lines(read_log(RUNDIR_LOG)), 2);
}

/* In the way of the file: a link, a pipe, a folder.  None is followed, none is
 * waited for; the log begins once the way is free. */
static void
what_cannot_be_a_log_is_not_one(void **state)
{
	struct log *l;

	(void)state;
	assert_int_equal(symlinkat("elsewhere", dir, RUNDIR_LOG), 0);
	l = new_log(LOG_INFO);
	log_line(l, LOG_INFO, "one");
	assert_int_equal(faccessat(dir, "elsewhere", F_OK, 0), -1);
	assert_int_equal(unlinkat(dir, RUNDIR_LOG, 0), 0);
	assert_int_equal(mkfifoat(dir, RUNDIR_LOG, 0600), 0);
	now_ns += NS_PER_S;
	log_line(l, LOG_INFO, "two");
	assert_int_equal(unlinkat(dir, RUNDIR_LOG, 0), 0);
	now_ns += NS_PER_S;
	log_line(l, LOG_INFO, "three");
	log_free(&l);
	assert_non_null(strstr(read_log(RUNDIR_LOG), "three"));
	assert_null(strstr(text, "two"));
}

static void
levels_have_names(void **state)
{
	enum log_level level = LOG_ERROR;
	struct ds_err err;

	(void)state;
	assert_int_equal(log_parse_level("debug", &level, &err), 0);
	assert_int_equal(level, LOG_DEBUG);
	assert_int_equal(log_parse_level("error", &level, &err), 0);
	assert_int_equal(level, LOG_ERROR);
	level = LOG_DEBUG;
	assert_int_equal(log_parse_level("quiet", &level, &err), 0);
	assert_int_equal(level, LOG_ERROR);
	assert_int_equal(log_parse_level("Info", &level, &err), -EINVAL);
	assert_string_equal(err.text,
	    "'Info' is not quiet, error, warn, info or debug");
	assert_int_equal(log_parse_level("", &level, &err), -EINVAL);
}

UNIT_MAIN(
	LOG_UNIT(lines_have_time_level_and_sentence),
	LOG_UNIT(standard_error_has_them_too),
	LOG_UNIT(a_full_standard_error_is_not_waited_for),
	LOG_UNIT(names_of_strangers_are_made_fit),
	LOG_UNIT(a_flood_is_counted),
	LOG_UNIT(files_are_bounded),
	LOG_UNIT(a_log_goes_on_where_it_was),
	LOG_UNIT(what_cannot_be_a_log_is_not_one),
	LOG_UNIT(levels_have_names))
