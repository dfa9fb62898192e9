/* SPDX-License-Identifier: Apache-2.0
 *
 * leak.c: compares a process before and after a unit test.
 *
 * The heap is not compared under AddressSanitizer, which has its own allocator
 * and its own leak check at exit.
 */

#include <config.h>

#include "tests/harness/leak.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct holdings {
	size_t descriptors;
	size_t memfd_maps;
	size_t heap_bytes;
};

static struct holdings before;

static size_t
count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t nr = 0;

	if (d == NULL)
		return 0;
	while (readdir(d) != NULL)
		nr++;
	closedir(d);
	return nr;
}

static size_t
count_memfd_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	size_t nr = 0;

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		nr += strstr(line, "memfd:") != NULL;
	fclose(f);
	return nr;
}

static struct holdings
take_stock(void)
{
	struct holdings h = {
		.descriptors = count_descriptors(),
		.memfd_maps = count_memfd_maps(),
	};

#ifndef __SANITIZE_ADDRESS__
	h.heap_bytes = mallinfo2().uordblks;
#endif
	return h;
}

int
leak_before(void **state)
{
	(void)state;
	before = take_stock();
	return 0;
}

static int
compare(const char *what, size_t was, size_t is)
{
	if (is <= was)
		return 0;
	fprintf(stderr, "leak: %zu %s before, %zu after\n", was, what, is);
	return -1;
}

int
leak_after(void **state)
{
	struct holdings after = take_stock();
	int rc = 0;

	(void)state;
	rc |= compare("descriptors", before.descriptors, after.descriptors);
	rc |= compare("mappings of shared memory", before.memfd_maps,
	    after.memfd_maps);
	rc |= compare("bytes of heap", before.heap_bytes, after.heap_bytes);
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
		fprintf(stderr, "leak: a child process was left\n");
		rc = -1;
	}
	return rc;
}
