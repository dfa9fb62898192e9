/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_folder.c: tests of analyzer/folder.c: the schedule, its lock, and journals
 * that strangers wrote.
 */

#include <config.h>

#include "analyzer/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

#define MANY	3000u

static struct folder s;
static struct ds_err err;

/* What was read. */
static struct {
	size_t	nr, len;
	uint64_t sum;			/* of the first words */
	uint64_t last;
	size_t	process;
	char	text[JOURNAL_TEXT_MAX + 1];
} seen;

static void
note(void *arg, size_t process, const struct journal_record *r,
    const char *text)
{
	assert_ptr_equal(arg, &seen);
	assert_in_range(r->kind, 1, JOURNAL_KINDS - 1);
	seen.nr++;
	seen.sum += r->word[0];
	seen.last = r->word[0];
	seen.process = process;
	seen.len = strlen(text);
	strcpy(seen.text, text);
}

static void
look(void)
{
	memset(&seen, 0, sizeof seen);
	folder_read(&s, note, &seen);
}

static void
start(void)
{
	assert_int_equal(folder_open(&s, SCHEDULE_OPENS, &err), 0);
}

static void
append(const char *name, const void *bytes, size_t len)
{
	int fd = openat(s.dir, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
	    0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	io_close(&fd);
}

static void
put(const char *name, uint16_t kind, uint16_t text, uint64_t word)
{
	struct journal_record r = { .kind = kind, .text = text, .word = { word } };

	append(name, &r, sizeof r);
}

/*--- the folder ----------------------------------------------------------*/

static void
a_session_is_there_and_gone(void **state)
{
	char path[sizeof s.path];
	struct stat st;

	(void)state;
	start();
	strcpy(path, s.path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(fstatat(s.dir, SCHEDULE_FILE, &st, 0), 0);
	assert_int_equal(st.st_size, sizeof(struct schedule));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(s.schedule->magic == SCHEDULE_MAGIC);
	assert_int_equal(s.schedule->layout, SCHEDULE_LAYOUT);
	assert_int_equal(s.schedule->flags, SCHEDULE_OPENS);
	assert_int_equal(s.schedule->pid, getpid());
	put("1.journal", JOURNAL_STEP, 0, 1);
	append("what a job left", "x", 1);
	assert_int_equal(mkfifoat(s.dir, "2.journal", 0600), 0);
	assert_int_equal(symlinkat("/etc/passwd", s.dir, "3.journal"), 0);
	look();
	folder_close(&s);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(errno, ENOENT);
	folder_close(&s);
	assert_int_equal(access("/etc/passwd", R_OK), 0);
	s = (struct folder){ 0 };
	folder_close(&s);			/* all zeros */
}

static void
what_cannot_be_opened_leaves_nothing(void **state)
{
	struct rlimit before, none;
	int next = dup(STDERR_FILENO);

	(void)state;
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (int more = 0; more < 2; more++) {
		none = before;
		none.rlim_cur = (rlim_t)(next + more);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		assert_int_equal(folder_open(&s, 0, &err), -EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_non_null(strstr(err.text, "destall-profile."));
		assert_int_equal(access(s.path, F_OK), more - 1);
		assert_true(more == 1 || errno == ENOENT);
		folder_close(&s);
	}
}

/* As a job does that was started by another program: 0, or an errno. */
static int
try_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK };
	int status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fcntl(fd, F_SETLK, &lock) == 0 ? 0 : errno);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
others_see_the_lock_while_it_is_open(void **state)
{
	int fd, busy;

	(void)state;
	start();
	fd = openat(s.dir, SCHEDULE_FILE, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	busy = try_lock(fd);
	assert_true(busy == EAGAIN || busy == EACCES);
	folder_close(&s);
	assert_int_equal(try_lock(fd), 0);
	close(fd);
}

static void
there_is_room_for_so_many_blocks(void **state)
{
	const struct block *b;

	(void)state;
	start();
	assert_int_equal(s.schedule->block[0].id, 0);
	for (uint32_t i = 0; i < SCHEDULE_BLOCKS; i++)
		assert_true(folder_add(&s, BLOCK_COLD, i + 7, i % 3));
	assert_false(folder_add(&s, BLOCK_END, 0, 0));
	for (uint32_t i = 0; i < SCHEDULE_BLOCKS; i++) {
		b = &s.schedule->block[i];
		assert_int_equal(b->id, i + 1);
		assert_int_equal(b->kind, BLOCK_COLD);
		assert_int_equal(b->batches, i + 7);
		assert_int_equal(b->workers, i % 3);
	}
	assert_int_equal(s.schedule->leave, LEAVE_NOT);
	folder_leave(&s, LEAVE_MAY);
	assert_int_equal(s.schedule->leave, LEAVE_MAY);
	folder_close(&s);
}

/*--- journals ------------------------------------------------------------*/

static void
records_are_given_once_and_in_order(void **state)
{
	(void)state;
	start();
	look();
	assert_int_equal(seen.nr, 0);
	for (uint64_t i = 1; i <= 1000; i++)
		put("10.journal", JOURNAL_STEP, 0, i);
	look();
	assert_int_equal(seen.nr, 1000);
	assert_int_equal(seen.sum, 500500);
	assert_int_equal(seen.last, 1000);
	assert_int_equal(seen.len, 0);
	look();
	assert_int_equal(seen.nr, 0);
	put("10.journal", JOURNAL_LEFT, 0, 5);
	put("11-2.journal", JOURNAL_HELLO, 0, 6);
	look();
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.last, 6);
	assert_int_equal(seen.process, 1);
	assert_int_equal(s.nr_broken, 0);
	folder_close(&s);
}

/* Byte by byte, with a text. */
static void
a_torn_record_waits_for_its_rest(void **state)
{
	struct journal_record r = { .kind = JOURNAL_NOTE, .text = 65 };
	unsigned char bytes[sizeof r + 128] = { 0 };

	(void)state;
	start();
	memcpy(bytes, &r, sizeof r);
	memset(bytes + sizeof r, 'a', r.text);
	for (size_t i = 0; i < sizeof bytes; i++) {
		look();
		assert_int_equal(seen.nr, 0);
		append("10.journal", bytes + i, 1);
	}
	look();
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.len, 65);
	assert_int_equal(s.nr_broken, 0);
	folder_close(&s);
}

