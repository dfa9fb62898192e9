/* SPDX-License-Identifier: Apache-2.0
 *
 * conduct.c: plays `destall profile` for a job of one process:
 *
 *     conduct FOLDER "WORD..." CMD...
 *
 * makes the folder and its schedule, runs CMD with it, and when a loader trains
 * does what the words say; then prints all journals, a record a line:
 *
 *     KIND LOADER WORD[0] ... WORD[6] TEXT
 *
 *     live, pass, continue        flags of the schedule
 *     magic, layout, short, none  a schedule that is not sound, or missing
 *     KIND:BATCHES[:WORKERS]      a block: set, actual, replay, busy, cached, cold,
 *                                 rawcold, rawcached, alone, end, NUMBER
 *     badid                       a block whose id makes no sense
 *     die                         the lock is let go of
 *     leave                       schedule.leave
 *     cut                         the schedule becomes a short file; nobody who
 *                                 leaves is waited for then
 *     early                       the next words do not wait for TRAINS
 *
 * Exit status: that of CMD.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/journal.h"
#include "probe/schedule.h"

static const char *folder;
static struct schedule *schedule;
static int fd = -1;
static uint32_t nr_blocks;

static void
die(const char *what)
{
	fprintf(stderr, "conduct: %s: %s\n", what, strerror(errno));
	exit(99);
}

/*--- journals ------------------------------------------------------------*/

static const char *const kinds[JOURNAL_KINDS] = {
	"NONE", "HELLO", "LOADER", "TRAINS", "STEP", "MADE", "READY", "BLOCK",
	"BLOCK_END", "SET", "PAGES", "READ", "ALONE", "OTHER", "STORAGE",
	"LIVE", "LIVE_MADE", "OPEN", "NOTE", "EPOCH", "LEFT", "MARK", "BESIDE",
};

typedef void record_f(const struct journal_record *r, const char *text);

static void
print_record(const struct journal_record *r, const char *text)
{
	printf("%s %" PRIu32, kinds[r->kind], r->loader);
	for (unsigned i = 0; i < 7; i++) {
		if (r->word[i] == UINT64_MAX)
			printf(" -");
		else
			printf(" %" PRIu64, r->word[i]);
	}
	printf(" %s\n", text);
}

static bool is_training, is_leaving;

static void
find_news(const struct journal_record *r, const char *text)
{
	(void)text;
	is_training |= r->kind == JOURNAL_TRAINS;
	is_leaving |= r->kind == JOURNAL_LEFT;
}

static void
read_journal(FILE *f, record_f *visit)
{
	char text[JOURNAL_TEXT_MAX + JOURNAL_RECORD];
	struct journal_record r;

	while (fread(&r, sizeof r, 1, f) == 1) {
		size_t len = (r.text + JOURNAL_RECORD - 1u) / JOURNAL_RECORD *
		    JOURNAL_RECORD;

		if (r.kind == JOURNAL_NONE || r.kind >= JOURNAL_KINDS ||
		    r.text > JOURNAL_TEXT_MAX) {
			fprintf(stderr, "conduct: a record is not sound\n");
			exit(99);
		}
		if (len > 0 && fread(text, len, 1, f) != 1)
			return;
		text[r.text] = '\0';
		visit(&r, text);
	}
}

/* How many there are. */
static unsigned
read_journals(record_f *visit)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned nr = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char path[4096];
		FILE *f;

		if (strstr(e->d_name, JOURNAL_SUFFIX) == NULL)
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		f = fopen(path, "re");
		if (f == NULL)
			continue;
		nr++;
		read_journal(f, visit);
		fclose(f);
	}
	if (d != NULL)
		closedir(d);
	return nr;
}

/*--- the schedule --------------------------------------------------------*/

static int
lock(short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &l);
}

static void
make_schedule(void)
{
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", folder, SCHEDULE_FILE);
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		die(folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *schedule) != 0 ||
	    lock(F_WRLCK) != 0)
		die(path);
	schedule = mmap(NULL, sizeof *schedule, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (schedule == MAP_FAILED)
		die(path);
	schedule->magic = SCHEDULE_MAGIC;
	schedule->layout = SCHEDULE_LAYOUT;
	schedule->pid = (uint32_t)getpid();
}

