/* SPDX-License-Identifier: Apache-2.0
 *
 * crowd.c: many threads and processes that read the same files, and know
 * nothing of destall.  Run by tests.
 *
 *     crowd threads N ROUNDS FILE...   which all begin at once
 *     crowd forks N ROUNDS FILE...     N children, while threads open files
 *     crowd vforks N ROUNDS FILE...    the same, in their parent's memory; some
 *                                      are the first to open anything
 *     crowd workers N ROUNDS FILE...   N children that read everything; prints
 *                                      their numbers
 *     crowd exec N ROUNDS FILE...      N programs, each in the place of the last
 *     crowd cancel N ROUNDS FILE...    N threads that are cancelled somewhere
 *
 * Prints "right" if every byte was, and no substitute was lost.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/expected.h"

#define THREADS_MAX 64
#define OPENERS 2

static struct expected *files;
static int nr_files;
static int nr, rounds;
static pthread_barrier_t start_line;
static atomic_bool is_over;

static void
read_all(int from)
{
	for (int i = 0; i < nr_files; i++)
		expected_check(&files[(from + i) % nr_files]);
}

/* Open descriptors of the cache's files, which carry this mode; whatever the C
 * library may lose of its own when it is cancelled. */
static int
count_substitutes(void)
{
	expected_call *raw = expected_raw();
	struct stat st;
	int n = 0;

	for (int fd = 0; fd < 4096; fd++)
		if (raw(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 &&
		    S_ISREG(st.st_mode) && (st.st_mode & S_ISVTX) != 0)
			n++;
	return n;
}

/*--- threads -------------------------------------------------------------*/

static void *
read_rounds(void *arg)
{
	int from = *(int *)arg;

	pthread_barrier_wait(&start_line);
	for (int i = 0; i < rounds; i++)
		read_all(from * 7 + i);
	return NULL;
}

static void
start_thread(pthread_t *t, void *(*run)(void *), void *arg)
{
	if (pthread_create(t, NULL, run, arg) != 0)
		wrong("cannot be started", "a thread");
}

static void
run_threads(void)
{
	pthread_t threads[THREADS_MAX];
	int numbers[THREADS_MAX];

	pthread_barrier_init(&start_line, NULL, (unsigned)nr);
	for (int i = 0; i < nr; i++) {
		numbers[i] = i;
		start_thread(&threads[i], read_rounds, &numbers[i]);
	}
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

/*--- forks ---------------------------------------------------------------*/

static void *
open_on(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over))
		read_all(0);
	return NULL;
}

static void
wait_child(pid_t pid)
{
	int status;
	pid_t rc;

	do
		rc = waitpid(pid, &status, 0);
	while (rc < 0 && errno == EINTR);
	if (rc != pid || status != 0)
		wrong("it failed", "a child");
}

static void
read_few(int from)
{
	for (int k = 0; k < rounds; k++)
		expected_check(&files[(from + k) % nr_files]);
}

static void
run_forks(void)
{
	for (int i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			wrong("cannot be forked", "a child");
		if (pid == 0) {
			read_few(i);
			_exit(0);
		}
		wait_child(pid);
	}
}

/* Its own clone(), of which the C library knows as little as of a vfork(), but
 * which is allowed to call functions. */
static int
read_in_clone(void *arg)
{
	read_few(*(int *)arg);
	return 0;
}

static void
run_vforks(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	for (int i = 0; i < nr; i++) {
		pid_t pid = clone(read_in_clone, stack + sizeof stack,
		    CLONE_VM | CLONE_VFORK | SIGCHLD, &i);

		if (pid < 0)
			wrong("cannot be forked", "a child");
		wait_child(pid);
	}
}

/* The first few before anybody else opens a file. */
static void
run_children(void (*run)(void))
{
	pthread_t threads[OPENERS];
	int all = nr;

	nr = nr < 10 ? nr : 10;
	run();
	for (int i = 0; i < OPENERS; i++)
		start_thread(&threads[i], open_on, NULL);
	nr = all - nr;
	run();
	atomic_store(&is_over, true);
	for (int i = 0; i < OPENERS; i++)
		pthread_join(threads[i], NULL);
}

static void
run_workers(void)
{
	pid_t pids[THREADS_MAX];

	read_all(0);
	fflush(stdout);
	for (int i = 0; i < nr; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			wrong("cannot be forked", "a worker");
		if (pids[i] == 0) {
			for (int k = 0; k < rounds; k++)
				read_all(i + k);
			_exit(0);
		}
		printf("worker %d\n", (int)pids[i]);
		fflush(stdout);
	}
	for (int i = 0; i < nr; i++)
		wait_child(pids[i]);
}

static void
run_exec(char **argv)
{
	char left[16];

	for (int k = 0; k < rounds; k++)
		read_all(k);
	if (nr == 0)
		return;
	snprintf(left, sizeof left, "%d", nr - 1);
	argv[2] = left;
	execv(argv[0], argv);
	wrong("cannot be executed", argv[0]);
}

/*--- cancellation --------------------------------------------------------*/

/* A close can be cancelled, too. */
static void
close_it(void *arg)
{
	int fd = *(volatile int *)arg, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (fd >= 0)
		close(fd);
	pthread_setcancelstate(state, NULL);
}

/* Open gives a number or is cancelled, not both. */
static void
open_once(const struct expected *e)
{
	char piece[1000];
	volatile int fd = -1;	/* the way back is a longjmp() */

	pthread_cleanup_push(close_it, (void *)&fd);
	fd = open(e->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		wrong("cannot be opened", e->path);
	if (read(fd, piece, sizeof piece) <= 0)
		wrong("cannot be read", e->path);
	pthread_cleanup_pop(1);
}

static void *
open_until_cancelled(void *arg)
{
	(void)arg;
	for (int i = 0;; i++)
		open_once(&files[i % nr_files]);
	return NULL;
}

static void
run_cancel(void)
{
	read_all(0);
	for (int i = 0; i < nr; i++) {
		struct timespec pause = { .tv_nsec = i * 7919L % 400000 };
		pthread_t t;
		void *result;

		start_thread(&t, open_until_cancelled, NULL);
		nanosleep(&pause, NULL);
		pthread_cancel(t);
		pthread_join(t, &result);
		if (result != PTHREAD_CANCELED)
			wrong("was not cancelled", "a thread");
	}
	if (count_substitutes() != 0)
		wrong("some are left", "descriptors");
	read_all(0);
}

/*--- the whole -----------------------------------------------------------*/

int
main(int argc, char **argv)
{
	if (argc < 5)
		return 99;
	nr = atoi(argv[2]);
	rounds = atoi(argv[3]);
	nr_files = argc - 4;
	files = expected_all(nr_files, argv + 4);
	if (strcmp(argv[1], "threads") == 0)
		run_threads();
	else if (strcmp(argv[1], "forks") == 0)
		run_children(run_forks);
	else if (strcmp(argv[1], "vforks") == 0)
		run_children(run_vforks);
	else if (strcmp(argv[1], "workers") == 0)
		run_workers();
	else if (strcmp(argv[1], "exec") == 0)
		run_exec(argv);
	else if (strcmp(argv[1], "cancel") == 0)
		run_cancel();
	else
		return 99;
	printf("right\n");
	return 0;
}