/* Of every length that there may be, over the borders of what is read at once. */
static void
texts_of_all_lengths_are_whole(void **state)
{
	char text[JOURNAL_TEXT_MAX + 64];
	size_t nr = 0;

	(void)state;
	start();
	memset(text, 'b', sizeof text);
	for (uint16_t len = 0; len <= JOURNAL_TEXT_MAX; len += 61) {
		put("10.journal", JOURNAL_NOTE, len, len);
		append("10.journal", text, (len + 63u) / 64 * 64);
		nr++;
		if (nr % 5 == 0) {
			look();
			assert_int_equal(seen.nr, 5);
			assert_int_equal(seen.len, len);
		}
	}
	put("10.journal", JOURNAL_NOTE, JOURNAL_TEXT_MAX, 1);
	append("10.journal", text, JOURNAL_TEXT_MAX);
	look();
	assert_int_equal(seen.len, JOURNAL_TEXT_MAX);
	assert_int_equal(strspn(seen.text, "b"), JOURNAL_TEXT_MAX);
	assert_int_equal(s.nr_broken, 0);
	folder_close(&s);
}

static void
what_is_no_record_ends_its_file(void **state)
{
	(void)state;
	start();
	put("1.journal", JOURNAL_STEP, 0, 1);
	put("1.journal", JOURNAL_NONE, 0, 10);
	put("1.journal", JOURNAL_STEP, 0, 100);
	put("2.journal", JOURNAL_KINDS, 0, 10);
	put("3.journal", JOURNAL_NOTE, JOURNAL_TEXT_MAX + 1, 10);
	put("4.journal", UINT16_MAX, UINT16_MAX, 10);
	put("5.journal", JOURNAL_STEP, 0, 2);
	look();
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.sum, 3);
	assert_int_equal(s.nr_broken, 4);
	put("2.journal", JOURNAL_STEP, 0, 1000);
	put("5.journal", JOURNAL_STEP, 0, 4);
	look();
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.sum, 4);
	assert_int_equal(s.nr_broken, 4);
	folder_close(&s);
}

