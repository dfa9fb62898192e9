/* SPDX-License-Identifier: Apache-2.0
 *
 * start_loop.c: how long a tiny program takes from its start to its end, as
 * things are and with more in its environment; for the benchmark
 * tests/bench/preload.
 *
 *     start_loop TIMES PROGRAM VAR=VALUE...
 *
 * Without arguments it is that program itself, and does nothing.  Both kinds
 * are started in turns; the medians are printed.
 */

#include <config.h>

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void
give_up(const char *what, int error)
{
	fprintf(stderr, "start_loop: %s: %s\n", what, strerror(error));
	exit(1);
}

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The given variables come first: the linker takes the first of a name. */
static char **
add_to_environment(char **given, unsigned nr_given)
{
	unsigned nr = 0;
	char **env;

	while (environ[nr] != NULL)
		nr++;
	env = calloc(nr_given + nr + 1, sizeof *env);
	if (env == NULL)
		give_up("memory", ENOMEM);
	memcpy(env, given, nr_given * sizeof *env);
	memcpy(env + nr_given, environ, nr * sizeof *env);
	return env;
}

static double
start(char *program, char **env)
{
	char *argv[] = { program, NULL };
	double begin = now_us();
	int error, status;
	pid_t pid;

	error = posix_spawn(&pid, program, NULL, NULL, argv, env);
	if (error != 0)
		give_up(program, error);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			give_up(program, errno);
	}
	if (status != 0)
		give_up(program, ECHILD);
	return now_us() - begin;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(double *us, unsigned nr)
{
	qsort(us, nr, sizeof *us, compare);
	return nr % 2 == 1 ? us[nr / 2] : (us[nr / 2 - 1] + us[nr / 2]) / 2;
}

int
main(int argc, char **argv)
{
	double *plain, *with;
	unsigned times;
	char **env;

	if (argc == 1)
		return 0;
	times = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc < 3 || times == 0) {
		fprintf(stderr,
		    "usage: start_loop [TIMES PROGRAM [VAR=VALUE]...]\n");
		return 2;
	}
	plain = calloc(times, sizeof *plain);
	with = calloc(times, sizeof *with);
	if (plain == NULL || with == NULL)
		give_up("memory", ENOMEM);
	env = add_to_environment(argv + 3, (unsigned)argc - 3);
	for (unsigned i = 0; i < times; i++) {
		plain[i] = start(argv[2], environ);
		with[i] = start(argv[2], env);
	}
	printf("{\"plain_us\": %.2f, \"with_us\": %.2f}\n",
	    median(plain, times), median(with, times));
	free(env);
	free(with);
	free(plain);
	return 0;
}
