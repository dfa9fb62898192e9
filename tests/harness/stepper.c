/* SPDX-License-Identifier: Apache-2.0
 *
 * stepper.c: a program that is not Python and has a loop of its own, which tells
 * its steps by ds_step(): a first one to warm up, the rest in a process that it
 * forks.  Run by tests.
 *
 *     stepper STEPS SAMPLES MS FILE...    all files are read in every step
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "destall.h"

static void
read_file(const char *path)
{
	char bytes[65536];
	FILE *f = fopen(path, "rb");

	if (f == NULL) {
		perror(path);
		exit(1);
	}
	while (fread(bytes, 1, sizeof bytes, f) > 0)
		;
	fclose(f);
}

static void
take_steps(long nr, char **argv)
{
	const struct timespec step = { .tv_nsec = 1000000 * atol(argv[3]) };

	for (; nr > 0; nr--) {
		for (char **path = &argv[4]; *path != NULL; path++)
			read_file(*path);
		(void)nanosleep(&step, NULL);
		ds_step((uint64_t)atol(argv[2]));
	}
}

int
main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

	if (argc < 5)
		return 2;
	take_steps(1, argv);
	pid = fork();
	if (pid < 0 || (pid > 0 && waitpid(pid, &status, 0) != pid)) {
		perror("fork");
		return 1;
	}
	if (pid == 0)
		take_steps(atol(argv[1]) - 1, argv);
	return pid == 0 ? 6 : WEXITSTATUS(status);
}
