/* SPDX-License-Identifier: Apache-2.0
 *
 * storm.c: runs a command under a storm of signals: every system call that can
 * be interrupted is, sooner or later.  Run by tests.
 *
 *     storm SHIM EXE CMD...
 *
 * SHIM is the object that handles SIGUSR1 (tests/shim/storm.c), EXE the
 * program in which it does.  CMD gets SIGUSR1 a thousand times a second until
 * it ends; its exit status is passed on, a signal as 128 + its number.  With
 * DS_STORM_COUNT=FILE the number of signals sent is written there.
 */

#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 1000000

static pid_t
start(char **argv)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (setenv("LD_PRELOAD", argv[1], 1) != 0 ||
	    setenv("DS_STORM_EXE", argv[2], 1) != 0)
		_exit(99);
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	_exit(127);
}

/* Until the child has ended; the child is not reaped before the last signal,
 * so none can reach a stranger. */
static int
send_until_end(pid_t pid, unsigned long *sent)
{
	struct timespec next;
	int status;
	pid_t rc;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while ((rc = waitpid(pid, &status, WNOHANG)) == 0) {
		if (kill(pid, SIGUSR1) == 0)
			(*sent)++;
		next.tv_nsec += PERIOD_NS;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	if (rc < 0)
		return 99;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	    WEXITSTATUS(status);
}

static int
write_count(unsigned long sent)
{
	const char *path = getenv("DS_STORM_COUNT");
	FILE *f;

	if (path == NULL)
		return 0;
	f = fopen(path, "we");
	if (f == NULL)
		return -1;
	fprintf(f, "%lu\n", sent);
	return fclose(f);
}

int
main(int argc, char **argv)
{
	unsigned long sent = 0;
	pid_t pid;
	int status;

	if (argc < 4) {
		fprintf(stderr, "usage: storm SHIM EXE CMD...\n");
		return 99;
	}
	/* Fork and exec keep it ignored until the shim is there. */
	signal(SIGUSR1, SIG_IGN);
	pid = start(argv);
	if (pid < 0)
		return 99;
	status = send_until_end(pid, &sent);
	return write_count(sent) == 0 ? status : 99;
}
