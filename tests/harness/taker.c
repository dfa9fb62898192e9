/* SPDX-License-Identifier: Apache-2.0
 *
 * taker.c: a job that takes batches as it is told.  Run by tests.
 *
 *     taker < SCRIPT
 *
 * Lines of the script; A and B are letters, names of loaders:
 *
 *     open A FOLDER [NAME=VALUE]...    a loader with these options
 *     take A N         so many batches, over ends of epochs
 *     epoch A          to the end of the epoch
 *     rest A           to the end of all
 *     turns A M B N    M of A, then N of B, to the end of both
 *     keep A N         as take, but they are held
 *     write A N        as keep, and a thread writes into them meanwhile
 *     check            what is held is right
 *     drop A           what is held of it is released
 *     fork, join       a child holds what is held; it looks at it, and ends
 *     save A FILE, restore A FILE      the position
 *     close A
 *     lose             every descriptor from 3 on that is no ledger is closed,
 *                      and another file of its own is under that number
 *     touch FILE, await FILE           for other processes
 *
 * With DESTALL=1 in the environment there is one connection to the hub, which
 * must be running, for all of them: they are one job.  At the end "A batches N
 * samples N" for each.  Exit status: 0, or 1 with the reason.
 */

#include <config.h>

#include "tests/harness/taker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WORDS	32

static struct reading readings[26];
static struct ds_hub *hub;
static struct ds_err err;
static unsigned line_number;

void
die(const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "taker: line %u: ", line_number);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	_exit(1);
}

/*--- arguments -----------------------------------------------------------*/

static char *
need_word(char **words, unsigned i)
{
	for (unsigned k = 0; k <= i; k++) {
		if (words[k] == NULL)
			die("%s: too few words", words[0]);
	}
	return words[i];
}

static struct reading *
find_reading(char **words, unsigned i, bool is_open)
{
	const char *name = need_word(words, i);
	struct reading *r;

	if (name[0] < 'A' || name[0] > 'Z' || name[1] != '\0')
		die("'%s' is no letter", name);
	r = &readings[name[0] - 'A'];
	if ((r->loader != NULL) != is_open)
		die("%s is %s", name, is_open ? "not open" : "open already");
	return r;
}

static unsigned
need_number(char **words, unsigned i)
{
	return (unsigned)strtoul(need_word(words, i), NULL, 10);
}

/*--- loaders -------------------------------------------------------------*/

static void
set_option(struct reading *r, char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL)
		die("'%s' is no NAME=VALUE", text);
	*value++ = '\0';
	if (ds_loader_set(r->loader, text, value, &err) < 0)
		die("%s: %s", text, err.text);
}

static void
open_reading(char **words)
{
	struct reading *r = find_reading(words, 1, false);

	*r = (struct reading){ .loader = NULL };
	if (ds_data_open(&r->data, hub, need_word(words, 2), NULL, &err) < 0 ||
	    ds_loader_open(&r->loader, r->data, &err) < 0)
		die("%s", err.text);
	for (unsigned i = 3; words[i] != NULL; i++)
		set_option(r, words[i]);
}

static void
close_reading(char **words)
{
	struct reading *r = find_reading(words, 1, true);

	hold_drop(r);
	ds_loader_close(&r->loader);
	ds_data_close(&r->data);
	printf("%c batches %" PRIu64 " samples %" PRIu64 "\n", words[1][0],
	    r->batches, r->samples);
}

/* 1: a batch; 0: the epoch is over; -ENOENT: all are. */
static int
next_batch(struct reading *r, struct ds_batch **b)
{
	int rc;

	if (r->is_over)
		return -ENOENT;
	rc = ds_loader_next(r->loader, b, &err);
	if (rc == -ENOENT)
		r->is_over = true;
	else if (rc < 0)
		die("%s", err.text);
	if (rc == 1) {
		r->batches++;
		r->samples += (*b)->count;
	}
	return rc;
}

/* False if there are no more. */
static bool
take_one(struct reading *r)
{
	struct ds_batch *b = NULL;
	int rc;

	do
		rc = next_batch(r, &b);
	while (rc == 0);
	if (rc == 1)
		ds_loader_release(r->loader, &b);
	return rc == 1;
}

static bool
take_some(struct reading *r, unsigned nr)
{
	bool has_more = true;

	while (nr-- > 0 && has_more)
		has_more = take_one(r);
	return has_more;
}

static void
take_epoch(struct reading *r)
{
	struct ds_batch *b = NULL;

	while (next_batch(r, &b) == 1)
		ds_loader_release(r->loader, &b);
}

static void
take_turns(char **words)
{
	struct reading *a = find_reading(words, 1, true);
	struct reading *b = find_reading(words, 3, true);
	unsigned m = need_number(words, 2), n = need_number(words, 4);

	while (!a->is_over || !b->is_over) {
		(void)take_some(a, m);
		(void)take_some(b, n);
	}
}

static void
keep_some(struct reading *r, unsigned nr, bool is_written)
{
	struct ds_batch *b = NULL;
	int rc;

	while (nr > 0) {
		rc = next_batch(r, &b);
		if (rc == -ENOENT)
			return;
		if (rc == 0)
			continue;
		hold_batch(r, b, is_written);
		nr--;
	}
}

/*--- positions and files -------------------------------------------------*/

