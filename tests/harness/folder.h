/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.h: a folder of its own for each unit test.
 */

#ifndef HARNESS_FOLDER_H
#define HARNESS_FOLDER_H

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

#define FOLDER_PATH	256

/* 0, or -1. */
static inline int
folder_make(char path[FOLDER_PATH], const char *test)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(path, FOLDER_PATH, "%s/%s.XXXXXX",
	    tmp != NULL ? tmp : "/tmp", test);
	return mkdtemp(path) == NULL ? -1 : 0;
}

/* By rm, which can do trees that are deeper than a path is long. */
static inline int
folder_remove(char path[FOLDER_PATH])
{
	static char rm[] = "rm", force[] = "-rf", end[] = "--";
	char *argv[] = { rm, force, end, path, NULL };
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, rm, NULL, NULL, argv, environ) != 0)
		return -1;
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return status == 0 ? 0 : -1;
}

#endif
