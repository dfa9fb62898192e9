/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_probe.c: tests of probe/session.c and probe/resident.c.
 */

#include <config.h>

#include "probe/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/resident.h"
#include "tests/harness/conducted.h"
#include "tests/harness/unit.h"

static struct session s;
static struct ds_err err;

static int
start(void **state)
{
	if (conducted_make("unit_probe") != 0)
		return -1;
	leak_before(state);
	return conducted_start();
}

static int
stop(void **state)
{
	int rc;

	session_close(&s);
	conducted_stop();
	rc = leak_after(state);
	return folder_remove(folder) != 0 ? -1 : rc;
}

#define PROBE_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

static enum session_news
look(uint64_t i, struct session_block *b)
{
	return session_look(&s, i, b);
}

/*--- opening -------------------------------------------------------------*/

static void
is_not_there_without_a_word(void **state)
{
	(void)state;
	conducted_set("");
	assert_int_equal(session_open(&s, &err), 0);
	assert_int_equal(unsetenv(SCHEDULE_ENV), 0);
	assert_int_equal(session_open(&s, &err), 0);
}

static void
expect_refused(int rc)
{
	assert_int_equal(session_open(&s, &err), rc);
	assert_null(s.map);
	assert_int_not_equal(err.text[0], '\0');
}

static void
refuses_what_is_not_sound(void **state)
{
	(void)state;
	schedule->magic++;
	expect_refused(-EBADMSG);
	schedule->magic--;
	schedule->layout++;
	expect_refused(-EPROTO);
	schedule->layout--;
	assert_int_equal(ftruncate(command, sizeof *schedule - 1), 0);
	expect_refused(-EBADMSG);
	assert_int_equal(ftruncate(command, sizeof *schedule), 0);
	assert_int_equal(session_open(&s, &err), 1);
	session_close(&s);
	assert_int_equal(unlink(in_folder(SCHEDULE_FILE)), 0);
	expect_refused(-ENOENT);
	assert_int_equal(mkfifo(in_folder(SCHEDULE_FILE), 0600), 0);
	expect_refused(-EBADMSG);
	conducted_set("/no/such/folder");
	expect_refused(-ENOENT);
}

static void
each_has_a_journal_of_its_own(void **state)
{
	struct session other;
	char name[64];

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	assert_int_equal(session_open(&other, &err), 1);
	(void)snprintf(name, sizeof name, "%d%s", getpid(), JOURNAL_SUFFIX);
	assert_int_equal(access(in_folder(name), F_OK), 0);
	(void)snprintf(name, sizeof name, "%d-1%s", getpid(), JOURNAL_SUFFIX);
	assert_int_equal(access(in_folder(name), F_OK), 0);
	session_close(&other);
}

/*--- following -----------------------------------------------------------*/

static void
blocks_come_in_turn(void **state)
{
	struct session_block b;

	(void)state;
	schedule->flags = SCHEDULE_PASS_EPOCHS;
	assert_int_equal(session_open(&s, &err), 1);
	assert_int_equal(s.flags, SCHEDULE_PASS_EPOCHS);
	assert_int_equal(look(0, &b), SESSION_NOTHING);
	assert_int_equal(session_wait(&s, 0, clock_now_ns(), &b),
	    SESSION_NOTHING);
	conducted_add(0, 1, BLOCK_COLD, 7);
	assert_int_equal(session_wait(&s, 0, UINT64_MAX, &b), SESSION_BLOCK);
	assert_int_equal(b.kind, BLOCK_COLD);
	assert_int_equal(b.batches, 7);
	assert_int_equal(look(1, &b), SESSION_NOTHING);
	atomic_store(&schedule->leave, 1);
	assert_int_equal(look(0, &b), SESSION_LEAVE);
	assert_true(session_leaves(&s));
}

static void
blocks_that_make_no_sense_are_told(void **state)
{
	struct session_block b;

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	conducted_add(0, 1, BLOCK_KINDS, 1);
	assert_int_equal(look(0, &b), SESSION_BAD);
	conducted_add(1, 2, BLOCK_NONE, 1);
	assert_int_equal(look(1, &b), SESSION_BAD);
	conducted_add(2, UINT32_MAX, BLOCK_END, 1);
	assert_int_equal(look(2, &b), SESSION_BAD);
	assert_int_equal(look(SCHEDULE_BLOCKS, &b), SESSION_BAD);
	assert_int_equal(look(UINT64_MAX, &b), SESSION_BAD);
}