static void
save_position(char **words)
{
	char text[DS_POSITION_TEXT];
	FILE *f = fopen(need_word(words, 2), "w");

	if (f == NULL || ds_loader_save(find_reading(words, 1, true)->loader,
	    text, &err) < 0 || fprintf(f, "%s\n", text) < 0 || fclose(f) != 0)
		die("%s: not saved", words[2]);
}

static void
restore_position(char **words)
{
	char text[DS_POSITION_TEXT + 1];
	FILE *f = fopen(need_word(words, 2), "r");

	if (f == NULL || fgets(text, sizeof text, f) == NULL)
		die("%s: no position", words[2]);
	(void)fclose(f);
	text[strcspn(text, "\n")] = '\0';
	if (ds_loader_restore(find_reading(words, 1, true)->loader, text,
	    &err) < 0)
		die("%s", err.text);
}

static void
touch_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	(void)close(fd);
}

static void
await_file(const char *path)
{
	const struct timespec soon = { .tv_nsec = 2000000 };

	while (access(path, F_OK) != 0)
		(void)nanosleep(&soon, NULL);
}

/*--- descriptors ---------------------------------------------------------*/

#define LOST_MAX	256

static struct {
	int	fd;
	ino_t	ino;
} lost[LOST_MAX];
static unsigned nr_lost;

static bool
is_ledger(int fd)
{
	char link[64], name[4096];
	ssize_t len;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = readlink(link, name, sizeof name);
	return len > 7 && strncmp(name + len - 7, ".ledger", 7) == 0;
}

/* As a program does that closes what it does not know, and goes on. */
static void
lose_descriptors(void)
{
	struct stat st;
	int own;

	for (int fd = 3; fd < 65536 && nr_lost < LOST_MAX; fd++) {
		if (fcntl(fd, F_GETFD) < 0 || is_ledger(fd))
			continue;
		own = memfd_create("taker", 0);
		if (own < 0 || dup2(own, fd) != fd || close(own) != 0 ||
		    fstat(fd, &st) != 0)
			die("descriptor %d: %s", fd, strerror(errno));
		lost[nr_lost].fd = fd;
		lost[nr_lost++].ino = st.st_ino;
	}
	printf("lost %u\n", nr_lost);
}

/* Nobody else has written to them, or closed them. */
static void
check_lost(void)
{
	struct stat st;

	for (unsigned i = 0; i < nr_lost; i++) {
		if (fstat(lost[i].fd, &st) != 0 || st.st_ino != lost[i].ino ||
		    st.st_size != 0)
			die("descriptor %d was touched", lost[i].fd);
	}
}

/*--- the script ----------------------------------------------------------*/

static bool
run_plain(char **words)
{
	const char *what = words[0];

	if (strcmp(what, "check") == 0)
		hold_check();
	else if (strcmp(what, "fork") == 0)
		hold_fork();
	else if (strcmp(what, "join") == 0)
		hold_join();
	else if (strcmp(what, "lose") == 0)
		lose_descriptors();
	else if (strcmp(what, "touch") == 0)
		touch_file(need_word(words, 1));
	else if (strcmp(what, "await") == 0)
		await_file(need_word(words, 1));
	else
		return false;
	return true;
}

static bool
run_reading(char **words)
{
	const char *what = words[0];

	if (strcmp(what, "open") == 0)
		open_reading(words);
	else if (strcmp(what, "close") == 0)
		close_reading(words);
	else if (strcmp(what, "turns") == 0)
		take_turns(words);
	else if (strcmp(what, "save") == 0)
		save_position(words);
	else if (strcmp(what, "restore") == 0)
		restore_position(words);
	else if (strcmp(what, "take") == 0)
		(void)take_some(find_reading(words, 1, true),
		    need_number(words, 2));
	else if (strcmp(what, "epoch") == 0)
		take_epoch(find_reading(words, 1, true));
	else if (strcmp(what, "rest") == 0)
		(void)take_some(find_reading(words, 1, true), UINT32_MAX);
	else if (strcmp(what, "keep") == 0 || strcmp(what, "write") == 0)
		keep_some(find_reading(words, 1, true), need_number(words, 2),
		    what[0] == 'w');
	else if (strcmp(what, "drop") == 0)
		hold_drop(find_reading(words, 1, true));
	else
		return false;
	return true;
}

static void
run_line(char *line)
{
	char *words[WORDS + 1] = { NULL }, *at;
	unsigned nr = 0;

	for (at = strtok(line, " \t\n"); at != NULL && nr < WORDS;
	    at = strtok(NULL, " \t\n"))
		words[nr++] = at;
	if (nr > 0 && !run_plain(words) && !run_reading(words))
		die("'%s' is not known", words[0]);
}

static void
close_all(void)
{
	char what[] = "close", name[] = "A";
	char *words[] = { what, name, NULL };

	for (; name[0] <= 'Z'; name[0]++) {
		if (readings[name[0] - 'A'].loader != NULL)
			close_reading(words);
	}
}

int
main(void)
{
	const char *shared = getenv("DESTALL");
	char line[1024];

	if (shared != NULL && strcmp(shared, "1") == 0 &&
	    ds_connect(&hub, DS_NO_START, &err) < 0)
		die("%s", err.text);
	while (fgets(line, sizeof line, stdin) != NULL) {
		line_number++;
		run_line(line);
	}
	close_all();
	ds_disconnect(&hub);
	check_lost();
	return fflush(stdout) == 0 ? 0 : 1;
}