static void
add_block(uint32_t id, uint32_t kind, uint32_t batches, uint32_t workers)
{
	struct block *b = &schedule->block[nr_blocks++];

	b->kind = kind;
	b->batches = batches;
	b->workers = workers;
	/* release: pairs with the acquire of readers */
	atomic_store_explicit(&b->id, id, memory_order_release);
}

static void
do_block(const char *word)
{
	static const char *const names[] = { "none", "set", "actual", "replay",
	    "busy", "cached", "cold", "rawcold", "rawcached", "alone", "end" };
	unsigned batches = 0, workers = 0, kind = UINT32_MAX;
	char name[32];

	if (sscanf(word, "%31[^:]:%u:%u", name, &batches, &workers) < 1)
		die(word);
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(name, names[i]) == 0)
			kind = i;
	}
	if (kind == UINT32_MAX && sscanf(name, "%u", &kind) != 1)
		die(word);
	add_block(nr_blocks + 1, kind, batches, workers);
}

/* What comes before the job is started; else false. */
static bool
set_up(const char *word)
{
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", folder, SCHEDULE_FILE);
	if (strcmp(word, "live") == 0)
		schedule->flags |= SCHEDULE_LIVE;
	else if (strcmp(word, "pass") == 0)
		schedule->flags |= SCHEDULE_PASS_EPOCHS;
	else if (strcmp(word, "continue") == 0)
		schedule->flags |= SCHEDULE_CONTINUE;
	else if (strcmp(word, "magic") == 0)
		schedule->magic++;
	else if (strcmp(word, "layout") == 0)
		schedule->layout++;
	else if (strcmp(word, "short") == 0)
		return ftruncate(fd, 64) == 0;
	else if (strcmp(word, "none") == 0)
		return unlink(path) == 0;
	else
		return false;
	return true;
}

static void
do_word(const char *word)
{
	if (strcmp(word, "die") == 0)
		(void)lock(F_UNLCK);
	else if (strcmp(word, "leave") == 0)
		atomic_store_explicit(&schedule->leave, LEAVE_ASKED,
		    memory_order_relaxed);
	else if (strcmp(word, "cut") == 0)
		(void)!ftruncate(fd, 64);
	else if (strcmp(word, "badid") == 0)
		add_block(nr_blocks + 7, BLOCK_ACTUAL, 1, 0);
	else
		do_block(word);
}

/*--- the job -------------------------------------------------------------*/

static pid_t
start_job(char *argv[])
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (setenv(SCHEDULE_ENV, folder, 1) == 0)
		execvp(argv[0], argv);
	fprintf(stderr, "conduct: %s: %s\n", argv[0], strerror(errno));
	_exit(99);
}

/* Until a loader trains, or the job has ended: then its status is set. */
static bool
wait_training(pid_t pid, int *status)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	while (!is_training) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return false;
		(void)read_journals(find_news);
		(void)nanosleep(&moment, NULL);
	}
	return true;
}

/* One that says that it leaves waits for our word. */
static void
wait_end(pid_t pid, int *status)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	pid_t got;

	while ((got = waitpid(pid, status, WNOHANG)) == 0) {
		(void)read_journals(find_news);
		if (is_leaving)
			atomic_store_explicit(&schedule->leave, LEAVE_MAY,
			    memory_order_relaxed);
		(void)nanosleep(&moment, NULL);
	}
	if (got != pid)
		die("waitpid");
}

int
main(int argc, char *argv[])
{
	int status = 0;
	bool is_early = false, runs = true;
	char *word, *rest;
	pid_t pid;

	if (argc < 4)
		return 99;
	folder = argv[1];
	make_schedule();
	word = strtok_r(argv[2], " ", &rest);
	while (word != NULL && set_up(word))
		word = strtok_r(NULL, " ", &rest);
	pid = start_job(argv + 3);
	for (; word != NULL; word = strtok_r(NULL, " ", &rest)) {
		if (strcmp(word, "early") == 0) {
			is_early = true;
			continue;
		}
		if (runs && !is_early && !is_training)
			runs = wait_training(pid, &status);
		do_word(word);
	}
	if (runs)
		wait_end(pid, &status);
	printf("JOURNALS %u\n", read_journals(print_record));
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}