static void
what_is_no_journal_is_left_alone(void **state)
{
	char name[80];
	int fifo;

	(void)state;
	start();
	memset(name, 'n', sizeof name);
	strcpy(name + 70, JOURNAL_SUFFIX);
	append("x", "", 0);
	put(name, JOURNAL_STEP, 0, 1);		/* a name of no pid */
	put(JOURNAL_SUFFIX, JOURNAL_STEP, 0, 1);
	put("1.journal.x", JOURNAL_STEP, 0, 1);
	put("real", JOURNAL_STEP, 0, 1);
	assert_int_equal(symlinkat("real", s.dir, "2.journal"), 0);
	assert_int_equal(symlinkat("nowhere", s.dir, "3.journal"), 0);
	assert_int_equal(mkfifoat(s.dir, "4.journal", 0600), 0);
	fifo = openat(s.dir, "4.journal", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fifo >= 0);
	assert_int_equal(write(fifo, name, sizeof name), sizeof name);
	assert_int_equal(mkdirat(s.dir, "5.journal", 0700), 0);
	put("6.journal", JOURNAL_STEP, 0, 9);
	look();
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.sum, 9);
	close(fifo);
	assert_int_equal(unlinkat(s.dir, "5.journal", AT_REMOVEDIR), 0);
	folder_close(&s);
}

/* Workers of many epochs; we have few descriptors. */
static void
thousands_of_processes_may_tell(void **state)
{
	struct rlimit before, few;
	char name[32];

	(void)state;
	start();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (unsigned i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof name, "%u.journal", i);
		put(name, JOURNAL_STEP, 0, 1);
	}
	look();
	assert_int_equal(seen.nr, MANY);
	put("7.journal", JOURNAL_STEP, 0, 1);
	look();
	assert_int_equal(seen.nr, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	folder_close(&s);
	assert_int_equal(access(s.path, F_OK), -1);
}

/* A folder of another session, as old as that. */
static void
make_left(char path[64], bool has_schedule, time_t age_s)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - age_s } };
	int dir;

	(void)snprintf(path, 64, "/tmp/unit.%d", (int)getpid());
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(path, 64, "/tmp/unit.%d/" FOLDER_NAME "abcdef",
	    (int)getpid());
	assert_int_equal(mkdir(path, 0700), 0);
	dir = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	assert_true(dir >= 0);
	if (has_schedule)
		close(openat(dir, SCHEDULE_FILE, O_CREAT | O_WRONLY | O_CLOEXEC,
		    0600));
	close(openat(dir, "1.journal", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	times[1] = times[0];
	assert_int_equal(futimens(dir, times), 0);
	close(dir);
}

static bool
is_swept(bool has_schedule, time_t age_s, bool is_held)
{
	struct flock lock = { .l_type = F_WRLCK };
	char path[64], place[64], file[96];
	int fd = -1;
	bool is_gone;

	make_left(path, has_schedule, age_s);
	(void)snprintf(place, sizeof place, "/tmp/unit.%d", (int)getpid());
	(void)snprintf(file, sizeof file, "%s/" SCHEDULE_FILE, path);
	if (is_held) {
		fd = open(file, O_RDWR | O_CLOEXEC);
		assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	}
	folder_sweep(place);
	is_gone = access(path, F_OK) != 0;
	io_close(&fd);
	(void)unlink(file);
	(void)snprintf(file, sizeof file, "%s/1.journal", path);
	(void)unlink(file);
	(void)rmdir(path);
	assert_int_equal(rmdir(place), 0);
	return is_gone;
}

static void
what_a_killed_command_left_is_swept_up(void **state)
{
	(void)state;
	assert_true(is_swept(true, 3600, false));
	assert_false(is_swept(true, 3600, true));	/* it lives */
	assert_false(is_swept(true, 0, false));		/* it begins */
	assert_false(is_swept(false, 3600, false));	/* it is no session */
}

UNIT_MAIN(
	UNIT(a_session_is_there_and_gone),
	UNIT(what_a_killed_command_left_is_swept_up),
	UNIT(what_cannot_be_opened_leaves_nothing),
	UNIT(others_see_the_lock_while_it_is_open),
	UNIT(there_is_room_for_so_many_blocks),
	UNIT(records_are_given_once_and_in_order),
	UNIT(a_torn_record_waits_for_its_rest),
	UNIT(texts_of_all_lengths_are_whole),
	UNIT(what_is_no_record_ends_its_file),
	UNIT(what_is_no_journal_is_left_alone),
	UNIT(thousands_of_processes_may_tell))