static void
a_command_that_is_gone_is_seen(void **state)
{
	struct session_block b;

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	conducted_add(0, 1, BLOCK_END, 0);
	assert_int_equal(look(0, &b), SESSION_BLOCK);
	assert_int_equal(conducted_lock(F_UNLCK), 0);
	assert_int_equal(look(0, &b), SESSION_GONE);
	assert_int_equal(session_wait(&s, 1, UINT64_MAX, &b), SESSION_GONE);
}

static void
a_schedule_that_was_cut_is_not_touched(void **state)
{
	struct session_block b;

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	assert_int_equal(ftruncate(command, 0), 0);
	assert_int_equal(look(4000, &b), SESSION_GONE);
	assert_false(session_leaves(&s));
}

/*--- telling -------------------------------------------------------------*/

static size_t
journal_bytes(void)
{
	struct stat st;

	assert_int_equal(fstat(s.journal.fd, &st), 0);
	return (size_t)st.st_size;
}

static void
texts_fill_whole_records(void **state)
{
	char text[JOURNAL_TEXT_MAX + 100];
	struct journal_record r = { .kind = JOURNAL_NOTE };

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	assert_true(session_tell(&s, &r, NULL));
	assert_int_equal(journal_bytes(), 64);
	assert_true(session_tell(&s, &r, ""));
	assert_int_equal(journal_bytes(), 128);
	assert_true(session_tell(&s, &r, "a"));
	assert_int_equal(journal_bytes(), 256);
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_true(session_tell(&s, &r, text));
	assert_int_equal(journal_bytes(), 256 + 64 + JOURNAL_TEXT_MAX);
}

static void
a_child_tells_nothing(void **state)
{
	struct journal_record r = { .kind = JOURNAL_NOTE };
	struct session_block b;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(session_tell(&s, &r, NULL) ||
		    look(0, &b) != SESSION_GONE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(journal_bytes(), 0);
}

/* The program has closed what it did not know, and opened another. */
static void
a_number_that_is_not_ours_is_left_alone(void **state)
{
	struct journal_record r = { .kind = JOURNAL_NOTE };
	int journal, other;
	struct stat st;

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	journal = s.journal.fd;
	other = open(in_folder("theirs"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(dup3(other, journal, O_CLOEXEC), journal);
	assert_false(session_tell(&s, &r, NULL));
	session_close(&s);
	assert_int_equal(fstat(journal, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(journal);
	close(other);
}

/* As a disk that is full would: by a limit, whose signal is not the job's. */
static void
what_cannot_be_written_is_not_tried_again(void **state)
{
	struct journal_record r = { .kind = JOURNAL_NOTE };
	struct rlimit usual, small;

	(void)state;
	assert_int_equal(session_open(&s, &err), 1);
	assert_true(session_tell(&s, &r, NULL));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
	small = usual;
	small.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_false(session_tell(&s, &r, NULL));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
	assert_false(session_tell(&s, &r, NULL));
	assert_int_equal(journal_bytes(), 100);
}

/*--- residency -----------------------------------------------------------*/

static void
pages_are_counted(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static char bytes[100000];
	struct resident r;
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(resident_pages(0), 0);
	assert_int_equal(resident_pages(1), 1);
	assert_int_equal(resident_pages(page), 1);
	assert_int_equal(resident_pages(page + 1), 2);
	fd = open(in_folder("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fstat(fd, &st), 0);
	resident_look(fd, &st, &r);
	assert_true(r.is_told);
	assert_int_equal(r.pages, 0);
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	assert_int_equal(fstat(fd, &st), 0);
	errno = E2BIG;
	resident_look(fd, &st, &r);
	assert_int_equal(errno, E2BIG);
	assert_true(r.is_told);		/* it is our own file */
	assert_int_equal(r.pages, resident_pages(sizeof bytes));
	assert_int_equal(r.in_memory, r.pages);	/* just written */
	close(fd);
}

UNIT_MAIN(PROBE_UNIT(is_not_there_without_a_word),
    PROBE_UNIT(refuses_what_is_not_sound),
    PROBE_UNIT(each_has_a_journal_of_its_own),
    PROBE_UNIT(blocks_come_in_turn),
    PROBE_UNIT(blocks_that_make_no_sense_are_told),
    PROBE_UNIT(a_command_that_is_gone_is_seen),
    PROBE_UNIT(a_schedule_that_was_cut_is_not_touched),
    PROBE_UNIT(texts_fill_whole_records),
    PROBE_UNIT(a_child_tells_nothing),
    PROBE_UNIT(a_number_that_is_not_ours_is_left_alone),
    PROBE_UNIT(what_cannot_be_written_is_not_tried_again),
    PROBE_UNIT(pages_are_counted))
