/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.c: a program that does to whatever is preloaded what is legal, and
 * hard on it.  Knows nothing of destall.  Run by tests.
 *
 *     inside forked END FILE...     a child whose threads read until END exists
 *     inside again N WARM COLD      closes what is not its own, and opens COLD,
 *                                   N times
 *     inside environ N WARM COLD    the same, while a thread changes the
 *                                   environment
 *     inside told FILE...           one file for each line that it is told
 *     inside jump FILE              leaves an open by siglongjmp()
 *     inside gone FILE              changes what it has opened and removed
 *     inside look FILE...           prints what it has opened
 *
 * "ready" says that it waits for a line; "right" that all was well.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/expected.h"

#define THREADS		8
#define NOT_OURS	100	/* numbers that this program does not use */
#define VARIABLES	4000
#define VALUE		3000
#define MAPS_SLACK	4	/* the C library's own: heap, streams */

static struct expected *files;
static int nr_files;

/*--- what all of them need -----------------------------------------------*/

static void
be_told(void)
{
	int c;

	printf("ready\n");
	fflush(stdout);
	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

static void
start_thread(pthread_t *t, void *(*run)(void *), void *arg)
{
	if (pthread_create(t, NULL, run, arg) != 0)
		wrong("cannot be started", "a thread");
}

/* As the kernel sees it, whoever is preloaded. */
static void
raw_stat(int fd, struct stat *st)
{
	if (expected_raw()(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH) != 0)
		wrong("no stat", "a descriptor");
}

static bool
is_substitute(int fd)
{
	struct stat st;

	raw_stat(fd, &st);
	return S_ISREG(st.st_mode) && (st.st_mode & S_ISVTX) != 0;
}

/*--- threads of a forked child -------------------------------------------*/

static const char *end_file;
static atomic_bool is_reading;	/* one of them has read all */

static void *
read_on(void *arg)
{
	int from = *(int *)arg;
	struct stat st;

	while (access(end_file, F_OK) != 0) {
		for (int i = 0; i < nr_files; i++) {
			const struct expected *e =
			    &files[(from + i) % nr_files];
			int fd = open(e->path, O_RDONLY | O_CLOEXEC);

			if (fd >= 0 && (fstat(fd, &st) != 0 ||
			    (size_t)st.st_size != e->len ||
			    (st.st_mode & S_ISVTX) != 0))
				wrong("fstat", e->path);
			expected_read(e, fd);
			close(fd);
		}
		if (!atomic_exchange(&is_reading, true)) {
			printf("reading\n");
			fflush(stdout);
		}
	}
	return NULL;
}

static void
be_child(void)
{
	pthread_t threads[THREADS];
	int from[THREADS];

	for (int i = 0; i < THREADS; i++) {
		from[i] = i * nr_files / THREADS;
		start_thread(&threads[i], read_on, &from[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void
run_forked(void)
{
	int status;
	pid_t pid;

	for (int i = 0; i < nr_files; i++)
		expected_check(&files[i]);
	be_told();
	pid = fork();
	if (pid == 0) {
		be_child();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		wrong("cannot be forked", "a child");
	if (WIFSIGNALED(status))
		printf("died of signal %d\n", WTERMSIG(status));
	if (status != 0)
		wrong("it failed", "a child");
}

/*--- descriptors and mappings --------------------------------------------*/

struct counts {
	int fds;
	int maps;
};

/* Those of somebody else. */
static int
count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int n = 0;

	if (d == NULL)
		wrong("cannot be listed", "/proc/self/fd");
	while ((e = readdir(d)) != NULL)
		n += atoi(e->d_name) >= NOT_OURS;
	closedir(d);
	return n;
}

static int
count_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), n = 0;
	char piece[4096];
	ssize_t len;

	if (fd < 0)
		wrong("cannot be opened", "/proc/self/maps");
	while ((len = read(fd, piece, sizeof piece)) > 0)
		for (ssize_t i = 0; i < len; i++)
			n += piece[i] == '\n';
	close(fd);
	return n;
}

static struct counts
count(void)
{
	return (struct counts){ .fds = count_fds(), .maps = count_maps() };
}

static void
expect_counts(const struct counts *first)
{
	struct counts now = count();

	if (now.fds == first->fds &&
	    now.maps <= first->maps + MAPS_SLACK)
		return;
	printf("descriptors %d, at first %d; mappings %d, at first %d\n",
	    now.fds, first->fds, now.maps, first->maps);
	fflush(stdout);
	wrong("not as many as at first", "descriptors or mappings");
}

static void
close_others(void)
{
	if (close_range(NOT_OURS, ~0u, 0) != 0)
		wrong("close_range", "descriptors");
}

/* What was not there to be asked is looked for anew; the file stays as it is,
 * not cached, so that there is something to ask for the next time. */
static void
lose_and_open(const struct expected *cold)
{
	int fd;

	close_others();
	fd = open(cold->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || is_substitute(fd))
		wrong("is opened otherwise", cold->path);
	expected_read(cold, fd);
	close(fd);
}

static void
run_again(int rounds)
{
	struct counts first;

	expected_check(&files[0]);
	first = count();
	for (int i = 0; i < rounds; i++) {
		lose_and_open(&files[1]);
		expect_counts(&first);
	}
	printf("descriptors %d, mappings %d\n", first.fds, first.maps);
}

static void
run_told(void)
{
	struct counts first = { 0 };

	for (int i = 0; i < nr_files; i++) {
		expected_check(&files[i]);	/* who is gone is missed here */
		expected_check(&files[i]);
		if (i == 0)
			first = count();
		expect_counts(&first);
		if (i < nr_files - 1)
			be_told();
	}
	printf("descriptors %d, mappings %d\n", first.fds, first.maps);
}

/*--- the environment -----------------------------------------------------*/

static atomic_bool is_over;

static void *
change_environ(void *arg)
{
	static char value[VALUE];
	char name[32];

	(void)arg;
	memset(value, 'x', sizeof value - 1);
	for (unsigned i = 0; !atomic_load(&is_over); i++) {
		snprintf(name, sizeof name, "V%u", i % VARIABLES);
		if (setenv(name, value, 1) != 0 ||
		    (i % VARIABLES == 0 && clearenv() != 0))
			wrong("cannot be changed", "the environment");
	}
	clearenv();
	return NULL;
}

/* With an empty environment all is still found. */
static void
run_environ(int rounds)
{
	struct counts first;
	pthread_t t;

	expected_check(&files[0]);
	first = count();
	first.maps += 64;		/* a heap for the thread, and values */
	start_thread(&t, change_environ, NULL);
	for (int i = 0; i < rounds; i++)
		lose_and_open(&files[1]);
	atomic_store(&is_over, true);
	pthread_join(t, NULL);
	lose_and_open(&files[1]);
	expect_counts(&first);
}

/*--- out of an open ------------------------------------------------------*/

static sigjmp_buf way_out;

static void
jump(int number)
{
	(void)number;
	siglongjmp(way_out, 1);
}

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *
open_more(void *arg)
{
	double *longest = arg;

	for (int i = 0; i < 5; i++) {
		double begin = now_s();

		expected_check(&files[0]);
		if (now_s() - begin > *longest)
			*longest = now_s() - begin;
	}
	return NULL;
}

static bool
is_left(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 300000 } };

	if (sigsetjmp(way_out, 1) != 0)
		return true;
	setitimer(ITIMER_REAL, &soon, NULL);
	expected_check(&files[0]);
	memset(&soon, 0, sizeof soon);
	setitimer(ITIMER_REAL, &soon, NULL);
	return false;
}

static void
run_jump(void)
{
	double longest = 0;
	pthread_t t;

	if (signal(SIGALRM, jump) == SIG_ERR)
		wrong("no handler", "SIGALRM");
	if (!is_left())
		wrong("was not held up", files[0].path);
	start_thread(&t, open_more, &longest);
	pthread_join(t, NULL);
	open_more(&longest);
	printf("longest %.1f s\n", longest);
	if (longest >= 10)
		wrong("took too long to be opened", files[0].path);
}

/*--- files that are gone or elsewhere ------------------------------------*/

static void
expect_refused(const char *call, int rc)
{
	if (rc != -1 || errno != EROFS)
		wrong("was not refused", call);
	errno = 0;
}

static void
change_all(int fd)
{
	const struct timespec times[2] = { { .tv_sec = 7 }, { .tv_sec = 7 } };
	const struct timeval old_times[2] = { { .tv_sec = 7 }, { .tv_sec = 7 } };

	expect_refused("fchmod", fchmod(fd, 0644));
	expect_refused("fchown", fchown(fd, getuid(), getgid()));
	expect_refused("fchownat", fchownat(fd, "", getuid(), getgid(),
	    AT_EMPTY_PATH));
	expect_refused("futimens", futimens(fd, times));
	expect_refused("futimes", futimes(fd, old_times));
	expect_refused("utimensat", utimensat(fd, "", times, AT_EMPTY_PATH));
	expect_refused("fsetxattr", fsetxattr(fd, "user.x", "y", 1, 0));
	expect_refused("fremovexattr", fremovexattr(fd, "user.x"));
}

static void
run_gone(void)
{
	const struct expected *e = &files[0];
	int fd = open(e->path, O_RDONLY | O_CLOEXEC);
	struct stat before, after;

	if (fd < 0 || !is_substitute(fd))
		wrong("is not from the cache", e->path);
	raw_stat(fd, &before);
	if ((before.st_mode & ~(mode_t)S_IFMT) != 01400)
		wrong("has another mode", "the store's file");
	if (unlink(e->path) != 0)
		wrong("cannot be removed", e->path);
	change_all(fd);
	raw_stat(fd, &after);
	if (memcmp(&before, &after, sizeof after) != 0)
		wrong("was changed", "the store's file");
	expected_read(e, fd);
	close(fd);
}

static void
run_look(void)
{
	for (int i = 0; i < nr_files; i++) {
		int fd = open(files[i].path, O_RDONLY | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) != 0)
			wrong("cannot be opened", files[i].path);
		expected_read(&files[i], fd);
		close(fd);
		printf("%s %x %ju %ju %jd %jd\n", files[i].path, st.st_mode,
		    (uintmax_t)st.st_nlink, (uintmax_t)st.st_ino,
		    (intmax_t)st.st_size, (intmax_t)st.st_mtime);
	}
}

/*--- the whole -----------------------------------------------------------*/

/* From which argument on there are files. */
static int
load(int argc, char **argv, int from, int least)
{
	if (argc < from + least)
		exit(99);
	nr_files = argc - from;
	files = expected_all(nr_files, argv + from);
	return from > 2 ? atoi(argv[2]) : 0;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	close_others();		/* that were left open for us by who started us */
	if (strcmp(how, "forked") == 0) {
		load(argc, argv, 3, THREADS);
		end_file = argv[2];
		run_forked();
	} else if (strcmp(how, "again") == 0) {
		run_again(load(argc, argv, 3, 2));
	} else if (strcmp(how, "environ") == 0) {
		run_environ(load(argc, argv, 3, 2));
	} else {
		load(argc, argv, 2, 1);
		if (strcmp(how, "told") == 0)
			run_told();
		else if (strcmp(how, "jump") == 0)
			run_jump();
		else if (strcmp(how, "gone") == 0)
			run_gone();
		else if (strcmp(how, "look") == 0)
			run_look();
		else
			return 99;
	}
	printf("right\n");
	return 0;
}
